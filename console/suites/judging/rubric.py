"""`Rubric`: instructions for a judge, and the arithmetic of its grades. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

Text = Annotated[str, Meta(min_length=1)]
Credit = Literal["passed", "failed"] | Annotated[float, Meta(ge=0, le=1)]
USUAL_SHARE = 0.75
"""Default threshold as a fraction of the scale."""
WIN_RATE = "win rate"
"""Criterion name of a comparison with a baseline."""
CHOSE_FIRST = "chose the first answer"
"""Name of the score: the share of calls that preferred the answer shown first; one half without position bias."""
TIED = 0.5
_OF_BASELINE: dict[str, Literal["passed", "failed"] | float] = {"BETTER": 1.0, "TIE": TIED, "WORSE": 0.0}
WHOLE = "rubric"
"""Criterion name of a rubric written as text."""


class Criterion(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A criterion for the judge."""

    name: Text
    about: str = ""
    """Explanation of the criterion and its grades."""
    weight: Annotated[float, Meta(ge=-1e6, le=1e6)] = 1.0
    """Negative if meeting the criterion costs points."""
    threshold: float | None = None
    """Minimum grade; below it the check fails regardless of other grades."""
    tags: list[Text] = field(default_factory=list[str])
    """The report has the mean of each tag's criteria."""


class Rubric(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Instructions for the model in the role `judge`: a rubric as text, or several criteria."""

    rubric: str = ""
    criteria: list[Criterion] = field(default_factory=list[Criterion])
    scale: Annotated[list[float], Meta(min_length=2, max_length=2)] = field(default_factory=lambda: [1.0, 5.0])
    """Worst and best grade."""
    threshold: float | None = None
    """Minimum weighted mean that passes; default: three quarters of the scale, or full credit with categories."""
    wording: str = ""
    """Template of the judge's prompt with `{conversation}`, `{answer}`, `{reference}` and `{criteria}`.

    The reply format is appended, except with the format `category`.
    """
    reference: str = ""
    """Reference answer for the judge."""
    categories: dict[Text, Credit] = field(default_factory=dict[str, Literal["passed", "failed"] | float])
    """Names that replace the grades of the scale, each `passed`, `failed`, or a credit from 0 to 1."""
    against: str = ""
    """Baseline answer: the judge says which of the two answers is better, once in each order."""
    each: bool = False
    """Judge each criterion in its own call."""
    clip: bool = True
    """Clip the weighted mean to the scale if negative weights push it outside."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """Sampling temperature of the judge; by default that of its model."""
    response_format: Literal["", "json_object", "json_schema", "category"] = ""
    """JSON format that chat completions servers should enforce, or `category`: the judge names a category."""
    repeats: Annotated[int, Meta(ge=1, le=25)] = 1
    """Number of times to ask; the mean grade or the most frequent category counts."""


class Grade(Struct, frozen=True, omit_defaults=True):
    """A judge's grade for one criterion."""

    name: str
    grade: float
    """The grade, or the credit of its category."""
    why: str = ""
    category: str = ""
    votes: list[float | str] = field(default_factory=list[float | str])
    """All grades or categories if the judge was asked repeatedly."""
    reasons: list[str] = field(default_factory=list[str])
    """The judge's words for each vote of a comparison."""


class Judgement(Struct, frozen=True, omit_defaults=True):
    """A judge's grades for one answer."""

    grades: list[Grade] = field(default_factory=list[Grade])
    """Empty if no reply was valid."""
    problem: str = ""
    """Error in the judge's replies, if any."""
    second: list[Grade] = field(default_factory=list[Grade])
    """Grades of the second judge, which do not affect the verdict."""


def criteria_of(rubric: Rubric) -> list[Criterion]:
    """Return the criteria; a rubric written as text is one criterion."""
    if rubric.against:
        return [Criterion(WIN_RATE, rubric.rubric)]
    return rubric.criteria or [Criterion(WHOLE, rubric.rubric)]


def calls_of(rubric: Rubric) -> int:
    """Return the number of questions to the judge about one answer."""
    parts = 2 if rubric.against else max(len(rubric.criteria), 1) if rubric.each else 1
    return parts * rubric.repeats


def scale_of(rubric: Rubric) -> tuple[float, float]:
    """Return the worst and the best grade; those of categories are 0 and 1."""
    return (0.0, 1.0) if rubric.categories or rubric.against else (rubric.scale[0], rubric.scale[1])


def credit_of(rubric: Rubric, category: str) -> float:
    """Return the credit of a category."""
    credit = rubric.categories[category]
    return float(credit == "passed") if isinstance(credit, str) else credit


def threshold_of(rubric: Rubric) -> float:
    """Return the minimum weighted mean that passes."""
    low, high = scale_of(rubric)
    usual = TIED if rubric.against else high if rubric.categories else low + USUAL_SHARE * (high - low)
    return usual if rubric.threshold is None else rubric.threshold


def limit_of(criterion: Criterion, rubric: Rubric) -> float:
    """Return the displayed threshold of a criterion: its own, or that of the mean."""
    return threshold_of(rubric) if criterion.threshold is None else criterion.threshold


def weighted_mean(grades: Sequence[Grade], rubric: Rubric, tag: str = "") -> float | None:
    """Return the mean of the grades, weighted by criterion, as earned points divided by the maximum.

    Args:
        grades: one for each criterion.
        rubric: the criteria, at least one with a positive weight.
        tag: only count criteria with this tag; the result is None if they can only cost points.
    """
    low, high = scale_of(rubric)
    weights = {item.name: item.weight for item in criteria_of(rubric) if not tag or tag in item.tags}
    most = sum(weight for weight in weights.values() if weight > 0)
    if not most:
        return None
    if min(weights.values()) >= 0:
        return sum(grade.grade * weights[grade.name] for grade in grades if grade.name in weights) / most
    share = sum((grade.grade - low) / (high - low) * weights.get(grade.name, 0.0) for grade in grades) / most
    return low + (min(max(share, 0.0), 1.0) if rubric.clip else share) * (high - low)


def scores_of(grades: Sequence[Grade], rubric: Rubric) -> dict[str, float]:
    """Return the scores of a judgement: grades or shares of categories, means of tags, and the mean of several."""
    criteria = criteria_of(rubric)
    if rubric.against:
        votes = [{"FIRST": 1.0, "SECOND": 0.0}.get(str(vote), TIED) for vote in grades[0].votes]
        scores = {name: float(name == grades[0].category) for name in _OF_BASELINE}
        return {WIN_RATE: grades[0].grade, **scores, CHOSE_FIRST: sum(votes) / max(len(votes), 1)}
    scores: dict[str, float] = {}
    for grade in grades:
        if rubric.categories:
            shares = _category_scores(rubric, grade.name)
            scores |= {score: float(name == grade.category) for name, score in shares.items()}
        if not rubric.categories or any(isinstance(credit, float) for credit in rubric.categories.values()):
            scores[grade.name] = grade.grade
    for tag in dict.fromkeys(tag for item in criteria for tag in item.tags):
        mean = weighted_mean(grades, rubric, tag)
        scores |= {} if mean is None else {tag: mean}
    mean = weighted_mean(grades, rubric)
    return scores | ({"judge": mean} if len(criteria) > 1 and mean is not None else {})


def category_scores(rubric: Rubric) -> list[str]:
    """Return the names of the scores that hold the share of each category."""
    if rubric.against:
        return list(_OF_BASELINE)
    return [name for item in criteria_of(rubric) for name in _category_scores(rubric, item.name).values()]


def _category_scores(rubric: Rubric, criterion: str) -> dict[str, str]:
    about = f"{criterion}: " if len(rubric.criteria) > 1 else ""
    return {name: f"{about}{name}" for name in rubric.categories}


def in_order(rubric: Rubric, *, is_first: bool) -> Rubric:
    """Return the rubric of one call that compares an answer with the baseline, in one order."""
    first, second = (1.0, 0.0) if is_first else (0.0, 1.0)
    return replace(rubric, against="", categories={"FIRST": first, "TIE": TIED, "SECOND": second})


def compared(votes: Sequence[Grade]) -> Grade:
    """Return the grade of an answer from the calls in both orders."""
    rate = sum(vote.grade for vote in votes) / len(votes)
    category = "TIE" if rate == TIED else "BETTER" if rate > TIED else "WORSE"
    reasons = [vote.why for vote in votes]
    why = " / ".join(filter(None, reasons))
    return Grade(WIN_RATE, rate, why, category, [vote.category for vote in votes], reasons)


def combined(votes: Sequence[Sequence[Grade]]) -> list[Grade]:
    """Return the mean grades of several judgements, or the most frequent categories; on a tie, the lowest credit."""
    if len(votes) == 1:
        return list(votes[0])
    return [_combined(grades) for grades in zip(*votes, strict=True)]


def _combined(grades: Sequence[Grade]) -> Grade:
    counts = Counter(grade.category for grade in grades)
    if grades[0].category:
        chosen = min(grades, key=lambda grade: (-counts[grade.category], grade.grade))
        return Grade(chosen.name, chosen.grade, chosen.why, chosen.category, [grade.category for grade in grades])
    mean = sum(grade.grade for grade in grades) / len(grades)
    nearest = min(grades, key=lambda grade: abs(grade.grade - mean))
    return Grade(nearest.name, mean, nearest.why, votes=[grade.grade for grade in grades])


def problem_in(rubric: Rubric) -> tuple[str, str, str] | None:
    """Return the field, problem and hint of a rubric with no criteria or inconsistent numbers; None if it is valid."""
    low, high = rubric.scale
    if not low < high:
        return "scale", f"must be ascending, not from {low:g} to {high:g}", "Write the worst grade first."
    if not rubric.rubric.strip() and not rubric.criteria:
        return "", "has no criteria", "Add a `rubric` as text, or `criteria`."
    if rubric.against and (rubric.criteria or rubric.categories or rubric.wording):
        return (
            "against",
            "excludes `criteria`, `categories` and `wording`",
            "Write what makes an answer better in `rubric`.",
        )
    names = [criterion.name for criterion in rubric.criteria]
    tags = {tag for criterion in rubric.criteria for tag in criterion.tags}
    if len(set(names)) < len(names):
        return "criteria", "has two criteria with the same name", ""
    if both := tags & {*names, "judge"}:
        return "criteria", f"{min(both)!r} is the name of a criterion or score and also a tag", "Rename the tag."
    if rubric.criteria and not any(criterion.weight > 0 for criterion in rubric.criteria):
        return "criteria", "no weight is positive", "Nothing could be earned: give one criterion a positive weight."
    return _problem_in_categories(rubric) or _problem_in_thresholds(rubric)


def _problem_in_categories(rubric: Rubric) -> tuple[str, str, str] | None:
    if len(rubric.categories) == 1:
        return "categories", "has only one name", 'Write at least two, such as {CORRECT = "passed", WRONG = "failed"}.'
    is_single = len(rubric.criteria) < 2 or rubric.each
    if rubric.response_format == "category" and not (rubric.categories and is_single):
        return "response_format", "needs `categories`, and one criterion a call", "Add `categories`, or `each = true`."
    return None


def _problem_in_thresholds(rubric: Rubric) -> tuple[str, str, str] | None:
    low, high = scale_of(rubric)
    limits = [("threshold", rubric.threshold)]
    limits += [(f"criteria[{place}].threshold", item.threshold) for place, item in enumerate(rubric.criteria)]
    for name, limit in limits:
        if limit is not None and not low <= limit <= high:
            return name, f"must be on the scale from {low:g} to {high:g}, not {limit:g}", ""
    return None


def grade_words(grade: Grade) -> str:
    """Format a grade with the votes behind it."""
    shown = grade.category or f"{grade.grade:.3g}"
    votes = ", ".join(vote if isinstance(vote, str) else f"{vote:g}" for vote in grade.votes)
    return f"{shown} ({votes})" if votes else shown


def schema_of(rubric: Rubric) -> dict[str, Any]:
    """Return the JSON schema of a judge's reply."""
    low, high = scale_of(rubric)
    names = list(rubric.categories)
    grade: dict[str, Any] = {"enum": names} if names else {"type": "number", "minimum": low, "maximum": high}
    fields = {"name": {"enum": [item.name for item in criteria_of(rubric)]}, "why": {"type": "string"}, "grade": grade}
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    grades = {"grades": {"type": "array", "items": item}}
    return {"type": "object", "properties": grades, "required": ["grades"], "additionalProperties": False}
