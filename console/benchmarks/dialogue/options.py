"""Options of dialogue runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.dialogue.rules.script import Variants
from console.config.paths import expanded
from console.core.fault import UsageError
from console.store.atomic import read_regular_text
from console.suites.options import read_values
from console.suites.stage import JUDGE_REPEATS, MOST_JUDGE_REPEATS
from console.suites.suite import Option

VARIED = ("prompt", "system")
"""Fields that can have several variants."""
MAX_STEPS = 10

OPTIONS = (
    Option("max_steps", "int", MAX_STEPS, "maximum model replies per turn"),
    Option(
        "vary",
        "json",
        None,
        'variants of a text; each row runs once with each: {"prompt": ["a.txt", "b.txt"]}, or system',
    ),
    Option("second_judge_model", "text", None, "second judge of every answer, without effect on verdicts; empty: none"),
    Option(
        JUDGE_REPEATS,
        "int",
        1,
        "how often the judge grades each answer; the first grade counts, the others show its noise",
    ),
)
"""A run stores the texts of `vary`, so that it does not depend on files."""


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Validated options."""

    max_steps: int
    variants: Variants | None
    has_second_judge: bool
    judge_repeats: int = 1


def read_options(options: Mapping[str, Any]) -> DialogueOptions:
    """Validate the options of a run, and read the files of variants.

    Raises:
        UsageError: an invalid value or unreadable file.
    """
    values = read_values(OPTIONS, options, {"max_steps": (1, 1000), JUDGE_REPEATS: (1, MOST_JUDGE_REPEATS)})
    return DialogueOptions(
        values["max_steps"], read_variants(values["vary"]), bool(values["second_judge_model"]), values[JUDGE_REPEATS]
    )


def settled_vary(value: Any) -> dict[str, dict[str, str]] | None:
    """Return the option `vary` with texts in place of file names.

    Raises:
        UsageError: an invalid value or unreadable file.
    """
    variants = read_variants(value)
    return None if variants is None else {variants.field: variants.texts}


def read_variants(value: Any) -> Variants | None:
    """Parse the option `vary`.

    Raises:
        UsageError: an invalid value or unreadable file.
    """
    if value is None or value == {}:
        return None
    table = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    field = next(iter(table), "")
    if len(table) != 1 or field not in VARIED:
        hint = "Write prompt=a.txt,b.txt, or system=a.txt,b.txt."
        raise UsageError(f"must vary either {' or '.join(VARIED)}", where="--vary", hint=hint)
    texts = table[field]
    if isinstance(texts, dict) and all(isinstance(text, str) for text in cast(dict[str, Any], texts).values()):
        return Variants(field, cast(dict[str, str], texts))
    if not isinstance(texts, list) or not all(isinstance(name, str) and name for name in cast(list[Any], texts)):
        raise UsageError(f"{field} needs file names", where="--vary", hint=f"Write {field}=a.txt,b.txt.")
    return Variants(field, _read_files(cast(list[str], texts)))


def _read_files(names: list[str]) -> dict[str, str]:
    """Return the texts of files by name without suffix."""
    texts: dict[str, str] = {}
    for name in names:
        path = expanded(name)
        if path.stem in texts:
            raise UsageError(f"two variants would be named {path.stem}", where="--vary", hint="Rename a file.")
        try:
            text = read_regular_text(path).strip("\n")
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}", where="--vary") from None
        except UnicodeDecodeError:
            raise UsageError(f"{name} is not UTF-8 text", where="--vary") from None
        if not text.strip():
            raise UsageError(f"{name} is empty", where="--vary")
        texts[path.stem] = text
    return texts
