"""The wall: one, two, four or nine conversations beside each other, as many as the terminal has room for.

A tile keeps its conversation until that has ended, and a pinned one for good, so nothing moves under the reader.
"""

from collections.abc import Collection, Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from console.insight.conversation import Conversation
from console.insight.rollout import Slot
from console.tui.render.conversation import ConversationBlocks
from console.tui.render.loop import LoopBlocks
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.transcript import Transcript

Shape = tuple[int, int]
"""Columns and rows of tiles."""
LEAST_TILE = (38, 7)
"""Columns and lines below which a tile says too little."""


def shapes_for(width: int, height: int, *, beside: tuple[int, int]) -> list[tuple[Shape, bool]]:
    """Return the shapes that a reader can step through, and whether the list stays beside each.

    Args:
        width: columns of the whole body.
        height: lines of it.
        beside: columns and lines that are left for tiles beside (or below) the list.
    """
    found: list[tuple[Shape, bool]] = [((1, 1), True)]
    if _fits((1, 2), *beside) and beside[1] >= 4 * LEAST_TILE[1]:
        found.append(((1, 2), True))
    elif (pair := (2, 1) if width >= 3 * LEAST_TILE[0] else (1, 2)) and _fits(pair, width, height):
        found.append((pair, False))
    found += [(shape, False) for shape in ((2, 2), (3, 3)) if _fits(shape, width, height)]
    return found


def _fits(shape: Shape, width: int, height: int) -> bool:
    return width // shape[0] >= LEAST_TILE[0] and height // shape[1] >= LEAST_TILE[1]


class Tile(Vertical):
    """One conversation of the wall, with its name."""

    DEFAULT_CSS = """
    Tile { width: 1fr; height: 1fr; }
    Tile.-spare { display: none; }
    """

    def __init__(self, number: int) -> None:
        """Make tile `number` of the wall, counted from 0; the first one is `#watched`."""
        name = f"watched-{number}" if number else "watched"
        super().__init__(id=f"tile-{number}")
        self.transcript = Transcript(id=name, classes="pane", follow=True)
        self.caption = PaneTitle(name, id=f"{name}-caption")
        self.slot: Slot | None = None
        """Whose conversation is shown."""
        self.talk: ConversationBlocks | LoopBlocks | None = None
        self.is_pinned = False
        """Whether it keeps its conversation whatever ends or begins."""

    def compose(self) -> ComposeResult:
        """Lay out name and text."""
        yield self.caption
        yield self.transcript

    @property
    def conversation(self) -> Conversation | None:
        """What is drawn."""
        return self.talk.conversation if self.talk else None

    def show(self, conversation: Conversation, *, loops: bool, compact: bool) -> None:
        """Draw a conversation from its end."""
        if self.talk is None or isinstance(self.talk, LoopBlocks) != loops:
            self.talk = LoopBlocks(self.transcript) if loops else ConversationBlocks(self.transcript)
        self.talk.compact = compact
        self.talk.show(conversation, follow=True)


class ConversationGrid(Container):
    """All tiles; see the module."""

    DEFAULT_CSS = """
    ConversationGrid { layout: grid; grid-size: 1 1; width: 1fr; height: 1fr; }
    ConversationGrid.zoom-path { layout: vertical; }
    """

    def __init__(self) -> None:
        """Start with one tile."""
        super().__init__(id="wall")
        self._made = [Tile(0)]
        self.shape: Shape = (1, 1)

    def compose(self) -> ComposeResult:
        """Lay out the first tile."""
        yield self._made[0]

    @property
    def tiles(self) -> Sequence[Tile]:
        """The tiles that are shown, row by row."""
        return self._made[: self.shape[0] * self.shape[1]]

    async def lay_out(self, shape: Shape) -> None:
        """Show so many columns and rows of tiles."""
        count = shape[0] * shape[1]
        fresh = [Tile(number) for number in range(len(self._made), count)]
        if fresh:
            await self.mount_all(fresh)
        self._made += fresh
        self.shape = shape
        for number, tile in enumerate(self._made):
            tile.set_class(number >= count, "-spare")
            if number >= count:
                tile.slot, tile.is_pinned = None, False
        self.styles.grid_size_columns, self.styles.grid_size_rows = shape

    def tile_of(self, transcript: object) -> Tile | None:
        """Return the tile that holds this transcript."""
        return next((tile for tile in self.tiles if tile.transcript is transcript), None)

    @property
    def lead(self) -> Tile:
        """The tile that follows the cursor of the list: the first that is not pinned, else the first."""
        return next((tile for tile in self.tiles if not tile.is_pinned), self.tiles[0])

    def fill(self, running: Collection[Slot], others: Iterable[Slot], *, lingering: Collection[Slot]) -> None:
        """Give tiles that are free the next conversations that no tile shows.

        Args:
            running: what runs, in order of start.
            others: what else could be shown, such as what has ended, in the order of the list.
            lingering: what has ended a moment ago, and stays where it is.
        """
        lead = self.lead
        shown = {tile.slot for tile in self.tiles}
        fresh = iter([slot for slot in running if slot not in shown])
        rest = iter([slot for slot in others if slot not in shown and slot not in running])
        for tile in self.tiles:
            if tile is lead or tile.is_pinned or (tile.slot is not None and tile.slot in running):
                continue
            if tile.slot is not None and tile.slot in lingering:
                continue
            following = next(fresh, None)
            if following is None and tile.slot is None:
                following = next(rest, None)
            tile.slot = following or tile.slot
