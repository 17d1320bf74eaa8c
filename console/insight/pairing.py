"""Pairing of rollouts in two runs: by case within a suite, by question across suites. Pure.

Runs of one suite are paired by case id and rollout. Runs of different suites, such as a run of ours and an imported
one, are paired by the user's text in the first request, then by case id. Because equal ids may denote different cases,
agreement of the requests is counted separately.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from console.core.case import Slot
from console.insight.comparison_side import ComparisonSide


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of rollouts, and the method of pairing."""

    slots: tuple[tuple[Slot, Slot], ...]
    """(slot in A, slot in B), in the order of A."""
    by_prompt: int = 0
    """Number of pairs made by the user's text; the others were made by case id."""
    is_across_suites: bool = False

    @property
    def by_id(self) -> int:
        """Number of pairs made by case id."""
        return len(self.slots) - self.by_prompt


def pair_slots(a: ComparisonSide, b: ComparisonSide) -> Pairing:
    """Pair the graded rollouts of two runs."""
    listed = a.graded_slots
    if a.manifest.suite == b.manifest.suite:
        return Pairing(tuple((slot, slot) for slot in listed if slot in b.rollouts))
    free = dict.fromkeys(b.graded_slots)
    partners = _by_prompt(a, b, listed)
    by_prompt = len(partners)
    for slot in partners.values():
        free.pop(slot, None)
    for slot in listed:
        if slot not in partners and slot in free:
            partners[slot] = slot
            free.pop(slot)
    pairs = tuple((slot, partners[slot]) for slot in listed if slot in partners)
    return Pairing(pairs, by_prompt, is_across_suites=True)


def _by_prompt(a: ComparisonSide, b: ComparisonSide, listed: Iterable[Slot]) -> dict[Slot, Slot]:
    """Return pairs for the rollouts of A whose question also occurs in B; repeats are paired in order."""
    asked: dict[str, list[Slot]] = defaultdict(list)
    for slot in b.graded_slots:
        if question := b.question_digest(slot):
            asked[question].append(slot)
    partners: dict[Slot, Slot] = {}
    for slots in asked.values():
        slots.reverse()
    for slot in listed:
        candidates = asked.get(a.question_digest(slot))
        if candidates:
            partners[slot] = candidates.pop()
    return partners
