"""The grid: one, two, four or nine conversations beside each other, as many as the terminal has room for."""

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
"""Columns and lines below which a tile says too little."""
_TITLE_CELLS = 8
"""Cells of a tile's title besides its words: the rule or border around them, and the gap before the run."""
_LEAST_RUN_NAME = 4
"""Cells below which the name of a run says nothing."""
ROOMY_TILES = 2
"""Tiles up to which there is room for empty lines between the parts of a conversation."""


def shapes_for(width: int, height: int, *, beside: tuple[int, int]) -> list[tuple[Shape, bool]]:
    """Return the shapes that a reader can step through, and whether the list stays beside each.

    Args:
        width: columns of the whole body.
        height: lines of it.
        beside: columns and lines that are left for tiles beside (or below) the list.
    """
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
    """What a tile is to show."""

    rollout: Rollout
    run: WatchedRun
    view: LiveView
    """How the suite of the run draws its conversations."""
    is_changed: bool = False
    """Whether there is something new in the conversation."""


class ConversationTile(Vertical):
    """One conversation with its title, drawn as the suite's view says."""

    DEFAULT_CSS = """
    ConversationTile { width: 1fr; height: 1fr; }
    ConversationTile.-spare { display: none; }
    """

    def __init__(self, number: int) -> None:
        """Make tile `number` of the grid, counted from 0; the first one is `#watched`."""
        name = f"watched-{number}" if number else "watched"
        super().__init__(id=f"tile-{number}")
        self.transcript = Transcript(id=name, classes="pane", follow=True)
        self.pane_title = PaneTitle(name, id=f"{name}-caption")
        self._drawer: ConversationDrawer | None = None
        self._drawn_by: LiveView | None = None
        self._run: WatchedRun | None = None
        self._title: tuple[Content, Content, str, bool] | None = None
        """The conversation, its run, whether it is followed or pinned in words, and whether it is pinned."""

    def compose(self) -> ComposeResult:
        yield self.pane_title
        yield self.transcript

    @property
    def conversation(self) -> Conversation | None:
        """What is drawn."""
        return self._drawer.conversation if self._drawer else None

    def draws(self, content: TileContent) -> bool:
        """Whether a conversation is drawn already, and in this way."""
        is_same = self._drawn_by is content.view and self._run is content.run
        return is_same and self.conversation is not None and self.conversation.key == content.rollout.key

    def show(self, content: TileContent, conversation: Conversation, *, compact: bool) -> None:
        """Draw a conversation from its end."""
        if self._drawer is None or self._drawn_by is not content.view:
            self._drawer, self._drawn_by = content.view.conversation_drawer(self.transcript), content.view
        self._run = content.run
        self._drawer.compact = compact
        self._drawer.show(conversation, follow=True)

    def update(self) -> None:
        """Draw what is new in the conversation."""
        if self._drawer is not None:
            self._drawer.update()

    def clear(self) -> None:
        """Draw nothing."""
        if self._drawer is not None:
            self._drawer.show(None, follow=True)
        self.forget()

    def forget(self) -> None:
        """Draw the conversation from the beginning the next time."""
        self._drawer = None

    def toggle_fold(self) -> None:
        """Unfold or fold what stands at the top of the text."""
        if self._drawer is not None:
            self._drawer.toggle()

    def draw_title(self, name: Content, run_name: Content, state: TileState, *, compact: bool) -> None:
        """Say which conversation it is, whether it is followed or pinned, and by which key, unless room is short.

        Args:
            name: the conversation and what it does, with two blanks between.
            run_name: the run it is of, empty where all are of one; cut before the conversation is.
            state: whether it is followed or pinned.
            compact: whether there is little room.
        """
        self._title = name, run_name, state.words.partition(" (")[0] if compact else state.words, state.is_pinned
        self._draw_title()

    def on_resize(self) -> None:
        """Give the run's name the room that there is now."""
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
        """Start with one tile; conversations are drawn as `view` says."""
        super().__init__(id="conversation-grid")
        self.view = view
        self._made = [ConversationTile(0)]
        self.shape: Shape = (1, 1)

    def compose(self) -> ComposeResult:
        yield self._made[0]

    @property
    def tiles(self) -> Sequence[ConversationTile]:
        """The tiles that are shown, row by row."""
        return self._made[: self.shape[0] * self.shape[1]]

    async def lay_out(self, shape: Shape) -> None:
        """Show so many columns and rows of tiles, each drawn anew."""
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
        """Of each tile, whether its text follows its end."""
        return [tile.transcript.follow for tile in self.tiles]

    def draw_titles(
        self, states: Sequence[TileState], run_names: Mapping[int, Content], *, compact: bool = False
    ) -> None:
        """Say of each tile which conversation it is, of which run where there are several, and whether it is pinned."""
        for place, (tile, state) in enumerate(zip(self.tiles, states, strict=True)):
            view = live_view(state.run.manifest) if state.run is not None else self.view
            name = view.watched_words(state.rollout)
            run_name = run_names.get(place, Content.empty()) if state.rollout is not None else Content.empty()
            tile.draw_title(name, run_name, state, compact=compact)

    def place_of(self, transcript: object) -> int | None:
        """Return which tile holds this transcript; None when none does."""
        return next((place for place, tile in enumerate(self.tiles) if tile.transcript is transcript), None)

    def draw(
        self,
        contents: Sequence[TileContent | None],
        *,
        open_conversation: Callable[[WatchedRun, Key], Conversation | None],
        rewound: bool = False,
        compact: bool = False,
    ) -> bool:
        """Draw what is new of the conversations.

        Args:
            contents: what each tile shows.
            open_conversation: returns a conversation of a run; None when it cannot be read.
            rewound: whether what was drawn does not hold any more.
            compact: whether there is little room.

        Returns:
            Whether a tile draws another conversation than before.
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
