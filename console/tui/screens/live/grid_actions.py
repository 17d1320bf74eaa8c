"""`GridActions`: keeps the grid in step with the controller, and does what a reader does with a conversation."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from console.core.case import Key
from console.core.fault import UsageError
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.tui.sanitize import literal
from console.tui.screens.live.controller import LiveController
from console.tui.screens.live.conversation_grid import ConversationGrid, Shape, shapes_for
from console.tui.screens.live.progress_pane import TrendPane
from console.tui.services import Services


@dataclass(frozen=True, slots=True)
class GridRoom:
    """How much room list and grid have together."""

    width: int
    height: int
    is_wide: bool
    """Whether the grid stands beside the list and not below it."""

    @property
    def beside_list(self) -> tuple[int, int]:
        """Columns and lines that are left for the grid while the list is shown."""
        return (self.width * 9 // 19, self.height) if self.is_wide else (self.width, self.height * 7 // 18)


class GridActions:
    """Act on the tile that has the focus, else on the one that follows the cursor of the list."""

    def __init__(
        self,
        services: Services,
        controller: LiveController,
        grid: ConversationGrid,
        trend: TrendPane,
        *,
        focused: Callable[[], Widget | None],
        room: Callable[[], GridRoom],
        laid_out: Callable[[bool], None],
        redraw: Callable[[], None],
    ) -> None:
        """Act on the conversations of a grid.

        Args:
            services: what the app does for screens.
            controller: the rules of the screen.
            grid: the tiles.
            trend: shows where the scores of the active conversation stand.
            focused: returns the pane that has the focus.
            room: returns how much room there is.
            laid_out: called with whether the list stays beside the grid, after it has got another shape.
            redraw: called when tiles may have to show other conversations.
        """
        self._services = services
        self._controller = controller
        self._grid = grid
        self._trend = trend
        self._focused = focused
        self._room = room
        self._laid_out = laid_out
        self._redraw = redraw

    @property
    def active_tile(self) -> int:
        """Which tile keys act on."""
        place = self._grid.place_of(self._focused())
        return self._controller.watched.cursor_place if place is None else place

    @property
    def rollout(self) -> Rollout | None:
        """The rollout whose conversation keys act on."""
        return self._controller.rollout(self._controller.watched.tiles[self.active_tile].slot)

    # Drawing ---------------------------------------------------------------------------------------------------------

    def draw(self, changed: Collection[Key] = (), *, rewound: bool = False) -> None:
        """Draw what is new of the conversations that the controller gives to the tiles.

        Args:
            changed: conversations with new text or facts.
            rewound: whether what was drawn does not hold any more.
        """
        rollouts = [self._controller.rollout(tile.slot) for tile in self._controller.watched.tiles]
        compact = not self._room().is_wide
        if self._grid.draw(rollouts, open_conversation=self._open, changed=changed, rewound=rewound, compact=compact):
            self.draw_titles()

    def draw_titles(self) -> None:
        """Say of each tile what it shows, and of the active conversation where its scores stand."""
        self._grid.draw_titles(self._controller.tile_states(self._grid.follows))
        rollout = self.rollout
        is_live = self._controller.is_live and rollout is not None and rollout.is_running
        self._trend.show_rollout(rollout, live=is_live)

    def _open(self, key: Key) -> Conversation | None:
        if self._controller.run is None:
            return None
        try:
            return self._controller.run.conversation(key)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return None

    # The shape of the grid -------------------------------------------------------------------------------------------

    async def action_wall(self) -> None:
        """Show more conversations at once: two, four, nine, as many as fit, then one again."""
        shapes = [shape for shape, _ in self._shapes()]
        await self.lay_out((shapes.index(self._grid.shape) + 1) % len(shapes) if self._grid.shape in shapes else 0)

    async def lay_out(self, number: int) -> None:
        """Take one of the shapes that fit, counted from 0, which is one conversation."""
        shapes = self._shapes()
        shape, with_list = shapes[min(number, len(shapes) - 1)]
        await self._grid.lay_out(shape)
        self._controller.watched.resize(len(self._grid.tiles))
        self._laid_out(with_list)
        self._redraw()

    def _shapes(self) -> list[tuple[Shape, bool]]:
        """Return the shapes that fit, and whether the list stays beside each."""
        room = self._room()
        return shapes_for(room.width, room.height, beside=room.beside_list)

    # One conversation ------------------------------------------------------------------------------------------------

    def focus(self) -> None:
        """Give the focus to the tile that follows the cursor."""
        self._grid.tiles[self._controller.watched.cursor_place].transcript.focus()

    def find(self, text: str) -> None:
        """Find a text in the conversation."""
        self._grid.tiles[self.active_tile].transcript.find(text)

    def action_follow(self) -> None:
        """Freeze the text, or follow it; once a conversation has ended, go on with the others."""
        place = self.active_tile
        transcript = self._grid.tiles[place].transcript
        follows = self._controller.toggle_follow(place, follows=transcript.follow)
        if follows is not transcript.follow:
            transcript.set_follow(follows)
        self.draw_titles()

    def action_fold(self) -> None:
        """Unfold or fold what stands at the top of the text."""
        self._grid.tiles[self.active_tile].toggle_fold()

    def action_pin(self) -> None:
        """Keep this conversation shown, whatever ends or begins, or not any more."""
        if self._controller.toggle_pin(self.active_tile) and len(self._grid.tiles) == 1:
            self._services.notify(Content("Pinned; w shows more conversations beside it."))
        self._redraw()

    def action_copy_id(self) -> None:
        """Copy the case id."""
        if (rollout := self.rollout) is not None:
            self._services.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered last."""
        conversation = self._grid.tiles[self.active_tile].conversation
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self._services.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")
