"""Conversion of argument texts to Python values, shared by Java and JavaScript."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

LONGEST = 20_000
"""Characters of a value that are still searched for collections."""

Rule = Callable[[str, str | None], Any]
"""Takes a text and the element type, where there is one; a text that does not fit its type comes back as it is."""


class Converter(Protocol):
    """The conversion of a language."""

    def __call__(self, text: str, kind: str, items: str | None = None) -> Any:
        """Return the value of an argument text.

        Args:
            text: as decoded, outer quotes already cut.
            kind: the type of the document.
            items: the element type, where the type has elements.

        Raises:
            ValueError: a type that no official document has.
        """


def converter(language: str, rules: Mapping[str, Rule]) -> Converter:
    """Return the conversion by a language's rules for each type."""

    def value(text: str, kind: str, items: str | None = None) -> Any:
        rule = rules.get(kind)
        if rule is None:
            raise ValueError(f"{language} type {kind!r} has no conversion")
        return rule(text, items)

    return value


def matching(pattern: str, convert: Callable[[str], Any]) -> Rule:
    """Return the rule that converts what a pattern matches from the start."""
    compiled = re.compile(pattern)
    return lambda text, _: convert(text) if compiled.match(text) else text


def as_it_is(text: str, _: str | None) -> str:
    """Return the text."""
    return text


def boolean(text: str, _: str | None = None) -> bool | str:
    """Return `true` and `false` as what they mean."""
    return text == "true" if text in ("true", "false") else text


def number_or_text(text: str) -> Any:
    """Return the integer, else the float, that Python reads in a text, else the text."""
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
