"""`ConversationGrid`: one, two, four or nine conversations, as many as the terminal has room for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from console.core.case import Key
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.tui.screens.live.controller import TileState, WatchedRun
from console.tui.screens.live.standard_view import live_view
from console.tui.suite_views.suite_view import ConversationDrawer, LiveView
from console.tui.symbols import MUTED
from console.tui.widgets.titles import PaneTitle
from console.tui.widgets.transcript import Transcript

Shape = tuple[int, int]
"""Columns and rows of tiles."""
LEAST_TILE = (38, 7)
"""Minimum width and height of a tile, in cells."""
_TITLE_CELLS = 8
"""Cells around a tile's title: rule or border, and the gap before the run's name."""
_LEAST_RUN_NAME = 4
"""Minimum number of cells for the name of a run."""
ROOMY_TILES = 2
"""Maximum number of tiles at which parts of a conversation are separated by empty lines."""


def shapes_for(width: int, height: int, *, beside: tuple[int, int]) -> list[tuple[Shape, bool]]:
    """Return the shapes for a body of this size, and whether the list stays visible; `beside` is left for tiles."""
    shapes: list[tuple[Shape, bool]] = [((1, 1), True)]
    if _fits((1, 2), *beside) and beside[1] >= 4 * LEAST_TILE[1]:
        shapes.append(((1, 2), True))
    elif (pair := (2, 1) if width >= 3 * LEAST_TILE[0] else (1, 2)) and _fits(pair, width, height):
        shapes.append((pair, False))
    return [*shapes, *[(shape, False) for shape in ((2, 2), (3, 3)) if _fits(shape, width, height)]]


def _fits(shape: Shape, width: int, height: int) -> bool:
    return width // shape[0] >= LEAST_TILE[0] and height // shape[1] >= LEAST_TILE[1]


@dataclass(frozen=True, slots=True)
class TileContent:
    """The conversation that a tile is to show."""

    rollout: Rollout
    run: WatchedRun
    view: LiveView
    """The live view of the run's suite."""
    is_changed: bool = False
    """True if the conversation has changed."""


class ConversationTile(Vertical):
    """One conversation with its title, drawn by the suite's live view."""

    DEFAULT_CSS = """
    ConversationTile { width: 1fr; height: 1fr; }
    ConversationTile.-spare { display: none; }
    """

    def __init__(self, number: int) -> None:
        """Create the tile with a zero-based number; the first one has the id `watched`."""
        name = f"watched-{number}" if number else "watched"
        super().__init__(id=f"tile-{number}")
        self.transcript = Transcript(id=name, classes="pane", follow=True)
        self.pane_title = PaneTitle(name, id=f"{name}-caption")
        self._drawer: ConversationDrawer | None = None
        self._drawn_by: LiveView | None = None
        self._run: WatchedRun | None = None
        self._title: tuple[Content, Content, str, bool] | None = None
        """Conversation, run, state in words, and whether the tile is pinned."""

    def compose(self) -> ComposeResult:
        yield self.pane_title
        yield self.transcript

    @property
    def conversation(self) -> Conversation | None:
        return self._drawer.conversation if self._drawer else None

    def draws(self, content: TileContent) -> bool:
        """Return whether the conversation is already drawn by the same view."""
        is_same = self._drawn_by is content.view and self._run is content.run
        return is_same and self.conversation is not None and self.conversation.key == content.rollout.key

    def show(self, content: TileContent, conversation: Conversation, *, compact: bool) -> None:
        """Draw a conversation, scrolled to its end."""
        if self._drawer is None or self._drawn_by is not content.view:
            self._drawer, self._drawn_by = content.view.conversation_drawer(self.transcript), content.view
        self._run = content.run
        self._drawer.compact = compact
        self._drawer.show(conversation, follow=True)

    def update(self) -> None:
        if self._drawer is not None:
            self._drawer.update()

    def clear(self) -> None:
        if self._drawer is not None:
            self._drawer.show(None, follow=True)
        self.forget()

    def forget(self) -> None:
        """Force a full redraw next time."""
        self._drawer = None

    def toggle_fold(self) -> None:
        """Fold or unfold the block at the top of the text."""
        if self._drawer is not None:
            self._drawer.toggle()

    def draw_title(self, name: Content, run_name: Content, state: TileState, *, compact: bool) -> None:
        """Draw the title.

        Args:
            name: the conversation and its activity, separated by two spaces.
            run_name: its run, empty if all tiles show the same run; truncated before the conversation is.
            state: whether the tile is following or pinned.
            compact: omit the keys because there is too little room.
        """
        self._title = name, run_name, state.words.partition(" (")[0] if compact else state.words, state.is_pinned
        self._draw_title()

    def on_resize(self) -> None:
        """Fit the run's name to the new width."""
        self._draw_title()

    def _draw_title(self) -> None:
        if not self.is_mounted or self._title is None:
            return
        name, run_name, words, is_pinned = self._title
        end = end if (end := name.plain.find("  ")) >= 0 else len(name)
        room = self.size.width - cell_len(words) - name[:end].cell_length - _TITLE_CELLS
        if run_name and room >= _LEAST_RUN_NAME:
            name = Content.assemble(name[:end], "  ", run_name.truncate(room, ellipsis=True), name[end:])
        self.pane_title.tell(name, Content.styled(words, "$live" if is_pinned else MUTED))


class ConversationGrid(Container):
    """All tiles, row by row."""

    DEFAULT_CSS = """
    ConversationGrid { layout: grid; grid-size: 1 1; width: 1fr; height: 1fr; }
    ConversationGrid.zoom-path { layout: vertical; }
    """

    def __init__(self, view: LiveView) -> None:
        """Start with one tile; `view` draws the conversations."""
        super().__init__(id="conversation-grid")
        self.view = view
        self._made = [ConversationTile(0)]
        self.shape: Shape = (1, 1)

    def compose(self) -> ComposeResult:
        yield self._made[0]

    @property
    def tiles(self) -> Sequence[ConversationTile]:
        return self._made[: self.shape[0] * self.shape[1]]

    async def lay_out(self, shape: Shape) -> None:
        """Show a grid of this many columns and rows and redraw each tile."""
        count = shape[0] * shape[1]
        new_tiles = [ConversationTile(number) for number in range(len(self._made), count)]
        if new_tiles:
            await self.mount_all(new_tiles)
        self._made += new_tiles
        self.shape = shape
        for number, tile in enumerate(self._made):
            tile.set_class(number >= count, "-spare")
            tile.forget()
        self.styles.grid_size_columns, self.styles.grid_size_rows = shape

    @property
    def follows(self) -> list[bool]:
        """For each tile, whether its text is scrolled to the end."""
        return [tile.transcript.follow for tile in self.tiles]

    def draw_titles(
        self, states: Sequence[TileState], run_names: Mapping[int, Content], *, compact: bool = False
    ) -> None:
        """Draw the titles of all tiles; `run_names` are by index of the tile."""
        for place, (tile, state) in enumerate(zip(self.tiles, states, strict=True)):
            view = live_view(state.run.manifest) if state.run is not None else self.view
            name = view.watched_words(state.rollout)
            run_name = run_names.get(place, Content.empty()) if state.rollout is not None else Content.empty()
            tile.draw_title(name, run_name, state, compact=compact)

    def place_of(self, transcript: object) -> int | None:
        """Return the index of the tile with this transcript, or None."""
        return next((place for place, tile in enumerate(self.tiles) if tile.transcript is transcript), None)

    def draw(
        self,
        contents: Sequence[TileContent | None],
        *,
        open_conversation: Callable[[WatchedRun, Key], Conversation | None],
        rewound: bool = False,
        compact: bool = False,
    ) -> bool:
        """Draw changes in the conversations.

        Args:
            contents: contents of each tile.
            open_conversation: returns a conversation of a run, or None if it cannot be read.
            rewound: whether everything has to be redrawn.
            compact: whether there is little room.

        Returns:
            Whether a tile shows another conversation than before.
        """
        has_begun = False
        for tile, content in zip(self.tiles, contents, strict=True):
            if content is None:
                if rewound or tile.conversation is not None:
                    tile.clear()
            elif rewound or not tile.draws(content):
                conversation = open_conversation(content.run, content.rollout.key)
                if conversation is not None:
                    tile.show(content, conversation, compact=compact or len(self.tiles) > ROOMY_TILES)
                    has_begun = True
            elif content.is_changed:
                tile.update()
        return has_begun
