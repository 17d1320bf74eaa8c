"""Parsing and validation of checks. Compiled expressions and validated schemas are cached."""

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, TypeVar, cast

import msgspec

from console.benchmarks.dialogue.rules.mistakes import FieldError, convert, did_you_mean, shown
from console.benchmarks.dialogue.rules.quick_checks import is_plain_pattern, is_plain_schema
from console.benchmarks.dialogue.rules.row import (
    CHECKS,
    AnyCheck,
    AnyOf,
    Calls,
    Instructed,
    Instructions,
    JsonSchema,
    Judged,
    NotCalled,
    NumberIs,
    Range,
    Regex,
)
from console.config.extras import install_command
from console.suites.judging.rubric import Rubric, problem_in

CheckT = TypeVar("CheckT", bound=msgspec.Struct)


def read_check(value: Any, where: str) -> AnyCheck:
    """Parse a check.

    Raises:
        FieldError: invalid; suggests a name for an unknown kind.
    """
    if not isinstance(value, dict):
        hint = 'Write a table such as {"contains": "Paris"}.'
        raise FieldError(where, f"must be a check, not {shown(value)}", hint)
    fields = cast(dict[str, Any], value)
    kinds = [name for name in CHECKS if name in fields]
    if len(kinds) > 1:
        raise FieldError(where, f"is {' and '.join(kinds)} at once", "Write a separate check for each.")
    if not kinds:
        name = next(iter(fields), "")
        raise FieldError(where, f"has no check named {shown(name)}", did_you_mean(name, CHECKS))
    return cast(AnyCheck, convert(fields, CHECKS[kinds[0]], where))


def read_checks(values: Sequence[dict[str, Any]]) -> list[AnyCheck]:
    """Parse checks that were already validated."""
    return [read_check(value, "expect") for value in values]


def parts_of(check: AnyOf) -> list[AnyCheck]:
    """Return the alternatives of a check."""
    return read_checks(check.any)


def own_rubric(check: Judged) -> Rubric | None:
    """Return the check's own rubric; None: use that of the row."""
    if isinstance(check.judge, str):
        return Rubric(rubric=check.judge)
    return check.judge if isinstance(check.judge, Rubric) else None


def checks_in(kind: type[CheckT], checks: Sequence[AnyCheck]) -> Iterator[CheckT]:
    """Yield the checks of a kind, in order, including those inside `any`."""
    for check in checks:
        if isinstance(check, kind):
            yield check
        elif isinstance(check, AnyOf):
            yield from checks_in(kind, parts_of(check))


def judged_in(checks: Sequence[AnyCheck]) -> Iterator[Judged]:
    """Yield the judged checks, in order."""
    return checks_in(Judged, checks)


def verify(check: AnyCheck, where: str, tools: Collection[str], rubric: Rubric | None) -> None:
    """Validate the content of a check.

    Args:
        check: the parsed check.
        where: path of its field.
        tools: names of the available tools.
        rubric: rubric of the row.

    Raises:
        FieldError: the check cannot be applied.
    """
    match check:
        case Regex():
            _verify_regex(check.regex, where)
        case NumberIs():
            read_number(check.number, f"{where}.number")
            read_tolerance(check.tolerance, f"{where}.tolerance")
        case JsonSchema():
            _verify_schema(check.json, where)
        case Instructed():
            _verify_instructions(check.instructions, f"{where}.instructions")
        case Calls() | NotCalled():
            for name, place in _tools_named(check):
                _verify_tool(name, f"{where}.{place}", tools)
        case Judged():
            _verify_judged(own_rubric(check) or rubric, f"{where}.judge")
        case AnyOf():
            for number, part in enumerate(check.any):
                _verify_part(part, f"{where}.any[{number}]", tools, rubric)
        case _:
            pass


def _tools_named(check: Calls | NotCalled) -> Iterator[tuple[str, str]]:
    """Yield the tools that a check names, each with the field that names it."""
    if isinstance(check, Calls):
        yield from ((next(iter(call)), f"calls[{number}]") for number, call in enumerate(check.calls))
    else:
        yield from ((name, "not_called") for name in texts(check.not_called))


def _verify_part(value: Any, where: str, tools: Collection[str], rubric: Rubric | None) -> None:
    part = read_check(value, where)
    if isinstance(part, AnyOf):
        raise FieldError(where, "`any` cannot be nested", "Write all checks in one list.")
    verify(part, where, tools, rubric)


def texts(value: object) -> list[str]:
    """Return a string or a list of strings as a list; [] for other values."""
    return [value] if isinstance(value, str) else cast(list[str], value) if isinstance(value, list) else []


def read_number(value: float | str, where: str) -> Decimal:
    """Parse a number exactly.

    Raises:
        FieldError: not a finite number.
    """
    text = repr(value) if isinstance(value, float) else str(value).strip().replace(",", "")
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        raise FieldError(where, f"must be a number, not {shown(value)}")
    return number


_MOST_DIGITS = 400
"""Maximum decimal exponent of a number."""


def read_tolerance(value: float | str, where: str) -> tuple[Decimal, bool]:
    """Return a tolerance, and whether it is relative.

    Raises:
        FieldError: not a nonnegative number or percentage.
    """
    is_share = isinstance(value, str) and value.strip().endswith("%")
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    amount = read_number(text, where)
    if amount < 0:
        raise FieldError(where, "must not be negative")
    if is_share and amount > 100:
        raise FieldError(where, f"must not be more than 100%, not {shown(value)}")
    return (amount / 100 if is_share else amount), is_share


def _verify_tool(name: str, where: str, tools: Collection[str]) -> None:
    if name not in tools:
        hint = did_you_mean(name, tools) if tools else "Describe it under `tools`."
        raise FieldError(where, f"there is no tool {shown(name)}", hint)


def verify_rubric(rubric: Rubric, where: str) -> None:
    """Validate a rubric.

    Raises:
        FieldError: no criteria, or inconsistent numbers.
    """
    if (flaw := problem_in(rubric)) is not None:
        field, problem, hint = flaw
        raise FieldError(f"{where}.{field}" if field else where, problem, hint)


def _verify_judged(rubric: Rubric | None, where: str) -> None:
    if rubric is None:
        raise FieldError(where, "there is no rubric", "Add a `judge` to the row or the defaults.")
    verify_rubric(rubric, where)


def _verify_regex(pattern: str, where: str) -> None:
    problem = _problem_of_regex(pattern)
    if problem:
        raise FieldError(f"{where}.regex", f"is not a regular expression: {problem}")


@lru_cache(maxsize=4096)
def _problem_of_regex(pattern: str) -> str:
    if is_plain_pattern(pattern):
        return ""
    from console.benchmarks.dialogue.rules.bounded_regex import problem_of

    return problem_of(pattern)


def _verify_instructions(instructions: Instructions, where: str) -> None:
    from console.benchmarks.dialogue.rules.instructions import has_detector, parts_of

    if not parts_of(instructions):
        raise FieldError(where, "has no instruction", 'Write one, such as {"words": {"max": 50}}.')
    values: list[object] = [getattr(instructions, name) for name in Instructions.__struct_fields__]
    for table in (instructions.times, instructions.letters, instructions.sections):
        values += table.values()
    for amount in values:
        if not isinstance(amount, Range):
            continue
        if amount.max is None and not amount.min:
            raise FieldError(where, "has a count without bounds", 'Write {"min": …}, {"max": …} or both.')
        if amount.max is not None and amount.max < amount.min:
            raise FieldError(where, f"has a count from {amount.min} to {amount.max}", "The smaller is `min`.")
    if instructions.language and not has_detector():
        hint = f"Install it: {install_command('language')}"
        raise FieldError(f"{where}.language", "needs a language detector, which is not installed", hint)


def _verify_schema(schema: dict[str, Any], where: str) -> None:
    problem = _problem_of_schema(msgspec.json.encode(schema))
    if problem:
        raise FieldError(f"{where}.json", f"is not a JSON schema: {problem}")


@lru_cache(maxsize=256)
def _problem_of_schema(encoded: bytes) -> str:
    schema = msgspec.json.decode(encoded)
    if is_plain_schema(schema):
        return ""
    from console.benchmarks.dialogue.rules.bounded_schema import problem_of

    return problem_of(schema)
