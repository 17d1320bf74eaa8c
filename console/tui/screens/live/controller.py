"""`LiveController`: listing, watching and redraw timing of Live.

The screen reports user input and feed changes, and draws the controller's answers. The first tile follows the run until
the user moves: it shows the newest streaming conversation until that ends, whatever the sort order. After the user has
moved, new data never moves the cursor or changes what it shows.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from console.core.case import Key, Slot
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.rollout import Rollout
from console.insight.sort_orders import RUN_ORDER, WORST_FIRST, SortOrder

LINGER_S = 1.5
"""Seconds that an ended conversation stays visible before its tile moves on."""
LOADING_LIST_S = 0.3
"""Minimum seconds between draws of the list while a large run is loading."""
ROWS_EVERY_S = 0.18
"""Minimum seconds between draws of rows: half as often as text, which halves the bytes sent."""
FIGURES_EVERY_S = 0.45
"""Minimum seconds between draws of figures that change all the time."""
SORT_EVERY_S = 1.0
"""Minimum seconds between sorts, since rows that jump are unreadable."""
SPEEDS = 24
"""Length in seconds of the speed history."""
MOST_TILES = 9
RUNNING = SortOrder("running now", lambda rollout: rollout.order)
"""Running rollouts only, in stable rows."""


class WatchedRun(Protocol):
    """A run as read so far, implemented by `RunFeed` and `Replay`."""

    @property
    def overview(self) -> Overview: ...

    @property
    def manifest(self) -> Manifest: ...

    @property
    def is_live(self) -> bool: ...

    @property
    def is_read(self) -> bool:
        """True if the journal was read to its end once."""
        ...

    @property
    def damages(self) -> int:
        """Number of unreadable journal lines."""
        ...

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation as recorded so far.

        Raises:
            UsageError: the journal no longer exists.
        """
        ...

    def now(self) -> float:
        """Return the current time of the run or replay, in seconds since the epoch."""
        ...


class StableRows:
    """The rollout of each row; a row is reused when its conversation has ended.

    A finished conversation keeps its row and shows its outcome until a new one needs the row. The row under the cursor
    is never reused.
    """

    def __init__(self) -> None:
        self._rows: list[Slot] = []

    @property
    def slots(self) -> list[Slot]:
        return list(self._rows)

    def update(self, running: Collection[Slot], *, kept: Slot | None = None, spare: int = 0) -> bool:
        """Assign rows to running rollouts, `kept` (at the cursor) and `spare` ended ones; return whether any moved."""
        shown = set(self._rows)
        begun = [slot for slot in running if slot not in shown]
        free = [row for row, slot in enumerate(self._rows) if slot not in running and slot != kept]
        for row, slot in zip(free, begun, strict=False):
            self._rows[row] = slot
        self._rows += begun[len(free) :]
        surplus = free[len(begun) :][spare:]
        for row in reversed(surplus):
            del self._rows[row]
        return bool(begun or surplus)


@dataclass(slots=True, eq=False)
class WatchedTile:
    """The conversation of a tile."""

    slot: Slot | None = None
    is_pinned: bool = False
    """True if the tile keeps its conversation until unpinned."""
    beside: WatchedRun | None = None
    """The run of the conversation if it is not the watched run."""


@dataclass(frozen=True, slots=True)
class TileState:
    """Contents of a tile's title."""

    rollout: Rollout | None
    words: str
    """State as text: following, scrolled or pinned."""
    is_pinned: bool
    run: WatchedRun | None = None
    """The run of the conversation, if the grid shows several runs."""


@dataclass(frozen=True, slots=True)
class TileSource:
    """The conversations of one run that tiles may show."""

    beside: WatchedRun | None
    """The run, if it is not the watched run."""
    running: Collection[Slot]
    """Running conversations, in order of start."""
    lingering: Collection[Slot] = ()
    """Conversations that ended a moment ago and stay visible."""
    others: Sequence[Slot] = ()
    """Other candidates, such as ended conversations, in list order."""


class WatchedConversations:
    """The conversations of all tiles. A tile keeps its conversation until it ends; a pinned tile keeps it even then."""

    def __init__(self) -> None:
        self.tiles = [WatchedTile()]

    @property
    def cursor_tile(self) -> WatchedTile:
        """The tile that follows the cursor of the list: the first that is not pinned, or else the first."""
        return next((tile for tile in self.tiles if not tile.is_pinned), self.tiles[0])

    @property
    def cursor_place(self) -> int:
        """Index of the tile that follows the cursor."""
        return self.tiles.index(self.cursor_tile)

    @property
    def slots(self) -> set[Slot]:
        """Conversations of the watched run shown in tiles."""
        return {tile.slot for tile in self.tiles if tile.slot is not None and tile.beside is None}

    def resize(self, count: int) -> None:
        """Set the number of tiles; removed tiles lose conversation and pin."""
        self.tiles = [*self.tiles[:count], *(WatchedTile() for _ in range(count - len(self.tiles)))]

    def fill(self, sources: Sequence[TileSource]) -> None:
        """Assign conversations that no tile shows to free tiles, preferring the run with the fewest tiles."""
        for tile in self.tiles:
            source = next((source for source in sources if source.beside is tile.beside), None)
            if source is None:  # that run is no longer followed
                tile.slot = tile.beside = None
                tile.is_pinned = False
        for tile in self.tiles:
            source = next(source for source in sources if source.beside is tile.beside)
            if tile is self.cursor_tile or tile.is_pinned or tile.slot in (*source.running, *source.lingering):
                continue
            if not self._take_running(tile, sources) and tile.slot is None:
                self._take_other(tile, sources[0])

    def _take_running(self, tile: WatchedTile, sources: Sequence[TileSource]) -> bool:
        """Assign a running conversation that no tile shows; return False if there is none."""
        others = [other for other in self.tiles if other is not tile and other.slot is not None]
        for source in sorted(sources, key=lambda source: sum(other.beside is source.beside for other in others)):
            shown = {other.slot for other in others if other.beside is source.beside}
            if (slot := next((slot for slot in source.running if slot not in shown), None)) is not None:
                tile.slot, tile.beside = slot, source.beside
                return True
        return False

    def _take_other(self, tile: WatchedTile, source: TileSource) -> None:
        shown = self.slots
        tile.slot = next((slot for slot in source.others if slot not in shown), None)
        tile.beside = source.beside


class LiveController:
    """The rules of Live. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self.run: WatchedRun | None = None
        self._chosen_order: SortOrder | None = None
        self.view_orders: Sequence[SortOrder] | None = None
        """Sort orders of a suite's own view; if set, all rollouts are listed, running or not."""
        self.listed: list[Slot] = []
        """Listed rollouts, from the top."""
        self.watched = WatchedConversations()
        self.beside: Sequence[WatchedRun] = ()
        """The other runs whose conversations the grid shows."""
        self.follows_run = True
        """True if the first tile follows the run: until the user moves, and again on request."""
        self._followed: Slot | None = None
        """The conversation that the first tile last switched to by itself."""
        self._sorted_by: SortOrder | None = None
        self._sorted_at = 0.0
        self._rows = StableRows()
        self._stale_rows: set[Slot] = set()
        self._rows_at = self._figures_at = self._listed_at = 0.0
        self._second = self._measured_at = 0
        self.speeds: deque[float | None] = deque(maxlen=SPEEDS)
        """Output tokens per second, one entry per second, latest last."""

    @property
    def is_live(self) -> bool:
        return self.run is not None and self.run.is_live

    @property
    def is_following(self) -> bool:
        """True if the first tile switches between conversations as they stream."""
        return self.is_live and self.follows_run

    def rollout(self, slot: Slot | None) -> Rollout | None:
        return self.run.overview.rollouts.get(slot) if self.run is not None and slot is not None else None

    def run_of(self, tile: WatchedTile) -> WatchedRun | None:
        """Return the run whose conversation a tile shows."""
        return tile.beside or self.run

    def rollout_of(self, tile: WatchedTile) -> Rollout | None:
        """Return the rollout that a tile shows."""
        run = self.run_of(tile)
        return run.overview.rollouts.get(tile.slot) if run is not None and tile.slot is not None else None

    def restart(self) -> None:
        """Reset the rows, since the run or replay starts from its beginning."""
        self._rows = StableRows()

    # The list --------------------------------------------------------------------------------------------------------

    @property
    def orders(self) -> tuple[SortOrder, ...]:
        """Available sort orders, the default first."""
        if self.view_orders is not None:
            return RUN_ORDER, *self.view_orders, WORST_FIRST
        return (RUNNING, RUN_ORDER, WORST_FIRST) if self.is_live else (RUN_ORDER, WORST_FIRST)

    @property
    def order(self) -> SortOrder:
        """The user's sort order if available, otherwise the default."""
        orders = self.orders
        return self._chosen_order if self._chosen_order in orders else orders[0]

    def next_order(self) -> SortOrder:
        orders = self.orders
        self._chosen_order = orders[(orders.index(self.order) + 1) % len(orders)]
        return self._chosen_order

    def restore_order(self, name: str) -> None:
        """Select an order by name, or the default for an empty name; ignore unknown names."""
        chosen = self._chosen_order if name else None
        self._chosen_order = next((order for order in self.orders if order.name == name), chosen)

    def list_rollouts(self, cursor: Slot | None, now: float) -> list[Slot]:
        """Return the rollouts in list order; the one under the cursor keeps its row."""
        if self.run is None:
            self.listed = []
            return self.listed
        overview = self.run.overview
        if self.order is RUNNING:
            concurrency = overview.status.concurrency if overview.status else 0
            self._rows.update(overview.running, kept=cursor, spare=max(concurrency - len(overview.running), 0))
            self.listed = [slot for slot in self._rows.slots if slot in overview.rollouts]
        else:
            self.listed = self._sort(overview, cursor, now)
        return self.listed

    def _sort(self, overview: Overview, cursor: Slot | None, now: float) -> list[Slot]:
        """Sort the list, at most once per `SORT_EVERY_S` in a live run; the row under the cursor keeps its position."""
        before = self.listed if self._sorted_by is self.order and self.is_live else []
        if before and now - self._sorted_at < SORT_EVERY_S:
            listed = set(before)
            return [*(slot for slot in before if slot in overview.rollouts),
                    *(slot for slot in overview.rollouts if slot not in listed)]  # fmt: skip
        self._sorted_by, self._sorted_at = self.order, now
        slots = [rollout.slot for rollout in sorted(overview.rollouts.values(), key=self.order.key)]
        if cursor in before and cursor in overview.rollouts:
            slots.remove(cursor)
            slots.insert(before.index(cursor), cursor)
        return slots

    # Watched conversations -------------------------------------------------------------------------------------------

    def move_cursor(self, slot: Slot) -> bool:
        """Show the conversation under the cursor; return whether it has changed."""
        tile = self.watched.cursor_tile
        if tile.slot == slot and tile.beside is None:
            return False
        self.follows_run = self.follows_run and tile.slot is None
        tile.slot, tile.beside = slot, None
        return True

    def watch_first(self) -> None:
        """Show the first conversation of the list, unless the user has moved the cursor."""
        if self.follows_run and self.listed:
            tile = self.watched.cursor_tile
            tile.slot, tile.beside = self.listed[0], None
            self._followed = self.listed[0]

    def toggle_follow(self, tile: int, *, at_end: bool) -> bool:
        """Toggle between pinning and following; return whether the text is scrolled to its end afterwards.

        This pins or unpins the tile that follows the cursor. Other tiles choose their conversations themselves, so only
        scrolling is toggled.

        Args:
            tile: index of the tile.
            at_end: whether its text is scrolled to the end.
        """
        if not self.is_live or self.watched.tiles[tile] is not self.watched.cursor_tile:
            return not at_end
        self.follows_run = not (self.follows_run and at_end)
        return True

    def note_scroll(self, tile: int, *, at_end: bool) -> None:
        """Stop following the run if the user scrolled the followed tile away from its end."""
        if not at_end and self.watched.tiles[tile] is self.watched.cursor_tile:
            self.follows_run = False

    def toggle_pin(self, tile: int) -> bool:
        """Toggle the pin of a tile; return whether it is pinned."""
        pinned = self.watched.tiles[tile]
        pinned.is_pinned = pinned.slot is not None and not pinned.is_pinned
        return pinned.is_pinned

    def advance(self, cursor: Slot | None) -> Slot | None:
        """Assign conversations to tiles; return the one that the cursor has to move to, None if it may stay."""
        if self.run is None:
            return None
        tile = self.watched.cursor_tile
        if tile.beside is not None or self.rollout(tile.slot) is None:
            tile.slot, tile.beside = self._first_to_watch(self.run, cursor), None
        if len(self.watched.tiles) > 1:
            self._fill(self.run, cursor)
        rollout = self.rollout(tile.slot)
        if rollout is None or not self.is_following:
            return None
        is_over = self._has_lingered(self.run, rollout) if rollout.ended_at else not _streams(rollout)
        following = self._newest_stream(self.run) if is_over or tile.slot != self._followed else None
        if following is not None:
            tile.slot = self._followed = following
        return tile.slot if tile.slot != cursor else None

    def _newest_stream(self, run: WatchedRun) -> Slot | None:
        """Return the latest streaming conversation that no other tile shows."""
        cursor_tile = self.watched.cursor_tile
        shown = {tile.slot for tile in self.watched.tiles if tile is not cursor_tile and tile.beside is None}
        streams = [other for other in run.overview.running.values() if _streams(other) and other.slot not in shown]
        newest = max(streams, key=lambda other: (other.started_at, other.order), default=None)
        return newest.slot if newest is not None else None

    def _first_to_watch(self, run: WatchedRun, cursor: Slot | None) -> Slot | None:
        """Return the rollout under the cursor or, if a tile shows it already, another running one."""
        candidates = [*([cursor] if cursor is not None else []), *run.overview.running]
        shown = self.watched.slots
        return next((slot for slot in candidates if slot not in shown), candidates[0] if candidates else None)

    def _fill(self, run: WatchedRun, cursor: Slot | None) -> None:
        """Assign conversations to the other tiles: running ones, or in an ended run those below the cursor."""
        is_over = cursor is not None and not run.is_live
        start = self.listed.index(cursor) if is_over and cursor in self.listed else 0
        others = [*self.listed[start : start + MOST_TILES], *self.listed[:MOST_TILES]]
        own = TileSource(None, run.overview.running, self._lingering(run, None), others)
        beside = (TileSource(each, each.overview.running, self._lingering(each, each)) for each in self.beside)
        self.watched.fill([own, *beside])

    def _lingering(self, run: WatchedRun, beside: WatchedRun | None) -> set[Slot]:
        """Return the conversations of a run in tiles that ended only a moment ago."""
        rollouts = [self.rollout_of(tile) for tile in self.watched.tiles if tile.beside is beside]
        return {rollout.slot for rollout in rollouts if rollout is not None and not self._has_lingered(run, rollout)}

    def _has_lingered(self, run: WatchedRun, rollout: Rollout) -> bool:
        return bool(rollout.ended_at) and run.now() - rollout.ended_at > LINGER_S

    def is_watched(self, key: Key) -> bool:
        return key.slot in self.watched.slots

    def tile_states(self, at_end: Sequence[bool]) -> list[TileState]:
        """Return the titles of all tiles; `at_end` has True for each tile whose text is scrolled to the end."""
        return [
            TileState(
                self.rollout_of(tile),
                self.following_words(place, at_end=at_end[place]),
                tile.is_pinned,
                self.run_of(tile) if self.beside else None,
            )
            for place, tile in enumerate(self.watched.tiles)
        ]

    def following_words(self, tile: int, *, at_end: bool) -> str:
        """Return a tile's state, such as following or pinned, with the key that changes it."""
        shown = self.watched.tiles[tile]
        if shown.is_pinned:
            return "PINNED (m unpins)"
        if not self.is_live or shown.slot is None:
            return ""
        if shown is self.watched.cursor_tile:
            return "FOLLOWING (space pins)" if self.follows_run else "PINNED (space follows)"
        return "" if at_end else "scrolled (space follows)"

    # When to draw ----------------------------------------------------------------------------------------------------

    def is_sort_due(self, now: float) -> bool:
        """Return whether a live list has to be sorted again."""
        return self.is_live and self.order is not RUNNING and now - self._sorted_at >= SORT_EVERY_S

    def is_list_due(self, now: float) -> bool:
        """Return whether the list may be redrawn now; redraws are limited only while the run is loading."""
        is_due = self.run is not None and (self.run.is_read or now - self._listed_at > LOADING_LIST_S)
        self._listed_at = now if is_due else self._listed_at
        return is_due

    def rows_to_draw_at_once(self, changed: Collection[Slot], begun: Collection[Slot]) -> Collection[Slot]:
        """Return the rows to draw immediately, whose answers have just begun; `stale_rows` has the others."""
        self._stale_rows.update(changed)
        if not self.is_live:
            return ()
        self._stale_rows.difference_update(begun)
        return begun

    def stale_rows(self, now: float) -> Collection[Slot]:
        """Return and clear the changed rows, once they are due."""
        if not self._stale_rows or now - self._rows_at <= ROWS_EVERY_S:
            return ()
        self._rows_at = now
        stale, self._stale_rows = self._stale_rows, set()
        return stale

    def are_figures_due(self, now: float) -> bool:
        """Return whether the figures of a live run are due for a redraw."""
        is_due = self.is_live and now - self._figures_at > FIGURES_EVERY_S
        self._figures_at = now if is_due else self._figures_at
        return is_due

    def rows_with_clock(self, now: float) -> Collection[Slot] | None:
        """Return the rows that show elapsed time, once per second; None in between."""
        if self.run is None or int(now) == self._second:
            return None
        self._second = int(now)
        if self.run.is_live and int(self.run.now()) != self._measured_at:
            self._measured_at = int(self.run.now())
            self.speeds.append(self.run.overview.pace.tokens_per_s())
        return [
            rollout.slot for rollout in self.run.overview.running.values() if not rollout.recent_text or rollout.why
        ]


def _streams(rollout: Rollout) -> bool:
    """Return whether an answer is streaming: the rollout runs, has text, and is not waiting."""
    return rollout.is_running and bool(rollout.recent_text) and not rollout.why
