"""The value rules of the single-turn checker.

Strings are compared without case, spaces and some punctuation; lists by equality, with top-level strings normalized in
the same way; dictionaries by key. `""` among the acceptable values makes a parameter optional, and as a side effect
accepts empty strings and empty lists.
"""

import re
from functools import lru_cache
from typing import Any, cast

PARTIAL = frozenset(
    (
        "value_error:dict_key",
        "value_error:dict_value",
        "value_error:list_dict_count",
        "dict_checker:unclear",
        "list_dict_checker:unclear",
    )
)
"""Errors whose official message does not print the whole value, so that an unprintable part does not crash it."""
_IGNORED = re.compile(r"[ ,./\-_*^]")


_SHARED = 200
"""Longest string in the cache of normalized strings."""


def standardize(text: str) -> str:
    """Normalize a string for comparison: remove spaces and `,./-_*^`, lowercase, use double quotes."""
    return _standardize_shared(text) if len(text) <= _SHARED else _standardize(text)


@lru_cache(maxsize=65536)
def _standardize_shared(text: str) -> str:
    return _standardize(text)


def _standardize(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def check_value(value: Any, allowed: list[Any], expected: type, item: type | None, *, as_is: bool) -> str | None:
    """Return the official error type, or None if the value is acceptable.

    Args:
        value: the converted value, of an acceptable type.
        allowed: the acceptable values.
        expected: the documented type.
        item: the type of list items, if documented.
        as_is: the type of the ground truth differs from the document, so only equal values count.
    """
    if not as_is:
        if expected is dict:
            return _check_dict(value, allowed)
        if expected is list:
            return _check_dicts(value, allowed) if item is dict else _check_list(value, allowed)
        if expected is str:
            accepted = [standardize(other) for other in allowed if type(other) is str]
            return None if standardize(value) in accepted else "value_error:string"
    return None if value in allowed else "value_error:others"


def _standard(value: Any) -> Any:
    return standardize(value) if type(value) is str else value


def _check_list(value: list[Any], allowed: list[Any]) -> str | None:
    """Compare with each acceptable list; an acceptable string counts as the list of its characters."""
    standard = [_standard(part) for part in value]
    return (
        None
        if standard in [[_standard(part) for part in accepted] for accepted in allowed]
        else "value_error:list/tuple"
    )


def _check_dict(value: dict[Any, Any], allowed: list[Any]) -> str | None:
    """Compare with each acceptable dictionary; the last error counts."""
    error: str | None = "dict_checker:unclear"
    for accepted in allowed:
        if accepted != "":
            error = _dict_error(value, accepted)
            if error is None:
                return None
    return error


def _dict_error(value: dict[Any, Any], accepted: dict[str, Any]) -> str | None:
    for key, values in accepted.items():
        if key not in value and "" not in values:
            return "value_error:dict_key"
    for key, part in value.items():
        if key not in accepted:
            return "value_error:dict_key"
        values = accepted[key]
        if _standard(part) not in [_standard(values[index]) for index in range(len(values))]:
            return _printed(part, "value_error:dict_value")
    return None


def _printed(part: Any, error_type: str) -> str:
    """Return the error type after formatting a value like the official message.

    Raises:
        ValueError: the value contains a number too large to print, which crashes the official scorer.
    """
    return error_type if repr(part) else ""


def _check_dicts(value: list[Any], allowed: list[Any]) -> str | None:
    """Compare with each acceptable list of dictionaries, pairwise in order; the last error counts."""
    error: str | None = "list_dict_checker:unclear"
    for accepted in cast(list[list[Any]], allowed):
        if len(value) != len(accepted):
            error = "value_error:list_dict_count"
            continue
        errors = (_check_dict(part, [other]) for part, other in zip(value, accepted, strict=True))
        error = next((refusal for refusal in errors if refusal is not None), None)
        if error is None:
            return None
    return error
