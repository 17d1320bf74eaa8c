"""Validation with JSON schemas from suites in bounded time, without external references.

Uses the library `jsonschema`, counting each applied keyword, as recursive schemas can take exponential time.
"""

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
"""Maximum keywords applied to one answer."""
_MOST_ERRORS = 3
_LONGEST = 300
"""Maximum characters of an error, which may quote a long value."""
_UNCOUNTED = ("$dynamicRef", "unevaluatedProperties", "unevaluatedItems")
"""Unsupported keywords, whose steps cannot be counted."""
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords with schemas by name as value."""
_DATA = ("enum", "const", "default", "examples")
"""Keywords whose value is not a schema."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]
_NOTHING_ELSE: Any = cast(Any, Registry)()
"""Empty registry for external references."""
_steps: ContextVar[list[int]] = ContextVar("_steps")


class TooMuchWork(Exception):
    """A schema took more than `MOST_STEPS` steps, or one of its expressions timed out."""


def problem_of(schema: dict[str, Any]) -> str:
    """Return the error in a schema, or an empty string if it is supported."""
    try:
        Draft202012Validator.check_schema(schema)
        _check_keywords(schema, schema)
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
    token = _steps.set([MOST_STEPS])
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
        _steps.reset(token)
    return errors


def _check_keywords(schema: Any, root: dict[str, Any]) -> None:
    """Check a schema for unsupported keywords, references and expressions.

    Raises:
        ValueError: one was found.
    """
    if not isinstance(schema, dict):
        return
    for key, part in cast(dict[str, Any], schema).items():
        if key in _UNCOUNTED:
            raise ValueError(f"the keyword {key} is not supported")
        if key == "$ref":
            _check_reference(str(part), root)
        for pattern in _patterns(key, part):
            if problem := bounded_regex.problem_of(pattern):
                raise ValueError(f"{key}: {problem}")
        for inner in _schemas_in(key, part):
            _check_keywords(inner, root)


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


def _check_reference(reference: str, root: dict[str, Any]) -> None:
    if not reference.startswith("#"):
        raise ValueError(f"$ref may only point into the schema itself, such as #/$defs/name, not to {reference}")
    registry = _NOTHING_ELSE.with_resource("", DRAFT202012.create_resource(root))
    try:
        registry.resolver().lookup(reference)
    except Unresolvable:
        raise ValueError(f"$ref points to {reference}, which does not exist") from None


def _counted(keyword: Keyword) -> Keyword:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        left = _steps.get()
        left[0] -= 1
        if left[0] < 0:
            raise TooMuchWork(f"the schema takes more than {MOST_STEPS:,} steps")
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
}
_THEIRS = cast(dict[str, Keyword], Draft202012Validator.VALIDATORS)
_KEYWORDS = {name: _counted(_OWN.get(name, keyword)) for name, keyword in _THEIRS.items()}
_Bounded: Any = cast(Any, validators).extend(Draft202012Validator, _KEYWORDS)


@lru_cache(maxsize=256)
def _validator(encoded: bytes) -> Any:
    return _Bounded(msgspec.json.decode(encoded), registry=_NOTHING_ELSE)
