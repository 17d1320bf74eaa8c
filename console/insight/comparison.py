"""Case-by-case comparison of two runs: lost and gained cases, and whether the difference may be chance. Pure.

Only rollouts that both runs have are compared (see `insight.pairing`). A pair with a broken, undecided or unfinished
side is excluded and counted separately, because a machinery fault proves nothing about a model. Pass rates are compared
with the exact McNemar test and Newcombe's interval for the paired difference. Repeats of a case are not independent, so
they are counted as one case, and runs with repeats are compared by case means, with bootstrap and sign flips. Runs
scored by a number (AidanBench: accepted answers) are compared by that number, question by question.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from console.core.case import Slot
from console.core.looks import Look
from console.core.outcome import Outcome
from console.core.run import Manifest, simulated_note_of
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.paired import SIGNIFICANT, Difference, holm, paired_observations, paired_rates, resampled
from console.core.statistics.sample import Observation, sample_of
from console.core.tally import group_reason
from console.insight.comparison_side import ComparisonSide
from console.insight.number_format import plural
from console.insight.pairing import Pairing, pair_slots
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.suites.headline import headline_of


class PairOutcome(StrEnum):
    """Change in a case's outcome from A to B."""

    BOTH = "both pass"
    LOST = "lost"
    GAINED = "gained"
    NEITHER = "both fail"
    AS_OFTEN = "as often"
    """Some repeats pass, and equally many in A and in B."""
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class RolloutPair:
    """One rollout in both runs."""

    a: Rollout
    b: Rollout
    outcome: PairOutcome
    change: float = 0.0
    """B minus A, of the headline score or of passing (-1, 0, 1)."""
    is_scored: bool = False
    """True if the headline score is compared instead of the outcome."""

    @property
    def slot(self) -> Slot:
        return self.a.slot

    @property
    def is_change(self) -> bool:
        """True if the case was lost or gained."""
        return self.outcome in (PairOutcome.LOST, PairOutcome.GAINED)


@dataclass(frozen=True, slots=True)
class CasePair:
    """One case in both runs, with all its repeats."""

    repeats: tuple[RolloutPair, ...]
    """The repeats, in run order."""
    outcome: PairOutcome
    """Change in the number of repeats that pass, or in the mean headline score."""
    change: float
    """B minus A, of the number of passed repeats or of the mean headline score."""

    @property
    def counted(self) -> Sequence[RolloutPair]:
        """The repeats that are graded in both runs."""
        return [pair for pair in self.repeats if pair.outcome is not PairOutcome.LEFT_OUT]

    @property
    def passed(self) -> tuple[int, int]:
        """Number of passed repeats in A and in B, of those graded in both."""
        sides = ([getattr(pair, side).outcome is Outcome.PASSED for pair in self.counted] for side in ("a", "b"))
        in_a, in_b = (sum(side) for side in sides)
        return in_a, in_b

    @property
    def telling(self) -> RolloutPair:
        """The repeat that shows the change: the first changed, else failed one with the most frequent reason."""
        changed = [pair for pair in self.repeats if pair.outcome is self.outcome]
        failed = [pair for pair in self.counted if pair.b.outcome is Outcome.FAILED]
        changed = changed or failed or self.counted or self.repeats
        reasons = [(pair.a if self.outcome is PairOutcome.GAINED else pair.b).reason for pair in changed]
        return changed[reasons.index(Counter(reasons).most_common(1)[0][0])]

    @property
    def a(self) -> Rollout:
        return self.telling.a

    @property
    def b(self) -> Rollout:
        return self.telling.b

    @property
    def slot(self) -> Slot:
        return self.telling.slot

    @property
    def is_scored(self) -> bool:
        """True if the headline score is compared instead of the outcome."""
        return any(pair.is_scored for pair in self.repeats)

    @property
    def is_change(self) -> bool:
        """True if the case was lost or gained."""
        return self.outcome in (PairOutcome.LOST, PairOutcome.GAINED)

    @property
    def name(self) -> str:
        """Id of the case, with the repeat if there is only one. Untrusted text."""
        return self.a.key.case if len(self.repeats) > 1 else str(self.a.key)

    def mean_scores(self, headline: str) -> tuple[float, float] | None:
        """Return the means of a score in A and B over the repeats graded in both; None if there are none."""
        count = len(self.counted)
        sums = [math.fsum(getattr(pair, side).scores[headline] for pair in self.counted) for side in ("a", "b")]
        return (sums[0] / count, sums[1] / count) if count else None


def case_pairs(pairs: Iterable[RolloutPair]) -> tuple[CasePair, ...]:
    """Collect the repeats of each case, in the order of the first ones."""
    by_case: dict[str, list[RolloutPair]] = defaultdict(list)
    for pair in pairs:
        by_case[pair.a.key.case].append(pair)
    return tuple(_case_pair(repeats) for repeats in by_case.values())


def _case_pair(repeats: Sequence[RolloutPair]) -> CasePair:
    if len(repeats) == 1:
        return CasePair((repeats[0],), repeats[0].outcome, repeats[0].change)
    counted = [pair for pair in repeats if pair.outcome is not PairOutcome.LEFT_OUT]
    change = math.fsum(pair.change for pair in counted)
    if change:
        outcome = PairOutcome.GAINED if change > 0 else PairOutcome.LOST
        return CasePair(tuple(repeats), outcome, change / len(counted) if counted[0].is_scored else change)
    outcomes = {pair.outcome for pair in counted} or {PairOutcome.LEFT_OUT}
    return CasePair(tuple(repeats), outcomes.pop() if len(outcomes) == 1 else PairOutcome.AS_OFTEN, change)


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of cases by outcome, and the difference they show."""

    both: int
    lost: int
    gained: int
    neither: int
    left_out: int
    difference: Difference
    rate_a: Interval | None = None
    """Pass rate of A over the compared rollouts; None when nothing is compared, or a score instead."""
    rate_b: Interval | None = None
    as_often: int = 0
    """Number of cases with mixed repeats whose pass counts are equal in A and B."""

    @property
    def cases(self) -> int:
        """Number of compared cases."""
        return self.both + self.lost + self.gained + self.neither + self.as_often

    @property
    def rollouts(self) -> int:
        """Number of compared rollouts; more than cases if cases have repeats."""
        return self.difference.rollouts


@dataclass(frozen=True, slots=True)
class Spent:
    """Resources that one side used in the compared pairs."""

    latency_p50: float | None
    """Median seconds per rollout."""
    cost_usd: float
    cost_unknown: int
    """Rollouts of unknown cost; if any, the sum is a lower bound."""
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ScorePair:
    """Means of a named score in both runs."""

    name: str
    a: float
    b: float
    difference: Difference


@dataclass(frozen=True, slots=True)
class Agreement:
    """Numbers of cases that agree or differ in a property, without cases in which it is unknown."""

    same: int
    other: int

    @property
    def verdict(self) -> bool | None:
        """True if all known pairs agree, False if some differ, None if none are known."""
        return None if self.same + self.other == 0 else self.other == 0

    def words(self, subject: Literal["case", "prompt"]) -> str:
        """Describe whether the sides agree, such as `same cases` or `prompt differs in 8 cases`."""
        if self.verdict is None:
            return f"{subject}s not known"
        if self.verdict:
            return f"same {subject}s"
        cases = plural(self.other, "case")
        return f"prompt differs in {cases}" if subject == "prompt" else f"{cases} differ{'s' * (self.other == 1)}"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Full result of comparing two runs."""

    a: ComparisonSide
    b: ComparisonSide
    headline: str
    """Name of the compared score; empty when passing is compared."""
    pairs: tuple[RolloutPair, ...]
    """All pairs, in the order of A."""
    cases: tuple[CasePair, ...]
    """The same pairs by case, in the order of A."""
    only_a: int
    """Number of rollouts that exist only in A."""
    only_b: int
    beyond: int
    """Number of rollouts in both runs that are excluded because B played them after the look that decided it."""
    counts: PairCounts
    categories: dict[str, PairCounts]
    reasons: tuple[tuple[str, int, int], ...]
    """Failure reasons as text with the number of cases in A and in B, largest change first."""
    scores: tuple[ScorePair, ...]
    spent_a: Spent
    spent_b: Spent
    data: Agreement
    """True if the cases are identical, ground truth included."""
    prompts: Agreement
    """True if the first requests are identical."""
    pairing: Pairing
    """Pairing of the rollouts."""

    def has_other_prompt(self, pair: RolloutPair) -> bool:
        """Return whether the first requests of a pair are known and differ."""
        in_a, in_b = self.a.request_digest(pair.a.slot), self.b.request_digest(pair.b.slot)
        return bool(in_a and in_b) and in_a != in_b

    @property
    def simulated(self) -> bool:
        """True if either run used a simulated model, in any role."""
        return bool(self.simulated_note)

    @property
    def simulated_note(self) -> str:
        """Simulated parts of the runs; may be empty."""
        return simulated_note_of(side.manifest.simulated_note for side in (self.a, self.b))

    @property
    def single(self) -> RolloutPair | None:
        """The only pair of a comparison, such as of a branch, which has no rates; None for several pairs."""
        return self.pairs[0] if len(self.pairs) == 1 else None

    def changes(self) -> list[CasePair]:
        """Return lost cases, then gained ones, each by size of change, then in run order."""
        changed = [case for case in self.cases if case.is_change]
        return sorted(changed, key=lambda case: (case.outcome is PairOutcome.GAINED, -abs(case.change)))

    def with_outcome(self, *outcomes: PairOutcome) -> list[CasePair]:
        return [case for case in self.cases if case.outcome in outcomes]


def compare(a: ComparisonSide, b: ComparisonSide) -> RunComparison:
    """Compare two runs on the rollouts that both have."""
    headline = _headline(a, b)
    listed_a, listed_b = a.graded_slots, b.graded_slots
    pairing = pair_slots(a, b)
    shared, look = pairing.slots, planned_look(a, b)
    if look is not None and look.rollouts < look.planned:
        beyond = set(b.overview.fold.beyond)  # these finished in order of speed: no fair sample
        seen = set([slot for slot in listed_b if slot not in beyond][: look.rollouts])
        shared = [pair for pair in shared if pair[1] in seen]
    pairs = tuple(_pair(a.rollouts[in_a], b.rollouts[in_b], headline) for in_a, in_b in shared)
    groups: dict[str, list[RolloutPair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.a.category].append(pair)
    counted = [pair for pair in pairs if pair.outcome is not PairOutcome.LEFT_OUT]
    width = _largest_change(headline, a.manifest, b.manifest)
    failed_in = _chosen_failures(a, b, counted)

    def count(group: Sequence[RolloutPair]) -> PairCounts:
        part = count_pairs(group, headline, width)
        return part if not failed_in else replace(part, difference=_untested(part.difference, failed_in))

    return RunComparison(
        a=a,
        b=b,
        headline=headline,
        pairs=pairs,
        cases=case_pairs(pairs),
        only_a=len(listed_a) - len(pairing.slots),
        only_b=len(listed_b) - len(pairing.slots),
        beyond=len(pairing.slots) - len(shared),
        pairing=pairing,
        counts=count(pairs),
        categories=corrected({name: count(group) for name, group in groups.items()}),
        reasons=tuple(_failed_cases(counted, reason_words)),
        scores=tuple(_scores(counted, a.manifest, b.manifest)),
        spent_a=_spent([pair.a for pair in counted]),
        spent_b=_spent([pair.b for pair in counted]),
        data=Agreement(0, 0)
        if pairing.is_across_suites
        else _agreement(shared, lambda side, slot: side.case_digests.get(slot[0], ""), a, b),
        prompts=_agreement(shared, lambda side, slot: side.request_digest(slot), a, b),
    )


def _chosen_failures(a: ComparisonSide, b: ComparisonSide, counted: Sequence[RolloutPair]) -> str:
    """Return the run, A or B, whose failures the other was to play; empty if the cases were not chosen like that."""
    for name, chosen_from, chooser in (("A", a, b), ("B", b, a)):
        passes = any(chosen_from.rollouts[slot].outcome is Outcome.PASSED for slot in chosen_from.graded_slots)
        fails = all(getattr(pair, name.lower()).outcome is Outcome.FAILED for pair in counted)
        if counted and chooser.manifest.selection.ids and passes and fails:
            return name
    return ""


def _untested(difference: Difference, failed_in: str) -> Difference:
    return Difference(
        difference.value,
        None,
        None,
        None,
        difference.cases,
        difference.rollouts,
        difference.clusters,
        failed_in=failed_in,
    )


def planned_look(a: ComparisonSide, b: ComparisonSide) -> Look | None:
    """Return the look that decided B against A, if B planned one; its interval is valid after an early end as well."""
    fold = b.overview.fold
    until = b.manifest.looks.until if b.manifest.looks is not None else None
    if until is None or until.baseline != a.manifest.id or until.by_category:
        return None
    look = next((look for look in fold.looks if look.decision), None)
    is_end = fold.closed is not None and (fold.closed.reason == "decided" or (look is not None and look.is_last))
    return look if is_end else None


def bootstrapped(comparison: RunComparison) -> Difference:
    """Return the difference with a bootstrap interval over cases, to be shown next to the one in `counts`."""
    return resampled(_observations(comparison.pairs, lambda pair: pair.change))


def error_types(comparison: RunComparison) -> list[tuple[str, int, int]]:
    """Return (error type, cases in A, cases in B) for the compared failures, largest change first."""
    return _failed_cases(pair for case in comparison.cases for pair in case.counted)


def _headline(a: ComparisonSide, b: ComparisonSide) -> str:
    """Return the score compared in place of passing, if both runs have it."""
    names_a, names_b = ({name for rollout in side.rollouts.values() for name in rollout.scores} for side in (a, b))
    return headline_of(names_a & names_b, a.manifest.headline, b.manifest.headline)


def _pair(a: Rollout, b: Rollout, headline: str) -> RolloutPair:
    if not (_is_graded(a, headline) and _is_graded(b, headline)):
        return RolloutPair(a, b, PairOutcome.LEFT_OUT)
    if headline:
        change = b.scores[headline] - a.scores[headline]
        return RolloutPair(
            a,
            b,
            PairOutcome.GAINED if change > 0 else PairOutcome.LOST if change < 0 else PairOutcome.BOTH,
            change,
            True,
        )
    passed_a, passed_b = a.outcome is Outcome.PASSED, b.outcome is Outcome.PASSED
    changed = {(True, True): PairOutcome.BOTH, (True, False): PairOutcome.LOST, (False, True): PairOutcome.GAINED}
    return RolloutPair(a, b, changed.get((passed_a, passed_b), PairOutcome.NEITHER), float(passed_b - passed_a))


def _is_graded(rollout: Rollout, headline: str) -> bool:
    graded = rollout.outcome is not None and rollout.outcome.is_graded
    return graded and (not headline or headline in rollout.scores)


def count_pairs(pairs: Iterable[RolloutPair], headline: str = "", largest: float = 1.0) -> PairCounts:
    """Count cases and test the difference between the sides in a score, of passing if `headline` is empty."""
    listed = list(pairs)
    counts = Counter(case.outcome for case in case_pairs(listed))
    both, lost, gained, neither = (
        counts[outcome] for outcome in (PairOutcome.BOTH, PairOutcome.LOST, PairOutcome.GAINED, PairOutcome.NEITHER)
    )
    left_out, as_often = counts[PairOutcome.LEFT_OUT], counts[PairOutcome.AS_OFTEN]
    changes = _observations(listed, lambda pair: pair.change)
    if headline:
        difference = paired_observations(changes, largest)
        return PairCounts(both, lost, gained, neither, left_out, difference, as_often=as_often)
    sample_a, sample_b = (
        sample_of(_observations(listed, lambda pair, side=side: getattr(pair, side).outcome is Outcome.PASSED))
        for side in ("a", "b")
    )
    plain = sample_a.is_plain
    difference = paired_rates(both, lost, gained, neither) if plain else paired_observations(changes, largest)
    rates = (rate_interval(sample_a), rate_interval(sample_b))
    return PairCounts(both, lost, gained, neither, left_out, difference, *rates, as_often)


def corrected(categories: dict[str, PairCounts]) -> dict[str, PairCounts]:
    """Apply Holm's correction to the p values of categories if at least two are significant."""
    tested = {name: p for name, part in categories.items() if (p := part.difference.p) is not None}
    if sum(p < SIGNIFICANT for p in tested.values()) < 2:
        return categories
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {
        name: replace(part, difference=replace(part.difference, adjusted=adjusted.get(name)))
        for name, part in categories.items()
    }


def _observations(pairs: Iterable[RolloutPair], read: Callable[[RolloutPair], float]) -> list[Observation]:
    return [
        Observation(pair.a.key.case, float(read(pair)), pair.a.category, _cluster(pair))
        for pair in pairs
        if pair.outcome is not PairOutcome.LEFT_OUT
    ]


def _cluster(pair: RolloutPair) -> str:
    """Read the cluster from either run, because older versions did not record it."""
    return pair.b.cluster or pair.a.cluster


def _failed_cases(pairs: Iterable[RolloutPair], name: Callable[[str], str] = str) -> list[tuple[str, int, int]]:
    """Return (reason, cases in A, cases in B), largest change first; a case counts once for each of its reasons."""
    failed = {
        (side, rollout.key.case, name(reason))
        for pair in pairs
        for side, rollout in (("a", pair.a), ("b", pair.b))
        if rollout.outcome is not None and (reason := group_reason(rollout))
    }
    in_a, in_b = (Counter(reason for of, _, reason in failed if of == side) for side in ("a", "b"))
    names = sorted(
        in_a | in_b, key=lambda reason: (-abs(in_b[reason] - in_a[reason]), -(in_a[reason] + in_b[reason]), reason)
    )
    return [(reason, in_a[reason], in_b[reason]) for reason in names]


def _largest_change(score: str, *manifests: Manifest) -> float:
    """Return the largest possible difference of a score, or of passing if empty; infinite if its scale is unknown."""
    return max(manifest.largest_change(score) for manifest in manifests)


def _scores(pairs: Sequence[RolloutPair], *manifests: Manifest) -> Iterable[ScorePair]:
    """Yield the scores that both sides of any compared pair have."""
    names = dict.fromkeys(name for pair in pairs for name in pair.a.scores if name in pair.b.scores)
    for name in names:
        having = [pair for pair in pairs if name in pair.a.scores and name in pair.b.scores]
        a = sample_of(_observations(having, lambda pair, name=name: pair.a.scores[name]))
        b = sample_of(_observations(having, lambda pair, name=name: pair.b.scores[name]))
        changes = _observations(having, lambda pair, name=name: pair.b.scores[name] - pair.a.scores[name])
        difference = paired_observations(changes, _largest_change(name, *manifests))
        yield ScorePair(name, a.mean, b.mean, difference)


def _spent(rollouts: Sequence[Rollout]) -> Spent:
    seconds = sorted(rollout.seconds for rollout in rollouts)
    middle = len(seconds) // 2
    median = None
    if seconds:
        median = seconds[middle] if len(seconds) % 2 else (seconds[middle - 1] + seconds[middle]) / 2
    return Spent(
        latency_p50=median,
        cost_usd=math.fsum(rollout.cost_usd or 0.0 for rollout in rollouts),
        cost_unknown=sum(rollout.cost_usd is None for rollout in rollouts),
        input_tokens=sum(rollout.input_tokens for rollout in rollouts),
        output_tokens=sum(rollout.output_tokens for rollout in rollouts),
    )


def _agreement(
    shared: Sequence[tuple[Slot, Slot]],
    read: Callable[[ComparisonSide, Slot], str],
    a: ComparisonSide,
    b: ComparisonSide,
) -> Agreement:
    agrees: dict[str, bool] = {}
    for in_a, in_b in shared:
        if (of_a := read(a, in_a)) and (of_b := read(b, in_b)):
            agrees[in_a[0]] = agrees.get(in_a[0], True) and of_a == of_b
    same = sum(agrees.values())
    return Agreement(same, len(agrees) - same)
