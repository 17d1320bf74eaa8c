"""The planned order of a run, which determines the rollouts that each look covers.

Without a seed it is the order of the suite. With one it is stratified: within each category the units (clusters, or
independent cases) come in a seeded random order, and categories are merged so that every prefix contains them in
proportion. Setup cases come first and are not counted.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import overload

import msgspec

from console.core.case import Case, Slot
from console.core.looks import Look
from console.core.run import Manifest
from console.suites.selection import select_planned
from console.suites.sharding import linked_groups, part_of
from console.suites.suite import Result, Suite


def planned_order(cases: Sequence[Case], seed: int | None) -> list[Case]:
    """Return cases in the order in which they are played and covered by looks.

    Args:
        cases: the cases in the order of the suite.
        seed: seed of the random order; None for the order of the suite.
    """
    if seed is None:
        return list(cases)
    setup = [case for case in cases if not case.graded]
    return [*setup, *(case for unit in units_of(cases, seed) for case in unit)]


def units_of(cases: Iterable[Case], seed: int | None) -> list[list[Case]]:
    """Return independent groups of graded cases in planned order: clusters, and cases that depend on one another."""
    graded = {case.id: case for case in cases if case.graded}
    first_of: dict[tuple[str, str], str] = {}
    linked = [
        msgspec.structs.replace(
            case, depends_on=(*case.depends_on, first_of.setdefault((case.category, case.cluster), case.id))
        )
        if case.cluster
        else case
        for case in graded.values()
    ]
    units = [[graded[case_id] for case_id in ids] for ids in linked_groups(linked)]
    if seed is None:
        return units
    drawn = sorted(units, key=lambda unit: _draw(seed, unit[0].id))
    sizes = Counter(unit[0].category for unit in units)
    places = Counter[str]()
    ranks: list[tuple[float, list[Case]]] = []
    for unit in drawn:
        category = unit[0].category
        ranks.append(((places[category] + _draw(seed, unit[0].id, "rank")) / sizes[category], unit))
        places[category] += 1
    return [unit for _, unit in sorted(ranks, key=lambda ranked: ranked[0])]


def _draw(seed: int, *words: str) -> float:
    """Return a uniform number from 0 to 1 that is the same in any Python version."""
    digest = hashlib.sha256("\0".join([str(seed), *words]).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


@dataclass(frozen=True, slots=True)
class RolloutOrder:
    """The order of rollouts, computed on demand, as a run may have a million."""

    cases: int
    rollouts: int
    """Rollouts of each case."""
    by_case: bool
    """True to play all rollouts of a case in a row; else all cases before any is repeated."""

    def __len__(self) -> int:
        return self.cases * self.rollouts

    def at(self, place: int) -> tuple[int, int]:
        """Return the numbers of case and rollout at a position."""
        if self.by_case:
            return divmod(place, self.rollouts)
        rollout, case = divmod(place, self.cases)
        return case, rollout

    def place(self, case: int, rollout: int) -> int:
        """Return the position of a rollout, given the number of its case."""
        return case * self.rollouts + rollout if self.by_case else rollout * self.cases + case


class PlannedSlots(Sequence[Slot]):
    """The graded rollouts in planned order."""

    def __init__(self, cases: Iterable[Case], rollouts: int, *, by_case: bool) -> None:
        self._ids = [case.id for case in cases if case.graded]
        self._number = {case_id: number for number, case_id in enumerate(self._ids)}
        self._order = RolloutOrder(len(self._ids), rollouts, by_case)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, place: int) -> Slot: ...
    @overload
    def __getitem__(self, place: slice) -> list[Slot]: ...
    def __getitem__(self, place: int | slice) -> Slot | list[Slot]:
        """Return the rollout at a position, or a list of those at several."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        case, rollout = self._order.at(place)
        return self._ids[case], rollout

    def __iter__(self) -> Iterator[Slot]:
        """Yield the rollouts in order, faster than one by one."""
        numbers = range(self._order.rollouts)
        if self._order.by_case:
            return product(self._ids, numbers)
        return ((case_id, number) for number in numbers for case_id in self._ids)

    def place(self, slot: Slot) -> int | None:
        """Return the position of a rollout; None for one that is not graded."""
        number = self._number.get(slot[0])
        return self._order.place(number, slot[1]) if number is not None else None


def units_in_order(graded: Sequence[Case]) -> list[list[Case]]:
    """Return the units of cases that are already in planned order."""
    place = {case.id: number for number, case in enumerate(graded)}
    return sorted(units_of(graded, None), key=lambda unit: place[unit[0].id])


def first_results(suite: Suite, results: Sequence[Result], manifest: Manifest, look: Look | None) -> Sequence[Result]:
    """Return the results that a look covers, for the report of a run in progress; empty before the first look."""
    plan = manifest.looks
    if plan is None or look is None:
        return []
    cases = select_planned(suite, manifest.selection, manifest.setting, manifest.truths)
    if manifest.shard is not None:
        cases = part_of(cases, manifest.shard)
    by_case = plan.seed is not None
    slots = PlannedSlots(planned_order(cases, plan.seed), manifest.rollouts, by_case=by_case)
    seen = set(slots[: look.rollouts])
    return [result for result in results if (result.case_id, result.rollout) in seen]
