"""Filtering, grouping and sorting of rollouts, in a thread for long runs.

`listings` implements the rules; `Lister` calls it directly for a short run, and otherwise in a thread that yields
partial lists, so that the app responds while a hundred thousand rollouts are filtered.
"""

import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
from operator import attrgetter

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.insight.failures import Group, GroupBy, group, in_order, with_cases
from console.insight.filter import Filter
from console.insight.rollout import Rollout
from console.insight.rollouts import RolloutList, Rollouts
from console.insight.sort_orders import Sorting, passes_by_case
from console.tui.data.throttle import Throttle

AT_ONCE = 5_000
"""Maximum number of rollouts of a run listed without a thread, in a few milliseconds."""
SLICE = 512
"""Rollouts filtered between checks for cancellation, at which other threads may run."""
PORTION_AFTER_S = 0.3
"""Seconds until the first partial list; doubled after each, since it costs as much as a complete one."""
FIRST_PORTION = 50_000
"""Rollouts whose list takes a few frames; the first partial list has no more of them."""

GroupPath = tuple[str, ...]
WHOLE_CASES = (GroupBy.REPEATS, GroupBy.NONE)
"""Groupings that list a case with all of its rollouts."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A list to be built."""

    by: GroupBy
    scope: Filter
    narrow: Filter
    """The user's text filter, in addition to the scope."""
    annotations: Mapping[Slot, Annotation]
    matches: Mapping[str, Container[Rollout]]
    """Rollouts in whose conversations a free text of the filter occurs, by text."""
    group_places: Mapping[GroupPath, int]
    """Positions of the groups in earlier lists, which they keep."""
    repeats: int = 1
    """Planned rollouts of each case."""
    sorting: Sorting | None = None
    """Order within a group; None for the order of the run."""
    contested: Collection[str] = ()
    """Cases whose key is wrong or ambiguous by the suite's errata."""

    def matcher(self, rollouts: Rollouts) -> Callable[[Sequence[int]], Iterable[int]]:
        """Return a function that applies the filter to rollouts of the run, by number."""
        keeps_kind: dict[int, bool] = {}
        """Whether rollouts of a kind may match, by its identity."""
        is_by_kind = not self.scope.tests and not self.narrow.tests

        def matching(numbers: Sequence[int]) -> Iterable[int]:
            kinds = list(rollouts.kinds_at(numbers))
            keeps = keeps_kind.copy()
            for kind in dict(zip(map(id, kinds), kinds, strict=True)).values():
                if id(kind) not in keeps:
                    keeps[id(kind)] = self.scope.matches_kind(kind) and self.narrow.matches_kind(kind)
                    if kind.order < 0:  # shared, so that it stays
                        keeps_kind[id(kind)] = keeps[id(kind)]
            kept = compress(numbers, map(keeps.__getitem__, map(id, kinds)))
            return kept if is_by_kind else (number for number in kept if self._keeps(rollouts.at(number)))

        return matching

    def _keeps(self, rollout: Rollout) -> bool:
        """Return whether a rollout matches the filter."""
        annotation = self.annotations.get(rollout.slot, NO_ANNOTATION) if self.annotations else NO_ANNOTATION
        words = [text for text in self.narrow.words if rollout in self.matches.get(text, ())]
        return self.scope.matches(rollout, annotation) and self.narrow.matches(rollout, annotation, words)

    @property
    def lists_whole_cases(self) -> bool:
        """True if a case with any matching rollout is listed with all of its rollouts."""
        return self.repeats > 1 and self.by in WHOLE_CASES

    def asks_the_same(self, other: "ListRequest") -> bool:
        """Return whether two requests have the same grouping and filters."""
        mine, others = ((each.by, each.scope.text, each.narrow.text, each.sorting) for each in (self, other))
        return mine == others


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of rollouts."""

    groups: Sequence[Group] = ()
    leaves: Sequence[Group] = ()
    """The lowest groups, in order."""
    order: RolloutList = field(default_factory=lambda: RolloutList.of(()))
    """All listed rollouts in reading order."""
    places: "array[int]" = field(default_factory=lambda: array("i"))
    """Position in `order` from 1 by `Rollout.order`; 0 if not listed."""
    leaf_numbers: "array[int]" = field(default_factory=lambda: array("i"))
    """Index in `leaves` by `Rollout.order`; -1 if not listed."""
    group_places: Mapping[GroupPath, int] = field(default_factory=dict[GroupPath, int])
    seen: int = 0
    """Number of `items` that the user has dealt with."""
    first_unseen: Rollout | None = None
    """The first unseen rollout that matches the filter, or else the first; None if nothing is listed."""
    is_whole: bool = True
    """True if the list is complete."""
    passes: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Passed and graded repeats by case; empty unless the list is sorted."""
    outcomes: Mapping[str | None, int] = field(default_factory=Counter[str | None])
    """Number of listed rollouts by `Rollout.counted_as`."""

    @property
    def has_cases(self) -> bool:
        """True if the lowest groups are cases with their repeats."""
        return bool(self.leaves) and self.leaves[0].is_case

    @property
    def items(self) -> int:
        """Number of rows that are stepped through: cases with their repeats, otherwise rollouts."""
        return len(self.leaves) if self.has_cases else len(self.order)

    def place_of(self, rollout: Rollout | None) -> int:
        """Return the position of a rollout in reading order, from 1; 0 if it is not listed."""
        return self.places[rollout.order] if rollout is not None and rollout.order < len(self.places) else 0

    def leaf_of(self, rollout: Rollout | None) -> Group | None:
        if not self.place_of(rollout):
            return None
        return self.leaves[self.leaf_number_of(rollout)]

    def leaf_number_of(self, rollout: Rollout | None) -> int:
        """Return the index of a listed rollout's lowest group in `leaves`."""
        assert rollout is not None
        return self.leaf_numbers[rollout.order]


def listings(
    request: ListRequest,
    rollouts: RolloutList,
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Listing]:
    """Yield partial lists of what has been filtered so far, then the complete one, unless `stopped`."""
    kept, matching = rollouts.pick(()), request.matcher(rollouts.rollouts)
    shown_at, pause_s, most = clock(), PORTION_AFTER_S, FIRST_PORTION
    for start in range(0, len(rollouts), SLICE):
        if stopped():
            return
        kept.numbers.extend(matching(rollouts.numbers[start : start + SLICE]))
        if kept and (len(kept) > most or clock() - shown_at > pause_s):
            listed = _with_whole_cases(request, kept, rollouts[: start + SLICE])
            yield _listing(request, listed, kept, len(rollouts), is_whole=False)
            shown_at, pause_s, most = clock(), 2 * pause_s, len(rollouts)
    listed = _with_whole_cases(request, kept, rollouts)
    if not stopped():
        passes = passes_by_case(rollouts) if request.sorting is not None else {}
        yield _listing(request, listed, kept, len(rollouts), is_whole=True, passes=passes)


def _with_whole_cases(request: ListRequest, kept: RolloutList, rollouts: RolloutList) -> RolloutList:
    """Return the rollouts that match or, if whole cases are listed, those whose case has any that matches."""
    if not request.lists_whole_cases:
        return kept
    names = kept.rollouts.cases()
    cases = {names[number] for number in kept.numbers}
    return rollouts.pick(compress(rollouts.numbers, map(cases.__contains__, rollouts.cases())))


def _listing(
    request: ListRequest,
    listed: RolloutList,
    kept: RolloutList,
    length: int,
    *,
    is_whole: bool,
    passes: Mapping[str, tuple[int, int]] | None = None,
) -> Listing:
    passes = passes or {}
    listed = listed if request.sorting is None else request.sorting.sorted(listed, passes)
    annotations = request.annotations
    group_places = dict(request.group_places)

    def in_known_order(groups: Sequence[Group]) -> list[Group]:
        for each in groups:
            group_places.setdefault(each.path, len(group_places))
            if request.sorting is None or not each.has_cases:  # cases are in the chosen order already
                each.parts = in_known_order(each.parts)
        return sorted(groups, key=lambda each: (each.rank, group_places[each.path]))

    parts = group(listed, request.by, annotations, repeats=request.repeats, contested=request.contested)
    if request.repeats > 1 and request.by is not GroupBy.REPEATS:
        parts = with_cases(parts)
    groups = in_known_order(parts)
    order, leaves = in_order(groups), [leaf for top in groups for leaf in top.leaves]
    places, leaf_numbers = array("i", bytes(4 * length)), array("i", b"\xff" * 4 * length)
    for place, number in enumerate(order.numbers, 1):
        places[number] = place
    for leaf_number, leaf in enumerate(leaves):
        for number in leaf.rollouts.numbers:
            leaf_numbers[number] = leaf_number

    unseen, seen = _unseen(order, leaves, annotations) if annotations else (order.numbers, 0)
    return Listing(
        groups,
        leaves,
        order,
        places,
        leaf_numbers,
        group_places,
        seen=seen,
        first_unseen=_first(order, unseen, kept),
        is_whole=is_whole,
        passes=passes,
        outcomes=order.count_by(attrgetter("counted_as")),
    )


def _unseen(
    order: RolloutList, leaves: Sequence[Group], annotations: Mapping[Slot, Annotation]
) -> tuple[Sequence[int], int]:
    """Return the rollouts that the user has not dealt with, by number, and the number of rows dealt with."""
    seen = {order.rollouts.number_of(slot) for slot, annotation in annotations.items() if annotation.is_seen}
    unseen = [number for number in order.numbers if number not in seen]
    if leaves and leaves[0].is_case:
        return unseen, sum(seen.issuperset(leaf.telling.numbers) for leaf in leaves)
    return unseen, len(order) - len(unseen)


def _first(order: RolloutList, unseen: Sequence[int], kept: RolloutList) -> Rollout | None:
    left = None if len(kept) == len(order) else set(kept.numbers)
    first = next((number for number in chain(unseen, order.numbers) if left is None or number in left), None)
    return None if first is None else order.rollouts.at(first)


class Lister:
    """Builds lists of a run one at a time; a new request replaces the current one."""

    def __init__(
        self,
        in_loop: Callable[[Callable[[], None]], object],
        listed: Callable[[], None],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        """Start idle.

        Args:
            in_loop: schedules a call in the event loop; thread-safe.
            listed: called in that loop after a list from a thread was delivered.
            at_once: maximum rollouts of a run listed without a thread.
        """
        self._in_loop, self._listed, self._at_once = in_loop, listed, at_once
        self._stop = threading.Event()
        self._request: ListRequest | None = None
        """The request being processed in a thread."""
        self._next: Callable[[], None] | None = None
        """Repeats a request that arrived while another list was being built."""

    @property
    def is_listing(self) -> bool:
        return self._request is not None

    def list(
        self,
        request: ListRequest,
        rollouts: RolloutList,
        take: Callable[[Listing], None],
        again: Callable[[], None],
    ) -> None:
        """Build a list, at once or in partial lists.

        Args:
            request: the list to build.
            rollouts: all rollouts of the run; must not change.
            take: receives each list, in the event loop.
            again: repeats the request once the current list is complete, if it has the same filters.
        """
        if len(rollouts) <= self._at_once:
            self._end()
            for listing in listings(request, rollouts, clock=lambda: 0.0):
                take(listing)
        elif self._request is not None and request.asks_the_same(self._request):
            self._next = again
        else:
            self._end()
            self._request = request
            work = (request, rollouts, take, self._stop)
            threading.Thread(target=self._run, args=work, name="list", daemon=True).start()

    def close(self) -> None:
        self._end()

    def _end(self) -> None:
        self._stop.set()
        self._stop, self._request, self._next = threading.Event(), None, None

    def _run(
        self,
        request: ListRequest,
        rollouts: RolloutList,
        take: Callable[[Listing], None],
        stop: threading.Event,
    ) -> None:
        throttle = Throttle()

        def stopped() -> bool:
            throttle()
            return stop.is_set()

        for listing in listings(request, rollouts, stopped):
            self._in_loop(partial(self._hand_over, listing, take, stop))

    def _hand_over(self, listing: Listing, take: Callable[[Listing], None], stop: threading.Event) -> None:
        if stop.is_set():
            return
        again = self._next
        if listing.is_whole:
            self._request = self._next = None
        take(listing)
        self._listed()
        if listing.is_whole and again is not None:
            again()


LEAST_PAUSE_S = 0.3
"""Minimum seconds between lists."""
SHARE = 8
"""Minimum ratio of the time between lists to the time taken by one, so that listing does not delay reading."""


class ListPace:
    """Measures how long lists take and schedules the next one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start idle; `clock` returns seconds."""
        self.has_begun = False
        """True if any list was started."""
        self._clock = clock
        self._has_news = self._is_listing = False
        self._begun_at = self._took_s = 0.0

    def note_news(self) -> None:
        """Record that there are changes to list."""
        self._has_news = True

    @property
    def is_due(self) -> bool:
        """True if there are changes, no list is in progress, and the pause has passed."""
        pause = max(LEAST_PAUSE_S, SHARE * self._took_s)
        return self._has_news and not self._is_listing and self._clock() - self._begun_at > pause

    def begin(self) -> None:
        """Record the start of a list, which includes all changes so far."""
        self.has_begun, self._is_listing, self._has_news, self._begun_at = True, True, False, self._clock()

    def end(self) -> None:
        if self._is_listing:
            self._is_listing, self._took_s = False, self._clock() - self._begun_at
