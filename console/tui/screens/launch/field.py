"""One field of the form: a text the reader edits, read strictly, with a sentence when it does not fit. Pure."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.config.preset import read_time
from console.core.suggestion import nearest
from console.suites.suite import Option
from console.tui.data.catalog_items import RunLine

Read = Callable[[str], Any]
"""Turns the text into a value, or raises ValueError with a sentence of ours."""


@dataclass(frozen=True, slots=True)
class Field:
    """What can be set, and how its text is read. Label, meaning and choices of a suite's option are foreign text."""

    id: str
    label: str
    default: str
    """The text it starts with."""
    meaning: str
    flag: str
    """The same option of `run`."""
    read: Read = field(default=str)
    choices: tuple[str, ...] = ()
    """Space goes through these; other texts are refused."""
    digits: bool = False
    """Typing a digit starts editing."""

    def mistake_in(self, text: str) -> str:
        """Return what is wrong with a text, or nothing."""
        try:
            self.value_of(text)
        except ValueError as error:
            return str(error)
        return ""

    def value_of(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            ValueError: it does not fit, with a sentence of ours.
        """
        if self.choices and text not in self.choices:
            raise ValueError(f"one of: {', '.join(choice or 'nothing' for choice in self.choices)}")
        return self.read(text.strip())

    def next_choice(self, text: str, step: int = 1) -> str:
        """Return the choice after (or before) a text."""
        place = self.choices.index(text) + step if text in self.choices else 0
        return self.choices[place % len(self.choices)]


def whole(least: int = 1, *, none: tuple[str, ...] = ()) -> Read:
    """Return a reader of whole numbers; the words of `none` (and nothing) mean None."""

    def read(text: str) -> int | None:
        if none and text.lower() in (*none, ""):
            return None
        digits = re.sub(r"[\s_,]", "", text)
        if not re.fullmatch(r"-?\d{1,12}", digits) or int(digits) < least:
            also = f", or {none[0]}" if none else ""
            raise ValueError(f"a whole number from {least} on{also}")
        return int(digits)

    return read


def money(text: str) -> float | None:
    """Read a sum of money; `never` and nothing mean no limit."""
    if text.lower() in ("never", ""):
        return None
    match = re.fullmatch(r"\$?\s*(\d{1,9}(?:\.\d{1,6})?)", text)
    if match is None or float(match[1]) <= 0:
        raise ValueError("an amount in US dollars such as 5.00, or never")
    return float(match[1])


def time_limit(text: str) -> float | None:
    """Read a time in seconds; `never` and nothing mean no limit."""
    if text.lower() in ("never", ""):
        return None
    try:
        return read_time(text)
    except ValueError as error:
        raise ValueError(f"{error}, or never") from None


def run_name(text: str) -> str:
    """Read a name for runs: nothing, or something a folder can be called."""
    if len(text) > 60 or not text.isprintable():
        raise ValueError("at most 60 printable characters")
    return text


def ids(is_file: Callable[[str], bool]) -> Read:
    """Return a reader of case ids between commas, `@FILE` among them; `is_file` says whether there is such a file."""

    def read(text: str) -> tuple[str, ...]:
        words = tuple(word for part in text.split(",") if (word := part.strip()))
        for word in words:
            if word.startswith("@") and not is_file(word[1:]):
                raise ValueError(f"there is no file {word[1:] or 'of that name'}; @ids.txt holds one id a line")
        return words

    return read


def failed_run(lines: Sequence[RunLine], suites: Sequence[str]) -> Read:
    """Return a reader of the name of a run with failed cases of the chosen suite, or a unique part of its name."""

    def read(text: str) -> str:
        if not text:
            return ""
        names = [line.name for line in lines]
        found = [line for line in lines if text in (line.name, "latest")] or [
            line for line in lines if text in line.name
        ]
        if not found:
            close = nearest(text, names)
            raise ValueError("no run has that in its name" + (f"; did you mean {close}?" if close else ""))
        if len(found) > 1 and text != "latest":
            raise ValueError(f"{len(found)} runs have that in their name; give more of it")
        summary = found[0].summary
        if summary is None or not summary.tally.failed:
            raise ValueError("that run has no failed case")
        if any(suite != summary.suite for suite in suites):
            raise ValueError(f"it played {summary.suite}: choose that suite only")
        return found[0].name

    return read


def option_field(suite: str, option: Option, *, named: bool) -> Field:
    """Return the field of one suite option.

    Args:
        suite: the suite it belongs to.
        option: what the suite offers.
        named: whether the command line must be told which suite is meant.
    """
    choices = ("true", "false") if option.kind == "bool" else option.choices
    return Field(
        f"option:{suite}:{option.name}",
        option.name,
        text_of(option.default),
        option.meaning,
        f"--option {suite}/{option.name}=" if named else f"--option {option.name}=",
        _option_reader(option),
        choices,
        digits=option.kind in ("int", "float"),
    )


def text_of(value: Any) -> str:
    """Return the text a default is edited as; nothing for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _option_reader(option: Option) -> Read:
    readers: dict[str, Read] = {"int": _int, "float": _float, "bool": _bool, "json": _json}
    read = readers.get(option.kind, str)
    default = option.default

    def read_or_default(text: str) -> Any:
        return default if not text and not isinstance(default, str) else read(text)

    return read_or_default


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
