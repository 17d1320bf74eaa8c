"""Presets: named sets of all settings of `run` and the form, in a file that people read and edit.

`presets.toml` in the current folder takes precedence over the one in the user's config folder. A preset is one table;
its keys are the long options of `run`:

    [nightly]
    models = ["gpt-4o-mini", "local"]
    suites = ["bfcl/live_simple", "aidanbench"]     # suite, or suite/category
    sample = 200
    seed = 7
    max_cost = 5.0

An error in one preset never affects another, and is reported with file, line and hint.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from console.config.toml import Mistake, TomlFile, read_toml
from console.core.fault import UsageError
from console.core.ranges import LARGEST_COUNT
from console.core.run import Budget
from console.core.suggestion import nearest, suggest

ROLES = ("judge", "second_judge", "user", "embedding")
"""Roles whose model is set by an option of `run`; the second `--judge` is the second judge."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings of a launch: one run for each model and suite."""

    models: tuple[str, ...] = ()
    suites: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Categories by suite; empty for all."""
    limit: int | None = None
    """Cases of each suite; None for all."""
    seed: int | None = None
    """With a limit: draw that many at random instead of taking the first."""
    ids: tuple[str, ...] = ()
    """Only these cases; `@FILE` reads ids from a file."""
    only_failed_of: str = ""
    """Only cases failed by this run."""
    rollouts: int = 1
    concurrency: int | None = None
    mode: str | None = None
    roles: dict[str, str] = field(default_factory=dict[str, str])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Suite options by `name`, or by `suite/name` for one of several suites."""
    budget: Budget = field(default_factory=Budget)
    """Caps of each run."""
    until: str = ""
    """Condition on which looks end each run: `decided`, or a half width such as `2pt`; empty: never."""
    baseline: str = ""
    """Baseline run for `decided`; `margin` is its margin, and `by` is `category` to decide each category separately."""
    margin: str = ""
    by: str = ""
    batch: bool = False
    """Ask through the batch APIs of the providers."""
    queue: bool = False
    """Queue the runs instead of playing them side by side."""
    name: str = ""
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Texts and parameters to send in place of the suite's, named as by `try --set`; the runs enter no leaderboard."""


@dataclass(slots=True)
class Presets:
    """All readable presets, with the errors found while reading them."""

    presets: dict[str, Preset] = field(default_factory=dict[str, Preset])
    """Presets by name, those of the current folder first."""
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    """File of each preset."""
    mistakes: list[Mistake] = field(default_factory=list[Mistake])

    def find(self, name: str) -> Preset:
        """Return a preset by name.

        Raises:
            UsageError: no such preset (names the nearest), or it has an error (shows it).
        """
        if name in self.presets:
            return self.presets[name]
        own_mistake = next((mistake for mistake in self.mistakes if f"[{name}]" in mistake.message), None)
        mistake = own_mistake or (self.mistakes[0] if self.mistakes and not nearest(name, self.presets) else None)
        if mistake is not None:
            raise UsageError(mistake.message, where=mistake.where, hint=mistake.hint)
        names = ", ".join(self.presets)
        hint = suggest(name, self.presets, f"Known presets: {names}." if names else "w in the form saves one.")
        raise UsageError(f"no preset is named {name!r}", where="--preset", hint=hint)


def suite_words(suites: dict[str, tuple[str, ...]]) -> list[str]:
    """Return suites as written in presets: `suite`, or `suite/category` for each category."""
    return [word for name, parts in suites.items() for word in ([f"{name}/{part}" for part in parts] or [name])]


def read_suite_words(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return categories by suite; a suite also named without a category is selected completely."""
    by_suite: dict[str, tuple[str, ...]] = {}
    for word in words:
        suite, _, part = word.partition("/")
        categories = by_suite.get(suite)
        whole = not part or categories == ()
        by_suite[suite] = () if whole else tuple(dict.fromkeys([*(categories or ()), part]))
    return by_suite


def read_time(text: str) -> float:
    """Parse a time in seconds: a number, optionally with s, m or h.

    Raises:
        ValueError: not such a time.
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([smh]?)", text.strip())
    if match is None or not float(match[1]):
        raise ValueError("a time such as 90, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


# Reading -------------------------------------------------------------------------------------------------------------


def load_presets(paths: Sequence[Path]) -> Presets:
    """Read all presets; the first file wins for equal names. Never raises for the contents of a file."""
    presets = Presets()
    for path in paths:
        if not path.is_file():
            continue
        file = read_toml(path)
        for name, table in file.data.items():
            preset = _read_preset(file, name, table)
            if preset is not None and name not in presets.presets:
                presets.presets[name], presets.files[name] = preset, path
        presets.mistakes += file.mistakes
    return presets


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in cast("list[Any]", value))


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_money(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9


def _is_time(value: Any) -> bool:
    try:
        return read_time(str(value)) > 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class _Key:
    """Rule for the value of one preset key."""

    fits: Callable[[Any], bool]
    must: str
    example: str


_TEXTS = _Key(_is_texts, "a list of strings", '["one", "two"]')
_TEXT = _Key(_is_text, "a string", '"…"')
_COUNT = _Key(_is_whole, "an integer of at least 1", "10")
_KEYS = {
    "models": _TEXTS,
    "suites": _TEXTS,
    "limit": _COUNT,
    "sample": _COUNT,
    "seed": _Key(lambda value: _is_whole(value, 0), "an integer of at least 0", "7"),
    "ids": _TEXTS,
    "only_failed_of": _TEXT,
    "rollouts": _COUNT,
    "concurrency": _COUNT,
    "mode": _TEXT,
    **dict.fromkeys(ROLES, _TEXT),
    "options": _Key(lambda value: isinstance(value, dict), "a table", '{ "suite/option" = 1 }'),
    "max_cost": _Key(_is_money, "an amount of US dollars", "5.0"),
    "max_tokens": _COUNT,
    "max_time": _Key(_is_time, "a time such as 90, 10m or 2h", '"10m"'),
    "max_errors": _COUNT,
    "until": _TEXT,
    "baseline": _TEXT,
    "margin": _TEXT,
    "by": _TEXT,
    "set": _Key(lambda value: isinstance(value, dict), "a table", '{ system = "Be brief." }'),
    "batch": _Key(lambda value: isinstance(value, bool), "true or false", "true"),
    "queue": _Key(lambda value: isinstance(value, bool), "true or false", "true"),
    "name": _TEXT,
}


def _read_preset(file: TomlFile, name: str, table: object) -> Preset | None:
    if not isinstance(table, dict):
        file.mistake(
            f"{name!r} is outside of any preset", *file.place(name), "Start a preset with its name: [nightly]."
        )
        return None
    entries, sound = cast("dict[str, Any]", table), True
    for key, value in entries.items():
        if problem := _problem(key, value):
            sound = False
            file.mistake(f"[{name}] {problem[0]}", *file.place(name, key), problem[1])
    if sound and "limit" in entries and "sample" in entries:
        file.mistake(f"[{name}] limit and sample cannot be combined", *file.place(name, "limit"), "Keep one of them.")
        return None
    return _build(entries) if sound else None


def _problem(key: str, value: Any) -> tuple[str, str] | None:
    """Return the error in one line of a preset and a hint, or None if it is valid."""
    rule = _KEYS.get(key)
    if rule is None:
        return f"has an unknown key {key!r}", suggest(key, _KEYS, f"Known keys: {', '.join(_KEYS)}.")
    if rule.fits(value):
        if isinstance(value, int) and value > LARGEST_COUNT:
            return f"{key} must be at most 2^53", f"Write {key} = {rule.example}, or remove the line."
        return None
    return f"{key} must be {rule.must}", f"Write {key} = {rule.example}, or remove the line."


def _build(entries: dict[str, Any]) -> Preset:
    sample: int | None = entries.get("sample")
    most = entries.get("max_time")
    return Preset(
        models=tuple(dict.fromkeys(entries.get("models", ()))),
        suites=read_suite_words(entries.get("suites", ())),
        limit=entries.get("limit", sample),
        seed=entries.get("seed", 0) if sample is not None else None,
        ids=tuple(entries.get("ids", ())),
        only_failed_of=entries.get("only_failed_of", ""),
        rollouts=entries.get("rollouts", 1),
        concurrency=entries.get("concurrency"),
        mode=entries.get("mode"),
        roles={role: entries[role] for role in ROLES if entries.get(role)},
        options=entries.get("options", {}),
        budget=Budget(
            cost_usd=float(entries["max_cost"]) if "max_cost" in entries else None,
            tokens=entries.get("max_tokens"),
            seconds=read_time(str(most)) if most is not None else None,
            errors=entries.get("max_errors"),
        ),
        **{key: entries[key] for key in ("until", "baseline", "margin", "by") if key in entries},
        changes=entries.get("set", {}),
        batch=entries.get("batch", False),
        queue=entries.get("queue", False),
        name=entries.get("name", ""),
    )
