"""Suspect ground truths: cases in which models agree against the key, or whose grading contradicts the scores. Pure.

Two signals rank the cases. Agreement: the share of models, weighted by their score on all other cases, that gave the
same rejected answer. Odd discrimination: passing the case is correlated negatively with that score; it counts a
quarter, and only if there are at least five models.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

ODD_FROM = 5
"""Minimum number of models for measuring discrimination."""
_ODD_WEIGHT = 0.25


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A model's answer to a case. Texts are untrusted."""

    passed: bool
    answer: str
    """Answer in the suite's own format; equal for answers that its grader considers equal."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A case whose ground truth may be wrong."""

    case: str
    against: float
    """Share of the models, weighted by score, that gave the same rejected answer."""
    same: int
    """Number of these models."""
    models: int
    answer: str
    """Answer of these models. Untrusted text."""
    odd: float
    """Correlation of passing with the score on other cases, if negative; else 0."""
    nobody_passed: bool

    @property
    def weight(self) -> float:
        """Ranking number, from 0 to 1.25."""
        return self.against - _ODD_WEIGHT * self.odd

    def words(self, key: str, prompt: str = "") -> str:
        """Describe in a sentence why the key is suspect. Untrusted text."""
        if self.same:
            wanted = f"; the key is {key}" if key else ""
            asked = f"; the prompt says: {prompt}" if prompt else ""
            return f"{self.same} of {self.models} models answer {self.answer}{wanted}{asked}"
        return f"none of {self.models} models passes" if self.nobody_passed else "weak models pass what good ones fail"


def suspects(answers: Mapping[str, Mapping[str, GivenAnswer]], marked: Collection[str] = frozenset()) -> list[Suspect]:
    """Return the suspect cases, most suspect first, then those that nobody passes or that are `marked` as doubtful."""
    passed = Counter(model for of_case in answers.values() for model, given in of_case.items() if given.passed)
    played = Counter(model for of_case in answers.values() for model in of_case)
    examined = [_suspect(case, of_case, passed, played) for case, of_case in answers.items()]
    listed = [each for each in examined if each.weight > 0 or each.nobody_passed or each.case in marked]
    return sorted(listed, key=lambda each: (-each.weight, -each.same, each.case))


def _suspect(case: str, given: Mapping[str, GivenAnswer], passed: Counter[str], played: Counter[str]) -> Suspect:
    """Return the answer that several models give against a key; a single model is no evidence."""
    scores = {
        model: (passed[model] - answer.passed) / (played[model] - 1) if played[model] > 1 else 0.0
        for model, answer in given.items()
    }
    refused: dict[str, list[str]] = defaultdict(list)
    for model, answer in given.items():
        if not answer.passed and answer.answer:
            refused[answer.answer].append(model)
    whole = math.fsum(scores.values())
    shared = {answer: models for answer, models in refused.items() if len(models) > 1}
    best = max(shared, key=lambda answer: math.fsum(scores[model] for model in shared[answer]), default="")
    same = shared.get(best, [])
    against = math.fsum(scores[model] for model in same) / whole if whole else 0.0
    odd = min(0.0, _correlation([(answer.passed, scores[model]) for model, answer in given.items()]))
    nobody = len(given) > 1 and not any(answer.passed for answer in given.values())
    return Suspect(case, against, len(same), len(given), best, odd, nobody)


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Pearson's correlation; 0 for fewer than `ODD_FROM` pairs or without spread."""
    count = len(pairs)
    if count < ODD_FROM:
        return 0.0
    left, right = (math.fsum(pair[side] for pair in pairs) / count for side in (0, 1))
    spread = math.sqrt(math.fsum((a - left) ** 2 for a, _ in pairs) * math.fsum((b - right) ** 2 for _, b in pairs))
    return math.fsum((a - left) * (b - right) for a, b in pairs) / spread if spread > 1e-12 else 0.0


@dataclass(frozen=True, slots=True)
class ThreeScores:
    """The scores of one run, which are never combined."""

    official: float | None
    without_contested: float | None
    """Score without the cases whose key is wrong or ambiguous."""
    corrected: float | None
    """Score with the keys decided by readers, without ambiguous cases; None if a wrong key has no right answer."""


def three_scores(
    answers: Mapping[str, GivenAnswer], wrong: Mapping[str, str], ambiguous: frozenset[str]
) -> ThreeScores:
    """Return the scores of a run's graded answers, given the right answers of wrong keys, and ambiguous cases."""
    contested = wrong.keys() | ambiguous
    are_known = all(wrong[case] for case in wrong if case in answers)
    corrected = {
        case: given.answer == wrong[case] if case in wrong else given.passed
        for case, given in answers.items()
        if case not in ambiguous
    }
    return ThreeScores(
        _mean([given.passed for given in answers.values()]),
        _mean([given.passed for case, given in answers.items() if case not in contested]),
        _mean(list(corrected.values())) if are_known else None,
    )


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
