"""What the reader has chosen so far, and the preset that it amounts to. Pure: knows neither screen nor disk.

Nothing ticked under a suite means all of its categories. One run is started for each model and suite.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from console.config.paths import WorkspacePaths
from console.config.preset import ROLES, Preset, suite_words
from console.core.run import Budget
from console.suites.modes import USUAL_MODES
from console.suites.suite import Mode, Option
from console.tui.data.catalog_items import Models, RunLine, Suites
from console.tui.screens.launch.field import Field, option_field, text_of
from console.tui.screens.launch.settings import AUTO, QUEUED, settings


@dataclass(slots=True)
class Form:
    """The choices. `texts` holds only what was changed from a default."""

    models: list[str] = field(default_factory=list[str])
    suites: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Ticked categories by chosen suite; an empty set means all."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    options: dict[str, tuple[Option, ...]] = field(default_factory=dict[str, tuple[Option, ...]])
    """Options by suite, as far as they are known."""
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Roles needed by suite, as far as they are known."""
    modes: dict[str, tuple[Mode, ...]] = field(default_factory=dict[str, tuple[Mode, ...]])
    """Modes by suite, as far as they are known."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """What the checks of a start have said of a field, by its id; forgotten with the next change."""

    # Choosing --------------------------------------------------------------------------------------------------------

    def toggle_model(self, name: str) -> None:
        """Choose a model, or no longer."""
        if name in self.models:
            self.models.remove(name)
        else:
            self.models.append(name)

    def toggle_suite(self, name: str) -> None:
        """Choose a suite with all categories, or no longer."""
        if name in self.suites:
            del self.suites[name]
        else:
            self.suites[name] = set()

    def toggle_category(self, suite: str, category: str) -> None:
        """Tick a category, or no longer."""
        self.suites.setdefault(suite, set())
        self.suites[suite] ^= {category}

    # Fields ----------------------------------------------------------------------------------------------------------

    def fields(self, models: Models, runs: Sequence[RunLine]) -> list[Field]:
        """Return the fields that matter for what is chosen."""
        roles = list(dict.fromkeys(role for suite in self.suites for role in self.roles.get(suite, ())))
        modes = [mode for suite in self.suites for mode in self.modes.get(suite, USUAL_MODES)] or list(USUAL_MODES)
        found = settings(models, runs, list(self.suites), roles, modes)
        for suite in self.suites:
            known = self.options.get(suite, ())
            found += [option_field(suite, option, named=len(self.suites) > 1) for option in known]
        return found

    def text(self, one: Field) -> str:
        """Return the text of a field."""
        return self.texts.get(one.id, one.default)

    def set_text(self, one: Field, text: str) -> None:
        """Change the text of a field."""
        if text == one.default:
            self.texts.pop(one.id, None)
        else:
            self.texts[one.id] = text

    def mistake_in(self, one: Field) -> str:
        """Return what is wrong with a field, or nothing. May hold foreign text."""
        return one.mistake_in(self.text(one)) or self.refused.get(one.id, "")

    def mistakes(self, fields: Sequence[Field]) -> list[str]:
        """Return what must be mended before anything can start. May hold foreign text."""
        found = [] if self.models else ["choose a model: space"]
        found += [] if self.suites else ["choose a suite: space"]
        for one in fields:
            if problem := one.mistake_in(self.text(one)):
                found.append(f"{one.label}: {problem}")
        return found

    # Presets ---------------------------------------------------------------------------------------------------------

    def preset(self, fields: Sequence[Field], suites: Suites) -> Preset:
        """Return what the form amounts to; every field must be without mistakes."""
        values = {one.id: one.value_of(self.text(one)) for one in fields}
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
            queue=values["start"] == QUEUED,
            name=values["name"],
        )

    def take(self, preset: Preset) -> None:
        """Fill the form in with what a preset says; the rest goes back to its default."""
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
            "stop_when": "never" if budget.cost_usd is None else f"{budget.cost_usd:.2f}",
            "start": QUEUED if preset.queue else None,
            "mode": preset.mode,
            "name": preset.name,
            "max_time": None if budget.seconds is None else str(budget.seconds).removesuffix(".0"),
            "max_tokens": budget.tokens,
            "max_errors": budget.errors,
            **{f"role:{role}": name for role, name in preset.roles.items()},
        }
        for word, value in preset.options.items():
            suite, slash, name = word.rpartition("/")
            texts |= {f"option:{one}:{name}": value for one in ([suite] if slash else preset.suites)}
        self.texts = {id: text for id, value in texts.items() if (text := text_of(value))}

    def _ticked(self, suite: str, suites: Suites) -> tuple[str, ...]:
        """Return the ticked categories in the suite's order."""
        line, ticked = suites.find(suite), self.suites[suite]
        known = [category.name for category in line.categories] if line else sorted(ticked)
        return tuple(name for name in known if name in ticked)

    def _changed_options(self, values: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for id in self.texts:
            kind, _, rest = id.partition(":")
            if kind == "option" and id in values:
                suite, _, name = rest.rpartition(":")
                found[f"{suite}/{name}" if len(self.suites) > 1 else name] = values[id]
        return found


def command_of(preset: Preset, places: WorkspacePaths) -> str:
    """Return the shell command that starts the same runs."""
    budget, drawn = preset.budget, preset.limit is not None and preset.seed is not None
    pairs: list[tuple[str, Any]] = [
        *(("-m", name) for name in preset.models),
        *(("-s", word) for word in suite_words(preset.suites)),
        ("--sample" if drawn else "-n", preset.limit),
        ("--seed", preset.seed if drawn else None),
        ("--ids", ",".join(one for one in preset.ids if not one.startswith("@")) or None),
        *(("--ids", one) for one in preset.ids if one.startswith("@")),
        ("--only-failed-of", preset.only_failed_of or None),
        ("-r", preset.rollouts if preset.rollouts != 1 else None),
        ("-c", preset.concurrency),
        ("--mode", preset.mode),
        ("--max-cost", budget.cost_usd),
        ("--max-time", budget.seconds),
        ("--max-tokens", budget.tokens),
        ("--max-errors", budget.errors),
        *((f"--{role}", preset.roles[role]) for role in ROLES if role in preset.roles),
        *(("--option", f"{name}={_option_text(value)}") for name, value in preset.options.items()),
        ("--name", preset.name or None),
        ("--models", places.models),
        ("--data", places.data),
        ("--runs", places.runs),
    ]
    words = [part for flag, value in pairs if value is not None for part in (flag, _word(value))]
    return shlex.join(["eval-console", "run", *words, *(["--queue"] if preset.queue else [])])


def _word(value: Any) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _option_text(value: Any) -> str:
    """Return an option as the command line reads it: a text that JSON would read as something else is quoted."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return value
    return json.dumps(value, ensure_ascii=False)
