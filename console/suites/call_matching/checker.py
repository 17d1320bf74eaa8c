"""The single-turn checker: compares calls with ground truth by the official rules and error types.

    check_calls ── one call, a call of one of several functions, or several calls in any order (see `CallRule`)
      └─ check_call ── function name, required parameters, each given parameter, omitted parameters
           └─ check_argument ── Java and JavaScript conversion, type, value

The first refusal decides. Calls that crash the official scorer (numbers too large to print or convert) have their own
error type.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from console.suites.call_matching.java_values import java_value
from console.suites.call_matching.javascript_values import javascript_value
from console.suites.call_matching.source_text import literal
from console.suites.call_matching.type_rule import ITEM_KINDS, TYPES, check_type
from console.suites.call_matching.value_rule import PARTIAL, check_value

Call = dict[str, dict[str | None, Any]]
Doc = dict[str, Any]

UNCHECKABLE = "checker:uncheckable"
"""Our error type for calls that crash the official scorer."""


@dataclass(frozen=True, slots=True)
class CallRule:
    """Number and order of expected calls, and the language of their arguments."""

    kind: Literal["simple", "multiple", "parallel"] = "simple"
    """`simple`: one call of the first function; `multiple`: one call of one of several functions; `parallel`: any
    number of calls in any order."""
    language: str = "python"
    """`python`, `java` or `javascript`; values of the latter two are source text."""


def underscored_name(name: str) -> str:
    """Replace the dots of a function name with underscores, as providers require."""
    return name.replace(".", "_")


_CONVERT = {"java": java_value, "javascript": javascript_value}
_NOT_TEXT = {"java": "type_error:java", "javascript": "type_error:js"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The checker's rejection of calls: official error type, message and subject."""

    error_type: str
    message: str
    subject: str = ""
    """Name of the parameter or function concerned."""


def check_calls(
    docs: Sequence[Doc], calls: Sequence[Call], truth: Sequence[Call], rule: CallRule, *, underscored: bool = False
) -> Refusal | None:
    """Check decoded calls against ground truth; None if correct.

    Args:
        docs: the original function documents.
        calls: the decoded calls.
        truth: for each expected call, one function with the acceptable values of each parameter.
        rule: number, order and language of the expected calls.
        underscored: function names were sent with underscores for dots.
    """
    try:
        if rule.kind == "parallel":
            return _check_parallel(docs, calls, truth, rule.language, underscored)
        several = rule.kind == "multiple"
        if len(calls) != (len(truth) if several else 1):
            kind = "multiple" if several else "simple"
            return _wrong_count(f"{kind}_function_checker:wrong_count", calls, truth)
        doc = find_doc(docs, truth[0]) if several else docs[0]
        return check_call(doc, calls[0], truth[0], rule.language, underscored=underscored)
    except (OverflowError, ValueError, TypeError, KeyError, IndexError, RecursionError, AttributeError) as error:
        return Refusal(UNCHECKABLE, f"the official scorer cannot check this: {type(error).__name__}: {error}"[:300])


def find_doc(docs: Sequence[Doc], expected: Call) -> Doc:
    """Return the document of an expected call's function.

    Raises:
        KeyError: no such document.
    """
    name = next(iter(expected))
    named_doc = next((doc for doc in docs if doc["name"] == name), None)
    if named_doc is None:
        raise KeyError(f"no document of {name!r}")
    return named_doc


def _wrong_count(error_type: str, calls: Sequence[Call], truth: Sequence[Call]) -> Refusal:
    return Refusal(error_type, f"{len(calls)} calls, expected {len(truth)}")


def _check_parallel(
    docs: Sequence[Doc], calls: Sequence[Call], truth: Sequence[Call], language: str, underscored: bool
) -> Refusal | None:
    kind = "parallel_function_checker_no_order"
    if len(calls) != len(truth):
        return _wrong_count(f"{kind}:wrong_count", calls, truth)
    for number, taken in enumerate(pair_calls(docs, calls, truth, language, underscored=underscored)):
        if taken is None:
            name = next(iter(truth[number]))
            return Refusal(f"{kind}:cannot_find_match", f"no call matches expected call {number + 1}: {name}", name)
    return None


def pair_calls(
    docs: Sequence[Doc], calls: Sequence[Call], truth: Sequence[Call], language: str, *, underscored: bool
) -> list[int | None]:
    """Pair each expected call, in order, with the first unused call that passes; stop at the first without one.

    Greedy without backtracking, like the official scorer.
    """
    paired: list[int | None] = []
    for expected in truth:
        doc = find_doc(docs, expected)
        taken: int | None = None
        for index, call in enumerate(calls):
            if index not in paired and check_call(doc, call, expected, language, underscored=underscored) is None:
                taken = index
                break
        paired.append(taken)
        if taken is None:
            break
    return paired


def check_call(doc: Doc, call: Call, expected: Call, language: str, *, underscored: bool = False) -> Refusal | None:
    """Check one call against one expected call; None if correct.

    Raises:
        Exception: any error that crashes the official scorer.
    """
    name = underscored_name(doc["name"]) if underscored else doc["name"]
    if name not in call:
        message = f"the function {name!r} was not called, but {next(iter(call), '')!r}"
        return Refusal("simple_function_checker:wrong_func_name", message, name)
    arguments, allowed = call[name], next(iter(expected.values()))
    properties = doc["parameters"]["properties"]
    for parameter in doc["parameters"]["required"]:
        if parameter not in arguments:
            message = f"the required parameter {parameter!r} is missing"
            return Refusal("simple_function_checker:missing_required", message, parameter)
    for parameter, value in arguments.items():
        if parameter not in properties or parameter not in allowed:
            message = f"the parameter {parameter!r} is not expected"
            return Refusal("simple_function_checker:unexpected_param", message, str(parameter))
        refusal = check_argument(cast(str, parameter), value, properties[parameter], allowed[parameter], language)
        if refusal is not None:
            return refusal
    for parameter, values in allowed.items():
        if parameter not in arguments and "" not in values:
            message = f"the parameter {parameter!r} is missing, and may not be left out here"
            return Refusal("simple_function_checker:missing_optional", message, str(parameter))
    return None


def check_argument(parameter: str, value: Any, schema: Doc, allowed: list[Any], language: str) -> Refusal | None:
    """Check one argument against its acceptable values; None if correct.

    Raises:
        Exception: any error that crashes the official scorer.
    """
    kind, types = cast(str, schema["type"]), TYPES[language]
    expected = types[kind]
    items = cast(str, schema["items"]["type"]) if kind in ITEM_KINDS[language] else None
    if language != "python":
        if not isinstance(value, str):
            message = f"{parameter}: every value must be a string here, not {type(value).__name__}: {value!r}"
            return Refusal(_NOT_TEXT[language], message, parameter)
        value = _CONVERT[language](value, kind, items)
    elif kind == "tuple" and isinstance(value, tuple):
        value = list(cast(tuple[Any, ...], value))
    elif kind == "float" and type(value) is int:
        value = float(value)
    item = types[items] if items is not None else None
    typed = check_type(value, allowed, expected, item)
    if typed.error_type:
        message = (
            f"{parameter}: expected {kind}{f' of {items}' if items else ''}, got {type(value).__name__}: {value!r}"
        )
        return Refusal(typed.error_type, message, parameter)
    error_type = check_value(value, allowed, expected, item, as_is=typed.is_variable)
    if error_type is None:
        return None
    shown = literal(value) if error_type in PARTIAL else repr(value)
    return Refusal(error_type, f"{parameter}: {shown} is not among the allowed values {allowed!r}", parameter)
