"""The judged check: compares a judge's grades with thresholds."""

from console.benchmarks.dialogue.rules.answer import Grade, Judgement
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import Criterion, Rubric
from console.core.comparison import Mark, Pair

_USUAL_SHARE = 0.75
"""Default threshold as a fraction of the scale."""
WHOLE = "rubric"
"""Criterion name of a rubric in words."""


def criteria_of(rubric: Rubric) -> list[Criterion]:
    """Return the criteria; a rubric in words is one criterion."""
    return rubric.criteria or [Criterion(WHOLE, rubric.rubric)]


def threshold_of(rubric: Rubric) -> float:
    """Return the minimum weighted mean that passes."""
    low, high = rubric.scale
    return low + _USUAL_SHARE * (high - low) if rubric.threshold is None else rubric.threshold


def limit_of(criterion: Criterion, rubric: Rubric) -> float:
    """Return the displayed threshold of a criterion: its own, or that of the mean."""
    return threshold_of(rubric) if criterion.threshold is None else criterion.threshold


def weighted_mean(grades: list[Grade], rubric: Rubric) -> float:
    """Return the mean of the grades, weighted by criterion."""
    weights = {criterion.name: criterion.weight for criterion in criteria_of(rubric)}
    return sum(grade.grade * weights[grade.name] for grade in grades) / sum(weights[grade.name] for grade in grades)


def check_judged(rubric: Rubric, judgement: Judgement | None) -> Finding:
    """Compare grades with thresholds."""
    limit = threshold_of(rubric)
    criteria = criteria_of(rubric)
    expected = f"at least {limit:g} of {rubric.scale[1]:g}"
    if judgement is None or {grade.name for grade in judgement.grades} != {item.name for item in criteria}:
        problem = (
            judgement.problem if judgement else ""
        ) or "no judge was called, and the output has no recorded grades"
        reason = "judge_unreadable" if judgement else "no_judge"

        def pairs_when_open() -> list[Pair]:
            return [_open_pair(item, rubric) for item in criteria]

        return Finding("judge", None, expected, "", reason, problem, make_pairs=pairs_when_open)
    grades = {grade.name: grade for grade in judgement.grades}
    mean = weighted_mean(judgement.grades, rubric)
    low = next(
        (item for item in criteria if item.threshold is not None and grades[item.name].grade < item.threshold), None
    )

    def make_pairs() -> list[Pair]:
        return [_pair(item, grades[item.name], rubric) for item in criteria]

    scores = {name: grade.grade for name, grade in grades.items()} | ({"judge": mean} if len(criteria) > 1 else {})
    actual = f"{mean:.3g}"
    if low is None and mean >= limit:
        return Finding("judge", True, expected, actual, make_pairs=make_pairs, scores=scores)
    worst = low or min(criteria, key=lambda item: grades[item.name].grade)
    grade = grades[worst.name]
    message = f"{worst.name} {grade.grade:g}" if low else f"the judge gives {mean:.3g}, {expected} is needed"
    message += f": {grade.why}" if grade.why else ""
    return Finding("judge", False, expected, actual, "low_grade", message, worst.name, make_pairs, scores)


def _pair(criterion: Criterion, grade: Grade, rubric: Rubric) -> Pair:
    limit = limit_of(criterion, rubric)
    mark = Mark.SAME if grade.grade >= limit else Mark.DIFFERS
    return Pair(mark, f"{criterion.name}: at least {limit:g}", f"{grade.grade:g}", note=grade.why, kind="judge")


def _open_pair(criterion: Criterion, rubric: Rubric) -> Pair:
    return Pair(
        Mark.MISSING, f"{criterion.name}: at least {limit_of(criterion, rubric):g}", kind="judge", note="no grade"
    )
