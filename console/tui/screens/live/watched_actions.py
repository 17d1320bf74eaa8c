"""`WatchedActions`: what a reader does with the watched conversation: follow, fold, pin, copy."""

from collections.abc import Callable

from textual.content import Content

from console.tui.screens.live.controller import LiveController
from console.tui.screens.live.conversation_grid import ConversationGrid
from console.tui.services import Services


class WatchedActions:
    """Act on one tile of the grid: the one with the focus, else the one that follows the cursor."""

    def __init__(
        self,
        services: Services,
        controller: LiveController,
        grid: ConversationGrid,
        *,
        active_tile: Callable[[], int],
        redraw: Callable[[], None],
    ) -> None:
        """Act on the conversations of a grid.

        Args:
            services: what the app does for screens.
            controller: the rules of the screen.
            grid: the tiles.
            active_tile: returns which tile keys act on.
            redraw: draws tiles and titles after a change.
        """
        self._services = services
        self._controller = controller
        self._grid = grid
        self._active_tile = active_tile
        self._redraw = redraw

    def action_follow(self) -> None:
        """Freeze the text, or follow it; once a conversation has ended, go on with the others."""
        place = self._active_tile()
        transcript = self._grid.tiles[place].transcript
        follows = self._controller.toggle_follow(place, follows=transcript.follow)
        if follows is not transcript.follow:
            transcript.set_follow(follows)
        self._redraw()

    def action_fold(self) -> None:
        """Unfold or fold what stands at the top of the text."""
        self._grid.tiles[self._active_tile()].toggle_fold()

    def action_pin(self) -> None:
        """Keep this conversation shown, whatever ends or begins, or not any more."""
        if self._controller.toggle_pin(self._active_tile()) and len(self._grid.tiles) == 1:
            self._services.notify(Content("Pinned; w shows more conversations beside it."))
        self._redraw()

    def action_copy_id(self) -> None:
        """Copy the case id."""
        rollout = self._controller.rollout(self._controller.watched.tiles[self._active_tile()].slot)
        if rollout is not None:
            self._services.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered last."""
        conversation = self._grid.tiles[self._active_tile()].conversation
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self._services.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")
