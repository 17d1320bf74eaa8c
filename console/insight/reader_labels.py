"""People's labels beside a grader's verdicts: what to label next, and the score that they correct. Pure."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.core.annotation import NO_ANNOTATION, Annotation, PeopleVerdict
from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.statistics.agreement import JudgeAgreement, cohens_kappa
from console.core.statistics.double_sampling import (
    Estimate,
    Stratum,
    corrected_rate,
    half_width_after,
    next_stratum,
    sensitivity,
    specificity,
)
from console.core.statistics.intervals import Interval, bounds
from console.insight.number_format import bounds as bounds_words
from console.insight.number_format import plural, rate, with_interval
from console.insight.rollout import Rollout

MORE = 20
"""Number of further labels for which the gain is shown."""
_STRATA = (Outcome.PASSED, Outcome.FAILED)


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """A grader's score beside the one that people's labels correct."""

    strata: tuple[Stratum, Stratum]
    """Answers by the grader's verdict: those it passed, and those it failed."""
    judge_alone: float
    corrected: Interval | None
    """None until each verdict of the grader has a label."""
    half_width_after: float | None
    """Half of the interval's width after `MORE` further labels."""
    sensitivity: Estimate | None
    specificity: Estimate | None
    judge: JudgeAgreement | None
    """Agreement of the grader with people, over the labeled answers."""
    readers: JudgeAgreement | None
    """Agreement of the first two readers; None unless two labeled the same answers."""
    unsettled: int
    """Number of answers about which readers disagree."""

    @property
    def labeled(self) -> int:
        return sum(stratum.labeled for stratum in self.strata)

    @property
    def judged(self) -> int:
        return sum(stratum.judged for stratum in self.strata)

    @property
    def disagreements(self) -> int:
        """Number of labeled answers on which people and grader disagree."""
        passed, failed = self.strata
        return passed.labeled - passed.passed + failed.passed


def reader_score(rollouts: Iterable[Rollout], annotations: Mapping[Slot, Annotation]) -> ReaderScore | None:
    """Return the corrected score of a run; None without graded answers or labels."""
    graded = _graded(rollouts)
    people = {rollout.slot: annotations.get(rollout.slot, NO_ANNOTATION).people for rollout in graded}
    if not any(people.values()):
        return None
    strata = _strata(graded, people)
    names = {(rollout.cluster and f"{rollout.category}/{rollout.cluster}") or rollout.key.case for rollout in graded}
    independent = float(len(names))
    passed, failed = strata
    decided = [(rollout, _said(people[rollout.slot])) for rollout in graded]
    pairs = [(rollout.outcome is Outcome.PASSED, said) for rollout, said in decided if said is not None]
    return ReaderScore(
        strata=strata,
        judge_alone=passed.judged / (passed.judged + failed.judged),
        corrected=corrected_rate(strata, independent),
        half_width_after=half_width_after(strata, MORE, independent),
        sensitivity=sensitivity(passed, failed),
        specificity=specificity(passed, failed),
        judge=cohens_kappa(pairs),
        readers=cohens_kappa(_reader_pairs(people.values())),
        unsettled=sum(verdict is not None and verdict.is_disputed for verdict in people.values()),
    )


def next_to_label(
    rollouts: Iterable[Rollout], annotations: Mapping[Slot, Annotation], reader: str, seed: str
) -> Rollout | None:
    """Return the answer that a reader should label next, or None if there is none.

    A further reader gets the answers that others labeled, in another order; then new ones are drawn at random within
    the grader's verdicts.

    Args:
        rollouts: all rollouts of the run.
        annotations: annotations with all labels.
        reader: name of the reader.
        seed: seed of the draw, the same for all readers of a run.
    """
    graded = _graded(rollouts)
    people = {rollout.slot: annotations.get(rollout.slot, NO_ANNOTATION).people for rollout in graded}
    open_ones = [rollout for rollout in graded if reader not in _readers(people[rollout.slot])]
    of_others = [rollout for rollout in open_ones if _readers(people[rollout.slot])]
    if of_others:
        return min(of_others, key=lambda rollout: _draw(f"{seed}/{reader}", rollout))
    number = next_stratum(_strata(graded, people, counts_unclear=True))
    if number is None:
        return None
    drawn = [rollout for rollout in open_ones if rollout.outcome is _STRATA[number]] or open_ones
    return min(drawn, key=lambda rollout: _draw(seed, rollout), default=None)


def unsettled(rollouts: Iterable[Rollout], annotations: Mapping[Slot, Annotation]) -> list[Rollout]:
    """Return the answers about which readers disagree."""
    return [
        rollout
        for rollout in _graded(rollouts)
        if (people := annotations.get(rollout.slot, NO_ANNOTATION).people) is not None and people.is_disputed
    ]


def _graded(rollouts: Iterable[Rollout]) -> list[Rollout]:
    return [rollout for rollout in rollouts if rollout.graded and rollout.outcome in _STRATA]


def _draw(seed: str, rollout: Rollout) -> float:
    """Return the place of an answer in the random order of a seed, whatever other answers there are."""
    return random.Random(f"{seed}/{rollout.key.case}/{rollout.key.rollout}").random()  # noqa: S311  no secret


def _readers(people: PeopleVerdict | None) -> frozenset[str]:
    return frozenset(people.by_reader) if people is not None else frozenset()


def _said(people: PeopleVerdict | None) -> bool | None:
    return None if people is None else people.passed


def _strata(
    graded: Sequence[Rollout], people: Mapping[Slot, PeopleVerdict | None], *, counts_unclear: bool = False
) -> tuple[Stratum, Stratum]:
    """Count labels by the grader's verdict; unclear ones only for drawing."""
    counts = {outcome: [0, 0, 0] for outcome in _STRATA}
    for rollout in graded:
        if rollout.outcome is None:
            continue
        verdict, of = _said(people[rollout.slot]), counts[rollout.outcome]
        of[0] += 1
        of[1] += verdict is not None or (counts_unclear and people[rollout.slot] is not None)
        of[2] += bool(verdict)
    passed, failed = (Stratum(*counts[outcome]) for outcome in _STRATA)
    return passed, failed


def _reader_pairs(verdicts: Iterable[PeopleVerdict | None]) -> list[tuple[str, str]]:
    """Return what the first two readers of each answer say, in the order of their names."""
    pairs: list[tuple[str, str]] = []
    for verdict in verdicts:
        if verdict is not None and len(verdict.by_reader) > 1:
            (_, first), (_, second), *_ = sorted(verdict.by_reader.items())
            pairs.append((first, second))
    return pairs


def progress_words(score: ReaderScore | None) -> str:
    """Return progress and the interval reached, for the top line."""
    if score is None:
        return "nothing labeled yet"
    words = f"{score.labeled} labeled · judge alone {rate(score.judge_alone)}"
    if score.corrected is None:
        return f"{words} · corrected once both verdicts have labels"
    interval = bounds_words(score.corrected.low, score.corrected.high)
    words += f" · corrected {rate(score.corrected.value)} {interval}"
    if score.half_width_after is not None and score.labeled < score.judged:
        words += f" · {MORE} more: ± {score.half_width_after * 100:.0f} points"
    return words


def reader_lines(score: ReaderScore) -> list[str]:
    """Describe the labels in sentences."""
    passed, failed = score.strata
    lines = [f"people: {progress_words(score)}"]
    lines.append(
        f"the judge passed {plural(passed.labeled, 'labeled answer')}, people {passed.passed} of these; "
        f"it failed {failed.labeled}, people passed {failed.passed} of these"
    )
    measures = (("sensitivity", score.sensitivity), ("specificity", score.specificity))
    shown = [f"{name} {rate(each.value)} {bounds_words(each.low, each.high)}" for name, each in measures if each]
    if score.judge is not None and score.judge.kappa is not None:
        shown.append(f"κ with people {with_interval(score.judge.kappa, score.judge.low, score.judge.high)}")
    if score.readers is not None and score.readers.kappa is not None:
        shown.append(f"κ between readers {with_interval(score.readers.kappa, score.readers.low, score.readers.high)}")
    if shown:
        lines.append(", ".join(shown))
    if score.disagreements:
        lines.append(f"{plural(score.disagreements, 'disagreement')}: the filter judge:disagrees lists them")
    if score.unsettled:
        lines.append(f"readers disagree about {plural(score.unsettled, 'answer')}, to be settled")
    return lines


def evidence(
    gradings: Sequence[Iterable[Rollout]], annotations: Mapping[Slot, Annotation], repeats: int
) -> list[ReaderScore]:
    """Return two gradings of the same answers against people's labels; empty without labels on both.

    Args:
        gradings: rollouts of the old grading and of the new one.
        annotations: annotations of the old run.
        repeats: how often the new one graded each answer.
    """
    old, new = (list(each) for each in gradings)
    of_new = {rollout.slot: (rollout.slot[0], rollout.slot[1] // repeats) for rollout in new}
    labels = {slot: annotations[before] for slot, before in of_new.items() if before in annotations}
    scores = (reader_score(old, annotations), reader_score(new, labels))
    return [score for score in scores if score is not None] if None not in scores else []


def evidence_words(score: ReaderScore) -> str:
    """Say how a grading agrees with people."""
    parts = [
        f"agrees with people on {score.labeled - score.disagreements} of {plural(score.labeled, 'labeled answer')}"
    ]
    if score.judge is not None and score.judge.kappa is not None:
        parts.append(f"κ {with_interval(score.judge.kappa, score.judge.low, score.judge.high)}")
    measures = (("sensitivity", score.sensitivity), ("specificity", score.specificity))
    return ", ".join([*parts, *(f"{name} {rate(each.value)}" for name, each in measures if each)])


def reader_object(score: ReaderScore | None) -> dict[str, Any] | None:
    """Return all numbers as JSON values."""
    if score is None:
        return None
    corrected = score.corrected
    return {
        "labeled": score.labeled,
        "judge_alone": score.judge_alone,
        "corrected": None if corrected is None else {"value": corrected.value, **bounds(corrected)},
        "confusion": [
            {"judge": name, "judged": part.judged, "labeled": part.labeled, "people_passed": part.passed}
            for name, part in zip(("passed", "failed"), score.strata, strict=True)
        ],
        "sensitivity": score.sensitivity._asdict() if score.sensitivity else None,
        "specificity": score.specificity._asdict() if score.specificity else None,
        "kappa": score.judge.kappa if score.judge else None,
        "kappa_readers": score.readers.kappa if score.readers else None,
        "unsettled": score.unsettled,
    }
