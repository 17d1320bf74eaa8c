"""The judged check: compares a judge's grades with thresholds."""

from collections.abc import Iterable, Sequence

from console.benchmarks.dialogue.rules.checks import judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.code_tests import SCORE as TESTS
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.instructions import FOLLOWED, LOOSELY
from console.benchmarks.dialogue.rules.letter_choice import BRIER, CONFIDENCE
from console.benchmarks.dialogue.rules.script import Script, expectations
from console.core.comparison import Mark, Pair, Row
from console.suites.judging.rubric import (
    CHOSE_FIRST,
    Criterion,
    Grade,
    Judgement,
    Rubric,
    category_scores,
    credit_of,
    criteria_of,
    grade_words,
    limit_of,
    scale_of,
    scores_of,
    threshold_of,
    weighted_mean,
)

_SHOWN = 4000
"""Maximum number of characters in an answer shown with its grade."""


def check_judged(rubric: Rubric, judgement: Judgement | None, answer: str) -> Finding:
    """Compare the grades of an answer with thresholds."""
    limit = threshold_of(rubric)
    criteria = criteria_of(rubric)
    expected = _expected(rubric)
    if judgement is None or {grade.name for grade in judgement.grades} != {item.name for item in criteria}:
        problem = (
            judgement.problem if judgement else ""
        ) or "no judge was called, and the output has no recorded grades"
        reason = "judge_unreadable" if judgement else "no_judge"

        def pairs_when_open() -> list[Pair]:
            return [_open_pair(item, rubric) for item in criteria]

        return Finding("judge", None, expected, "", reason, problem, make_pairs=pairs_when_open)
    grades = {grade.name: grade for grade in judgement.grades}
    mean = weighted_mean(judgement.grades, rubric) or 0.0
    low = next(
        (item for item in criteria if item.threshold is not None and grades[item.name].grade < item.threshold), None
    )

    def make_pairs() -> list[Pair]:
        return [_pair(item, grades[item.name], rubric, "" if place else answer) for place, item in enumerate(criteria)]

    scores = scores_of(judgement.grades, rubric)
    only = judgement.grades[0].category if len(criteria) == 1 else ""
    actual = only or f"{mean:.3g}"
    if low is None and mean >= limit:
        return Finding("judge", True, expected, actual, make_pairs=make_pairs, scores=scores)
    worst = low or _worst(criteria, grades, rubric)
    grade = grades[worst.name]
    needed = "" if rubric.against else f", {expected} is needed"
    message = f"{worst.name} {grade_words(grade)}" if low else f"the judge gives {actual}{needed}"
    message += f": {grade.why}" if grade.why else ""
    subject = grade.category or worst.name
    reason = "worse_than_baseline" if rubric.against else "wrong_category" if only else "low_grade"
    return Finding("judge", False, expected, actual, reason, message, subject, make_pairs, scores)


def scales_of(scripts: Iterable[Script]) -> dict[str, tuple[float, float]]:
    """Return the scale of each score; with several, the narrowest one that covers them all. Shares always have one."""
    scales: dict[str, tuple[float, float]] = dict.fromkeys((FOLLOWED, LOOSELY, TESTS, CONFIDENCE), (0.0, 1.0))
    scales[BRIER] = (0.0, 2.0)
    for script in scripts:
        for check in judged_in(read_checks(expectations(script))):
            rubric = own_rubric(check) or script.rubric or Rubric()
            low, high = scale_of(rubric)
            scales |= dict.fromkeys(category_scores(rubric), (0.0, 1.0))
            means = ["judge", *(tag for item in rubric.criteria for tag in item.tags)]
            for name in (
                *((CHOSE_FIRST,) if rubric.against else ()),
                *(item.name for item in criteria_of(rubric)),
                *(means if rubric.clip else ()),
            ):
                scale = scales.get(name, (low, high))
                scales[name] = (min(low, scale[0]), max(high, scale[1]))
    return scales


def _expected(rubric: Rubric) -> str:
    limit = threshold_of(rubric)
    if rubric.against:
        return "not worse than the baseline"
    if rubric.categories and not rubric.criteria:
        return " or ".join(name for name in rubric.categories if credit_of(rubric, name) >= limit)
    return f"at least {limit:g} of {scale_of(rubric)[1]:g}"


def _worst(criteria: Sequence[Criterion], grades: dict[str, Grade], rubric: Rubric) -> Criterion:
    """Return the criterion that costs the most points."""
    low, high = scale_of(rubric)

    def lost(item: Criterion) -> float:
        best = high if item.weight >= 0 else low
        return abs(item.weight) * abs(best - grades[item.name].grade)

    is_plain = all(item.weight > 0 for item in criteria)
    return min(criteria, key=lambda item: grades[item.name].grade) if is_plain else max(criteria, key=lost)


def _pair(criterion: Criterion, grade: Grade, rubric: Rubric, answer: str) -> Pair:
    """Return a grade with the rubric and the reference next to the answer; the answer is shown only once."""
    limit = limit_of(criterion, rubric)
    is_met = grade.grade >= limit
    mark = Mark.SAME if is_met == (criterion.weight >= 0) else Mark.DIFFERS
    reference = f"reference: {rubric.reference}" if rubric.reference else ""
    texts = (rubric.against,) if rubric.against else (rubric.rubric or criterion.about, reference)
    references = tuple(text[:_SHOWN] for text in texts if text)
    rows = (Row(mark, "answer", references, answer[:_SHOWN]),) if answer else ()
    return Pair(mark, _wanted(criterion, rubric), grade_words(grade), rows, note=grade.why, kind="judge")


def _open_pair(criterion: Criterion, rubric: Rubric) -> Pair:
    return Pair(Mark.MISSING, _wanted(criterion, rubric), kind="judge", note="no grade")


def _wanted(criterion: Criterion, rubric: Rubric) -> str:
    limit = limit_of(criterion, rubric)
    about = f" ({criterion.about[:_SHOWN]})" if criterion.about and rubric.criteria else ""
    if criterion.weight < 0:
        return f"{criterion.name}: below {limit:g}{about}"
    if rubric.categories:
        names = [name for name in rubric.categories if credit_of(rubric, name) >= limit]
        return f"{criterion.name}: {' or '.join(names)}{about}"
    return f"{criterion.name}: at least {limit:g}{about}"
