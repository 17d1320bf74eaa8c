"""Choices: shuffled per rollout and recorded, letters that follow, bias by position, and rows that cannot work."""

from pathlib import Path
from typing import Any

import pytest
from support.row_suite import SETTING, judged, suite_in, write_folder

from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.suites.suite import Result
from console.testing.case_play import play_case

ROW = {"prompt": "Which?", "choices": ["red", "green", "blue", "gray", "pink"], "choice": "B"}


async def test_the_right_letter_follows_the_order_of_the_rollout(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, [{**ROW, "id": str(number)} for number in range(12)]))
    orders: set[tuple[int, ...]] = set()
    for case in suite.cases((), SETTING):
        for right in (True, False):
            played = await play_case(suite, case, SETTING, right=right)
            assert played.verdict.outcome is (Outcome.PASSED if right else Outcome.FAILED)
        order = played.output["order"]
        orders.add(tuple(order))
        assert sorted(order) == list(range(5))
        asked = played.output["turns"][0]["user"].splitlines()
        letter = "ABCDE"[order.index(1)]
        assert f"{letter}) green" in asked
        verdict = suite.score(case, {"turns": [{"answer": letter}], "order": order}, SETTING)
        assert verdict.outcome is Outcome.PASSED
        assert verdict.scores[f"chose {letter}"] == verdict.scores[f"right at {letter}"] == 1.0
    assert len(orders) > 6


def test_an_answer_without_an_order_is_in_that_of_the_row(tmp_path: Path) -> None:
    verdict, comparison = judged(tmp_path, ROW, "A")
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "wrong_choice")
    assert (verdict.scores["chose A"], verdict.scores["right at B"]) == (1.0, 0.0)
    assert comparison.pairs[0].expected == "choice: B"


def test_the_report_has_the_letters_in_order(tmp_path: Path) -> None:
    suite = suite_in(write_folder(tmp_path, [ROW]))
    [case] = suite.cases((), SETTING)
    verdicts = [suite.score(case, {"turns": [{"answer": "B"}], "order": order}, SETTING) for order in (
        [0, 2, 1, 3, 4], [1, 0, 2, 3, 4],
    )]  # fmt: skip
    results = [Result(case.id, "cases", number, verdict) for number, verdict in enumerate(verdicts)]
    names = [metric.name for metric in suite.report(results, SETTING).metrics]
    assert names == ["accuracy", *(f"chose {letter}" for letter in "ABCDE"), "right at A", "right at C"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"choice": "F"}, "not one of the choices, A to E"),
        ({"choice": None, "contains": "x"}, "need a question and a check"),
        ({"choices": ["one"]}, "choices"),
    ],
)
def test_choices_that_cannot_be_asked_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    merged = {name: value for name, value in {**ROW, **row}.items() if value is not None}
    with pytest.raises(UsageError, match=message):
        suite_in(write_folder(tmp_path, [merged])).cases((), SETTING)
