"""`Form`: the user's choices, and the equivalent preset and command. Independent of screen and disk.

A suite without ticked categories stands for all of them. Each combination of model and suite becomes one run.
"""

import dataclasses
import json
from collections.abc import Collection, Sequence
from typing import Any

from console.config.paths import WorkspacePaths
from console.config.preset import ROLES, Preset, suite_words
from console.core.run import Budget
from console.engine.compute_target import LOCAL, ComputeTarget
from console.suites.modes import USUAL_MODES
from console.suites.suite import Mode, Option
from console.tui.data.draft import Draft
from console.tui.data.models import Models
from console.tui.data.runs import RunLine
from console.tui.data.suites import Suites
from console.tui.screens.launch.fields import (
    AUTO,
    IN_BATCHES,
    QUEUED,
    THIS_MACHINE,
    Field,
    amount,
    general_fields,
    option_field,
    text_of,
)
from console.tui.shell_commands import command


@dataclasses.dataclass(slots=True)
class Form:
    """The choices. `texts` holds only values that differ from their defaults."""

    models: list[str] = dataclasses.field(default_factory=list[str])
    suites: dict[str, set[str]] = dataclasses.field(default_factory=dict[str, set[str]])
    """Ticked categories by chosen suite; an empty set means all."""
    texts: dict[str, str] = dataclasses.field(default_factory=dict[str, str])
    options: dict[str, tuple[Option, ...]] = dataclasses.field(default_factory=dict[str, tuple[Option, ...]])
    """Options by suite, for suites read so far."""
    roles: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict[str, tuple[str, ...]])
    """Required roles by suite, for suites read so far."""
    modes: dict[str, tuple[Mode, ...]] = dataclasses.field(default_factory=dict[str, tuple[Mode, ...]])
    """Modes by suite, for suites read so far."""
    refused: dict[str, str] = dataclasses.field(default_factory=dict[str, str])
    """Reasons why the checks before a start reject a field, by id; cleared by the next change."""
    idle: frozenset[str] = frozenset()
    """Ids of role fields that no selected case needs; cleared by the next change."""

    @property
    def draft(self) -> Draft:
        """The current choices as a draft."""
        suites = {suite: frozenset(ticked) for suite, ticked in self.suites.items()}
        return Draft(tuple(self.models), suites, dict(self.texts))

    def add_draft(self, draft: Draft) -> None:
        """Add the choices of a draft; existing choices take precedence."""
        self.models = list(dict.fromkeys([*draft.models, *self.models]))
        self.suites = {suite: set(ticked) for suite, ticked in draft.suites.items()} | self.suites
        self.texts = dict(draft.texts) | self.texts

    def replace(self, draft: Draft) -> None:
        self.models, self.texts = list(draft.models), dict(draft.texts)
        self.suites = {suite: set(ticked) for suite, ticked in draft.suites.items()}

    def empty(self) -> None:
        """Clear all choices and reset every field."""
        self.models, self.suites, self.texts, self.refused, self.idle = [], {}, {}, {}, frozenset()

    # Choosing --------------------------------------------------------------------------------------------------------

    def toggle_model(self, name: str) -> None:
        if name in self.models:
            self.models.remove(name)
        else:
            self.models.append(name)

    def toggle_parts(self, suite: str, parts: Collection[str], every: Collection[str]) -> None:
        """Tick categories of a suite, or untick them if all are ticked; a suite with none left is removed."""
        is_chosen = suite in self.suites
        ticked = (self.suites[suite] or set(every)) if is_chosen else set[str]()
        takes_away = is_chosen and ticked.issuperset(parts)
        left = ticked - set(parts) if takes_away else ticked | set(parts)
        if takes_away and not left:
            del self.suites[suite]
        else:
            self.suites[suite] = set() if left == set(every) else left

    # Fields ----------------------------------------------------------------------------------------------------------

    def fields(self, models: Models, runs: Sequence[RunLine]) -> list[Field]:
        roles = list(dict.fromkeys(role for suite in self.suites for role in self.roles.get(suite, ())))
        modes = [mode for suite in self.suites for mode in self.modes.get(suite, USUAL_MODES)] or USUAL_MODES
        fields = general_fields(models, runs, list(self.suites), roles, modes)
        for suite in self.suites:
            options = self.options.get(suite, ())
            fields += [option_field(suite, option, named=len(self.suites) > 1) for option in options]
        return fields

    def text(self, field: Field) -> str:
        return self.texts.get(field.id, field.default)

    def set_text(self, field: Field, text: str) -> None:
        self.refused.pop(field.id, None)
        if text == field.default:
            self.texts.pop(field.id, None)
        else:
            self.texts[field.id] = text

    def mistake_in(self, field: Field) -> str:
        """Return the error in a field, or an empty string. May be untrusted text."""
        return field.mistake_in(self.text(field)) or self.refused.get(field.id, "")

    def mistakes(self, fields: Sequence[Field]) -> list[str]:
        """Return the errors that prevent a start. May be untrusted text."""
        mistakes = [] if self.models else ["choose a model: space"]
        mistakes += [] if self.suites else ["choose a suite: space"]
        for field in fields:
            if problem := field.mistake_in(self.text(field)):
                mistakes.append(f"{field.label}: {problem}")
        return mistakes

    # Presets ---------------------------------------------------------------------------------------------------------

    def preset(self, fields: Sequence[Field], suites: Suites) -> Preset:
        """Return the form as a preset; every field must be valid."""
        values = {field.id: field.value_of(self.text(field)) for field in fields}
        return Preset(
            models=tuple(self.models),
            suites={suite: self._ticked(suite, suites) for suite in self.suites},
            limit=values["cases"],
            seed=values["seed"] if values["cases"] is not None else None,
            ids=values["ids"],
            only_failed_of=values["failed_of"],
            rollouts=values["repeats"],
            concurrency=values["at_once"],
            mode=None if values["mode"] == AUTO else values["mode"],
            roles={id.removeprefix("role:"): name for id, name in values.items() if id.startswith("role:") and name},
            options=self._changed_options(values),
            budget=Budget(values["stop_when"], values["max_tokens"], values["max_time"], values["max_errors"]),
            until=values["until"],
            baseline=values["baseline"],
            margin=values["margin"],
            by=values["by"],
            batch=values["asked"] == IN_BATCHES,
            queue=values["start"] == QUEUED,
            name=values["name"],
        )

    def target(self, fields: Sequence[Field]) -> ComputeTarget:
        """Return where the runs execute; every field must be valid."""
        values = {field.id: field.value_of(self.text(field)) for field in fields if field.id in ("where", "workers")}
        is_here = values.get("where", THIS_MACHINE) == THIS_MACHINE
        return LOCAL if is_here else ComputeTarget(values["where"], values["workers"])

    def fill_in(self, preset: Preset) -> None:
        """Load a preset; everything else is reset to its default."""
        self.models = list(preset.models)
        self.suites = {suite: set(parts) for suite, parts in preset.suites.items()}
        budget = preset.budget
        texts: dict[str, Any] = {
            "cases": preset.limit,
            "seed": "first" if preset.limit is not None and preset.seed is None else preset.seed,
            "ids": ", ".join(preset.ids),
            "failed_of": preset.only_failed_of,
            "repeats": preset.rollouts if preset.rollouts != 1 else None,
            "at_once": preset.concurrency,
            "stop_when": "never" if budget.cost_usd is None else amount(budget.cost_usd),
            "start": QUEUED if preset.queue else None,
            "asked": IN_BATCHES if preset.batch else None,
            "mode": preset.mode,
            "name": preset.name,
            "until": preset.until,
            "baseline": preset.baseline,
            "margin": preset.margin,
            "by": preset.by,
            "max_time": None if budget.seconds is None else str(budget.seconds).removesuffix(".0"),
            "max_tokens": budget.tokens,
            "max_errors": budget.errors,
            **{f"role:{role}": name for role, name in preset.roles.items()},
        }
        for word, value in preset.options.items():
            suite, slash, name = word.rpartition("/")
            owners = [suite] if slash else preset.suites
            texts |= {f"option:{owner}:{name}": value for owner in owners}
        self.texts = {id: text for id, value in texts.items() if (text := text_of(value))}

    def drop_missing(self, models: Models, suites: Suites) -> list[str]:
        """Remove and return models, suites and categories that do not exist."""
        names = {line.name for line in models.lines}
        categories = {line.name: {part.name for part in line.categories} for line in suites.lines}
        missing = [name for name in self.models if name not in names]
        missing += [suite for suite in self.suites if suite not in categories]
        self.models = [name for name in self.models if name in names]
        self.suites = {suite: ticked for suite, ticked in self.suites.items() if suite in categories}
        for suite, ticked in self.suites.items():
            missing += [f"{suite}/{category}" for category in sorted(ticked - categories[suite])]
            ticked &= categories[suite]
        return missing

    def _ticked(self, suite: str, suites: Suites) -> tuple[str, ...]:
        """Return the ticked categories in the suite's order."""
        line, ticked = suites.find(suite), self.suites[suite]
        categories = [category.name for category in line.categories] if line else sorted(ticked)
        return tuple(name for name in categories if name in ticked)

    def _changed_options(self, values: dict[str, Any]) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for id in self.texts:
            kind, _, rest = id.partition(":")
            if kind == "option" and id in values:
                suite, _, name = rest.rpartition(":")
                options[f"{suite}/{name}" if len(self.suites) > 1 else name] = values[id]
        return options


def command_of(preset: Preset, places: WorkspacePaths, target: ComputeTarget = LOCAL) -> str:
    """Return the shell command that starts the same runs."""
    budget, drawn = preset.budget, preset.limit is not None and preset.seed is not None
    pairs: list[tuple[str, Any]] = [
        *(("-m", name) for name in preset.models),
        *(("-s", word) for word in suite_words(preset.suites)),
        ("--sample" if drawn else "-n", preset.limit),
        ("--seed", preset.seed if drawn else None),
        ("--ids", ",".join(id for id in preset.ids if not id.startswith("@")) or None),
        *(("--ids", file) for file in preset.ids if file.startswith("@")),
        ("--only-failed-of", preset.only_failed_of or None),
        ("-r", preset.rollouts if preset.rollouts != 1 else None),
        ("-c", preset.concurrency),
        ("--mode", preset.mode),
        ("--max-cost", budget.cost_usd),
        ("--max-time", budget.seconds),
        ("--max-tokens", budget.tokens),
        ("--max-errors", budget.errors),
        *((f"--{role.removeprefix('second_')}", preset.roles[role]) for role in ROLES if role in preset.roles),
        *(("--option", f"{name}={_option_text(value)}") for name, value in preset.options.items()),
        ("--name", preset.name or None),
        ("--until", preset.until or None),
        ("--baseline", preset.baseline or None),
        ("--margin", preset.margin or None),
        ("--by", preset.by or None),
    ]
    words = [part for flag, value in pairs if value is not None for part in (flag, _word(value))]
    flags = (*(["--batch"] if preset.batch else []), *(["--queue"] if preset.queue else []))
    return command("run", *words, *target.flags, *flags, places=places)


def _word(value: Any) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _option_text(value: Any) -> str:
    """Return an option for the command line; a string that would parse as JSON is quoted."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return value
    return json.dumps(value, ensure_ascii=False)
