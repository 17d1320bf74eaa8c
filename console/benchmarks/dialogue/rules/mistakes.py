"""Errors in rows with place, field and hint, collected to report all at once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.core.suggestion import suggest

FormT = TypeVar("FormT")
SHOWN = 20
"""Maximum number of errors listed; the rest are counted."""
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_EXPECTED = re.compile(r"Expected `([^`]+)`(?:, got `([^`]+)`)?")
_PATH = re.compile(r" - at `\$?([^`]*)`$")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_MISSING = re.compile(r"missing required field `([^`]*)`")
_NO_CHOICE = re.compile(r"Invalid enum value (.*) - at ")
_LINE = re.compile(r"(?::|, row )(\d+)$")
_LONGEST = 80
"""Maximum number of characters in an untrusted value in a message."""


@dataclass(slots=True)
class Mistakes:
    """The errors found so far."""

    _placed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Line number and message of each."""

    @property
    def count(self) -> int:
        return len(self._placed)

    def add(self, place: str, where: str, problem: str, hint: str = "") -> None:
        """Record an error.

        Args:
            place: file and line.
            where: the field; empty for the whole row.
            problem: the error as a predicate of the field.
            hint: how to fix it, a sentence.
        """
        about = f"{where}: " if where else ""
        line = _LINE.search(place)
        sentence = f"{place}: {about}{problem}" + (f"\n    {hint}" if hint else "")
        self._placed.append((int(line[1]) if line else 0, sentence))

    def include(self, others: "Mistakes") -> None:
        self._placed += others._placed

    def raise_if_any(self, source: str) -> None:
        """Raise the recorded errors, if any.

        Args:
            source: the file, for the first line.

        Raises:
            UsageError: lists the errors.
        """
        if not self.count:
            return
        lines = [sentence for _, sentence in sorted(self._placed, key=itemgetter(0))[:SHOWN]]
        if self.count == 1:
            folder = source.rpartition("/")[0]
            is_full = not folder or lines[0].startswith(folder)
            raise UsageError(lines[0] if is_full else f"{folder}/{lines[0]}")
        rest = f"\n  … and {self.count - SHOWN} more" if self.count > SHOWN else ""
        listed = "\n  ".join(lines)
        raise UsageError(f"{source} has {self.count} errors:\n  {listed}{rest}")


def shown(value: object) -> str:
    """Format an untrusted value for a message, on one line and truncated."""
    text = value if isinstance(value, str) else repr(value)
    return f"{text[:_LONGEST]!r}{'…' if len(text) > _LONGEST else ''}" if isinstance(value, str) else text[:_LONGEST]


def convert(value: Any, form: type[FormT], where: str) -> FormT:
    """Convert a JSON value to a type.

    Raises:
        FieldError: the value does not fit; names field and expected type.
    """
    try:
        return msgspec.convert(value, ready_type(form))
    except msgspec.ValidationError as error:
        raise _field_error(str(error), form, where) from None


class FieldError(ValueError):
    """A field has an invalid value."""

    def __init__(self, where: str, problem: str, hint: str = "", unknown: str = "") -> None:
        """Create the error, with the arguments of `Mistakes.add`, and the name of a field that does not exist."""
        super().__init__(f"{where}: {problem}")
        self.where, self.problem, self.hint, self.unknown = where, problem, hint, unknown


def _field_error(message: str, form: Any, where: str) -> FieldError:
    path = match[1] if (match := _PATH.search(message)) else ""
    where = f"{where}{path}".strip(".")
    if match := _UNKNOWN.search(message):
        hint = did_you_mean(match[1], _field_names(form))
        return FieldError(where, f"has no field {shown(match[1])}", hint, match[1])
    if match := _MISSING.search(message):
        return FieldError(where, f"lacks the field `{match[1]}`")
    if match := _EXPECTED.search(message):
        expected = " or ".join(_WORDS.get(word, word) for word in match[1].split(" | "))
        actual = f", not {_WORDS.get(match[2], match[2])}" if match[2] else message[match.end() :].split(" - at ")[0]
        actual = actual.replace(" matching regex ", " matching ")
        return FieldError(where, f"must be {expected}{actual}")
    if match := _NO_CHOICE.search(message):
        choices = " or ".join(dict.fromkeys(_choices_of(form, path)))
        return FieldError(where, f"must be {choices}, not {match[1]}")
    return FieldError(where, _PATH.sub("", message)[:1].lower() + _PATH.sub("", message)[1:])


def _field_names(form: Any) -> Iterable[str]:
    """Yield the field names of a type and the structs in it."""
    for kind in _structs_in(form, set()):
        yield from kind.__struct_encode_fields__


def _choices_of(form: Any, path: str) -> Iterable[str]:
    """Yield descriptions of the values that the last field of a path accepts."""
    name = (re.findall(r"\w+", path) or [""])[-1]
    for kind in _structs_in(form, set()):
        for item in msgspec.structs.fields(kind):
            if item.encode_name == name:
                yield from _words_in(item.type)


def _words_in(form: Any) -> Iterable[str]:
    if get_origin(form) is Literal:
        yield from (repr(value) for value in get_args(form) if value)
    elif form is float:
        yield "a number"
    elif form is not str:
        for part in get_args(form):
            yield from _words_in(part)


def _structs_in(form: Any, seen: set[Any]) -> set[type[msgspec.Struct]]:
    if isinstance(form, type) and issubclass(form, msgspec.Struct):
        if form in seen:
            return set()
        seen.add(form)
        parts = [item.type for item in msgspec.structs.fields(form)]
        return {form}.union(*(_structs_in(part, seen) for part in parts))
    parts = cast(tuple[Any, ...], getattr(cast(Any, form), "__args__", ()))
    return set[type[msgspec.Struct]]().union(*(_structs_in(part, seen) for part in parts))


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint with the closest name, or else all names."""
    names = list(dict.fromkeys(names))
    return suggest(name, names, f"Known names: {', '.join(names)}.")
