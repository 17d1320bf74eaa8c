"""Reliability of a run's judge: undecided share, agreement with a second judge and with readers. Pure.

Applies only to runs with a model as judge. Readers mostly tag failures, so their agreement covers tagged rollouts only.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.core.statistics.agreement import JudgeAgreement, cohens_kappa
from console.core.statistics.intervals import Interval, bounds, rate_interval
from console.core.statistics.repeats import JudgeNoise, judge_noise
from console.core.statistics.sample import Observation, sample_of
from console.insight.number_format import plural, rate, score, with_interval
from console.insight.reader_labels import ReaderScore, judged_answers, reader_lines, reader_object, reader_score
from console.insight.rollout import Rollout
from console.suites.stage import JUDGE, SECOND_JUDGE, SECOND_PREFIX, repeat_prefix

_SIMULATED_JUDGE = "sim/judge"
GRADER = "grader"
"""Tag for a wrong grade."""


@dataclass(frozen=True, slots=True)
class Judging:
    """Facts about the judge of a run."""

    judge: str
    """Name of the judge's model. Untrusted text, as is `second`."""
    second: str
    """Empty if there is no second judge."""
    undecided: Interval | None
    """Undecided share of finished rollouts; None before any has finished."""
    undecided_count: int
    agreement: JudgeAgreement | None
    """Agreement with the second judge over single judgments; None if there is none."""
    readers: JudgeAgreement | None
    """Agreement with readers over tagged or disputed rollouts; None if there are none."""
    too_strict: int
    """Failed rollouts that should have passed, according to readers."""
    too_lenient: int
    """Passed rollouts that should have failed, according to readers."""
    noise: JudgeNoise | None = None
    """Sources of the variance; None unless each answer was graded several times."""
    is_of_score: bool = False
    """True if the noise is that of the headline score instead of passing."""
    is_of_judgments: bool = False
    """True if the noise is that of single judgments, several of which were made for each answer during play."""
    people: ReaderScore | None = None
    """The score corrected by people's labels; None if there are none."""

    @property
    def is_worth_saying(self) -> bool:
        """True unless the judge decided everything and there is nothing else to report."""
        return bool(self.undecided_count or self.agreement or self.readers or self.noise or self.people)

    @property
    def bias(self) -> float | None:
        """Lenient minus strict errors as a share of the rollouts that readers tagged or disputed; None if none were."""
        return (self.too_lenient - self.too_strict) / self.readers.pairs if self.readers is not None else None


def judge_name(manifest: Manifest) -> str:
    """Return the name of the judge, which is simulated in simulated runs; empty if there is no judge."""
    if manifest.simulated:
        return _SIMULATED_JUDGE
    judge = manifest.roles.get(JUDGE)
    return judge.name if judge is not None else ""


def judging_of(
    manifest: Manifest, rollouts: Iterable[Rollout], annotations: Mapping[Slot, Annotation]
) -> Judging | None:
    """Summarize the judge of a run; None for runs without a model as judge."""
    if JUDGE not in manifest.roles:
        return None
    ended = [rollout for rollout in rollouts if rollout.outcome is not None and rollout.graded]
    judged = [rollout for rollout in ended if rollout.outcome in (*_GRADED, Outcome.UNDECIDED)]
    undecided = rate_interval(
        sample_of(
            Observation(
                rollout.key.case, float(rollout.outcome is Outcome.UNDECIDED), rollout.category, rollout.cluster
            )
            for rollout in judged
        )
    )
    annotated = [(rollout, annotations.get(rollout.slot, NO_ANNOTATION)) for rollout in judged]
    pairs = [_with_reader(rollout, annotation) for rollout, annotation in annotated if _is_judged(rollout, annotation)]
    second = manifest.roles.get(SECOND_JUDGE)
    regraded = manifest.judge_repeats > 1
    return Judging(
        judge=manifest.roles[JUDGE].name,
        second=second.name if second is not None else "",
        undecided=undecided,
        undecided_count=sum(rollout.outcome is Outcome.UNDECIDED for rollout in judged),
        agreement=cohens_kappa(_judgments(judged)) if second is not None else None,
        readers=cohens_kappa(pairs),
        too_strict=sum(not judge and reader for judge, reader in pairs),
        too_lenient=sum(judge and not reader for judge, reader in pairs),
        noise=_noise(manifest, judged) if regraded else _noise_of_judgments(judged),
        is_of_score=bool(manifest.headline) and regraded,
        is_of_judgments=not regraded,
        people=reader_score(judged_answers(judged, manifest), annotations),
    )


def _noise(manifest: Manifest, rollouts: Iterable[Rollout]) -> JudgeNoise | None:
    """Return the sources of variance of a run whose conversations were each graded several times."""
    cases: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rollout in rollouts:
        if rollout.outcome not in _GRADED:
            continue
        value = rollout.scores.get(manifest.headline) if manifest.headline else rollout.outcome is Outcome.PASSED
        if value is not None:
            cases[rollout.key.case][rollout.key.rollout // manifest.judge_repeats].append(float(value))
    return judge_noise([list(answers.values()) for answers in cases.values()])


def _noise_of_judgments(rollouts: Iterable[Rollout]) -> JudgeNoise | None:
    """Return the sources of variance of judgments repeated during play; None if there are none."""
    cases: dict[str, list[list[float]]] = defaultdict(list)
    for rollout in rollouts:
        for name, track in rollout.tracks.items():
            repeats: list[Sequence[float | None]] = []
            while (again := rollout.tracks.get(f"{repeat_prefix(len(repeats) + 2)}{name}")) is not None:
                repeats.append(again.values)
            for values in zip(track.values, *repeats, strict=False) if repeats else ():
                clear = [float(value >= (track.threshold or 0.0)) for value in values if value is not None]
                cases[rollout.key.case].append(clear)
    return judge_noise(cases.values())


_GRADED = (Outcome.PASSED, Outcome.FAILED)


def _is_judged(rollout: Rollout, annotation: Annotation) -> bool:
    """Return whether a reader has annotated the party at fault in a graded rollout."""
    return rollout.outcome in _GRADED and bool(annotation.tag or annotation.dispute)


def _with_reader(rollout: Rollout, annotation: Annotation) -> tuple[bool, bool]:
    """Return two flags: the judge passed it, and the reader would pass it."""
    passed = rollout.outcome is Outcome.PASSED
    return passed, passed != (annotation.tag == GRADER or bool(annotation.dispute))


def _judgments(rollouts: Iterable[Rollout]) -> list[tuple[bool | None, bool | None]]:
    """Return both judges' decisions on items given to both: True if above the threshold, None if unclear.

    Items on which neither judge was clear are excluded.
    """
    pairs: list[tuple[bool | None, bool | None]] = []
    for rollout in rollouts:
        for name, track in rollout.tracks.items():
            other = rollout.tracks.get(f"{SECOND_PREFIX}{name}")
            if other is not None:
                firsts = [_above(value, track.threshold) for value in track.values]
                seconds = [_above(value, track.threshold) for value in other.values]
                pairs += zip(firsts, seconds, strict=False)
    return [pair for pair in pairs if pair != (None, None)]


def _above(value: float | None, threshold: float | None) -> bool | None:
    return None if value is None else value >= (threshold or 0.0)


def judging_lines(judging: Judging) -> list[str]:
    """Describe the judging in sentences. Model names are untrusted text."""
    lines: list[str] = []
    if judging.undecided is not None:
        lines.append(
            f"{plural(judging.undecided_count, 'rollout')} left undecided by {judging.judge}: "
            f"{score(judging.undecided)}"
        )
    if judging.agreement is not None:
        lines.append(f"{judging.judge} and {judging.second}: {_agreement(judging.agreement, 'judgments')}")
    if judging.readers is not None:
        lines.append(f"{judging.judge} and readers: {_agreement(judging.readers, 'tagged rollouts')}")
        lines.append(f"too strict in {judging.too_strict}, too lenient in {judging.too_lenient}, according to readers")
    if judging.people is not None:
        lines += reader_lines(judging.people)
    if judging.noise is not None:
        lines += noise_lines(judging)
    return lines


_MORE_REPEATS = 4
_GRADINGS = "gradings of the same answers"


def noise_lines(judging: Judging) -> list[str]:
    """Describe the sources of variance, and the difference between runs that exceeds the noise."""
    if (noise := judging.noise) is None:
        return []
    cases, sampling, judge = map(_share, noise.shares)
    split = f"cases {cases} · sampling {sampling} · judge {judge}" if sampling else f"cases {cases} · judge {judge}"
    of = f"of {noise.graded_cases} cases, each answer graded {noise.repeats:.3g} times"
    flips = f"{rate(noise.flipped)} of the answers do not always get the same grade"
    if judging.is_of_judgments:
        points = f"{noise.noise_between_runs(noise.answers) * 100:.1f} points"
        return [
            f"variance of a judgment: {split} ({of}); {flips}",
            f"the shares of good judgments in two runs must differ by {points} to exceed the noise",
        ]
    what, repeated = ("runs", (_MORE_REPEATS, 1)) if noise.sampling is not None else (_GRADINGS, (1, _MORE_REPEATS))
    once, often = (
        f"{value * 100:.1f} points" if not judging.is_of_score else f"{value:.3g}"
        for value in (noise.noise_between_runs(), noise.noise_between_runs(*repeated))
    )
    return [
        f"variance of a grade: {split} ({of}); {flips}",
        f"two {what} must differ by {once} to exceed the noise; with {_MORE_REPEATS} repeats by {often}",
    ]


def _share(value: float | None) -> str:
    return "" if value is None else rate(value)


def _agreement(agreement: JudgeAgreement, word: str) -> str:
    same = f"agree in {rate(agreement.agreed)} of {agreement.pairs} {word}"
    if agreement.kappa is None:
        return f"{same}; κ is undefined, because both always decide alike"
    return f"{same}, κ {with_interval(agreement.kappa, agreement.low, agreement.high)}"


def judging_object(judging: Judging | None) -> dict[str, Any] | None:
    """Return all facts as JSON values."""
    if judging is None:
        return None
    undecided = judging.undecided
    return {
        "judge": judging.judge,
        "second_judge": judging.second or None,
        "undecided": None if undecided is None else {"value": undecided.value, **bounds(undecided)},
        "agreement": _agreement_object(judging.agreement),
        "readers": _agreement_object(judging.readers),
        "too_strict": judging.too_strict,
        "too_lenient": judging.too_lenient,
        "bias": judging.bias,
        "noise": _noise_object(judging.noise),
        "people": reader_object(judging.people),
    }


def _noise_object(noise: JudgeNoise | None) -> dict[str, Any] | None:
    if noise is None:
        return None
    cases, sampling, judge = noise.shares
    return {
        "cases": cases,
        "sampling": sampling,
        "judge": judge,
        "flipped": noise.flipped,
        "answers": noise.answers,
        "repeats": noise.repeats,
        "two_runs_differ_by": noise.noise_between_runs(),
    }


def _agreement_object(agreement: JudgeAgreement | None) -> dict[str, Any] | None:
    if agreement is None:
        return None
    names = ("pairs", "agreed", "kappa", "low", "high")
    return {name: getattr(agreement, name) for name in names}
