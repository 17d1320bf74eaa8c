"""The matching of calls, which groups and bounds, beside the plain rule: every verdict and message is the same."""

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest

from console.benchmarks.cavebench.rules.expectation import ExpectedArgument, ExpectedCall
from console.benchmarks.cavebench.rules.match import ActualCall, CallError, check_arguments, check_calls
from console.benchmarks.cavebench.rules.value import EvaluatorError, Foreign, canonical, comparable, fits, is_same

VALUES: list[Any] = [
    *(None, True, False, 0, 1, 5, 5.0, -0.0, 0.5, 1e300, "5", " 5 ", "5.0", "x", "", "['5']", "[]", "{}", "{'a': '1'}"),
    *([], [5], ["5"], [["5"]], ["a'b"], ['a"b\\'], [[], [1, [2]]], {}, {"a": 1}, {"a": "1"}, {"b": [1], "a": {"c": 2}}),
    *("[\"['5']\"]", {"a'": ["\n"]}, Foreign("int", "5", "5", "5"), Foreign("set", "{1}", "{1}", "", "no order")),
]
NAMES = ["a", "b", "c"]
TYPES = [None, "int", "float", "str", "list", "dict", "bool"]


def plain_text(value: Any) -> str:
    """The reference's text of a value, written out at every level."""
    if isinstance(value, list):
        return str([plain_text(item) for item in value])
    if isinstance(value, dict):
        return str({key: plain_text(value[key]) for key in sorted(value)})
    return canonical(value)


def plain_cost(expected: Sequence[ExpectedArgument], arguments: Any) -> float:
    penalty = weight = 0.0
    for argument in expected:
        if argument.name not in arguments:
            penalty += 1.0 if argument.required else 0.0
            weight += 1.0
            continue
        value = arguments[argument.name]
        if argument.value is not None:
            penalty += 0.5 if plain_text(value) != plain_text(argument.value) else 0.0
            weight += 1.0
        if argument.type is not None:
            penalty += 0.3 if not fits(value, argument.type) else 0.0
            weight += 0.5
    return penalty / max(weight, 1.0)


def arguments_of(expected: ExpectedCall, call: ActualCall) -> dict[str, Any]:
    if expected.arguments and not isinstance(call.arguments, dict):
        refused = not isinstance(call.arguments, (list, str))
        if refused or any(item.name in call.arguments for item in expected.arguments):
            raise EvaluatorError
    return call.arguments if isinstance(call.arguments, dict) else {}


def plain_check(
    expected: Sequence[ExpectedCall], actual: Sequence[ActualCall]
) -> tuple[list[CallError], list[tuple[int, int | None, float]]]:
    """Every expectation against every free call, as the rule is told."""
    errors: list[CallError] = []
    matches: list[tuple[int, int | None, float]] = []
    for name in dict.fromkeys(call.name for call in expected):
        free = [index for index, call in enumerate(actual) if call.function == name]
        required = sum(call.required for call in expected if call.name == name)
        if len(free) < required:
            text = f"Function '{name}' called {len(free)} times, expected at least {required}"
            errors.append(CallError("missing_function", text))
            continue
        for index, call in enumerate(expected):
            if call.name != name:
                continue
            costs = [(plain_cost(call.arguments, arguments_of(call, actual[place])), place) for place in free]
            if not costs:
                matches.append((index, None, 0.0))
                if call.required:
                    text = f"No suitable match found for required function call: {name}"
                    errors.append(CallError("missing_function", text, index))
                continue
            cost, taken = min(costs)
            free.remove(taken)
            matches.append((index, taken, cost))
            if call.strict_args and call.arguments and not isinstance(actual[taken].arguments, dict):
                raise EvaluatorError
            errors += check_arguments(index, call, arguments_of(call, actual[taken]), "compatible")
    return errors, matches


def any_call(rng: random.Random) -> ActualCall:
    arguments: Any = {name: rng.choice(VALUES) for name in rng.sample(NAMES, rng.randint(0, 3))}
    return ActualCall(rng.choice("fg"), arguments if rng.random() < 0.97 else rng.choice([[], "x", ["a"], None]))


def any_expectation(rng: random.Random) -> ExpectedCall:
    arguments = tuple(
        ExpectedArgument(rng.choice(NAMES), rng.choice(VALUES), rng.choice(TYPES), rng.random() < 0.7)
        for _ in range(rng.randint(0, 3))
    )
    return ExpectedCall(rng.choice("fg"), arguments, rng.random() < 0.6, rng.random() < 0.3)


def test_the_same_as_the_plain_rule() -> None:
    rng = random.Random(12)
    judged = refused = 0
    for _ in range(3000):
        expected = [any_expectation(rng) for _ in range(rng.randint(0, 6))]
        actual = [any_call(rng) for _ in range(rng.randint(0, 12))]
        actual += rng.choices(actual, k=rng.randint(0, 6)) if actual else []
        try:
            errors, matches = plain_check(expected, actual)
        except EvaluatorError:
            refused += 1
            with pytest.raises(EvaluatorError):
                check_calls(expected, actual, "compatible")
            continue
        judged += 1
        check = check_calls(expected, actual, "compatible")
        assert check.errors == errors
        assert [(match.expected_index, match.actual_index, match.cost) for match in check.matches] == matches
    assert judged > 1000
    assert refused > 100


def nested(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([value for value in VALUES if not isinstance(value, Foreign)])
    if rng.random() < 0.5:
        return [nested(rng, depth - 1) for _ in range(rng.randint(0, 2))]
    return {rng.choice(["a", "b", "'", "\\"]): nested(rng, depth - 1) for _ in range(rng.randint(0, 2))}


def test_values_are_the_same_when_their_texts_are() -> None:
    rng = random.Random(7)
    equal = 0
    for _ in range(20_000):
        left, right = nested(rng, 4), nested(rng, 4)
        if rng.random() < 0.3:
            right = plain_text(left) if rng.random() < 0.5 else left
            right = [plain_text(right)] if rng.random() < 0.3 else right
        same = plain_text(left) == plain_text(right)
        assert is_same(comparable(left), comparable(right)) is same, (left, right)
        assert canonical(left) == plain_text(left)
        equal += same
    assert equal > 1000


@pytest.mark.parametrize("quote", ["1", "'\"", "\\"])
def test_nesting_costs_what_it_is_long(quote: str) -> None:
    """Each level doubles the text to compare: written out, 40 brackets are a terabyte."""
    deep: Any = quote
    for _ in range(90):
        deep = [deep]
    expected = [ExpectedCall("f", (ExpectedArgument("a", deep), ExpectedArgument("b", "[" * 19_000)))]
    began = time.process_time()
    assert check_calls(expected, [ActualCall("f", {"a": deep, "b": "[" * 19_000})], "compatible").errors == []
    wrong = check_calls(expected, [ActualCall("f", {"a": "[" * 19_000, "b": deep})], "compatible")
    assert [error.type for error in wrong.errors] == ["wrong_argument_value"] * 2
    assert time.process_time() - began < 2
    with pytest.raises(EvaluatorError, match="longer than"):
        canonical(deep)
    with pytest.raises(EvaluatorError, match="levels deep"):
        comparable([[[[[[[[[[[deep]]]]]]]]]]])


def test_many_calls_cost_what_they_are_many_and_too_many_different_ones_are_refused() -> None:
    expected = [ExpectedCall("f", (ExpectedArgument("a", 1),))] * 5000
    began = time.process_time()
    check = check_calls(expected, [ActualCall("f", {"a": 1})] * 5000, "compatible")
    assert check.errors == []
    assert [match.actual_index for match in check.matches] == list(range(5000))
    assert time.process_time() - began < 5
    different = [ActualCall("f", {"a": number}) for number in range(5000)]
    with pytest.raises(EvaluatorError, match="too many"):
        check_calls(expected, different, "compatible")
    check_calls(expected[:50], different, "compatible")


def test_messages_about_one_call_are_bounded() -> None:
    arguments = tuple(ExpectedArgument("a", number) for number in range(1000))
    with pytest.raises(EvaluatorError, match="too long"):
        check_calls([ExpectedCall("f", arguments)], [ActualCall("f", {"a": "x" * 1_000_000})], "compatible")
