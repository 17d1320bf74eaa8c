"""`LaunchController`: the rules of the launch form, without Textual or an event loop.

The user's choices go into `Form`; after each one `changed` updates the fields and discards the old forecast. The caller
takes one request at a time from `next_forecast` and returns the result with `use_forecast`; refusals are shown at their
fields.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from console.config.model import ModelConfig
from console.config.preset import Preset
from console.core.fault import UsageError
from console.engine.compute_target import ComputeTarget
from console.engine.forecast import ASK_ABOVE_USD, Forecast
from console.engine.role_warnings import RoleModelId, askable
from console.suites.modes import modes_of
from console.suites.suite import Option
from console.tui.data.draft import Draft
from console.tui.data.models import Models
from console.tui.data.runs import RunLine
from console.tui.data.sample_run import SampleRun, sample_cost
from console.tui.data.suites import Suites
from console.tui.render.forecast_lines import Preflight
from console.tui.screens.launch.fields import Field, is_of_role, refused_field, role_field_id
from console.tui.screens.launch.form import Form
from console.tui.screens.launch.suite_tree import Part, SuiteTree

Start = Literal["now", "later", "refused", "under way"]
"""Result of a request to start: allowed now, deferred until the forecast is done, refused (see `why_not_start`), or
already in progress.
"""


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """A forecast to be computed."""

    change: int
    """Number of the last change to the form."""
    preset: Preset


@dataclass(frozen=True, slots=True)
class RoleQuestion:
    """Models whose servers are to be checked."""

    round: int
    """Round of checks in which the question was asked; `forget` starts a new one."""
    models: Mapping[RoleModelId, ModelConfig]


class RoleCheck:
    """Results of checking models of roles with their servers; makes no requests."""

    def __init__(self) -> None:
        self._round = 0
        self._warnings: dict[RoleModelId, str] = {}
        """Reason why a model may not answer; empty if its server lists it or has not replied."""

    def next_question(self, runs: Iterable[Mapping[str, ModelConfig]]) -> RoleQuestion | None:
        """Return the models of runs not checked yet, or None."""
        unasked = {id: model for id, model in askable(runs).items() if id not in self._warnings}
        self._warnings |= dict.fromkeys(unasked, "")
        return RoleQuestion(self._round, unasked) if unasked else None

    def add_answers(self, question: RoleQuestion, warnings: Mapping[RoleModelId, str]) -> None:
        """Record the answers, unless they are from an earlier round."""
        if question.round == self._round:
            self._warnings |= warnings

    def warnings(self, runs: Iterable[Mapping[str, ModelConfig]]) -> list[str]:
        """Return the known reasons why models of runs may not answer. Untrusted text."""
        return [warning for id in askable(runs) if (warning := self._warnings.get(id))]

    def forget(self) -> None:
        """Start over: check every server again."""
        self._round += 1
        self._warnings = {}


class LaunchController:
    """State of the form: choices, forecast, problems and sample runs."""

    def __init__(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Start with a model, a suite or the failed cases of a run preselected."""
        self.form = Form(
            models=[model] if model else [],
            suites={suite: set()} if suite else {},
            texts={"failed_of": failed_of} if failed_of else {},
        )
        self._offered = self.form.draft
        """Choices that the form was opened with."""
        self.keeps_draft = not failed_of
        """True if choices are kept for the next form until they are started; not in a form for the failures of one run.
        """
        self.models, self.suites = Models(), Suites()
        self.fields: list[Field] = []
        """Fields relevant to the choices."""
        self.forecast: Forecast | None = None
        """None until computed."""
        self.sample_runs: list[SampleRun] = []
        """Sample runs of the current choices."""
        self.role_check = RoleCheck()
        self.is_starting = False
        self._runs: Sequence[RunLine] = ()
        self._is_unchecked = False
        """True if the form holds a draft whose names have not been checked yet."""
        self._change = 0
        """Number of the last change; forecasts for older ones are discarded."""
        self._is_forecasting = self._starts_after_forecast = False

    # Drafts ----------------------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft | None:
        """Choices worth keeping; None if they are only those that the form was opened with."""
        draft = self.form.draft
        return draft if draft not in (self._offered, Draft()) else None

    def add_draft(self, draft: Draft) -> None:
        """Add the choices of an earlier form; missing names are dropped once models and suites are known."""
        self.form.add_draft(draft)
        self._is_unchecked = True

    # Choosing --------------------------------------------------------------------------------------------------------

    def use_workspace(self, models: Models | None, suites: Suites | None, runs: Sequence[RunLine] | None) -> list[str]:
        """Update models, suites and runs; return the result of `changed`."""
        self.models, self.suites, self._runs = models or Models(), suites or Suites(), runs or ()
        if self._is_unchecked and models is not None and suites is not None:
            self._is_unchecked = False
            # the preselected names may be too new for the lists
            model_names = {line.name for line in models.lines}.union(self._offered.models)
            suite_names = {line.name for line in suites.lines}.union(self._offered.suites)
            self.form.replace(self.form.draft.among(model_names, suite_names))
        return self.changed()

    def toggle_model(self, name: str) -> str:
        """Toggle a model; return why it cannot be chosen. The reason may contain untrusted text."""
        line = self.models.find(name)
        if line is None:
            return ""
        if not line.ready and name not in self.form.models:
            return line.state
        self.form.toggle_model(name)
        return ""

    def toggle_part(self, part: Part) -> str:
        """Toggle a suite, group or category; return why it cannot be chosen. The reason may contain untrusted text."""
        line = self.suites.find(part.suite)
        if line is None or line.mistake:
            return line.mistake if line else ""
        tree = SuiteTree(self.suites.lines)
        self.form.toggle_parts(part.suite, tree.categories_of(part), tree.categories_of(Part(part.suite)))
        return ""

    def asks_to_run(self, suite: str) -> bool:
        """Return whether a suite has code that is not allowed yet."""
        line = self.suites.find(suite)
        return line is not None and not line.may_run

    def fill_in(self, preset: Preset) -> tuple[list[str], list[str]]:
        """Load a preset.

        Returns:
            Missing models, suites, categories and options, and the result of `changed`. Both are untrusted text.
        """
        self.form.fill_in(preset)
        missing = self.form.drop_missing(self.models, self.suites)
        problems = self.changed()
        options = {option.name for options in self.form.options.values() for option in options}
        missing += sorted({word.rpartition("/")[2] for word in preset.options} - options)
        return missing, problems

    def changed(self) -> list[str]:
        """Update after a change of the form; return why chosen suites cannot be opened. Untrusted text.

        Cancels an earlier request to start and discards the forecast.
        """
        self._starts_after_forecast = False
        self.sample_runs = []
        problems = self._read_suites()
        self.form.refused.clear()
        self.form.idle = frozenset()
        self.fields = self.form.fields(self.models, self._runs)
        self.forecast = None
        self._change += 1
        return problems

    def _read_suites(self) -> list[str]:
        """Read options and required roles of the chosen suites."""
        problems: list[str] = []
        catalog, form = self.suites.catalog, self.form
        for name in form.suites:
            if catalog is None or name in form.options:
                continue
            try:
                suite = catalog.open(name)
                form.options[name] = suite.options
                form.modes[name] = modes_of(suite)
                form.roles[name] = suite.roles(_defaults(suite.options))
            except UsageError as error:
                form.options[name] = ()
                problems.append(str(error))
        return problems

    # Preset and problems ----------------------------------------------------------------------------------------------

    @property
    def mistakes(self) -> list[str]:
        """Errors that prevent a start. May be untrusted text."""
        return self.form.mistakes(self.fields)

    @property
    def preset(self) -> Preset:
        """The form as a preset; only valid without errors."""
        return self.form.preset(self.fields, self.suites)

    @property
    def target(self) -> ComputeTarget:
        """Compute target of the runs; only valid without errors in the form."""
        return self.form.target(self.fields)

    @property
    def refusals(self) -> list[tuple[str, str]]:
        """Reasons why the form cannot start, each with a hint. Untrusted text."""
        labels = {field.id: field.label for field in self.fields}
        shown: list[tuple[str, str]] = []
        for refusal in self.forecast.refusals if self.forecast else ():
            label = labels.get(refused_field(refusal, self.fields)) or refusal.where
            shown.append((f"{label}: {refusal.message}" if label else refusal.message, refusal.hint))
        return shown

    @property
    def role_warnings(self) -> list[str]:
        """Known reasons why models of roles may not answer. Untrusted text."""
        return self.role_check.warnings(self.forecast.models) if self.forecast else []

    @property
    def preflight(self) -> Preflight:
        """Forecast, checks and problems to show before the start."""
        return Preflight(
            self.mistakes, self.refusals, self.forecast, self.sample_runs, self.role_warnings, self.is_starting
        )

    # The forecast ----------------------------------------------------------------------------------------------------

    @property
    def last_change(self) -> int:
        return self._change

    def next_forecast(self) -> ForecastRequest | None:
        """Return the forecast to compute now, or None if one is in progress or the form has errors."""
        if self._is_forecasting or self.mistakes:
            return None
        self._is_forecasting = True
        return ForecastRequest(self._change, self.preset)

    def is_outdated(self, request: ForecastRequest) -> bool:
        """Return whether the form has changed since a forecast was requested; thread-safe."""
        return request.change != self._change

    def use_forecast(self, request: ForecastRequest, forecast: Forecast | None) -> bool:
        """Set a forecast, None if it was aborted; return False if the form has changed meanwhile."""
        self._is_forecasting = False
        if self.is_outdated(request) or forecast is None:
            return False
        self.forecast = forecast
        self.form.refused = {
            id: refusal.message + (f". {refusal.hint}" if refusal.hint.startswith("Did you mean") else "")
            for refusal in forecast.refusals
            if (id := refused_field(refusal, self.fields))
        }
        needed = {role_field_id(role) for models in forecast.models for role in models}
        roles = {field.id for field in self.fields if is_of_role(field)}
        self.form.idle = frozenset() if forecast.refusals else frozenset(roles - needed)
        return True

    def next_role_question(self) -> RoleQuestion | None:
        """Return the models whose servers are to be checked now, or None."""
        return self.role_check.next_question(self.forecast.models) if self.forecast else None

    # Starting --------------------------------------------------------------------------------------------------------

    def why_not_start(self) -> str:
        """Return the first reason why runs cannot start, or an empty string. May be untrusted text."""
        if mistakes := self.mistakes:
            return mistakes[0]
        if self.forecast is None:
            return "the forecast is still being computed"
        return "\n".join(self.refusals[0]).strip() if self.refusals else ""

    def request_start(self) -> Start:
        if self.is_starting:
            return "under way"
        if not self.mistakes and self.forecast is None:
            self._starts_after_forecast = True
            return "later"
        return "refused" if self.why_not_start() else "now"

    def pop_awaited_start(self) -> bool:
        """Return whether a start was waiting for the forecast, and clear that request."""
        awaited, self._starts_after_forecast = self._starts_after_forecast, False
        return awaited

    @property
    def start_warnings(self) -> list[str]:
        """Warnings to confirm before the start. Untrusted text."""
        cost_warning = self.forecast.cost_warning if self.forecast else ""
        return [*self.role_warnings, *([cost_warning] if cost_warning else [])]

    # Sample runs -----------------------------------------------------------------------------------------------------

    @property
    def is_sampling(self) -> bool:
        return any(not sample_run.is_over for sample_run in self.sample_runs)

    @property
    def sample_cost_to_confirm(self) -> float:
        """Estimated cost of the sample runs in US dollars if it needs confirmation, otherwise 0."""
        cost = sample_cost(self.forecast) if self.forecast else 0.0
        return cost if cost > ASK_ABOVE_USD else 0.0

    @property
    def sample_run_to_review(self) -> SampleRun | None:
        """The sample run to review: the first with problems, or else the first."""
        wrong = [run for run in self.sample_runs if run.problem or run.tally.failed or run.tally.broken]
        return next(iter(wrong or self.sample_runs), None)


def _defaults(options: tuple[Option, ...]) -> dict[str, object]:
    return {option.name: option.default for option in options}
