"""Multiple choice by log probabilities: the most probable letter, calibration, and what happens without them."""

import math
import re

import pytest
from support.row_suite import write_folder

from console.authoring import open_folder_suite
from console.benchmarks.dialogue.rules.letter_choice import (
    BRIER,
    CONFIDENCE,
    RIGHT,
    calibration_metrics,
    diagram_line,
    letter_probabilities,
)
from console.core.chat import TokenLogprob
from console.core.outcome import Outcome, Verdict
from console.core.statistics.calibration import Guess, brier_score, equal_mass_bins, expected_calibration_error
from console.suites.suite import Result
from console.testing.case_play import play_case, usual_setting


def token(text: str, **top: float) -> TokenLogprob:
    listed = tuple((name.replace("_", " "), math.log(share)) for name, share in top.items())
    return TokenLogprob(text, listed[0][1] if listed else -0.01, listed)


def plain(text: str) -> list[TokenLogprob]:
    """Return an answer cut into words, spaces and marks, for which the server lists nothing but the tokens."""
    return [token(part) for part in re.findall(r"[A-Za-z]|\W", text)]


def test_the_first_token_decides_if_it_lists_a_letter() -> None:
    assert letter_probabilities([token("Well", Well=0.7, D=0.2, C=0.1)]) == pytest.approx({"C": 1 / 3, "D": 2 / 3})
    late = [token("The", The=0.6, B=0.3, A=0.1), token(" answer"), token(":"), token(" C", C=1.0)]
    assert letter_probabilities(late) == pytest.approx({"A": 0.25, "B": 0.75})
    assert letter_probabilities([token("B", B=0.5, A=0.3), token("og")]) == pytest.approx({"A": 0.375, "B": 0.625})
    assert letter_probabilities([token(" B", **{" B": 0.4, " A": 0.3, "A": 0.2, " the": 0.1})]) == pytest.approx(
        {"A": 5 / 9, "B": 4 / 9}
    )
    outside_its_list = [TokenLogprob("B", math.log(0.6), (("A", math.log(0.4)),))]
    assert letter_probabilities(outside_its_list) == pytest.approx({"A": 0.4, "B": 0.6})
    assert letter_probabilities([token("(C)")]) == {"C": 1.0}
    assert letter_probabilities([token("A"), token("D")], choices=3) == {"A": 1.0}
    assert letter_probabilities([token("I")], choices=9) == {"I": 1.0}
    assert letter_probabilities([token("well")]) == {}
    assert letter_probabilities([]) == {}


@pytest.mark.parametrize("marks", [["\n"], ["\n\n", "**"], ['"'], ["`"], [" ", "(", " "], ["#", " "]])
def test_after_line_breaks_and_markup_the_first_word_decides(marks: list[str]) -> None:
    listed = {"Well": 0.6, "D": 0.3, "C": 0.1}
    before = [token(mark) for mark in marks]
    expected = pytest.approx({"C": 0.25, "D": 0.75})
    assert letter_probabilities([*before, token("Well", **listed), token(" B")]) == expected
    assert letter_probabilities([*before, token("D", **listed), token("."), token(" B")]) == expected
    assert letter_probabilities([*before, token("B", B=0.9, A=0.1), token("**"), token("og")]) == {}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("Well: **B**og.", ""),
        ("Well, Bog or A-frame", ""),
        ("Well, the answer is C.", "C"),
        ("Well, I say **C**", "C"),
        ("Well, (D) because", "D"),
        ("Well:\nA. Rome\nB. Oslo\nC. Bern\n\nC", "C"),
        ("Well: (A) Rome (B) Oslo (C) Bern", ""),
        ("Well: **A**. Rome **B**. Oslo; so B", "B"),
        ("Well. A bog is wet, so B.", "B"),
        ("Well, the answer is A because", "A"),
        ("Well, the U.S.A. or I'd say", ""),
    ],
)
def test_without_one_there_a_letter_counts_that_stands_alone(answer: str, letter: str) -> None:
    assert letter_probabilities(plain(answer)) == ({letter: 1.0} if letter else {})


def test_brier_score_and_calibration_error_by_hand() -> None:
    assert brier_score({"A": 0.7, "B": 0.3}, "A") == pytest.approx(0.18)
    assert brier_score({"A": 1.0}, "C") == 2.0
    guesses = [Guess(0.9, True), Guess(0.9, False), Guess(0.5, True), Guess(0.5, True)]
    bins = equal_mass_bins(guesses, 2)
    assert [(round(each.confidence, 2), each.accuracy) for each in bins] == [(0.5, 1.0), (0.9, 0.5)]
    assert expected_calibration_error(bins) == pytest.approx((0.5 + 0.4) / 2)
    assert [len(each.guesses) for each in equal_mass_bins([Guess(n / 23, True) for n in range(23)])] == [
        2, 2, 2, 3, 2, 2, 3, 2, 2, 3,
    ]  # fmt: skip
    assert expected_calibration_error(equal_mass_bins([])) is None


def results(count: int) -> list[Result]:
    made: list[Result] = []
    for number in range(count):
        is_right = number % 4 > 0
        scores = {CONFIDENCE: 0.75, RIGHT: float(is_right), BRIER: 0.1}
        outcome = Outcome.PASSED if is_right else Outcome.FAILED
        made.append(Result(str(number), "c", 0, Verdict(outcome, scores=scores)))
    return made


def test_the_report_has_the_error_and_a_diagram_from_twenty_answers_on() -> None:
    assert calibration_metrics(results(19)) == []
    error, *bins = calibration_metrics(results(40))
    assert len(bins) == 10
    assert error.name == "calibration error"
    assert sum(metric.count for metric in bins) == 40
    assert "mean confidence 75%" in bins[0].note
    assert diagram_line(0.5, 1.0, 4) == "██│█ mean confidence 50%"
    assert diagram_line(1.0, 0.25, 4) == "█··│ mean confidence 100%"


async def test_a_row_asks_for_log_probabilities_and_is_undecided_without_them(tmp_path) -> None:
    row = {"id": "x", "prompt": "Which?", "choices": ["no", "yes"], "expect": [{"choice": "B", "by": "logprob"}]}
    suite = open_folder_suite(write_folder(tmp_path / "letters", [row]))
    setting = usual_setting(suite)
    [case] = suite.cases((), setting)
    right, wrong = [await play_case(suite, case, setting, right=is_right) for is_right in (True, False)]
    assert right.verdict.outcome is Outcome.PASSED
    assert right.verdict.scores[CONFIDENCE] == 1.0
    assert right.verdict.scores[BRIER] == 0.0
    assert any(name.startswith("chose ") for name in right.verdict.scores), "the bias by position is reported too"
    assert wrong.verdict.outcome is Outcome.FAILED
    without = suite.score(case, {**right.output, "turns": [{"answer": "B"}]}, setting)
    assert (without.outcome, without.reason) == (Outcome.UNDECIDED, "no_logprobs")
