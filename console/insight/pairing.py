"""Which rollouts of two runs belong together: the same case of one suite, or across suites the same question. Pure.

Runs of one suite are paired by case id and rollout. Runs of different suites, such as one of ours and one that another
tool has recorded, are paired by what the user asks in the first request, then by case id; case ids alone may name other
cases, and whether the requests are the same is counted apart.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from console.core.case import Slot
from console.insight.comparison_side import ComparisonSide


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs, and how they were made."""

    slots: tuple[tuple[Slot, Slot], ...]
    """Of A and of B, in the order of A."""
    by_prompt: int = 0
    """How many were paired by what is asked; the others by case id."""
    is_across_suites: bool = False

    @property
    def by_id(self) -> int:
        """How many were paired by case id."""
        return len(self.slots) - self.by_prompt


def pair_slots(a: ComparisonSide, b: ComparisonSide) -> Pairing:
    """Return which rollouts that are there to be graded belong together."""
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
    """Return the partners of those rollouts of A whose question B has too, repeats in order."""
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
