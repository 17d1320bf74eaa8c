"""Writing one preset into a presets file without touching any other line."""

import re
from pathlib import Path
from typing import Any

import tomli

from console.config.preset import Preset, suite_words
from console.config.toml import keys_of
from console.config.toml_text import toml_key, toml_value
from console.core.fault import UsageError, reason_of
from console.store.atomic import change_file

_HEADER = re.compile(r"^[ \t]*\[[ \t]*(.+?)[ \t]*\][ \t]*(?:#.*)?$")
_START = """\
# Presets of eval-console: `eval-console run --preset NAME`, or w in the form for a new run.
# Keys are the long options of `run`; edit them freely.
"""


def save_preset(path: Path, name: str, preset: Preset) -> None:
    """Write a preset, replacing one of the same name.

    Raises:
        UsageError: the file cannot be read or written, or has an error that must be fixed first.
    """

    def with_preset(before: bytes | None) -> bytes:
        lines = _lines(path, before)
        start, end = _block_of(lines, name)
        block = table_of(name, preset).splitlines()
        gap = [""] if start == len(lines) and lines and lines[-1].strip() else []
        text = "\n".join([*lines[:start], *gap, *block, *([""] if end < len(lines) else []), *lines[end:]]) + "\n"
        _check_result(path, lines, text, name)
        return text.encode()

    change_file(path, with_preset, failure="the preset cannot be saved", hint="Make the folder writable.")


def table_of(name: str, preset: Preset) -> str:
    """Return a preset as a TOML table without default values."""
    budget = preset.budget
    drawn = preset.limit is not None and preset.seed is not None
    entries: list[tuple[str, Any]] = [
        ("models", list(preset.models)),
        ("suites", suite_words(preset.suites)),
        ("sample" if drawn else "limit", preset.limit),
        ("seed", preset.seed if drawn else None),
        ("ids", list(preset.ids) or None),
        ("only_failed_of", preset.only_failed_of or None),
        ("rollouts", preset.rollouts if preset.rollouts != 1 else None),
        ("concurrency", preset.concurrency),
        ("mode", preset.mode),
        *preset.roles.items(),
        ("options", preset.options or None),
        ("max_cost", budget.cost_usd),
        ("max_tokens", budget.tokens),
        ("max_time", budget.seconds),
        ("max_errors", budget.errors),
        ("until", preset.until or None),
        ("baseline", preset.baseline or None),
        ("margin", preset.margin or None),
        ("by", preset.by or None),
        ("set", preset.changes or None),
        ("batch", preset.batch or None),
        ("queue", preset.queue or None),
        ("name", preset.name or None),
    ]
    lines = [f"{key} = {toml_value(value)}" for key, value in entries if value is not None]
    return "\n".join([f"[{toml_key(name)}]", *lines]) + "\n"


def _lines(path: Path, data: bytes | None) -> list[str]:
    try:
        return (_START if data is None else data.decode()).splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the file cannot be read: {reason_of(error)}",
            where=str(path),
            hint="Fix or move the file; nothing was saved.",
        ) from None


def _block_of(lines: list[str], name: str) -> tuple[int, int]:
    """Return the line range of a preset, from its header up to the comments above the next one; (end, end) if new."""
    heads = [(number, keys_of(match[1])) for number, text in enumerate(lines) if (match := _HEADER.match(text))]
    start = next((number for number, keys in heads if keys == (name,)), len(lines))
    end = next((number for number, keys in heads if number > start and keys[0] != name), len(lines))
    while end < len(lines) and end - 1 > start and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return start, end


def _check_result(path: Path, lines: list[str], text: str, name: str) -> None:
    """Raise an error if the new file would not parse, or would change another preset."""
    try:
        before = tomli.loads("\n".join(lines) + "\n")
        after = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        raise UsageError(
            f"the file has an error: {reason_of(error)}",
            where=f"{path.name}:{line}" if line else str(path),
            hint="Fix it first; nothing was saved.",
        ) from None
    before.pop(name, None)
    if {key: value for key, value in after.items() if key != name} != before:
        raise UsageError(
            f"[{name}] is written in a way that cannot be replaced on its own",
            where=str(path),
            hint="Delete it from the file, or choose another name.",
        )
