"""Checks of answers: what holds, what does not and why, and what cannot be decided."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.row_suite import judged

from console.benchmarks.dialogue.rules import bounded_regex, bounded_schema
from console.benchmarks.dialogue.rules.text_checks import letter_in, numbers_in
from console.core.comparison import Mark
from console.core.outcome import Outcome

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_what_is_checked_at_the_end_is_no_turns(tmp_path: Path) -> None:
    tool = {"name": "book", "parameters": {"type": "object", "properties": {}}}
    row = {
        "prompt": "",
        "tools": [tool],
        "turns": [{"user": "One?", "expect": [{"contains": "a"}]}, "Two?"],
        "expect": [{"calls": [{"book": {}}]}],
    }
    call = {"name": "book", "arguments": "{}"}
    turns = [{"answer": "b", "calls": [call]}, {"answer": "c", "calls": [call]}]
    verdict, comparison = judged(tmp_path, row, {"turns": turns})
    assert [message.partition(":")[0] for message in verdict.messages] == ["turn 1", "at the end"]
    assert comparison.turns == (Mark.DIFFERS, Mark.OMITTED, Mark.DIFFERS)
    assert [comparison.turn_name(number) for number in range(3)] == ["turn 1", "turn 2", "at the end"]
    assert [pair.turn for pair in comparison.pairs] == [0, 2, 2]
    verdict, comparison = judged(tmp_path, {"contains": "a"}, "b")
    assert (verdict.messages, comparison.turns) == (("the answer does not contain “a”",), ())


def test_alternatives_by_reference_cost_little_for_a_long_answer(tmp_path: Path) -> None:
    """2 ** 8 alternatives, each of which would quote the answer."""
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(8)}
    schema = {"$defs": names | {"d8": {"type": "integer"}}, "$ref": "#/$defs/d0"}
    tracemalloc.start()
    verdict, _ = judged(tmp_path, {"json": schema}, json.dumps("x" * 100_000))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert verdict.outcome in (Outcome.FAILED, Outcome.UNDECIDED)
    assert most < 10e6


def test_a_schema_that_takes_too_long_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_schema, "MOST_SECONDS", -1.0)
    verdict, _ = judged(tmp_path, {"json": {"type": "object"}}, "{}")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNDECIDED, "too_slow")


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"anyOf": [{"type": "integer"}, {"minLength": 3}]}, ['"abc"', "1"], ['"x"']),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, ["2", "3.5"], ["5", "1.5"]),
    ],
)
def test_alternatives_of_a_schema(tmp_path: Path, schema: dict[str, Any], right: list[str], wrong: list[str]) -> None:
    for number, answer in enumerate((*right, *wrong)):
        verdict, _ = judged(tmp_path / str(number), {"json": schema}, answer)
        assert verdict.outcome is (Outcome.PASSED if answer in right else Outcome.FAILED), verdict


@pytest.mark.parametrize(
    ("check", "answer", "reason"),
    [
        ({"equals": "Paris"}, " Paris\n", None),
        ({"equals": "Paris"}, "paris", "wrong_text"),
        ({"equals": "Paris"}, "It is Paris, the capital.", "right_inside"),
        ({"equals": "Paris"}, "Parisian", "wrong_text"),
        ({"equals": ["Rome", "Roma"], "ignore_case": True}, "roma", None),
        ({"contains": "Paris"}, "It is Paris.", None),
        ({"contains": ["a", "z"]}, "only a", "text_missing"),
        ({"contains": "PARIS", "ignore_case": True}, "in Paris", None),
        ({"regex": r"^\d{4}-\d\d$"}, "2026-11", None),
        ({"regex": r"^\d{4}-\d\d$"}, "November", "no_match"),
        ({"number": 42}, "6 times 7 is 42.", None),
        ({"number": 1234.5}, "That is 1,234.50 in all", None),
        ({"number": 0.3, "tolerance": 0.1}, "0.4", None),
        ({"number": 0.3, "tolerance": 0.1}, "0.41", "wrong_number"),
        ({"number": 200, "tolerance": "1%"}, "about 202", None),
        ({"number": -5}, "it is \u22125 degrees", None),
        ({"number": 7, "which": "first"}, "7 of 9", None),
        ({"number": 7, "which": "any"}, "5 and 7 and 9", None),
        ({"number": 7}, "seven", "no_number"),
        ({"number": "1,000"}, "1000", None),
        ({"choice": "B"}, "The answer is B.", None),
        ({"choice": "b"}, "(B)", None),
        ({"choice": "B"}, "A) is wrong.\nAnswer: C", "wrong_choice"),
        ({"choice": "A"}, "A dog is an animal", "no_choice"),
        ({"json": PERSON}, '```json\n{"name": "Ada"}\n```', None),
        ({"json": PERSON}, '{"name": 7}', "other_json"),
        ({"json": PERSON}, "name: Ada", "not_json"),
        ({"any": [{"equals": "x"}, {"contains": "y"}]}, "a y", None),
        ({"any": [{"equals": "x"}, {"contains": "y"}]}, "z", "wrong_text"),
    ],
)
def test_a_check_of_the_text(tmp_path: Path, check: dict[str, Any], answer: str, reason: str | None) -> None:
    verdict, comparison = judged(tmp_path, {"expect": [check]}, answer)
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED if reason else Outcome.PASSED, reason)
    [pair] = comparison.pairs
    assert pair.mark is (Mark.DIFFERS if reason else Mark.SAME)


TOOL = {
    "name": "book",
    "description": "Books.",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "price": {"type": "number"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "guest": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
        "required": ["city"],
    },
}


@pytest.mark.parametrize(
    ("expected", "called", "reason"),
    [
        ({"city": "Rome"}, {"city": "rome"}, None),
        ({"city": ["Rome", "Roma"], "nights": [2, ""]}, {"city": "Roma"}, None),
        ({"city": "Rome", "nights": 2}, {"city": "Rome", "nights": "2"}, "type_error:simple"),
        ({"city": "Rome", "nights": 2}, {"city": "Rome", "nights": 3}, "value_error:others"),
        ({"city": "Rome", "price": 80}, {"city": "Rome", "price": 80.0}, None),
        ({"city": "Rome"}, {"city": "Rome", "nights": 2}, "simple_function_checker:unexpected_param"),
        ({"city": "Rome", "extras": [["bed", "desk"]]}, {"city": "Rome", "extras": ["bed", "desk"]}, None),
        ({"city": "Rome", "guest": {"name": "Ada"}}, {"city": "Rome", "guest": {"name": "ada"}}, None),
        ({"city": "Rome"}, {}, "simple_function_checker:missing_required"),
    ],
)
def test_calls_are_judged_by_the_checker_of_bfcl(
    tmp_path: Path, expected: dict[str, Any], called: dict[str, Any], reason: str | None
) -> None:
    import json

    turn = {"answer": "", "calls": [{"name": "book", "arguments": json.dumps(called)}]}
    row = {"tools": [TOOL], "expect": [{"calls": [{"book": expected}]}]}
    verdict, comparison = judged(tmp_path, row, {"turns": [turn]})
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED if reason else Outcome.PASSED, reason)
    assert comparison.pairs[0].expected == "book"


def test_calls_in_any_order_and_none_too_many(tmp_path: Path) -> None:
    calls = [{"name": "book", "arguments": f'{{"city": "{city}"}}'} for city in ("Rome", "Oslo")]
    row = {"tools": [TOOL], "expect": [{"calls": [{"book": {"city": "Oslo"}}, {"book": {"city": "Rome"}}]}]}
    assert judged(tmp_path, row, {"turns": [{"answer": "", "calls": calls}]})[0].outcome is Outcome.PASSED
    verdict, _ = judged(tmp_path, row, {"turns": [{"answer": "", "calls": [*calls, calls[0]]}]})
    assert verdict.reason == "parallel_function_checker_no_order:wrong_count"


def test_arguments_that_are_no_json_fail_with_their_text(tmp_path: Path) -> None:
    row = {"tools": [TOOL], "expect": [{"calls": [{"book": {"city": "Rome"}}]}]}
    output = {"turns": [{"answer": "", "calls": [{"name": "book", "arguments": "{city: Rome}"}]}]}
    verdict, comparison = judged(tmp_path, row, output)
    assert (verdict.reason, verdict.subject) == ("bad_arguments", "book")
    assert comparison.pairs[0].actual == "book({city: Rome})"


@pytest.mark.parametrize(("forbidden", "holds"), [("book", False), (["sell"], True), (True, False)])
def test_a_call_that_must_not_be(tmp_path: Path, forbidden: object, holds: bool) -> None:
    tools = [TOOL, {"name": "sell"}]
    output = {"turns": [{"answer": "", "calls": [{"name": "book", "arguments": "{}"}]}]}
    verdict, _ = judged(tmp_path, {"tools": tools, "expect": [{"not_called": forbidden}]}, output)
    assert (verdict.outcome is Outcome.PASSED) is holds


@pytest.mark.parametrize(
    "check",
    [
        {"regex": r"^(a|aa)+$"},
        {"json": {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}},
        {"json": {"type": "array", "items": {"pattern": "^(a|aa)+$"}}},
    ],
)
def test_a_check_without_an_end_is_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: dict[str, Any]
) -> None:
    monkeypatch.setattr(bounded_regex, "SECONDS", 0.1)
    answer = "a" * 60 + "!" if "regex" in check else '["' + "a" * 60 + '!"]'
    verdict, _ = judged(tmp_path, {"expect": [check]}, answer)
    assert (verdict.outcome, verdict.reason) == (Outcome.UNDECIDED, "too_slow")


@given(st.text())
def test_numbers_and_letters_are_read_from_any_text(text: str) -> None:
    assert all(number.is_finite() for number in numbers_in(text))
    letter = letter_in(text)
    assert letter is None or (len(letter) == 1 and letter.isupper())


@given(st.integers(min_value=-(10**30), max_value=10**30))
def test_a_number_with_commas_is_that_number(number: int) -> None:
    assert numbers_in(f"It is {number:,}.") == numbers_in(f"({number})") == [number]
