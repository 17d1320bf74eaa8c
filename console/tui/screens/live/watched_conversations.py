"""Which conversation each tile of the grid shows.

A tile keeps its conversation until that has ended, and a pinned one for good, so nothing moves under the reader.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from console.insight.rollout import Rollout, Slot


@dataclass(slots=True, eq=False)
class WatchedTile:
    """What one tile shows."""

    slot: Slot | None = None
    is_pinned: bool = False
    """Whether it keeps its conversation whatever ends or begins."""


@dataclass(frozen=True, slots=True)
class TileState:
    """What the title of a tile says."""

    rollout: Rollout | None
    words: str
    """Whether it is followed, frozen or pinned."""
    is_pinned: bool


class WatchedConversations:
    """The conversations of all tiles, row by row."""

    def __init__(self) -> None:
        """Start with one tile that shows nothing."""
        self.tiles = [WatchedTile()]

    @property
    def cursor_tile(self) -> WatchedTile:
        """The tile that follows the cursor of the list: the first that is not pinned, else the first."""
        return next((tile for tile in self.tiles if not tile.is_pinned), self.tiles[0])

    @property
    def cursor_place(self) -> int:
        """Which tile follows the cursor."""
        return self.tiles.index(self.cursor_tile)

    @property
    def slots(self) -> set[Slot]:
        """All conversations that are shown."""
        return {tile.slot for tile in self.tiles if tile.slot is not None}

    def resize(self, count: int) -> None:
        """Have so many tiles; those that go lose conversation and pin."""
        self.tiles = [*self.tiles[:count], *(WatchedTile() for _ in range(count - len(self.tiles)))]

    def fill(self, running: Collection[Slot], others: Iterable[Slot], *, lingering: Collection[Slot]) -> None:
        """Give tiles that are free the next conversations that no tile shows.

        Args:
            running: what runs, in order of start.
            others: what else could be shown, such as what has ended, in the order of the list.
            lingering: what has ended a moment ago, and stays where it is.
        """
        cursor_tile, shown = self.cursor_tile, self.slots
        next_running = iter([slot for slot in running if slot not in shown])
        next_other = iter([slot for slot in others if slot not in shown and slot not in running])
        for tile in self.tiles:
            if tile is cursor_tile or tile.is_pinned or tile.slot in running or tile.slot in lingering:
                continue
            following = next(next_running, None)
            if following is None and tile.slot is None:
                following = next(next_other, None)
            tile.slot = following or tile.slot
