"""`LiveController`: which rollouts Live lists and in which order, which conversations it shows, and when it draws.

The screen says what the reader did and what the feed brought, and draws what the controller answers. Until the reader
moves, the first tile follows the run: it shows the newest answer that streams, until that conversation ends, in every
order of the list. Once the reader has moved, nothing that arrives moves the cursor or what it shows.
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
"""How long an ended conversation stays in view before the next one is watched."""
LOADING_LIST_S = 0.3
"""While a large run is read, its growing list is drawn this often."""
ROWS_EVERY_S = 0.18
"""Rows tell where things stand, the watched text flows: rows are drawn half as often, which halves the bytes."""
FIGURES_EVERY_S = 0.45
"""Figures that change all the time are drawn about twice a second, not with every token."""
SORT_EVERY_S = 1.0
"""A sorted list is sorted again no more often, as rows that jump cannot be read."""
SPEEDS = 24
"""Seconds over which it is shown how fast the run has been going."""
MOST_TILES = 9
RUNNING = SortOrder("running now", lambda rollout: rollout.order)
"""Only what runs, in rows that stay where they are."""


class WatchedRun(Protocol):
    """A run as far as it is read; `RunFeed` and `Replay` are such."""

    @property
    def overview(self) -> Overview:
        """Its rollouts and figures."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What was to be played."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether it is being played."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether the journal was read to its end once."""
        ...

    @property
    def damages(self) -> int:
        """Journal lines that could not be read."""
        ...

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation as far as it is known.

        Raises:
            UsageError: the journal is gone.
        """
        ...

    def now(self) -> float:
        """Return the time by which it is shown, seconds since the epoch."""
        ...


class StableRows:
    """The rollout of each row, from the top: a row is given to the next conversation when its own has ended.

    A finished conversation keeps its row, with its outcome, until a new one needs it; the row the cursor is on is
    given away last.
    """

    def __init__(self) -> None:
        self._rows: list[Slot] = []

    @property
    def slots(self) -> list[Slot]:
        """The rollouts of all rows, from the top."""
        return list(self._rows)

    def update(self, running: Collection[Slot], *, kept: Slot | None = None, spare: int = 0) -> bool:
        """Give rows to what runs now.

        Args:
            running: what runs, in order of start.
            kept: the rollout under the cursor, which keeps its row even when it has ended.
            spare: rows of ended conversations to keep besides.

        Returns:
            Whether any row changed.
        """
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
    """What one tile shows."""

    slot: Slot | None = None
    is_pinned: bool = False
    """Whether it keeps its conversation whatever ends or begins."""
    beside: "WatchedRun | None" = None
    """The run beside the watched one that the conversation is of; None: it is of the watched one."""


@dataclass(frozen=True, slots=True)
class TileState:
    """What the title of a tile says."""

    rollout: Rollout | None
    words: str
    """Whether it is followed, frozen or pinned."""
    is_pinned: bool
    run: WatchedRun | None = None
    """The run it is of, where the wall shows several."""


@dataclass(frozen=True, slots=True)
class TileSource:
    """The conversations of one run that tiles may show."""

    beside: WatchedRun | None
    """The run, if it is not the watched one."""
    running: Collection[Slot]
    """In order of start."""
    lingering: Collection[Slot] = ()
    """What has ended a moment ago, and stays where it is."""
    others: Sequence[Slot] = ()
    """What else could be shown, such as what has ended, in the order of the list."""


class WatchedConversations:
    """The conversations of all tiles, row by row: a tile keeps its own until that has ended, a pinned one for good."""

    def __init__(self) -> None:
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
        """All conversations of the watched run that are shown."""
        return {tile.slot for tile in self.tiles if tile.slot is not None and tile.beside is None}

    def resize(self, count: int) -> None:
        """Have so many tiles; those that go lose conversation and pin."""
        self.tiles = [*self.tiles[:count], *(WatchedTile() for _ in range(count - len(self.tiles)))]

    def fill(self, sources: Sequence[TileSource]) -> None:
        """Give tiles that are free conversations that no tile shows, of the run that has the fewest tiles first."""
        for tile in self.tiles:
            source = next((source for source in sources if source.beside is tile.beside), None)
            if source is None:  # nobody follows that run any more
                tile.slot = tile.beside = None
                tile.is_pinned = False
        for tile in self.tiles:
            source = next(source for source in sources if source.beside is tile.beside)
            if tile is self.cursor_tile or tile.is_pinned or tile.slot in (*source.running, *source.lingering):
                continue
            if not self._take_running(tile, sources) and tile.slot is None:
                self._take_other(tile, sources[0])

    def _take_running(self, tile: WatchedTile, sources: Sequence[TileSource]) -> bool:
        """Give a tile what runs and is not shown; say whether there is such."""
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
    """The rules of the Live screen. Times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        """Watch no run yet."""
        self.run: WatchedRun | None = None
        self._chosen_order: SortOrder | None = None
        self.view_orders: Sequence[SortOrder] | None = None
        """Orders that a suite's own view adds; where there is one, all rollouts are listed, running or not."""
        self.listed: list[Slot] = []
        """The rollouts of the list, from the top."""
        self.watched = WatchedConversations()
        self.beside: Sequence[WatchedRun] = ()
        """The other runs whose conversations the wall shows."""
        self.follows_run = True
        """Whether the first tile follows the run: until the reader moves, and again when asked to."""
        self._followed: Slot | None = None
        """What the first tile went on to last; what it shows before that is only where the list begins."""
        self._sorted_by: SortOrder | None = None
        self._sorted_at = 0.0
        self._rows = StableRows()
        self._stale_rows: set[Slot] = set()
        self._rows_at = self._figures_at = self._listed_at = 0.0
        self._second = self._measured_at = 0
        self.speeds: deque[float | None] = deque(maxlen=SPEEDS)
        """Output tokens a second, second by second, the last one last."""

    @property
    def is_live(self) -> bool:
        """Whether the run is being played."""
        return self.run is not None and self.run.is_live

    @property
    def is_following(self) -> bool:
        """Whether the first tile goes from conversation to conversation as they stream."""
        return self.is_live and self.follows_run

    def rollout(self, slot: Slot | None) -> Rollout | None:
        """Return a rollout of the run."""
        return self.run.overview.rollouts.get(slot) if self.run is not None and slot is not None else None

    def run_of(self, tile: WatchedTile) -> WatchedRun | None:
        """Return the run that a tile shows a conversation of."""
        return tile.beside or self.run

    def rollout_of(self, tile: WatchedTile) -> Rollout | None:
        """Return the rollout that a tile shows."""
        run = self.run_of(tile)
        return run.overview.rollouts.get(tile.slot) if run is not None and tile.slot is not None else None

    def restart(self) -> None:
        """Forget the order of the rows: the run is read, or replayed, from its beginning again."""
        self._rows = StableRows()

    # The list --------------------------------------------------------------------------------------------------------

    @property
    def orders(self) -> tuple[SortOrder, ...]:
        """The orders that make sense now, the usual one first."""
        if self.view_orders is not None:
            return RUN_ORDER, *self.view_orders, WORST_FIRST
        return (RUNNING, RUN_ORDER, WORST_FIRST) if self.is_live else (RUN_ORDER, WORST_FIRST)

    @property
    def order(self) -> SortOrder:
        """The order of the list: the one the reader chose while that makes sense, else the usual one."""
        orders = self.orders
        return self._chosen_order if self._chosen_order in orders else orders[0]

    def next_order(self) -> SortOrder:
        """Change to the next order."""
        orders = self.orders
        self._chosen_order = orders[(orders.index(self.order) + 1) % len(orders)]
        return self._chosen_order

    def restore_order(self, name: str) -> None:
        """Take the order of that name, if there is one; the usual one for an empty name."""
        chosen = self._chosen_order if name else None
        self._chosen_order = next((order for order in self.orders if order.name == name), chosen)

    def list_rollouts(self, cursor: Slot | None, now: float) -> list[Slot]:
        """Return the rollouts of the list in their order; the one under the cursor keeps its row."""
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
        """Sort the list, a live one now and then; the row under the cursor stays where it is."""
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
        """Show the conversation to which the reader moved; say whether it is another one than before."""
        tile = self.watched.cursor_tile
        if tile.slot == slot and tile.beside is None:
            return False
        self.follows_run = self.follows_run and tile.slot is None
        tile.slot, tile.beside = slot, None
        return True

    def watch_first(self) -> None:
        """Show the first conversation of the list, without a move of the reader."""
        if self.follows_run and self.listed:
            tile = self.watched.cursor_tile
            tile.slot, tile.beside = self.listed[0], None
            self._followed = self.listed[0]

    def toggle_follow(self, tile: int, *, at_end: bool) -> bool:
        """Pin what a tile shows, or follow again; say whether its text is at its end from now on.

        The tile that follows the cursor follows the run or is pinned. The others change by themselves: there, only the
        text is held or follows its end.

        Args:
            tile: the tile.
            at_end: whether its text is at its end, so that what is written is seen.
        """
        if not self.is_live or self.watched.tiles[tile] is not self.watched.cursor_tile:
            return not at_end
        self.follows_run = not (self.follows_run and at_end)
        return True

    def note_scroll(self, tile: int, *, at_end: bool) -> None:
        """The reader has moved in the text of a tile: away from its end, what it shows is pinned."""
        if not at_end and self.watched.tiles[tile] is self.watched.cursor_tile:
            self.follows_run = False

    def toggle_pin(self, tile: int) -> bool:
        """Keep the conversation of a tile shown, or not any more; say whether it is kept."""
        pinned = self.watched.tiles[tile]
        pinned.is_pinned = pinned.slot is not None and not pinned.is_pinned
        return pinned.is_pinned

    def advance(self, cursor: Slot | None) -> Slot | None:
        """Give the tiles their conversations, and once the followed one has ended, go on to the newest that streams.

        Args:
            cursor: the rollout under the cursor of the list.

        Returns:
            The conversation that was gone on to, which the cursor has to follow; None when it may stay.
        """
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
        """Return the conversation that began last of those that stream and that no other tile shows."""
        cursor_tile = self.watched.cursor_tile
        shown = {tile.slot for tile in self.watched.tiles if tile is not cursor_tile and tile.beside is None}
        streams = [other for other in run.overview.running.values() if _streams(other) and other.slot not in shown]
        newest = max(streams, key=lambda other: (other.started_at, other.order), default=None)
        return newest.slot if newest is not None else None

    def _first_to_watch(self, run: WatchedRun, cursor: Slot | None) -> Slot | None:
        """Return what the cursor is on, or where that is shown already, what else runs."""
        candidates = [*([cursor] if cursor is not None else []), *run.overview.running]
        shown = self.watched.slots
        return next((slot for slot in candidates if slot not in shown), candidates[0] if candidates else None)

    def _fill(self, run: WatchedRun, cursor: Slot | None) -> None:
        """Give the other tiles what runs, here or beside; in a run that is over, what follows the cursor."""
        is_over = cursor is not None and not run.is_live
        start = self.listed.index(cursor) if is_over and cursor in self.listed else 0
        others = [*self.listed[start : start + MOST_TILES], *self.listed[:MOST_TILES]]
        own = TileSource(None, run.overview.running, self._lingering(run, None), others)
        beside = (TileSource(each, each.overview.running, self._lingering(each, each)) for each in self.beside)
        self.watched.fill([own, *beside])

    def _lingering(self, run: WatchedRun, beside: WatchedRun | None) -> set[Slot]:
        """Return what is shown of a run and has ended only a moment ago."""
        rollouts = [self.rollout_of(tile) for tile in self.watched.tiles if tile.beside is beside]
        return {rollout.slot for rollout in rollouts if rollout is not None and not self._has_lingered(run, rollout)}

    def _has_lingered(self, run: WatchedRun, rollout: Rollout) -> bool:
        return bool(rollout.ended_at) and run.now() - rollout.ended_at > LINGER_S

    def is_watched(self, key: Key) -> bool:
        """Whether a tile shows the conversation."""
        return (key.case, key.rollout) in self.watched.slots

    def tile_states(self, at_end: Sequence[bool]) -> list[TileState]:
        """Return what the titles of all tiles say; `at_end`: of each, whether its text is at its end."""
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
        """Return for a tile's title whether it follows the run or is pinned, and by which key that changes."""
        shown = self.watched.tiles[tile]
        if shown.is_pinned:
            return "PINNED (m lets go)"
        if not self.is_live or shown.slot is None:
            return ""
        if shown is self.watched.cursor_tile:
            return "FOLLOWING (space pins)" if self.follows_run else "PINNED (space follows)"
        return "" if at_end else "text held (space follows)"

    # When to draw ----------------------------------------------------------------------------------------------------

    def is_sort_due(self, now: float) -> bool:
        """Whether a live list that is sorted by what changes has to be sorted again."""
        return self.is_live and self.order is not RUNNING and now - self._sorted_at >= SORT_EVERY_S

    def is_list_due(self, now: float) -> bool:
        """Whether the list may be drawn: always, but while the run is read only now and then."""
        is_due = self.run is not None and (self.run.is_read or now - self._listed_at > LOADING_LIST_S)
        self._listed_at = now if is_due else self._listed_at
        return is_due

    def rows_to_draw_at_once(self, changed: Collection[Slot], begun: Collection[Slot]) -> Collection[Slot]:
        """Return the rows whose answers have begun, which readers wait for; the others come with `stale_rows`."""
        self._stale_rows.update(changed)
        if not self.is_live:
            return ()
        self._stale_rows.difference_update(begun)
        return begun

    def stale_rows(self, now: float) -> Collection[Slot]:
        """Return the rows that have changed, once enough time has passed to draw them, and forget them."""
        if not self._stale_rows or now - self._rows_at <= ROWS_EVERY_S:
            return ()
        self._rows_at = now
        stale, self._stale_rows = self._stale_rows, set()
        return stale

    def are_figures_due(self, now: float) -> bool:
        """Whether the figures of a live run, which change with time too, are to be drawn again."""
        is_due = self.is_live and now - self._figures_at > FIGURES_EVERY_S
        self._figures_at = now if is_due else self._figures_at
        return is_due

    def rows_with_clock(self, now: float) -> Collection[Slot] | None:
        """Return once a second the rows that show how long something takes; None before a second has passed."""
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
    """Whether an answer is being written: it runs, has said something, and does not wait for its turn."""
    return rollout.is_running and bool(rollout.recent_text) and not rollout.why
