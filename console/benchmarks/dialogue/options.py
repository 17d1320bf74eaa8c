"""What a run of rows may set, and how it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.benchmarks.dialogue.rules.script import Variants
from console.core.fault import UsageError
from console.suites.suite import Option

VARIED = ("prompt", "system")
"""Texts of which several versions can be played side by side."""
MAX_STEPS = 10

OPTIONS = (
    Option("max_steps", "int", MAX_STEPS, "replies of the model in one turn; with calls in all of them the turn ends"),
    Option(
        "vary",
        "json",
        None,
        'versions of a text side by side, each row once with each: {"prompt": ["a.txt", "b.txt"]}, or system',
    ),
    Option("second_judge_model", "text", None, "a second judge of every answer, who decides nothing; empty: none"),
)
"""`vary` holds the texts themselves once a run has begun, so that it depends on no file."""


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Options after validation."""

    max_steps: int
    variants: Variants | None
    has_second_judge: bool


def read_options(options: Mapping[str, Any]) -> DialogueOptions:
    """Read the options of a run; files of variants are read where they are named.

    Raises:
        UsageError: a value does not make sense, or a file cannot be read.
    """
    values = {option.name: option.default for option in OPTIONS} | dict(options)
    steps = values["max_steps"]
    if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= 1000:
        raise UsageError(f"must be from 1 to 1000, not {steps!r}", where="max_steps")
    return DialogueOptions(steps, read_variants(values["vary"]), bool(values["second_judge_model"]))


def settled_vary(value: Any) -> dict[str, dict[str, str]] | None:
    """Return the option `vary` with the texts in place of the names of files.

    Raises:
        UsageError: it is of another form, or a file cannot be read.
    """
    variants = read_variants(value)
    return None if variants is None else {variants.field: variants.texts}


def read_variants(value: Any) -> Variants | None:
    """Return the versions of a text that an option names.

    Raises:
        UsageError: it is of another form, or a file cannot be read.
    """
    if value is None or value == {}:
        return None
    table = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    field = next(iter(table), "")
    if len(table) != 1 or field not in VARIED:
        hint = "Write prompt=a.txt,b.txt, or system=a.txt,b.txt."
        raise UsageError(f"can vary {' or '.join(VARIED)}, one of them", where="--vary", hint=hint)
    texts = table[field]
    if isinstance(texts, dict) and all(isinstance(text, str) for text in cast(dict[str, Any], texts).values()):
        return Variants(field, cast(dict[str, str], texts))
    if not isinstance(texts, list) or not all(isinstance(name, str) and name for name in cast(list[Any], texts)):
        raise UsageError(f"{field} needs the names of files", where="--vary", hint=f"Write {field}=a.txt,b.txt.")
    return Variants(field, _read_files(cast(list[str], texts)))


def _read_files(names: list[str]) -> dict[str, str]:
    """Return the texts of files by their names without suffix.

    Raises:
        UsageError: a file cannot be read, or two have one name.
    """
    texts: dict[str, str] = {}
    for name in names:
        path = Path(name).expanduser()
        if path.stem in texts:
            raise UsageError(f"two versions would be called {path.stem}", where="--vary", hint="Rename a file.")
        try:
            text = path.read_text(encoding="utf-8-sig").strip("\n")
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}", where="--vary") from None
        except UnicodeDecodeError:
            raise UsageError(f"{name} is not UTF-8 text", where="--vary") from None
        if not text.strip():
            raise UsageError(f"{name} is empty", where="--vary")
        texts[path.stem] = text
    return texts
