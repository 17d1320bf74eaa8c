"""Type checks of the values that a suite's methods return."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import NoneType
from typing import Any, cast

import msgspec

from console.core.case import Case
from console.core.comparison import Comparison
from console.core.outcome import Verdict
from console.core.ranges import is_amount
from console.core.ready_type import ready_type
from console.suites.suite import Category, Estimate, Report

_LONGEST_REPR = 80
_RETURNS: dict[str, tuple[type, ...]] = {
    "score": (Verdict,),
    "compare": (Comparison,),
    "report": (Report,),
    "estimate": (Estimate, NoneType),
}
_RETURNS_MANY: dict[str, type] = {"cases": Case, "categories": Category, "roles": str, "roles_of": str}
"""Methods that return several values, and the type of each."""


class WrongType(TypeError):
    """A suite's method returned a value of the wrong type; `place` is the first line of the method."""

    def __init__(self, message: str, method: Callable[..., Any]) -> None:
        super().__init__(message)
        code = getattr(method, "__code__", None)
        self.place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def checked(name: str, method: Callable[..., Any], value: Any) -> Any:
    """Return the value of a method after checking its type; the items of an iterator are not checked here.

    Raises:
        WrongType: the value has the wrong type.
    """
    if name in _RETURNS and not isinstance(value, _RETURNS[name]):
        raise WrongType(f"it returned {_short(value)}, not a {_RETURNS[name][0].__name__}", method)
    if isinstance(value, Verdict):
        _check_scores(method, value.scores)
    if isinstance(value, Comparison):
        _check_texts(method, value)
    if name not in _RETURNS_MANY or isinstance(value, Iterator) or (name == "roles_of" and value is None):
        return cast(Any, value)
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        many = _RETURNS_MANY[name].__name__
        raise WrongType(f"it returned {_short(value)}, not several values of type {many}", method)
    for item in cast(Iterable[Any], value):
        check_item(name, method, item)
    return cast(Any, value)


def _check_scores(method: Callable[..., Any], scores: Mapping[str, Any]) -> None:
    for name, score in scores.items():
        if not isinstance(score, int | float) or not is_amount(score):
            raise WrongType(f"its score {name!r} is {_short(score)}, not a number that can be recorded", method)


def _check_texts(method: Callable[..., Any], comparison: Comparison) -> None:
    """Check every part of a comparison: ground truths and tools' schemas may hold anything where texts are expected."""
    try:
        msgspec.convert(msgspec.to_builtins(comparison), ready_type(Comparison))
    except (TypeError, msgspec.ValidationError) as error:
        place = str(error).rpartition(" - at `$.")[2].removesuffix("`")
        where = f" at {place}" if place else ""
        raise WrongType(f"its comparison has a value of the wrong type{where}", method) from None


def checked_cases(method: Callable[..., Any], cases: Any) -> Iterator[Case]:
    """Yield the values returned by a suite's `cases` method after checking each.

    Raises:
        WrongType: a value is not a case.
    """
    for case in checked("cases", method, cases):
        check_item("cases", method, case)
        yield case


def check_item(name: str, method: Callable[..., Any], item: Any) -> None:
    """Check one item of the values that a method returns.

    Raises:
        WrongType: it has the wrong type, or is a case without an id.
    """
    if name not in _RETURNS_MANY:
        return
    if not isinstance(item, _RETURNS_MANY[name]):
        raise WrongType(f"one of its values is {_short(item)}, not a {_RETURNS_MANY[name].__name__}", method)
    if isinstance(item, Case):
        fits = isinstance(item.id, str) and isinstance(item.category, str) and isinstance(item.data, dict)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not fits or not item.id:
            raise WrongType(f"{_short(item)} needs strings as id and category, and a dict as data", method)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_REPR else f"{text[:_LONGEST_REPR]}…"
