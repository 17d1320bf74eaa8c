"""Conversion of argument strings to Python values, shared by Java and JavaScript."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

LONGEST = 20_000
"""Maximum number of characters in a value that is parsed as a collection."""

Rule = Callable[[str, str | None], Any]
"""Converts a string, given the element type if any; a string that does not fit is returned unchanged."""


class Converter(Protocol):
    """Converter of one language."""

    def __call__(self, text: str, kind: str, items: str | None = None) -> Any:
        """Convert an argument string.

        Args:
            text: decoded string without outer quotes.
            kind: documented type.
            items: element type of a collection.

        Raises:
            ValueError: a type that no official document uses.
        """


def converter(language: str, rules: Mapping[str, Rule]) -> Converter:
    """Create a converter from a language's rules by type."""

    def value(text: str, kind: str, items: str | None = None) -> Any:
        rule = rules.get(kind)
        if rule is None:
            raise ValueError(f"{language} type {kind!r} has no conversion")
        return rule(text, items)

    return value


def matching(pattern: str, convert: Callable[[str], Any]) -> Rule:
    """Create a rule that converts strings whose start matches a pattern."""
    compiled = re.compile(pattern)
    return lambda text, _: convert(text) if compiled.match(text) else text


def as_it_is(text: str, _: str | None) -> str:
    """Return the string unchanged."""
    return text


def boolean(text: str, _: str | None = None) -> bool | str:
    """Convert `true` and `false`; return other strings unchanged."""
    return text == "true" if text in ("true", "false") else text


def number_or_text(text: str) -> Any:
    """Parse an integer or a float as Python does, else return the string."""
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
