"""What the reader has chosen so far, and the plans that follow from it. Pure: knows neither screen nor disk.

Nothing ticked under a suite means all of its categories. One run is started for each model and suite.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from console.core.run import Budget, Selection
from console.engine.plan import Plan
from console.suites.suite import Option
from console.tui.launch.field import Field, money, option_field, run_name, whole
from console.tui.stock import ModelLine, Models, Places, Suites

ASK_ABOVE_USD = 5.0
"""Estimated price from which Enter asks once more."""
_AUTO = "as models.toml says"
_GENERAL = (
    Field("cases", "cases", "all", "how many of each suite, or all", whole(none=("all",)), digits=True),
    Field("seed", "seed", "0", "draws the cases; empty takes the first ones", whole(0, none=("first",)), digits=True),
    Field("repeats", "repeats", "1", "times each case is played", whole(), digits=True),
    Field("at_once", "at once", "", "conversations in flight; empty: as models.toml says", whole(none=("auto",)),
          digits=True),
    Field("mode", "mode", _AUTO, "native tools (fc) or tools in the prompt", str, (_AUTO, "fc", "prompt")),
    Field("stop_when", "stop when", "5.00", "US dollars spent by a run, or never", money, digits=True),
)  # fmt: skip
_NAME = Field("name", "name", "", "empty: time, model and suite", run_name)


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

    def fields(self, models: Models) -> list[Field]:
        """Return the fields that matter for what is chosen."""
        roles = list(dict.fromkeys(role for suite in self.suites for role in self.roles.get(suite, ())))
        found = [*_GENERAL, *(_role_field(role, models) for role in roles), _NAME]
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

    def mistakes(self, fields: Sequence[Field]) -> list[str]:
        """Return what must be mended before anything can start."""
        found = [] if self.models else ["choose a model: space"]
        found += [] if self.suites else ["choose a suite: space"]
        for one in fields:
            if problem := one.mistake_in(self.text(one)):
                found.append(f"{one.label}: {problem}")
        return found

    # Plans -----------------------------------------------------------------------------------------------------------

    def plans(self, fields: Sequence[Field], suites: Suites, places: Places) -> list[Plan]:
        """Return one plan for each model and suite; every field must be without mistakes."""
        values = {one.id: one.value_of(self.text(one)) for one in fields}
        limit, seed = values["cases"], values["seed"]
        whole_plan = Plan(
            "",
            "",
            mode=None if values["mode"] == _AUTO else values["mode"],
            rollouts=values["repeats"],
            concurrency=values["at_once"],
            budget=Budget(cost_usd=values["stop_when"]),
            name=values["name"],
            roles={id.removeprefix("role:"): value for id, value in values.items() if id.startswith("role:") and value},
            models_path=places.models,
            data_path=places.data,
            runs_path=places.runs,
        )
        return [
            replace(
                whole_plan,
                model=model,
                suite=suite,
                selection=Selection(self._ticked(suite, suites), limit=limit, seed=None if limit is None else seed),
                options=self._changed_options(suite, values),
            )
            for suite in self.suites
            for model in self.models
        ]

    def _ticked(self, suite: str, suites: Suites) -> tuple[str, ...]:
        """Return the ticked categories in the suite's order."""
        line, ticked = suites.find(suite), self.suites[suite]
        known = [category.name for category in line.categories] if line else sorted(ticked)
        return tuple(name for name in known if name in ticked)

    def _changed_options(self, suite: str, values: dict[str, Any]) -> dict[str, Any]:
        start = f"option:{suite}:"
        return {id[len(start) :]: values[id] for id in self.texts if id.startswith(start) and id in values}


def _role_field(role: str, models: Models) -> Field:
    names = tuple(line.name for line in models.lines if line.ready)
    known = ("", f"sim/{role}", *names) if role in ("judge", "embedding") else ("", *names)
    return Field(f"role:{role}", role, "", "the model that plays this role; empty: as the suite says", str, known)


def command_of(plan: Plan) -> str:
    """Return the shell command that starts the same run."""
    words = ["eval-console", "run", "-m", plan.model, "-s", plan.suite]
    if plan.selection.categories:
        words += ["--category", ",".join(plan.selection.categories)]
    if plan.selection.limit is not None and plan.selection.seed is None:
        words += ["-n", str(plan.selection.limit)]
    elif plan.selection.limit is not None:
        words += ["--sample", str(plan.selection.limit), "--seed", str(plan.selection.seed)]
    words += ["-r", str(plan.rollouts)] if plan.rollouts != 1 else []
    words += ["-c", str(plan.concurrency)] if plan.concurrency is not None else []
    words += ["--mode", plan.mode] if plan.mode else []
    words += ["--max-cost", f"{plan.budget.cost_usd:g}"] if plan.budget.cost_usd is not None else []
    for role, model in plan.roles.items():
        words += [f"--{role}", model]
    for name, value in plan.options.items():
        words += ["--option", f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"]
    words += ["--name", plan.name] if plan.name else []
    for flag, path in (("--models", plan.models_path), ("--data", plan.data_path), ("--runs", plan.runs_path)):
        words += [flag, str(path)] if path is not None else []
    return shlex.join(words)


def must_ask(plans: Sequence[Plan], models: Sequence[ModelLine], cost_usd: float | None) -> str:
    """Return why Enter should ask once more before it starts, or nothing; `cost_usd` None means not known."""
    priced = [line.name for line in models if line.is_priced]
    if not priced:
        return ""
    if cost_usd is not None and cost_usd > ASK_ABOVE_USD:
        return f"This is estimated at ${cost_usd:,.2f}."
    if any(plan.budget.cost_usd is None for plan in plans):
        return "There is no stop limit, and a model that costs money is asked."
    if cost_usd is None:
        caps = sum(plan.budget.cost_usd or 0.0 for plan in plans)
        if caps > ASK_ABOVE_USD:
            return f"The price is not known; all runs together may spend up to ${caps:,.2f}."
    return ""
