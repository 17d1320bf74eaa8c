"""Which actual call answers which expected one, and what is wrong with it: cave-bench's greedy matching.

Pure. Calls are grouped by function name; within a name every expectation, in its listed order and the optional ones
too, takes the unused call of lowest cost, the earliest on a tie. Order is not judged and extra calls never fail.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from console.suites.cavebench.expectation import ExpectedArgument, ExpectedCall
from console.suites.cavebench.value import EvaluatorError, TypeRule, canonical, fits, type_name_of


@dataclass(frozen=True, slots=True)
class ActualCall:
    """One call that the model made."""

    function: str
    arguments: Any
    """Name to value; anything else that JSON mode recorded cannot be judged against listed arguments."""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class CallError:
    """One thing wrong with the calls of a turn; `message` is the official text."""

    type: str
    message: str
    call_index: int | None = None
    """Place of the expectation in the turn's list."""
    arg: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the error with all its fields."""
        return {"type": self.type, "message": self.message, "call_index": self.call_index, "arg": self.arg}


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation with the actual call it took, for the errors and for review."""

    expected_index: int
    actual_index: int | None
    """None: nothing was left for it."""
    cost: float = 0.0


@dataclass(slots=True)
class CallCheck:
    """The outcome of checking all calls of a turn."""

    errors: list[CallError] = field(default_factory=list[CallError])
    matches: list[Match] = field(default_factory=list[Match])
    """In the order the evaluator made them; expectations of functions called too seldom are not matched at all."""


def check_calls(expected: Sequence[ExpectedCall], actual: Sequence[ActualCall], rule: TypeRule) -> CallCheck:
    """Match and check all calls of a turn.

    Raises:
        EvaluatorError: a value or an argument record that cannot be judged.
    """
    check = CallCheck()
    try:
        for name in dict.fromkeys(call.name for call in expected):
            _check_name(check, name, expected, actual, rule)
    except TypeError as error:  # a name of a kind that is no name, such as a list, in a scenario file
        raise EvaluatorError(str(error)) from None
    return check


def mismatch_cost(expected: Sequence[ExpectedArgument], arguments: dict[str, Any]) -> float:
    """Return how badly a call fits an expectation: weighted penalties, 0 when it fits.

    The cost holds numbers interchangeable under both type rules, as the reference does.
    """
    penalty = weight = 0.0
    for argument in expected:
        if argument.name not in arguments:
            penalty += 1.0 if argument.required else 0.0
            weight += 1.0
            continue
        value = arguments[argument.name]
        if argument.value is not None:
            penalty += 0.5 if canonical(value) != canonical(argument.value) else 0.0
            weight += 1.0
        if argument.type is not None:
            penalty += 0.3 if not fits(value, argument.type) else 0.0
            weight += 0.5
    return penalty / max(weight, 1.0)


def check_arguments(index: int, expected: ExpectedCall, arguments: dict[str, Any], rule: TypeRule) -> list[CallError]:
    """Return what is wrong with the arguments of a matched call, in listed order."""
    errors: list[CallError] = []
    head = f"Call {expected.name}(call_index={index}): "
    for argument in expected.arguments:
        if argument.name in arguments:
            errors += _check_argument(head, index, argument, arguments[argument.name], rule)
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
    check: CallCheck, name: str, expected: Sequence[ExpectedCall], actual: Sequence[ActualCall], rule: TypeRule
) -> None:
    """Check all expectations of one function."""
    expected_indices = [index for index, call in enumerate(expected) if call.name == name]
    free = [index for index, call in enumerate(actual) if call.function == name]
    required = sum(1 for index in expected_indices if expected[index].required)
    if len(free) < required:
        text = f"Function '{name}' called {len(free)} times, expected at least {required}"
        check.errors.append(CallError("missing_function", text))
        return
    for index in expected_indices:
        call = expected[index]
        costs = [(mismatch_cost(call.arguments, _arguments(call, actual[other])), other) for other in free]
        if not costs:
            check.matches.append(Match(index, None))
            if call.required:
                text = f"No suitable match found for required function call: {call.name}"
                check.errors.append(CallError("missing_function", text, index))
            continue
        cost, taken = min(costs)
        free.remove(taken)
        check.matches.append(Match(index, taken, cost))
        if call.strict_args:
            _insist_on_object(call, actual[taken])
        check.errors += check_arguments(index, call, _arguments(call, actual[taken]), rule)


def _check_argument(head: str, index: int, argument: ExpectedArgument, value: Any, rule: TypeRule) -> list[CallError]:
    errors: list[CallError] = []
    if argument.value is not None and canonical(value) != canonical(argument.value):
        text = f"{head}Expected value '{argument.value}', got '{value}'"
        errors.append(CallError("wrong_argument_value", text, index, argument.name))
    if argument.type is not None and value is not None and not fits(value, argument.type, rule):
        text = f"{head}Expected type '{argument.type}', got '{type_name_of(value)}'"
        errors.append(CallError("wrong_argument_type", text, index, argument.name))
    return errors


def _arguments(expected: ExpectedCall, call: ActualCall) -> dict[str, Any]:
    """Return what was passed by name.

    A list or a text passes nothing, as long as no expected name stands in it: the reference asks only that of it.
    """
    arguments = call.arguments
    if not isinstance(arguments, (list, str)) or any(item.name in arguments for item in expected.arguments):
        _insist_on_object(expected, call)
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _insist_on_object(expected: ExpectedCall, call: ActualCall) -> None:
    if expected.arguments and not isinstance(call.arguments, dict):
        raise EvaluatorError(f"arguments of {call.function} are {type_name_of(call.arguments)}, not an object")
