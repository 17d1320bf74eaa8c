"""Validation with JSON schemas from suites in bounded time, without external references.

Uses `jsonschema`. Applied keywords are counted, because recursive schemas can take exponential time, and errors of
alternatives are dropped, because each quotes the whole value.
"""

import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, cast

import msgspec
from jsonschema import Draft202012Validator, SchemaError, ValidationError, validators
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from console.benchmarks.dialogue.rules import bounded_regex

MOST_STEPS = 200_000
"""Maximum number of keywords applied to one answer."""
MOST_SECONDS = 5.0
"""Maximum CPU time for one answer: an error quotes the value, which may be long."""
MOST_PARTS = 2_000
"""Maximum number of keywords in a schema."""
_MOST_ERRORS = 3
_LONGEST = 300
"""Maximum number of characters in an error, which may quote a long value."""
_UNCOUNTED = ("$dynamicRef", "unevaluatedProperties", "unevaluatedItems")
"""Unsupported keywords, whose steps cannot be counted."""
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords with schemas by name as value."""
_DATA = ("enum", "const", "default", "examples")
"""Keywords whose value is not a schema."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]
_NOTHING_ELSE: Any = cast(Any, Registry)()
"""Empty registry for external references."""


class _Effort:
    """Remaining budget for validating one answer."""

    __slots__ = ("_ends", "_left")

    def __init__(self) -> None:
        self._left, self._ends = MOST_STEPS, time.thread_time() + MOST_SECONDS

    def step(self) -> None:
        """Count one step.

        Raises:
            TooMuchWork: the budget is used up.
        """
        self._left -= 1
        if self._left < 0:
            raise TooMuchWork(f"the schema takes more than {MOST_STEPS:,} steps")
        if time.thread_time() > self._ends:
            raise TooMuchWork(f"the schema takes more than {MOST_SECONDS:g} s")


_effort: ContextVar[_Effort] = ContextVar("_effort")


class TooMuchWork(Exception):
    """A schema took more than `MOST_STEPS` steps or `MOST_SECONDS`, or one of its expressions timed out."""


def problem_of(schema: dict[str, Any]) -> str:
    """Return the error in a schema, or an empty string if it is supported."""
    try:
        _check_keywords(schema, _resolver_of(schema), [MOST_PARTS])
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {error.message}"[:_LONGEST]
    except (ValueError, RecursionError) as error:
        return str(error)[:_LONGEST]
    return ""


def errors_of(schema: dict[str, Any], value: Any) -> list[str]:
    """Return up to three validation errors of a JSON value.

    Raises:
        TooMuchWork: the validation exceeded its limits.
    """
    token = _effort.set(_Effort())
    errors: list[str] = []
    try:
        for error in _validator(msgspec.json.encode(schema)).iter_errors(value):
            errors.append(f"{error.json_path}: {error.message}"[:_LONGEST])
            if len(errors) == _MOST_ERRORS:
                break
    except bounded_regex.TooSlow as error:
        raise TooMuchWork(str(error)) from None
    except (RecursionError, ArithmeticError) as error:
        raise TooMuchWork(f"the schema cannot be evaluated: {type(error).__name__}") from None
    finally:
        _effort.reset(token)
    return errors


def _check_keywords(schema: Any, resolver: Any, left: list[int]) -> None:
    """Check a schema for unsupported keywords, references and expressions, and for its size."""
    if not isinstance(schema, dict):
        return
    for key, part in cast(dict[str, Any], schema).items():
        left[0] -= 1
        if left[0] < 0:
            raise ValueError(f"it has more than {MOST_PARTS:,} keywords")
        if key in _UNCOUNTED:
            raise ValueError(f"the keyword {key} is not supported")
        if key == "$ref":
            _check_reference(str(part), resolver)
        for pattern in _patterns(key, part):
            if problem := bounded_regex.problem_of(pattern):
                raise ValueError(f"{key}: {problem}")
        for inner in _schemas_in(key, part):
            _check_keywords(inner, resolver, left)


def _patterns(key: str, part: Any) -> list[str]:
    if key == "pattern":
        return [str(part)]
    return list(cast(dict[str, Any], part)) if key == "patternProperties" and isinstance(part, dict) else []


def _schemas_in(key: str, part: Any) -> list[Any]:
    if key in _DATA:
        return []
    if key in _MAPS and isinstance(part, dict):
        return list(cast(dict[str, Any], part).values())
    return cast(list[Any], part) if isinstance(part, list) else [part]


def _resolver_of(root: dict[str, Any]) -> Any:
    return _NOTHING_ELSE.with_resource("", DRAFT202012.create_resource(root)).resolver()


def _check_reference(reference: str, resolver: Any) -> None:
    if not reference.startswith("#"):
        raise ValueError(f"$ref may only point into the schema itself, such as #/$defs/name, not to {reference}")
    try:
        resolver.lookup(reference)
    except Unresolvable:
        raise ValueError(f"$ref points to {reference}, which does not exist") from None


def _counted(keyword: Keyword) -> Keyword:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _effort.get().step()
        yield from keyword(validator, value, instance, schema) or ()

    return counted


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and bounded_regex.search(pattern, instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for name, value in cast(dict[str, Any], instance).items():
            if bounded_regex.search(pattern, name) is not None:
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    for name, value in cast(dict[str, Any], instance).items():
        if name in schema.get("properties", {}):
            continue
        if any(bounded_regex.search(pattern, name) is not None for pattern in patterns):
            continue
        if isinstance(allowed, dict):
            yield from validator.descend(value, allowed, path=name)
        elif not allowed:
            yield ValidationError(f"{name!r} is not among the properties")


def _any_of(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not any(_holds(validator, inner, instance) for inner in schemas):
        yield ValidationError(f"{_short(instance)} is not valid under any of the given schemas")


def _one_of(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    holding = sum(_holds(validator, inner, instance) for inner in schemas)
    if holding != 1:
        under = "more than one" if holding else "any"
        yield ValidationError(
            f"{_short(instance)} is {'' if holding else 'not '}valid under {under} of the given schemas"
        )


def _holds(validator: Any, schema: Any, instance: Any) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None


def _short(instance: Any) -> str:
    return repr(instance)[:_LONGEST]


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(instance, list):
        items = [msgspec.json.encode(_standard(item), order="deterministic") for item in cast(list[Any], instance)]
        if len(set(items)) < len(items):
            yield ValidationError("the items are not unique")


def _standard(value: Any) -> Any:
    """Convert whole floats to integers, as 1.0 equals 1 in JSON schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _standard(part) for key, part in cast(dict[str, Any], value).items()}
    return [_standard(part) for part in cast(list[Any], value)] if isinstance(value, list) else value


_OWN: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
}
_THEIRS = cast(dict[str, Keyword], Draft202012Validator.VALIDATORS)
_KEYWORDS = {name: _counted(_OWN.get(name, keyword)) for name, keyword in _THEIRS.items()}
_Bounded: Any = cast(Any, validators).extend(Draft202012Validator, _KEYWORDS)


@lru_cache(maxsize=256)
def _validator(encoded: bytes) -> Any:
    return _Bounded(msgspec.json.decode(encoded), registry=_NOTHING_ELSE)
