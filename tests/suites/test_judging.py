"""Judges: categories, points, repeats, one call a criterion, and what is sent; for rows and for imported runs alike."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from console.authoring import Criterion, Judge, Outcome, Rubric, verdict
from console.core.chat import Message, Reply
from console.suites.judging.judge import UnreadableReply, judge_messages, read_grades
from console.suites.judging.rubric import Grade, calls_of, problem_in, scores_of, threshold_of, weighted_mean
from console.testing.stage import MemoryStage

QA = Rubric("?", categories={"RIGHT": "passed", "WRONG": "failed", "SKIPPED": 0.25})
POINTS = Rubric(
    criteria=[
        Criterion("urgent", weight=7, tags=["safety"]),
        Criterion("drugs", weight=-5, tags=["safety"]),
        Criterion("kind", weight=3, tags=["tone"]),
    ],
    scale=[0, 1],
)


class Judged:
    """A stage whose judge says what it is told, in order."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), list[dict[str, Any]]()
        self.scores = dict[str, Any]()

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        self.asked.append({"messages": list(messages), **more})
        return Reply(self.replies[len(self.asked) - 1])

    def score(self, name: str, value: float | None, **_: Any) -> None:
        self.scores[name] = value

    def note(self, kind: str, data: Any, **_: Any) -> None: ...


def given(**grades: Any) -> str:
    return json.dumps({"grades": [{"name": name, "why": "so", "grade": grade} for name, grade in grades.items()]})


async def test_the_most_frequent_category_counts_and_a_tie_goes_to_the_lower_credit() -> None:
    stage = Judged(given(rubric="RIGHT"), "SKIPPED", given(rubric="RIGHT"))
    [grade] = (await Judge(stage).judge(Rubric("?", categories=QA.categories, repeats=3), "2000")).grades
    assert (grade.category, grade.grade, grade.votes) == ("RIGHT", 1.0, ["RIGHT", "SKIPPED", "RIGHT"])
    stage = Judged("RIGHT", "WRONG")
    [grade] = (await Judge(stage).judge(Rubric("?", categories=QA.categories, repeats=2), "2000")).grades
    assert grade.category == "WRONG"


def test_a_share_of_each_category_is_a_score_and_full_credit_passes() -> None:
    [grade] = read_grades(given(rubric="SKIPPED"), QA)
    assert scores_of([grade], QA) == {"RIGHT": 0.0, "WRONG": 0.0, "SKIPPED": 1.0, "rubric": 0.25}
    assert threshold_of(QA) == 1.0
    for wrong in ("right", given(rubric="Right"), given(rubric=1)):
        with pytest.raises(UnreadableReply):
            read_grades(wrong, QA)


@pytest.mark.parametrize(
    "doubled",
    [
        '{"grades": [{"name": "rubric", "grade": "WRONG"}], "grades": [{"name": "rubric", "grade": "RIGHT"}]}',
        '{"grades": [{"name": "rubric", "grade": "WRONG", "why": "so", "grade": "RIGHT"}]}',
        '```json\n{"grades": [{"name": "rubric", "grade": "RIGHT", "why": "a", "why": "b"}]}\n```',
    ],
)
async def test_a_reply_with_a_key_twice_is_no_grade(doubled: str) -> None:
    with pytest.raises(UnreadableReply, match=r"has the key '\w+' twice"):
        read_grades(doubled, QA)
    judgement = await Judge(Judged(doubled, doubled)).judge(QA, "2000")
    assert not judgement.grades
    assert "twice" in judgement.problem


@pytest.mark.parametrize(
    ("urgent", "drugs", "kind", "clip", "mean"),
    [(1, 0, 1, True, 1.0), (1, 1, 0, True, 0.2), (0, 1, 0, True, 0.0), (0, 1, 0, False, -0.5), (1, 0, 0, True, 0.7)],
)
def test_points_are_counted_over_all_that_can_be_earned(
    urgent: float, drugs: float, kind: float, clip: bool, mean: float
) -> None:
    rubric = Rubric(criteria=POINTS.criteria, scale=[0, 1], clip=clip)
    grades = [Grade("urgent", urgent), Grade("drugs", drugs), Grade("kind", kind)]
    assert weighted_mean(grades, rubric) == pytest.approx(mean)
    assert scores_of(grades, rubric)["tone"] == kind


async def test_each_criterion_is_asked_alone_with_the_settings_of_the_rubric() -> None:
    stage = Judged(given(urgent=1), "?", given(drugs=0), given(kind=0.5))
    rubric = Rubric(
        "Be careful.",
        POINTS.criteria,
        [0, 1],
        each=True,
        temperature=0.5,
        response_format="json_schema",
        reference="112",
    )
    judgement = await Judge(stage).judge(rubric, "Call 112.", conversation="User: help")
    assert {grade.name: grade.grade for grade in judgement.grades} == {"urgent": 1, "drugs": 0, "kind": 0.5}
    assert len(stage.asked) == 4, "the unreadable reply is asked again"
    assert calls_of(rubric) == 3
    first = stage.asked[0]
    assert first["params"]["temperature"] == 0.5
    assert first["params"]["response_format"]["type"] == "json_schema"
    prompt = first["messages"][0]["content"]
    assert "<reference>\n112\n</reference>" in prompt
    assert "urgent" in prompt
    assert "drugs" not in prompt
    stage = Judged(given(urgent=1), "?", "?", given(kind=0.5))
    judgement = await Judge(stage).judge(rubric, "Call 112.")
    assert (judgement.grades, bool(judgement.problem)) == ([], True), (
        "one criterion without a grade leaves it undecided"
    )


async def test_a_judge_that_names_a_category_gets_the_wording_alone() -> None:
    stage = Judged("It is not RIGHT.", "I looked twice.\n\nGRADE: right")
    rubric = Rubric(
        "?", categories=QA.categories, wording="Grade {answer} by {reference}.", reference="2000",
        response_format="category",
    )  # fmt: skip
    [grade] = (await Judge(stage).judge(rubric, "1999")).grades
    assert (grade.category, grade.why) == ("RIGHT", "I looked twice.\n\nGRADE: right")
    first, again = stage.asked
    assert [message["content"] for message in first["messages"]] == ["Grade 1999 by 2000."]
    assert not first["params"]
    assert "RIGHT, WRONG, SKIPPED" in again["messages"][-1]["content"]
    own = prompt_of(Rubric("?", categories=QA.categories, response_format="category"))
    assert own.endswith('Reply with one of "RIGHT", "WRONG", "SKIPPED" and nothing else.')


@pytest.mark.parametrize(
    ("rubric", "says", "grades"),
    [
        (QA, "SKIPPED", ["SKIPPED"]),
        (Rubric("?"), 2, [2.0]),
        (POINTS, {"urgent": 0, "drugs": 1, "kind": 1}, [0.0, 1.0, 1.0]),
    ],
)
async def test_a_suite_says_what_its_simulated_judge_gives(rubric: Rubric, says: Any, grades: list[Any]) -> None:
    judgement = await Judge(MemoryStage("case")).judge(rubric, "1999", says=says)
    assert [grade.category or grade.grade for grade in judgement.grades] == grades


def test_a_verdict_without_a_grade_is_undecided() -> None:
    undecided = verdict(None, reason="judge unreadable")
    assert (undecided.outcome, undecided.reason) == (Outcome.UNDECIDED, "judge unreadable")
    assert verdict(None).reason == "no_grade"


def prompt_of(rubric: Rubric) -> str:
    [message] = judge_messages(rubric, "1999", "")
    return message["content"]


@pytest.mark.parametrize(
    ("rubric", "field"),
    [
        (Rubric("?", categories={"A": "passed"}), "categories"),
        (Rubric("?", response_format="category"), "response_format"),
        (Rubric(criteria=[Criterion("a", weight=-1)]), "criteria"),
        (Rubric(criteria=[Criterion("a", tags=["a"])]), "criteria"),
        (Rubric("?", threshold=2, categories=QA.categories), "threshold"),
        (Rubric("?", scale=[5, 1]), "scale"),
    ],
)
def test_a_rubric_that_cannot_work_is_refused(rubric: Rubric, field: str) -> None:
    problem = problem_in(rubric)
    assert problem is not None
    assert problem[0] == field


@pytest.mark.parametrize(
    ("replies", "rate", "category", "chose_first"),
    [
        (("FIRST", "SECOND"), 1.0, "BETTER", 0.5),
        (("FIRST", "FIRST"), 0.5, "TIE", 1.0),
        (("TIE", "SECOND"), 0.75, "BETTER", 0.25),
        (("SECOND", "FIRST"), 0.0, "WORSE", 0.5),
    ],
)
async def test_a_baseline_is_compared_in_both_orders(
    replies: tuple[str, str], rate: float, category: str, chose_first: float
) -> None:
    stage = Judged(*replies)
    rubric = Rubric("Kind.", against="The old answer.")
    judgement = await Judge(stage).judge(rubric, "The new answer.", conversation="User: hello")  # type: ignore[arg-type]
    [grade] = judgement.grades
    assert (grade.grade, grade.category) == (rate, category)
    scores = scores_of(judgement.grades, rubric)
    assert (scores["win rate"], scores["chose the first answer"]) == (rate, chose_first)
    first, second = [asked["messages"][0]["content"] for asked in stage.asked]
    assert first.index("The new answer.") < first.index("The old answer.")
    assert second.index("The old answer.") < second.index("The new answer.")
    assert threshold_of(rubric) == 0.5
    assert problem_in(Rubric("Kind.", against="x", categories={"A": "passed", "B": "failed"})) is not None
