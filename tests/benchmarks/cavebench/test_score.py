"""The evaluator's rules, each by a small case of its own."""

import json
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.benchmarks.cavebench.conformance import CaveLineChecker
from console.benchmarks.cavebench.pyvalue import UnreadableValue, parse_value
from console.benchmarks.cavebench.rules.access import access_of, expected_access
from console.benchmarks.cavebench.rules.expectation import read_expectation
from console.benchmarks.cavebench.rules.json_values import decode, encode, for_peer
from console.benchmarks.cavebench.rules.match import ActualCall
from console.benchmarks.cavebench.rules.score import TurnRecord, TurnScore, ValidatorAnswer, score_turn, total
from console.benchmarks.cavebench.rules.value import EvaluatorError, Foreign, canonical, fits


def judge(turn: dict, *calls: tuple[str, object], **record: object) -> TurnScore:
    made = tuple(ActualCall(name, arguments) for name, arguments in calls)
    return score_turn(read_expectation(turn), TurnRecord(calls=made, **record))  # type: ignore[arg-type]


def expect(name: str, required: bool = True, **values: object) -> dict:
    return {
        "name": name,
        "required": required,
        "arguments": [{"name": key, "value": value} for key, value in values.items()],
    }


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (5, 5.0, True),
        (5, "5", True),
        (5, "5.0", False),
        (True, "True", True),
        (True, 1, False),
        ("London ", "London", True),
        ("London", "london", False),
        ([1], ["1.0"], False),
        ([1], [1.0], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (1234567.8, 1234568.2, True),
        ((1, 2), [1, 2], False),
    ],
)
def test_equality_of_values(left: object, right: object, same: bool) -> None:
    assert (canonical(left) == canonical(right)) is same


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1: 2, "a": 3}, [float("nan")]])
def test_values_that_cannot_be_judged(value: object) -> None:
    with pytest.raises(EvaluatorError):
        canonical(value)


@pytest.mark.parametrize(
    ("value", "name", "fit", "exact"),
    [
        (1, "int", True, True),
        (1, "float", True, False),
        ("1e3", "int", True, False),
        ("x", "int", False, False),
        (True, "int", False, False),
        (1.5, "number", False, False),
        ("x", "str", True, True),
        (None, "NoneType", True, True),
    ],
)
def test_types(value: object, name: str, fit: bool, exact: bool) -> None:
    assert fits(value, name) is fit
    assert fits(value, name, "exact") is exact


def test_greedy_optional_expectation_steals_the_call() -> None:
    turn = {"expected_function_calls": [expect("f", False, a=1), expect("f", a=2)]}
    score = judge(turn, ("f", {"a": 3}))
    assert score.errors == (
        "Call f(call_index=0): Expected value '1', got '3'",
        "No suitable match found for required function call: f",
    )
    assert [match.actual_index for match in score.matches] == [0, None]


def test_peers_missing_calls_beside_the_true_count() -> None:
    turn = {"expected_function_calls": [expect("f", a=1), expect("f", a=2), expect("g")]}
    score = judge(turn, ("f", {"a": 1}))
    assert score.metrics["missing_calls"] == 1
    assert score.missing_required == 2
    assert score.errors[0] == "Function 'f' called 1 times, expected at least 2"


def test_extra_calls_and_order_do_not_matter() -> None:
    turn = {"expected_function_calls": [expect("f", a=1), expect("g", a=2)]}
    assert judge(turn, ("g", {"a": 2}), ("h", {}), ("f", {"a": 0}), ("f", {"a": 1})).success


def test_strict_arguments_fail_but_count_in_no_metric() -> None:
    turn = {"expected_function_calls": [expect("f", a=1) | {"strict_args": True}]}
    score = judge(turn, ("f", {"a": 1, "b": 2}))
    assert score.errors == ("Call f(call_index=0): Unexpected argument 'b' not in expected arguments",)
    assert not any(score.metrics.values())


def test_validator_and_variables_follow_the_calls() -> None:
    turn = {"expected_variable_reads": ["df"], "expected_variable_writes": ["out", "out"]}
    score = judge(turn, snippets=("x = 1",), validator=ValidatorAnswer(False, "no"))
    assert score.errors[-1] == "Custom validator failed: no"
    assert score.errors[:3] == ("Variable df is not read", *["Variable out is not written"] * 2)
    assert score.metrics["missing_variable_writes"] == 2


@pytest.mark.parametrize("given", [None, 5, True, ["a"], "a", "abc"])
def test_arguments_that_are_no_object_and_cannot_be_looked_into(given: object) -> None:
    turn = {"expected_function_calls": [expect("f", a=1)]}
    with pytest.raises(EvaluatorError, match="not an object"):
        judge(turn, ("f", given))
    assert judge({"expected_function_calls": [{"name": "f"}]}, ("f", given)).success


@pytest.mark.parametrize("given", [[], [1], "x", ""])
def test_a_list_or_text_without_the_name_passes_no_argument(given: object) -> None:
    score = judge({"expected_function_calls": [expect("f", a=1)]}, ("f", given))
    assert [error.type for error in score.call_errors] == ["missing_argument"]
    with pytest.raises(EvaluatorError, match="not an object"):
        judge({"expected_function_calls": [expect("f", a=1) | {"strict_args": True}]}, ("f", given))


@pytest.mark.parametrize("call", [{"name": ["f"]}, {"name": "f", "arguments": [{"name": ["a"]}]}])
def test_names_of_a_kind_that_is_no_name(call: dict[str, object]) -> None:
    with pytest.raises(EvaluatorError, match="unhashable"):
        judge({"expected_function_calls": [call]}, ("f", {}))


def test_only_plain_text_is_taken_for_a_number_and_keys_are_compared_as_values() -> None:
    class Label(str):
        pass

    assert fits("5", "int")
    assert not fits(Label("5"), "int")
    assert not fits(decode(encode(Label("5"))), "int")
    assert canonical({1.0: "x", 2: "y"}) == "{'1': 'x', '2': 'y'}"
    assert canonical({" a ": 1}) == "{' a ': '1'}"


@pytest.mark.parametrize(
    "call",
    [
        {"name": "f", "arguments": ["a"]},
        {"name": "f", "arguments": None},
        {"name": "f", "arguments": [{"name": "a", "values": 1}]},
        {"name": "f", "arguments": [{"value": 1}]},
        {"arguments": []},
        "f",
    ],
)
def test_malformed_expectations(call: object) -> None:
    with pytest.raises(EvaluatorError):
        read_expectation({"expected_function_calls": [call]})
    row = {"kind": "turn", "turn": {"expected_function_calls": [call]}, "actual": {}}
    verdict = CaveLineChecker().check(row)["verdict"]
    assert list(verdict) == ["evaluator_error"]


def test_access_counts_names_only() -> None:
    access = access_of("total += df['a'].sum()\nimport os\nfor row in rows: pass")
    assert (access.reads, access.writes) == (("df", "rows"), ("row", "total"))
    assert access_of("!ls").reads == ()
    assert expected_access(["y = x", "x = 1"], ["x"], ["x", "y"]).writes == ("x", "y")


def test_totals_of_nothing() -> None:
    assert total([]).metrics()["success_rate"] == 0


def test_sums_over_turns() -> None:
    good = judge({"expected_function_calls": [expect("f", a=1)]}, ("f", {"a": 1}), steps=2, tokens=(3, 4, 7))
    bad = judge({"expected_function_calls": [expect("f", a=1)]}, steps=1)
    metrics = total([good, bad]).metrics()
    assert (metrics["success_rate"], metrics["total_steps"], metrics["total_tokens"]) == (0.5, 3, 7)
    assert (metrics["total_expected_calls"], metrics["total_actual_calls"], metrics["missing_calls"]) == (2, 1, 1)


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "open('/etc/passwd')", "().__class__", "lambda: 1", "[1][0]", "x", "10**10**9", "'a' * 10**9"],
)
def test_python_values_outside_the_list_are_refused(text: str) -> None:
    with pytest.raises(UnreadableValue):
        parse_value(text)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_json_values_are_encoded_and_decoded_unchanged(value: object) -> None:
    assert decode(encode(value)) == value


def test_foreign_values_keep_what_the_rules_compare() -> None:
    import datetime
    import decimal

    day = datetime.date(2023, 4, 28)
    crossed = decode(encode({"when": day, "pair": (1, 2), "price": decimal.Decimal("5.50"), "huge": float("inf")}))
    assert canonical(crossed["when"]) == "2023-04-28"
    assert fits(crossed["when"], "date")
    assert str(crossed["pair"]) == "(1, 2)"
    assert canonical({"a": crossed["price"]}) == "{'a': '5.50'}"
    assert for_peer(crossed["when"]) == {"$repr": "datetime.date(2023, 4, 28)"}
    with pytest.raises(EvaluatorError):
        canonical(crossed["huge"])


class Titled(dict[str, Any]):
    """A dictionary with a text of its own, whose items cannot be had."""

    def __repr__(self) -> str:
        return "titled"

    def items(self) -> Any:
        raise RuntimeError("no")


class Stack(list[Any]):
    pass


Pair = namedtuple("Pair", "x y")


@pytest.mark.parametrize(
    ("value", "shown", "kind", "text"),
    [
        (OrderedDict(b=2, a=1), {"b": 2, "a": 1}, "OrderedDict", str(OrderedDict(b=2, a=1))),
        (defaultdict(list, {"a": [1]}), {"a": [1]}, "defaultdict", "defaultdict(<class 'list'>, {'a': [1]})"),
        (Counter("aab"), {"a": 2, "b": 1}, "Counter", "Counter({'a': 2, 'b': 1})"),
        (Titled(a=(1, 2)), {"a": {"$repr": "(1, 2)"}}, "Titled", "titled"),
        (Stack([Titled(a=1)]), [{"a": 1}], "Stack", "[titled]"),
        (OrderedDict([(1, 2)]), {"$repr": str(OrderedDict([(1, 2)]))}, "OrderedDict", str(OrderedDict([(1, 2)]))),
        (Pair(1, 2), {"$repr": "Pair(x=1, y=2)"}, "Pair", "Pair(x=1, y=2)"),
        (IntEnum("Size", "S")(1), {"$repr": "<Size.S: 1>"}, "Size", "1"),
    ],
)
def test_subclasses_are_shown_as_the_reference_shows_them(value: Any, shown: Any, kind: str, text: str) -> None:
    """The reference writes subclasses of dict and list as JSON, but judges them by their own class and text."""
    crossed = decode(json.loads(json.dumps(encode({"a": value}))))
    assert for_peer(crossed) == {"a": shown}
    assert fits(crossed["a"], kind)
    assert not fits(crossed["a"], "dict")
    assert str(crossed["a"]) == text
    if not isinstance(value, Titled):
        assert canonical(crossed["a"]) == canonical(value)


def test_a_dictionary_cannot_pose_as_a_foreign_value() -> None:
    forged = {"$foreign": {"type": "int", "canonical": "5"}}
    crossed = decode(encode(forged))
    assert isinstance(crossed, Foreign)
    assert crossed.type_name == "dict"


def test_values_whose_text_misbehaves() -> None:
    class Rude:
        def __str__(self) -> str:
            raise RuntimeError("no")

        __repr__ = __str__

    crossed = decode(encode(Rude()))
    assert str(crossed) == "<Rude>"
    with pytest.raises(EvaluatorError):
        canonical(crossed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("datetime.datetime(2023,4,28,tzinfo=datetime.timezone.utc)", "2023-04-28 00:00:00+00:00"),
        ("uuid.UUID('12345678123456781234567812345678')", "12345678-1234-5678-1234-567812345678"),
        ("(1, 2) * 2", "(1, 2, 1, 2)"),
        ("2**64", "18446744073709551616"),
        ("-1.50", "-1.5"),
        ("dict(b=2, a=1)", "{'a': '1', 'b': '2'}"),
    ],
)
def test_python_values_of_the_list(text: str, expected: str) -> None:
    assert canonical(parse_value(text)) == expected


def test_a_row_with_an_unreadable_value_gets_an_answer() -> None:
    assert "evaluator_error" in CaveLineChecker().check({"id": "x", "kind": "normalize", "value": {"$py": "open('x')"}})
