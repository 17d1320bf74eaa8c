"""`GridActions`: actions on the focused conversation and on the shape of the grid."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from console.core.case import Key
from console.core.fault import UsageError
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.tui.sanitize import one_line
from console.tui.screens.live.controller import LiveController, WatchedRun, WatchedTile
from console.tui.screens.live.conversation_grid import ConversationGrid, Shape, TileContent, shapes_for
from console.tui.screens.live.progress_pane import TrendPane
from console.tui.screens.live.standard_view import live_view
from console.tui.services import Services
from console.tui.symbols import MUTED


@dataclass(frozen=True, slots=True)
class GridRoom:
    """Size of list and grid together."""

    width: int
    height: int
    is_wide: bool
    """True if the grid is next to the list instead of below it."""

    @property
    def beside_list(self) -> tuple[int, int]:
        """Width and height left for the grid while the list is visible."""
        return (self.width * 9 // 19, self.height) if self.is_wide else (self.width, self.height * 7 // 18)


@dataclass
class GridActions:
    """Acts on the focused tile, or else on the tile that follows the cursor of the list."""

    services: Services
    controller: LiveController
    grid: ConversationGrid
    trend: TrendPane
    """Shows the scores of the active conversation."""
    focused: Callable[[], Widget | None]
    """Returns the focused pane."""
    room: Callable[[], GridRoom]
    laid_out: Callable[[bool], None]
    """Called after the shape has changed, with whether the list stays visible."""
    redraw: Callable[[], None]
    """Called when tiles may have to show other conversations."""

    @property
    def active_tile(self) -> int:
        place = self.grid.place_of(self.focused())
        return self.controller.watched.cursor_place if place is None else place

    @property
    def rollout(self) -> Rollout | None:
        """The rollout in the active tile."""
        return self.controller.rollout_of(self.controller.watched.tiles[self.active_tile])

    @property
    def run(self) -> WatchedRun | None:
        """The run of that rollout: the watched run or another one in the grid."""
        return self.controller.run_of(self.controller.watched.tiles[self.active_tile])

    # Drawing ---------------------------------------------------------------------------------------------------------

    def draw(self, changed: Collection[Key] = (), *, of: WatchedRun | None = None, rewound: bool = False) -> None:
        """Draw changes in the conversations assigned to the tiles.

        Args:
            changed: conversations that have changed.
            of: their run; None for the watched run.
            rewound: whether everything of that run has to be redrawn.
        """
        run = of or self.controller.run
        contents = [self._content(tile, changed, run) for tile in self.controller.watched.tiles]
        compact = not self.room().is_wide
        if self.grid.draw(contents, open_conversation=self._open, rewound=rewound, compact=compact):
            self.draw_titles()

    def _content(self, tile: WatchedTile, changed: Collection[Key], of: WatchedRun | None) -> TileContent | None:
        run, rollout = self.controller.run_of(tile), self.controller.rollout_of(tile)
        if run is None or rollout is None:
            return None
        view = live_view(run.manifest) if tile.beside is not None else self.grid.view
        return TileContent(rollout, run, view, is_changed=run is of and rollout.key in changed)

    def draw_titles(self) -> None:
        """Draw the titles of all tiles and the score trend of the active conversation."""
        states = self.controller.tile_states(self.grid.follows)
        compact = self.grid.shape[0] > 1 and not self.room().is_wide
        self.grid.draw_titles(states, run_names([state.run for state in states]), compact=compact)
        rollout, run = self.rollout, self.run
        is_live = run is not None and run.is_live and rollout is not None and rollout.is_running
        has_trend = run is self.controller.run
        self.trend.show_rollout(rollout if has_trend else None, live=is_live)

    def _open(self, run: WatchedRun, key: Key) -> Conversation | None:
        try:
            return run.conversation(key)
        except UsageError as error:
            self.services.refuse(error)
            return None

    # The shape of the grid -------------------------------------------------------------------------------------------

    async def action_wall(self) -> None:
        """Show more conversations at once: two, four or nine as far as they fit, then one again."""
        shapes = [shape for shape, _ in self._shapes()]
        await self.lay_out((shapes.index(self.grid.shape) + 1) % len(shapes) if self.grid.shape in shapes else 0)

    async def lay_out(self, number: int) -> None:
        """Switch to a shape by its index among those that fit; 0 is a single conversation."""
        shapes = self._shapes()
        shape, with_list = shapes[min(number, len(shapes) - 1)]
        await self.grid.lay_out(shape)
        self.controller.watched.resize(len(self.grid.tiles))
        self.laid_out(with_list)
        self.redraw()

    def _shapes(self) -> list[tuple[Shape, bool]]:
        """Return the shapes that fit, and for each whether the list stays visible."""
        room = self.room()
        return shapes_for(room.width, room.height, beside=room.beside_list)

    # One conversation ------------------------------------------------------------------------------------------------

    def focus(self) -> None:
        self.grid.tiles[self.controller.watched.cursor_place].transcript.focus()

    def find(self, text: str) -> None:
        self.grid.tiles[self.active_tile].transcript.find(text)

    def action_follow(self) -> None:
        """Toggle between pinning the conversation and following the run."""
        place = self.active_tile
        transcript = self.grid.tiles[place].transcript
        at_end = self.controller.toggle_follow(place, at_end=transcript.follow)
        if at_end is not transcript.follow:
            transcript.set_follow(at_end)
        self.redraw()

    def note_scroll(self) -> None:
        """Update after the user has scrolled."""
        for place, tile in enumerate(self.grid.tiles):
            self.controller.note_scroll(place, at_end=tile.transcript.follow)
        self.draw_titles()

    def action_fold(self) -> None:
        """Fold or unfold the block at the top of the text."""
        self.grid.tiles[self.active_tile].toggle_fold()

    def action_pin(self) -> None:
        """Toggle the pin of the active tile."""
        if self.controller.toggle_pin(self.active_tile) and len(self.grid.tiles) == 1:
            self.services.notify(Content("Pinned; w shows more conversations."))
        self.redraw()

    def action_copy_id(self) -> None:
        if (rollout := self.rollout) is not None:
            self.services.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        conversation = self.grid.tiles[self.active_tile].conversation
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self.services.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")


def run_names(runs: Sequence[WatchedRun | None]) -> dict[int, Content]:
    """Return a name for the run in each tile: its model, plus a detail if several runs share the model."""
    manifests = {place: run.manifest for place, run in enumerate(runs) if run is not None}
    shown = {manifest.id: manifest for manifest in manifests.values()}.values()
    names: dict[int, Content] = {}
    for place, manifest in manifests.items():
        alike = [other for other in shown if other.model.name == manifest.model.name]
        detail = next((part(manifest) for part in _PARTS if len({part(other) for other in alike}) == len(alike)), "")
        name = one_line(manifest.model.name, 20, "bold")
        names[place] = name.append(one_line(f" {detail}", 16, MUTED)) if len(alike) > 1 else name
    return names


_PARTS: tuple[Callable[[Manifest], str], ...] = (
    lambda manifest: manifest.suite,
    lambda manifest: ", ".join(manifest.selection.categories),
    lambda manifest: manifest.name,
    lambda manifest: time.strftime("%H:%M:%S", time.localtime(manifest.at)),
    lambda manifest: manifest.id,
)
"""Details that may distinguish runs of one model, in order of preference."""
