"""The fields of the launch form: editable texts with strict parsing and error messages.

General fields come first, then the options of the chosen suites.
"""

import dataclasses
import functools
import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from console.config.paths import expanded
from console.config.preset import read_time
from console.core.fault import UsageError, reason_of
from console.core.looks import Rule, read_margin, read_until
from console.engine.compute_target import RAY
from console.store.run_list import name_with_part
from console.suites.suite import Mode, Option
from console.tui.data.models import Models
from console.tui.data.runs import RunLine

AUTO = "from models.toml"
NOW, QUEUED = "now", "queued"
DIRECTLY, IN_BATCHES = "directly", "in batches"
THIS_MACHINE = "this machine"

Read = Callable[[str], Any]
"""Parses a text; raises ValueError with a safe message."""


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A setting and the parser of its text. Label, meaning and choices of a suite's option are untrusted text."""

    id: str
    label: str
    default: str
    meaning: str
    flag: str
    """The corresponding option of `run`."""
    read: Read = dataclasses.field(default=str)
    choices: tuple[str, ...] = ()
    """Allowed texts; empty allows any."""
    digits: bool = False
    """True if typing a digit starts editing."""
    unit: str = ""
    """Sign shown before a number."""

    def with_unit(self, text: str) -> str:
        """Return a text as it is shown, with the unit before a number."""
        return self.unit + text if text[:1].isdigit() else text

    def mistake_in(self, text: str) -> str:
        try:
            self.value_of(text)
        except ValueError as error:
            return str(error)
        return ""

    def value_of(self, text: str) -> Any:
        """Parse a text.

        Raises:
            ValueError: the text is invalid; the message is safe to show.
        """
        if self.choices and text not in self.choices:
            raise ValueError(f"one of: {', '.join(choice or 'nothing' for choice in self.choices)}")
        return self.read(text.strip())

    def next_choice(self, text: str) -> str:
        index = self.choices.index(text) + 1 if text in self.choices else 0
        return self.choices[index % len(self.choices)]


def whole(least: int = 1, *, none: tuple[str, ...] = ()) -> Read:
    """Return a parser of integers from `least`; an empty text or one of the words in `none` means None."""

    def read(text: str) -> int | None:
        if none and text.lower() in (*none, ""):
            return None
        digits = re.sub(r"[\s_,]", "", text)
        if not re.fullmatch(r"-?\d{1,12}", digits) or int(digits) < least:
            also = f", or {none[0]}" if none else ""
            raise ValueError(f"a whole number, at least {least}{also}")
        return int(digits)

    return read


def money(text: str) -> float | None:
    """Parse an amount in US dollars; `never` or an empty text means no limit."""
    if text.lower() in ("never", ""):
        return None
    match = re.fullmatch(r"\$?\s*(\d{1,9}(?:\.\d{1,6})?)", text)
    if match is None or float(match[1]) <= 0:
        raise ValueError("an amount in US dollars such as 5.00, or never")
    return float(match[1])


def amount(cost_usd: float) -> str:
    """Return an amount as `money` parses it: `5.00`, `0.0005`."""
    return f"{cost_usd:.2f}" if round(cost_usd, 2) == cost_usd else f"{cost_usd:.6f}".rstrip("0")


def time_limit(text: str) -> float | None:
    """Parse a duration in seconds; `never` or an empty text means no limit."""
    if text.lower() in ("never", ""):
        return None
    try:
        return read_time(text)
    except ValueError as error:
        raise ValueError(f"{error}, or never") from None


def run_name(text: str) -> str:
    """Parse the name of a run, possibly empty."""
    if len(text) > 60 or not text.isprintable():
        raise ValueError("at most 60 printable characters")
    return text


def ids(is_file: Callable[[str], bool]) -> Read:
    """Return a parser of comma-separated case ids, including `@FILE`; `is_file` tests for a file."""

    def read(text: str) -> tuple[str, ...]:
        words = tuple(word for part in text.split(",") if (word := part.strip()))
        for word in words:
            if word.startswith("@") and not is_file(word[1:]):
                raise ValueError(f"there is no file {word[1:] or 'of that name'}; @ids.txt has one id per line")
        return words

    return read


def failed_run(lines: Sequence[RunLine], suites: Sequence[str]) -> Read:
    """Return a parser of the name, or a unique part of the name, of a run with failed cases of the chosen suite."""

    def read(text: str) -> str:
        if not text:
            return ""
        line = next((line for line in lines if text in (line.name, "latest")), None)
        if line is None:
            try:
                name = name_with_part(text, [line.name for line in lines])
            except UsageError as error:
                raise ValueError(f"{error.message}. {error.hint}") from None
            line = next(line for line in lines if line.name == name)
        summary = line.summary
        if summary is None or not summary.tally.failed:
            raise ValueError("that run has no failed case")
        if any(suite != summary.suite for suite in suites):
            raise ValueError(f"it ran {summary.suite}: choose that suite only")
        return line.name

    return read


def option_field(suite: str, option: Option, *, named: bool) -> Field:
    """Return the field of a suite option; `named` includes the suite's name in the command line option."""
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
    """Return a default as editable text; empty for None."""
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
        raise ValueError(f"not JSON: {reason_of(error)}") from None


def until_rule(text: str) -> str:
    """Check the rule that ends runs, possibly empty."""
    return _checked(text, lambda: read_until(text, baseline="any" if text == Rule.DECIDED else ""))


def margin(text: str) -> str:
    """Check a margin, possibly empty."""
    return _checked(text, lambda: read_margin(text))


def _checked(text: str, read: Callable[[], object]) -> str:
    try:
        _ = read() if text else None
    except UsageError as error:
        raise ValueError(f"{error.message}. {error.hint}") from None
    return text


# General fields ------------------------------------------------------------------------------------------------------

_CASES = Field(
    "cases", "cases per suite", "all", "how many of each, or all", "--sample", whole(none=("all",)), digits=True
)
_SEED = Field("seed", "seed", "0", "seed of the sample; first: the first cases, not sampled", "--seed",
              whole(0, none=("first",)), digits=True)  # fmt: skip
_REPEATS_TO_START = (
    Field("repeats", "repeats", "1", "rollouts of each case", "--rollouts", whole(), digits=True),
    Field("at_once", "at once", "", "conversations in flight; empty: as models.toml says", "--concurrency",
          whole(none=("auto",)), digits=True),
    Field("stop_when", "stop when", "5.00", "US dollars a run may spend, or never", "--max-cost", money, digits=True,
          unit="$"),
    Field("start", "start", NOW, "now (parallel) / queued", "--queue", str, (NOW, QUEUED)),
    Field("asked", "asked", DIRECTLY, "in batches: at half price, answered within a day", "--batch", str,
          (DIRECTLY, IN_BATCHES)),
)  # fmt: skip
_END = (
    Field("until", "until", "", "empty: all is played; decided, best, or 2pt", "--until", until_rule),
    Field("baseline", "baseline", "", "until decided: the run to compare with", "--baseline", run_name),
    Field("margin", "margin", "", "until decided: how much worse it may be, such as 1pt", "--margin", margin),
    Field("by", "by", "", "until decided: category asks the question of each", "--by", str, ("", "category")),
)
_NAME = Field("name", "name", "", "empty: time, model and suite", "--name", run_name)
_LIMITS = (
    Field("max_time", "time limit", "never", "stops a run after 90 (seconds), 10m or 2h", "--max-time", time_limit,
          digits=True),
    Field("max_tokens", "token limit", "never", "stops a run after this many tokens", "--max-tokens",
          whole(none=("never",)), digits=True),
    Field("max_errors", "error limit", "never", "stops a run after this many broken cases", "--max-errors",
          whole(none=("never",)), digits=True),
)  # fmt: skip
_ROLE = "role:"
"""Prefix of the id of a role's field."""
_WHERE = (
    Field("where", "where", THIS_MACHINE, "ray: the cluster at RAY_ADDRESS, or a new local one", "--on", str,
          (THIS_MACHINE, RAY)),
    Field("workers", "workers", "", "Ray workers; empty: one per CPU of the cluster", "--workers",
          whole(none=("auto",)), digits=True),
)  # fmt: skip
_FIELD_OF_FLAG = {
    "--on": "where",
    "--workers": "workers",
    "--ids": "ids",
    "--ids and --only-failed-of": "ids",
    "--only-failed-of": "failed_of",
    "--mode": "mode",
    "--judge": "role:judge",
    "--user": "role:user",
    "--embedding": "role:embedding",
    "--name": "name",
    "--until": "until",
    "--until decided": "baseline",
    "--until best": "until",
    "--baseline": "baseline",
    "--margin": "margin",
    "--by": "by",
    "--batch": "asked",
}


def general_fields(
    models: Models, runs: Sequence[RunLine], suites: Sequence[str], roles: Sequence[str], modes: Sequence[Mode]
) -> list[Field]:
    """Return the fields common to all suites, most used first, for the chosen suites, roles and modes."""
    only_ids = Field("ids", "only ids", "", "ids between commas, or @ids.txt", "--ids", ids(_is_file))
    failed_of = Field("failed_of", "failed of", "", "cases this run failed: its name or part of it",
                      "--only-failed-of", failed_run(runs, suites))  # fmt: skip
    role_fields = [_role_field(role, models) for role in roles]
    always = [_CASES, _SEED, only_ids, failed_of, *_REPEATS_TO_START, _mode_field(modes), *role_fields, _NAME, *_END,
              *_LIMITS]  # fmt: skip
    return [*always, *(_WHERE if has_ray() else ())]


@functools.cache
def has_ray() -> bool:
    """Return whether the extra for clusters is installed, without loading it."""
    return importlib.util.find_spec(RAY) is not None


def _mode_field(modes: Sequence[Mode]) -> Field:
    by_name = {mode.name: mode for mode in modes}
    meaning = " or ".join(f"{mode.meaning} ({name})" for name, mode in by_name.items())
    return Field("mode", "mode", AUTO, meaning, "--mode", str, (AUTO, *by_name))


def role_field_id(role: str) -> str:
    """Return the id of the field of a role."""
    return f"{_ROLE}{role}"


def is_needed_first(field: Field, *, wide: bool) -> bool:
    """Return whether a field is visible at first, in a `wide` layout or not; others are folded until changed."""
    return field.id in ("cases", "repeats", "stop_when") or (wide and (field.id == "name" or is_of_role(field)))


def is_of_role(field: Field) -> bool:
    """Return whether a field selects the model of a role."""
    return field.id.startswith(_ROLE)


def _role_field(role: str, models: Models) -> Field:
    names = tuple(line.name for line in models.lines if line.ready)
    choices = ("", f"sim/{role}", *names) if role in ("judge", "user", "embedding") else ("", *names)
    meaning = "model for this role; empty: the suite's default"
    return Field(role_field_id(role), role, "", meaning, f"--{role}", str, choices)


def refused_field(refusal: UsageError, fields: Sequence[Field]) -> str:
    """Return the id of the field that a refusal concerns, or an empty string."""
    options = [(field.id.rpartition(":")[2], field.id) for field in fields if field.id.startswith("option:")]
    if refusal.where == "--option":
        named = refusal.message.replace("'", " ").replace(",", " ").split()
        return next((id for name, id in options if name in named), "")
    option = refusal.where.partition(".")[0]
    return _FIELD_OF_FLAG.get(refusal.where) or next((id for name, id in options if name == option), "")


def _is_file(name: str) -> bool:
    try:
        return expanded(name).is_file()
    except (OSError, ValueError, UsageError):
        return False
