"""People's labels compared with a grader's verdicts: the next answer to label, and the corrected score. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from console.core.annotation import NO_ANNOTATION, PASSES_FROM, UNCLEAR, Annotation, PeopleVerdict
from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.core.statistics.agreement import JudgeAgreement, cohens_kappa
from console.core.statistics.intervals import Interval, bounds
from console.insight.number_format import bounds as bounds_words
from console.insight.number_format import plural, rate, with_interval
from console.insight.rollout import Rollout
from console.suites.stage import JUDGE

if TYPE_CHECKING:  # imported late: lists of cases show no estimate
    from console.core.statistics.double_sampling import Estimate, Stratum

MORE = 20
"""Number of further labels for which the gain is shown."""
_STRATA = (Outcome.PASSED, Outcome.FAILED)
Place = tuple[Slot, int | None]
"""Case id and rollout of an answer, and its round within a loop."""


class JudgedAnswer(NamedTuple):
    """An answer that a grader passed or failed."""

    rollout: Rollout
    round: int | None
    """Number of the judged answer within a loop, from 0; None for a whole rollout."""
    passed: bool

    @property
    def place(self) -> Place:
        return self.rollout.slot, self.round

    @property
    def outcome(self) -> Outcome:
        return Outcome.PASSED if self.passed else Outcome.FAILED


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """A grader's score next to the one corrected by people's labels."""

    strata: "tuple[Stratum, Stratum]"
    """Answers by the grader's verdict: those it passed, and those it failed."""
    judge_alone: float
    corrected: Interval | None
    """None until each verdict of the grader has a label."""
    half_width_after: float | None
    """Half of the interval's width after `MORE` further labels."""
    sensitivity: "Estimate | None"
    specificity: "Estimate | None"
    judge: JudgeAgreement | None
    """Agreement of the grader with people, over the labeled answers."""
    readers: JudgeAgreement | None
    """Agreement of the first two readers; None unless two labeled the same answers."""
    unsettled: int
    """Number of answers on which readers disagree."""
    unclear: int
    """Number of answers that readers left undecided."""
    is_of_rounds: bool = False
    """True if single answers of loops were labeled, so that this is not a score of the run."""
    criteria: dict[str, JudgeAgreement] = field(default_factory=dict[str, JudgeAgreement])
    """Agreement of the judge with people on each criterion; grades agree if both are above or both below the limit."""

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


def judged_answers(rollouts: Iterable[Rollout], manifest: Manifest) -> list[JudgedAnswer]:
    """Return the grader's verdicts: on rollouts, or on the single answers of loops that a judge graded.

    Loops are in runs whose score is not a share of passed rollouts.
    """
    listed = [rollout for rollout in rollouts if rollout.graded]
    rounds = list(_rounds(listed)) if manifest.headline else []
    whole = (JudgedAnswer(each, None, each.outcome is Outcome.PASSED) for each in listed if each.outcome in _STRATA)
    return rounds or list(whole)


def _rounds(rollouts: Iterable[Rollout]) -> Iterator[JudgedAnswer]:
    for rollout in rollouts:
        tracks = [rollout.tracks[name] for name in judged_scores(rollout)]
        for number, values in enumerate(zip(*(track.values for track in tracks), strict=False)):
            clear = [value >= (track.threshold or 0.0) for value, track in zip(values, tracks, strict=True)
                     if value is not None]  # fmt: skip
            if len(clear) == len(tracks):
                yield JudgedAnswer(rollout, number, all(clear))


def judged_scores(rollout: Rollout) -> list[str]:
    """Return the names of the scores that the judge gave, such as those of criteria. Untrusted text."""
    return [name for name, track in rollout.tracks.items() if track.role == JUDGE]


def agrees_with_people(rollout: Rollout, annotation: Annotation) -> bool | None:
    """Return whether the grader and people agree on a rollout or all of its labeled rounds; None if unlabeled."""
    rounds = {answer.round: answer for answer in _rounds([rollout])} if annotation.rounds else {}
    pairs = [(rounds[number].passed, verdict) for number, verdict in annotation.rounds.items() if number in rounds]
    if annotation.people is not None and rollout.outcome in _STRATA:
        pairs.append((rollout.outcome is Outcome.PASSED, annotation.people))
    decided = [graded is verdict.passed for graded, verdict in pairs if verdict.passed is not None]
    return all(decided) if decided else None


def reader_score(answers: Sequence[JudgedAnswer], annotations: Mapping[Slot, Annotation]) -> ReaderScore | None:
    """Return the corrected score of a run; None if there are no judged answers or labels."""
    from console.core.statistics.double_sampling import corrected_rate, half_width_after, sensitivity, specificity

    people = {answer.place: _people(answer, annotations) for answer in answers}
    if not any(people.values()):
        return None
    strata = _strata(answers, people)
    clusters = {
        (rollout.cluster and f"{rollout.category}/{rollout.cluster}") or rollout.key.case for rollout, *_ in answers
    }
    independent = float(len(clusters))
    passed, failed = strata
    decided = [(answer, _common_verdict(people[answer.place])) for answer in answers]
    pairs = [(answer.passed, verdict) for answer, verdict in decided if verdict is not None]
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
        unclear=sum(verdict is not None and verdict.word == UNCLEAR for verdict in people.values()),
        is_of_rounds=any(answer.round is not None for answer in answers),
        criteria=_by_criterion(answers, people),
    )


def _by_criterion(
    answers: Iterable[JudgedAnswer], people: Mapping[Place, PeopleVerdict | None]
) -> dict[str, JudgeAgreement]:
    """Compare the judge's grades with people's on each criterion, each as above or below its own limit."""
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for answer in answers:
        verdict = people[answer.place]
        for name, grades in verdict.criteria.items() if verdict is not None else ():
            track = answer.rollout.tracks.get(name)
            value = track.values[-1 if answer.round is None else answer.round] if track is not None else None
            is_good = grades[0] >= PASSES_FROM
            if track is None or value is None or any((grade >= PASSES_FROM) is not is_good for grade in grades):
                continue
            pairs[name].append((value >= (track.threshold or 0.0), is_good))
    agreements = {name: cohens_kappa(of_name) for name, of_name in pairs.items()}
    return {name: agreement for name, agreement in agreements.items() if agreement is not None}


def next_to_label(
    answers: Sequence[JudgedAnswer], annotations: Mapping[Slot, Annotation], reader: str, seed: str
) -> JudgedAnswer | None:
    """Return the answer that a reader should label next; None if there is none.

    Another reader first gets the answers that others labeled, in another order; then new ones are drawn at random
    within the grader's verdicts.

    Args:
        answers: all judged answers of the run.
        annotations: annotations with all labels.
        reader: name of the reader.
        seed: seed of the draw, the same for all readers of a run.
    """
    from console.core.statistics.double_sampling import next_stratum

    people = {answer.place: _people(answer, annotations) for answer in answers}
    open_ones = [answer for answer in answers if reader not in _readers(people[answer.place])]
    of_others = [answer for answer in open_ones if _readers(people[answer.place])]
    if of_others:
        return min(of_others, key=lambda answer: _draw(f"{seed}/{reader}", answer))
    number = next_stratum(_strata(answers, people, counts_unclear=True))
    if number is None:
        return None
    drawn = [answer for answer in open_ones if _STRATA[number] is answer.outcome] or open_ones
    return min(drawn, key=lambda answer: _draw(seed, answer), default=None)


def reader_progress(
    answers: Sequence[JudgedAnswer], annotations: Mapping[Slot, Annotation], reader: str
) -> tuple[int, int]:
    """Return how many answers a reader has labeled and the total, first of those that others labeled, then of all."""
    readers = [_readers(_people(answer, annotations)) for answer in answers]
    own, any_reader = sum(reader in each for each in readers), sum(map(bool, readers))
    return own, any_reader if own < any_reader else len(answers)


def unsettled(answers: Iterable[JudgedAnswer], annotations: Mapping[Slot, Annotation]) -> list[JudgedAnswer]:
    """Return the answers on which readers disagree."""
    return [answer for answer in answers if (people := _people(answer, annotations)) and people.is_disputed]


def _people(answer: JudgedAnswer, annotations: Mapping[Slot, Annotation]) -> PeopleVerdict | None:
    annotation = annotations.get(answer.rollout.slot, NO_ANNOTATION)
    return annotation.people if answer.round is None else annotation.rounds.get(answer.round)


def _draw(seed: str, answer: JudgedAnswer) -> bytes:
    """Return an answer's position in the random order of a seed, independent of the other answers."""
    (case, rollout), number = answer.place
    return blake2b(f"{seed}/{case}/{rollout}/{number}".encode(errors="surrogatepass"), digest_size=8).digest()


def _readers(people: PeopleVerdict | None) -> frozenset[str]:
    return frozenset(people.by_reader) if people is not None else frozenset()


def _common_verdict(people: PeopleVerdict | None) -> bool | None:
    return None if people is None else people.passed


def _strata(
    answers: Sequence[JudgedAnswer], people: Mapping[Place, PeopleVerdict | None], *, counts_unclear: bool = False
) -> "tuple[Stratum, Stratum]":
    """Count labels by the grader's verdict; unclear ones count only when drawing."""
    from console.core.statistics.double_sampling import Stratum

    counts = {outcome: [0, 0, 0] for outcome in _STRATA}
    for answer in answers:
        of_answer = people[answer.place]
        verdict, of = _common_verdict(of_answer), counts[answer.outcome]
        of[0] += 1
        of[1] += verdict is not None or (counts_unclear and of_answer is not None)
        of[2] += bool(verdict)
    passed, failed = (Stratum(*counts[outcome]) for outcome in _STRATA)
    return passed, failed


def _reader_pairs(verdicts: Iterable[PeopleVerdict | None]) -> list[tuple[str, str]]:
    """Return the verdicts of the first two readers of each answer, in the order of their names."""
    pairs: list[tuple[str, str]] = []
    for verdict in verdicts:
        if verdict is not None and len(verdict.by_reader) > 1:
            (_, first), (_, second), *_ = sorted(verdict.by_reader.items())
            pairs.append((first, second))
    return pairs


def progress_words(score: ReaderScore | None) -> str:
    """Return the number of labels and the interval they give."""
    if score is None:
        return "nothing labeled yet"
    labeled = plural(score.labeled, "round") if score.is_of_rounds else str(score.labeled)
    unclear = f" and {score.unclear} unclear" if score.unclear else ""
    return f"{labeled} labeled{unclear} · {score_words(score)}"


def score_words(score: ReaderScore) -> str:
    """Return the judge's score, the corrected one, and the gain from further labels."""
    words = f"judge alone {rate(score.judge_alone)}"
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
    lines += [f"{name}: {_agreement_words(each)}" for name, each in score.criteria.items() if name]
    if score.disagreements:
        lines.append(f"{plural(score.disagreements, 'disagreement')}: the filter judge:disagrees lists them")
    if score.unsettled:
        lines.append(f"readers disagree about {plural(score.unsettled, 'answer')}, to be settled")
    return lines


def _agreement_words(agreement: JudgeAgreement) -> str:
    words = f"judge and people agree on {round(agreement.agreed * agreement.pairs)} of {agreement.pairs}"
    if agreement.kappa is None:
        return words
    return f"{words}, κ {with_interval(agreement.kappa, agreement.low, agreement.high)}"


def evidence(
    gradings: Sequence[Sequence[JudgedAnswer]], annotations: Mapping[Slot, Annotation], repeats: int
) -> list[ReaderScore]:
    """Compare the old and the new grading of the same answers with people's labels; empty unless both have labels."""
    old, new = gradings
    of_new = {answer.rollout.slot: (answer.rollout.slot[0], answer.rollout.slot[1] // repeats) for answer in new}
    labels = {slot: annotations[before] for slot, before in of_new.items() if before in annotations}
    scores = (reader_score(old, annotations), reader_score(new, labels))
    return [score for score in scores if score is not None] if None not in scores else []


def evidence_words(score: ReaderScore) -> str:
    """Describe the agreement of a grading with people."""
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
        "unclear": score.unclear,
        "of_rounds": score.is_of_rounds,
        "criteria": [
            {"name": name, "labeled": each.pairs, "agreed": each.agreed, "kappa": each.kappa}
            for name, each in score.criteria.items()
        ],
    }
