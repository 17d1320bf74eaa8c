"""Results of an experiment as text and tables. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from console.core.case import Slot
from console.core.experiment import Arm, Experiment, Stratum
from console.core.looks import Look
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.core.statistics.decision import Decision
from console.core.statistics.intervals import wilson
from console.core.statistics.paired import holm
from console.core.statistics.sample import Observation, sample_of
from console.core.statistics.stratified import FLIP, WholeEffect, whole_effect
from console.insight.as_sent import diff_of
from console.insight.number_format import bounds, count, number, plural, rate, signed
from console.insight.report import Row, Section
from console.insight.rollout import Rollout

CHOSEN, OTHER_FAILURES, PASSED = "chosen", "other failures", "passed"
VERDICTS = ("fixed", "lost", "unchanged")
"""Possible results of a case, in the order of reports."""
_MOST_ROWS = 40


def chance_words(passed: int, graded: int) -> str:
    """Return the number of passed conversations, with the interval of the chance of passing."""
    if not graded:
        return "nothing was graded"
    low, high = wilson(passed, graded)
    interval = f" {bounds(low, high)}" if graded > 1 else ""
    return f"{passed} of {graded} passed{interval}"


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A drawn case before and after the change: means over its rollouts."""

    case: str
    stratum: str
    before: float
    now: float

    @property
    def verdict(self) -> str:
        """`fixed`, `lost` or `unchanged`."""
        if self.now == self.before:
            return "unchanged"
        return "fixed" if self.now > self.before else "lost"


@dataclass(frozen=True, slots=True)
class Part:
    """The chosen cases, or the guard."""

    cases: int
    passed: int
    """Number of cases that now pass in most of their rollouts."""
    expected: float | None
    """Number of cases expected to pass without any change; None if unknown."""


@dataclass(frozen=True, slots=True)
class ArmResult:
    """Results of one arm."""

    arm: Arm
    effect: WholeEffect | None
    """Effect on the whole recorded run; None if it cannot be estimated."""
    why: str
    """Reason for a missing effect; empty otherwise."""
    adjusted: float | None
    """p after Holm's correction, with several arms."""
    changes: tuple[CaseChange, ...]
    chosen: Part
    guard: Part
    lost_of_passed: tuple[int, int]
    """Of the guard's cases that had passed, the number that now fail; and the total."""


@dataclass(frozen=True, slots=True)
class TriedFix:
    """Results of an experiment on many cases."""

    manifest: Manifest
    arms: tuple[ArmResult, ...]
    has_control: bool
    calls: int
    full_calls: float
    """Number of calls that the whole recorded run would take with the same number of rollouts."""
    broken: int
    """Rollouts without a verdict."""
    chose_failures: bool
    """True if all chosen cases had failed."""
    other_model: str
    """The model that played, if it differs from the recorded run's. Untrusted text."""
    decided: str = ""
    """The look whose interval is shown, if looks may end the experiment."""


def tried_fix(
    manifest: Manifest,
    now: Mapping[Slot, Rollout],
    parent: Manifest,
    before: Mapping[Slot, Rollout],
    calls: int,
    parent_calls: int,
    look: Look | None = None,
) -> TriedFix | None:
    """Compare the arms of an experiment with the recording, or with its unchanged arm; None for other runs."""
    experiment = manifest.experiment
    if experiment is None or not experiment.strata:
        return None
    headline = manifest.headline
    recorded = case_values(before.values(), headline)
    control, has_control = experiment.control, experiment.control is not None
    values = [_values_of_arm(now, experiment, number, headline) for number in range(len(experiment.arms))]
    clusters = {rollout.key.case: (rollout.category, rollout.cluster) for rollout in before.values()}
    results: list[ArmResult] = []
    for place, arm in enumerate(experiment.arms):
        if place == control:
            continue
        base = values[control] if control is not None else recorded
        drawn = experiment.drawn(values[place], base, clusters)
        luck, flip = 0.0 if has_control else experiment.luck, 0.0 if headline else FLIP
        effect = whole_effect(drawn, luck, flip=flip, largest=manifest.largest_change(headline))
        if manifest.looks is not None and manifest.looks.until is not None:
            effect = _effect_at(look, effect)
        results.append(_arm_result(experiment, arm, effect, values[place], recorded, base, has_control=has_control))
    adjusted = holm([result.effect.p if result.effect is not None else 1.0 for result in results])
    if len(results) > 1:
        results = [replace(result, adjusted=p) for result, p in zip(results, adjusted, strict=True)]
    repeats = manifest.rollouts // len(experiment.arms)
    broken = sum(rollout.outcome is not None and not rollout.outcome.is_graded for rollout in now.values())
    chosen = [case for stratum in experiment.strata if stratum.name == CHOSEN for case in stratum.cases]
    return TriedFix(
        manifest,
        tuple(results),
        has_control,
        calls,
        full_calls=parent_calls / max(parent.rollouts, 1) * repeats,
        broken=broken,
        chose_failures=all(recorded.get(case, 0.0) < 1 for case in chosen),
        other_model=manifest.model.name if manifest.model.name != parent.model.name else "",
        decided=_look_words(look) if manifest.looks is not None and manifest.looks.until is not None else "",
    )


def _look_words(look: Look | None) -> str:
    if look is None:
        return "no look has been taken yet"
    of = f"look {look.number} of {look.of}, after {count(look.rollouts)} of {count(look.planned)} rollouts"
    if look.decision == Decision.CANNOT_TELL:
        return f"not known after all {count(look.planned)} rollouts"
    decided = "worse" if look.decision == Decision.WORSE else "better" if look.decision else ""
    return f"{decided}, decided at {of}" if decided else f"not decided yet at {of}"


def _effect_at(look: Look | None, effect: WholeEffect | None) -> WholeEffect | None:
    """Return the effect at the last look, with an interval that holds for all looks together."""
    if look is None or effect is None or look.difference is None or look.below is None or look.above is None:
        return None
    return replace(effect, value=look.difference, low=look.below, high=look.above)


def luck_of(values: Mapping[str, float], clusters: Mapping[str, tuple[str, str]]) -> float:
    """Return the variance of a run's mean that is due to chance."""
    whole = [Observation(case, value, *clusters.get(case, ("", ""))) for case, value in values.items()]
    return sample_of(whole).standard_error ** 2 if len(whole) > 1 else 0.0


def case_values(rollouts: Iterable[Rollout], headline: str = "") -> dict[str, float]:
    """Return the mean of a headline score, or of passing, over the rollouts of each graded case."""
    values: dict[str, list[float]] = defaultdict(list)
    for rollout in rollouts:
        if rollout.graded and rollout.outcome is not None and rollout.outcome.is_graded:
            passed = float(rollout.outcome is Outcome.PASSED)
            values[rollout.key.case].append(rollout.scores.get(headline, passed) if headline else passed)
    return {case: math.fsum(means) / len(means) for case, means in values.items()}


def _values_of_arm(now: Mapping[Slot, Rollout], experiment: Experiment, arm: int, headline: str) -> dict[str, float]:
    own = (rollout for (_, number), rollout in now.items() if number % len(experiment.arms) == arm)
    return case_values(own, headline)


def _arm_result(
    experiment: Experiment,
    arm: Arm,
    effect: WholeEffect | None,
    now: Mapping[str, float],
    recorded: Mapping[str, float],
    base: Mapping[str, float],
    *,
    has_control: bool,
) -> ArmResult:
    changes = tuple(
        CaseChange(case, stratum.name, base[case], now[case])
        for stratum in experiment.strata
        for case in stratum.cases
        if case in now and case in base
    )
    sizes = {stratum.name: stratum.size for stratum in experiment.strata}
    of_passed = [change for change in changes if change.stratum == PASSED]
    lost = sum(change.now < 0.5 for change in of_passed)
    failures = sizes.get(OTHER_FAILURES, 0) + sum(
        stratum.size for stratum in experiment.strata if stratum.name == CHOSEN and _all_failed(stratum, recorded)
    )
    fall = math.fsum(1 - change.now for change in of_passed) / max(len(of_passed), 1)
    rises = fall * sizes.get(PASSED, 0) / failures if of_passed and failures else None

    def part(names: tuple[str, ...]) -> Part:
        own = [change for change in changes if change.stratum in names]
        passed = sum(change.now >= 0.5 for change in own)
        if has_control:
            return Part(len(own), passed, sum(change.before for change in own))
        failed = [recorded.get(change.case, 0.0) for change in own if recorded.get(change.case, 0.0) < 1]
        steady = (len(own) - len(failed)) * (1 - fall)
        again = math.fsum(min(before + (rises or 0.0), 1) for before in failed)
        return Part(len(own), passed, None if rises is None and failed else steady + again)

    why = "" if effect is not None else _why_not(experiment.strata, changes)
    chosen, guard = part((CHOSEN,)), part((OTHER_FAILURES, PASSED))
    return ArmResult(arm, effect, why, None, changes, chosen, guard, (lost, len(of_passed)))


def _all_failed(stratum: Stratum, recorded: Mapping[str, float]) -> bool:
    return all(recorded.get(case, 0.0) < 1 for case in stratum.cases)


def _why_not(strata: Sequence[Stratum], changes: Sequence[CaseChange]) -> str:
    for stratum in strata:
        graded = sum(change.stratum == stratum.name for change in changes)
        if stratum.size and graded < 2:
            return f"only {graded} of the {count(stratum.size)} {stratum.name} cases was graded"
    return "nothing was graded"


def sentence_of(tried: TriedFix, result: ArmResult) -> str:
    """Return the effect of a fix in one sentence."""
    chosen, (lost, of_passed) = result.chosen, result.lost_of_passed
    would = "" if chosen.expected is None else f" (about {chosen.expected:.0f} would anyway)"
    is_of_failures = all(
        change.before < 1 or tried.has_control for change in result.changes if change.stratum == CHOSEN
    )
    what = "failures" if is_of_failures else "chosen cases"
    words = f"of {chosen.cases} {what} {chosen.passed} pass{'es' if chosen.passed == 1 else ''} now{would}, "
    words += f"of {of_passed} passed {lost} fail{'s' if lost == 1 else ''}: "
    if result.effect is None:
        words += f"the effect on the whole suite is unknown, as {result.why}"
    else:
        show = number if tried.manifest.headline else _points
        unit = "" if tried.manifest.headline else " points"
        effect = result.effect
        interval = bounds(effect.low, effect.high, lambda value: signed(value, show))
        words += f"{signed(effect.value, show)}{unit} {interval} on the whole suite"
        if result.adjusted is not None and result.adjusted >= 0.05 > effect.p:
            words += ", which may be chance among several changes"
    return f"{words}; from {plural(tried.calls, 'call')}, a full run needs {count(round(tried.full_calls))}"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def sections_of(tried: TriedFix) -> Iterator[Section]:
    """Yield the report: a sentence for each arm, its diff, and the cases that changed."""
    for place, result in enumerate(tried.arms, 1):
        name = f"{place}. " if len(tried.arms) > 1 else ""
        name += ", ".join([*([tried.other_model] if tried.other_model else []), *_labels(result.arm)]) or "no change"
        yield Section(f"Effect of {name}", lines=(sentence_of(tried, result),))
        rows = [
            Row((change.verdict, change.stratum, change.case, _share(change.before), _share(change.now)))
            for change in sorted(result.changes, key=_order)
            if change.verdict != "unchanged"
        ]
        verdicts = [change.verdict for change in result.changes]
        total = ", ".join(f"{verdicts.count(word)} {word}" for word in VERDICTS)
        yield Section("Cases", ("change", "of", "case", "before", "now"), tuple(rows), most=_MOST_ROWS, lines=(total,))
        for change in result.arm:
            yield Section(change.label, lines=tuple(diff_of(change)))
    compared = "an unchanged arm, played with it" if tried.has_control else f"the recorded run {tried.manifest.parent}"
    notes = [f"compared with {compared}"]
    if tried.decided:
        notes.append(f"{tried.decided}; its interval holds for all looks together")
    if tried.broken:
        notes.append(f"{plural(tried.broken, 'rollout')} without a verdict are not counted")
    yield Section("Basis", lines=tuple(notes))


def _labels(arm: Arm) -> list[str]:
    return [change.label for change in arm]


def _order(change: CaseChange) -> tuple[int, int]:
    return VERDICTS.index(change.verdict), (CHOSEN, OTHER_FAILURES, PASSED).index(change.stratum)


def _share(value: float) -> str:
    return {0.0: "failed", 1.0: "passed"}.get(value, rate(value))


def tried_fields(tried: TriedFix) -> Iterator[dict[str, Any]]:
    """Yield the results of each arm as JSON."""
    for result in tried.arms:
        effect = result.effect
        fields = (
            {"value": effect.value, "low": effect.low, "high": effect.high, "p": effect.p, "p_holm": result.adjusted}
            if effect is not None
            else None
        )
        yield {
            "run": tried.manifest.id,
            "parent": tried.manifest.parent,
            "changes": [{"what": change.label, "diff": diff_of(change)} for change in result.arm],
            "effect": fields,
            "why_not": result.why,
            "chosen": _part_fields(result.chosen),
            "guard": _part_fields(result.guard),
            "cases": {word: [change.case for change in result.changes if change.verdict == word] for word in VERDICTS},
            "control": tried.has_control,
            "calls": tried.calls,
            "full_calls": tried.full_calls,
            "sentence": sentence_of(tried, result),
        }


def _part_fields(part: Part) -> dict[str, Any]:
    return {"cases": part.cases, "passed": part.passed, "expected": part.expected}


def strata_of(
    values: Mapping[str, float], chosen: Sequence[str], most: int | None, guard: int | None, seed: int
) -> tuple[Stratum, ...]:
    """Draw the cases of an experiment at random: from the chosen ones, and a guard from all others.

    In the guard, passed cases and other failures are represented in proportion, with at least five of each if
    available.

    Args:
        values: recorded mean of each graded case.
        chosen: cases that a filter selects.
        most: most chosen cases; None for all.
        guard: size of the guard; None for as many as are chosen, at least 20.
        seed: seed of the draw.
    """
    import random

    rng = random.Random(seed)  # noqa: S311 - not a secret
    graded = [case for case in dict.fromkeys(chosen) if case in values]
    others = [case for case in values if case not in set(graded)]
    failed, passed = ([case for case in others if (values[case] < 1) is is_low] for is_low in (True, False))
    drawn = _draw(rng, graded, len(graded) if most is None else most)
    size = min(max(len(drawn), 20) if guard is None else guard, len(others))
    of_failed = min(len(failed), max(_LEAST, round(size * len(failed) / len(others))), size) if failed else 0
    of_passed = min(len(passed), size - of_failed)
    return (
        Stratum(CHOSEN, len(graded), tuple(drawn)),
        Stratum(OTHER_FAILURES, len(failed), tuple(_draw(rng, failed, of_failed))),
        Stratum(PASSED, len(passed), tuple(_draw(rng, passed, of_passed))),
    )


_LEAST = 5


def _draw(rng: Any, cases: Sequence[str], most: int) -> list[str]:
    drawn = set(rng.sample(range(len(cases)), min(most, len(cases))))
    return [case for place, case in enumerate(cases) if place in drawn]
