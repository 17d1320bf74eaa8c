"""Matches actual calls to expected ones and checks them: cave-bench's greedy matching.

Calls are grouped by function name; within a name every expectation, in listed order and including optional ones, takes
the unused call of lowest cost, the earliest on a tie. Order is not judged and extra calls never fail. Calls that no
rule distinguishes are compared once, and derived facts of a value are computed once.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from console.benchmarks.cavebench.rules.expectation import ExpectedArgument, ExpectedCall
from console.benchmarks.cavebench.rules.value import (
    DEEPEST,
    Comparable,
    EvaluatorError,
    Foreign,
    TypeRule,
    comparable,
    fits,
    is_same,
    type_name_of,
)

MOST_COMPARISONS = 1_000_000
"""Maximum argument comparisons per function; fifty expectations and 5,000 different calls fit."""
MOST_TEXT = 32_000_000
"""Maximum number of characters in a turn's messages: twice those of the longest line of `check`."""


@dataclass(frozen=True, slots=True)
class ActualCall:
    """A call by the model."""

    function: str
    arguments: Any
    """Values by name; anything else recorded in JSON mode cannot be judged against listed arguments."""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class CallError:
    """An error in the calls of a turn; `message` is the official text."""

    type: str
    message: str
    call_index: int | None = None
    """Index of the expectation in the turn's list."""
    arg: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the error with all its fields."""
        return {"type": self.type, "message": self.message, "call_index": self.call_index, "arg": self.arg}


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation with its actual call, for the errors and for review."""

    expected_index: int
    actual_index: int | None
    """None if no call was left for it."""
    cost: float = 0.0


@dataclass(slots=True)
class CallCheck:
    """The outcome of checking all calls of a turn."""

    errors: list[CallError] = field(default_factory=list[CallError])
    matches: list[Match] = field(default_factory=list[Match])
    """In the evaluator's order; expectations of functions called too few times are not matched."""


def check_calls(expected: Sequence[ExpectedCall], actual: Sequence[ActualCall], rule: TypeRule) -> CallCheck:
    """Match and check all calls of a turn.

    Raises:
        EvaluatorError: a value or arguments that cannot be judged.
    """
    check = CallCheck()
    try:
        expected_by_name: dict[str, list[int]] = {}
        for index, call in enumerate(expected):
            expected_by_name.setdefault(call.name, []).append(index)
        actual_by_name: dict[str, list[int]] = {name: [] for name in expected_by_name}
        for index, call in enumerate(actual):
            if call.function in actual_by_name:
                actual_by_name[call.function].append(index)
        for name, indices in expected_by_name.items():
            _check_name(
                check, name, ([(index, expected[index]) for index in indices], actual_by_name[name]), actual, rule
            )
    except TypeError as error:  # a name in a scenario file that cannot be a key, such as a list
        raise EvaluatorError(str(error)) from None
    return check


def mismatch_cost(expected: Sequence[ExpectedArgument], arguments: dict[str, Any]) -> float:
    """Return how far a call is from an expectation: weighted penalties, 0 for a match.

    The cost treats numbers as interchangeable under both type rules, as the reference does.
    """
    return _cost([_Expected(argument) for argument in expected], {name: _Value(arguments[name]) for name in arguments})


class _Value:
    """A value that is compared often; derived facts are computed once, on demand."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._comparable: Comparable | None = None
        self._fits: dict[str, bool] = {}

    def comparable(self) -> Comparable:
        if self._comparable is None:
            self._comparable = comparable(self._value)
        return self._comparable

    def fits(self, type_name: str) -> bool:
        if type_name not in self._fits:
            self._fits[type_name] = fits(self._value, type_name)
        return self._fits[type_name]


class _Expected:
    """An expected argument, with the same caching."""

    def __init__(self, argument: ExpectedArgument) -> None:
        self.argument = argument
        self.value = _Value(argument.value)


def _cost(expected: Sequence[_Expected], arguments: dict[str, _Value]) -> float:
    penalty = weight = 0.0
    for item in expected:
        argument = item.argument
        if argument.name not in arguments:
            penalty += 1.0 if argument.required else 0.0
            weight += 1.0
            continue
        value = arguments[argument.name]
        if argument.value is not None:
            penalty += 0.5 if not is_same(value.comparable(), item.value.comparable()) else 0.0
            weight += 1.0
        if argument.type is not None:
            penalty += 0.3 if not value.fits(argument.type) else 0.0
            weight += 0.5
    return penalty / max(weight, 1.0)


@dataclass(slots=True)
class _EqualCalls:
    """Calls of one function with the same arguments, and thus the same cost for any expectation."""

    call: ActualCall
    free: deque[int]
    """Indexes of the unused calls, ascending."""
    values: dict[str, _Value] = field(default_factory=dict[str, _Value])

    def arguments(self, expected: ExpectedCall) -> dict[str, _Value]:
        """Return the arguments by name; raises like `_arguments`."""
        passed = _arguments(expected, self.call)
        if passed and not self.values:
            self.values = {name: _Value(value) for name, value in passed.items()}
        return self.values if passed else {}


def _group(actual: Sequence[ActualCall], indices: Sequence[int]) -> list[_EqualCalls]:
    groups: dict[Any, _EqualCalls] = {}
    for index in indices:
        key = _key(actual[index].arguments)
        groups.setdefault(index if key is None else (key,), _EqualCalls(actual[index], deque())).free.append(index)
    return list(groups.values())


def _key(value: Any, depth: int = 0) -> Any:
    """Return a key that is equal only for indistinguishable values; None if no such key exists."""
    if isinstance(value, (str, int, float, Foreign)) or value is None:
        return (type(value), value)
    if not isinstance(value, (list, dict)) or depth == DEEPEST:
        return None
    pieces = cast("list[Any]", value) if isinstance(value, list) else _pieces(cast("dict[Any, Any]", value))
    parts = [_key(piece, depth + 1) for piece in pieces]
    return None if None in parts else (isinstance(value, list), *parts)


def _pieces(value: dict[Any, Any]) -> Iterator[Any]:
    for key, item in value.items():
        yield key
        yield item


def check_arguments(index: int, expected: ExpectedCall, arguments: dict[str, Any], rule: TypeRule) -> list[CallError]:
    """Return the errors in the arguments of a matched call, in listed order.

    Raises:
        EvaluatorError: a value that cannot be judged, or messages of more than `MOST_TEXT` characters.
    """
    errors: list[CallError] = []
    head = f"Call {expected.name}(call_index={index}): "
    length = 0
    for argument in expected.arguments:
        if argument.name in arguments:
            wrong = _check_argument(head, index, argument, arguments[argument.name], rule)
            length += sum(len(error.message) for error in wrong)
            if length > MOST_TEXT:
                raise EvaluatorError("the errors in its arguments are too long to report")
            errors += wrong
        elif argument.required:
            text = f"{head}Expected parameter '{argument.name}' not found in actual arguments"
            errors.append(CallError("missing_argument", text, index, argument.name))
    if expected.strict_args and expected.arguments:
        listed = {argument.name for argument in expected.arguments}
        for name in arguments:
            if name not in listed:
                text = f"{head}Unexpected argument '{name}' not in expected arguments"
                errors.append(CallError("unexpected_argument", text, index, name))
    return errors


def _check_name(
    check: CallCheck,
    name: str,
    indices: tuple[list[tuple[int, ExpectedCall]], list[int]],
    actual: Sequence[ActualCall],
    rule: TypeRule,
) -> None:
    """Check all expectations of one function; `indices` are those of its expectations and of its calls."""
    expectations, places = indices
    required = sum(1 for _, call in expectations if call.required)
    if len(places) < required:
        text = f"Function '{name}' called {len(places)} times, expected at least {required}"
        check.errors.append(CallError("missing_function", text))
        return
    groups = _group(actual, places)
    comparisons = 0
    for index, call in expectations:
        if not groups:
            check.matches.append(Match(index, None))
            if call.required:
                text = f"No suitable match found for required function call: {call.name}"
                check.errors.append(CallError("missing_function", text, index))
            continue
        comparisons += len(groups) * (1 + len(call.arguments))
        if comparisons > MOST_COMPARISONS:
            raise EvaluatorError(f"{len(expectations)} calls of {name} are expected and {len(places)} made: too many")
        arguments = [_Expected(argument) for argument in call.arguments]
        costs = [_cost(arguments, group.arguments(call)) for group in groups]
        cost, place = min(zip(costs, range(len(costs)), strict=True))  # groups are in order of first appearance
        group = groups[place]
        taken = group.free.popleft()
        del groups[place]
        if group.free:
            insort(groups, group, key=_first_place)
        check.matches.append(Match(index, taken, cost))
        if call.strict_args:
            _insist_on_object(call, actual[taken])
        check.errors += check_arguments(index, call, _arguments(call, actual[taken]), rule)


def _check_argument(head: str, index: int, argument: ExpectedArgument, value: Any, rule: TypeRule) -> list[CallError]:
    errors: list[CallError] = []
    if argument.value is not None and not is_same(comparable(value), comparable(argument.value)):
        text = f"{head}Expected value '{argument.value}', got '{value}'"
        errors.append(CallError("wrong_argument_value", text, index, argument.name))
    if argument.type is not None and value is not None and not fits(value, argument.type, rule):
        text = f"{head}Expected type '{argument.type}', got '{type_name_of(value)}'"
        errors.append(CallError("wrong_argument_type", text, index, argument.name))
    return errors


def _arguments(expected: ExpectedCall, call: ActualCall) -> dict[str, Any]:
    """Return the arguments by name.

    A list or string counts as no arguments, as in the reference.

    Raises:
        EvaluatorError: arguments of another type, or a list or string that contains the name of an expected argument.
    """
    arguments = call.arguments
    if not isinstance(arguments, (list, str)) or any(item.name in arguments for item in expected.arguments):
        _insist_on_object(expected, call)
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _first_place(group: _EqualCalls) -> int:
    return group.free[0]


def _insist_on_object(expected: ExpectedCall, call: ActualCall) -> None:
    if expected.arguments and not isinstance(call.arguments, dict):
        raise EvaluatorError(f"arguments of {call.function} are {type_name_of(call.arguments)}, not an object")
