"""`LaunchController`: the rules of the form for a new run. Knows neither Textual nor an event loop.

The reader's choices go into its `Form`; after each of them `changed` works out the fields that matter now and drops
what was known of the form as it stood before. The forecast is asked for with `next_forecast`, one at a time, and
handed back with `use_forecast`; what it refuses is then found at its field.
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
"""What comes of asking for a start: it can go on now, it goes on as soon as the forecast is there, `why_not_start` says
why it cannot, or it is going on already."""


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """A forecast to be worked out."""

    change: int
    """The change of the form that it follows."""
    preset: Preset


@dataclass(frozen=True, slots=True)
class RoleQuestion:
    """Models whose servers are to be asked."""

    round: int
    """How often everything had been forgotten when it was asked."""
    models: Mapping[RoleModelId, ModelConfig]


class RoleCheck:
    """Remembers what servers have answered; asks nobody itself."""

    def __init__(self) -> None:
        self._round = 0
        self._warnings: dict[RoleModelId, str] = {}
        """Why a model may not answer; nothing while its server has not been heard, or serves it."""

    def next_question(self, runs: Iterable[Mapping[str, ModelConfig]]) -> RoleQuestion | None:
        """Return the models of runs whose servers have not been asked yet; None when there are none."""
        unasked = {who: model for who, model in askable(runs).items() if who not in self._warnings}
        self._warnings |= dict.fromkeys(unasked, "")
        return RoleQuestion(self._round, unasked) if unasked else None

    def add_answers(self, question: RoleQuestion, warnings: Mapping[RoleModelId, str]) -> None:
        """Keep what servers have answered, unless everything was forgotten meanwhile."""
        if question.round == self._round:
            self._warnings |= warnings

    def warnings(self, runs: Iterable[Mapping[str, ModelConfig]]) -> list[str]:
        """Return why models of runs may not answer, as far as that is known. Foreign text."""
        return [warning for who in askable(runs) if (warning := self._warnings.get(who))]

    def forget(self) -> None:
        """Ask every server again the next time."""
        self._round += 1
        self._warnings = {}


class LaunchController:
    """What is chosen, what it amounts to, what it will take, and what stands in its way."""

    def __init__(self, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Begin with a model, a suite or a run whose failed cases are to be played chosen already."""
        self.form = Form(
            models=[model] if model else [],
            suites={suite: set()} if suite else {},
            texts={"failed_of": failed_of} if failed_of else {},
        )
        self._offered = self.form.draft
        """What the form was opened with."""
        self.keeps_draft = not failed_of
        """Whether what is chosen is kept for the next form: until it is started; not what is for one run's failures."""
        self.models, self.suites = Models(), Suites()
        self.fields: list[Field] = []
        """The fields that matter for what is chosen."""
        self.forecast: Forecast | None = None
        """What it will take; None while that is not known."""
        self.sample_runs: list[SampleRun] = []
        """Sample runs of the form as it stands now."""
        self.role_check = RoleCheck()
        self.is_starting = False
        self._runs: Sequence[RunLine] = ()
        self._is_unchecked = False
        """Whether a draft was taken up of which it is not known yet what can still be chosen."""
        self._change = 0
        """Number of the last change; a forecast that follows an older one is not shown."""
        self._is_forecasting = self._starts_after_forecast = False

    # Drafts ----------------------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft | None:
        """The choices that are worth keeping; None when there are none but those the form was opened with."""
        draft = self.form.draft
        return draft if draft not in (self._offered, Draft()) else None

    def add_draft(self, draft: Draft) -> None:
        """Take over the choices of an earlier form; what is not there any more is dropped once that is known."""
        self.form.add_draft(draft)
        self._is_unchecked = True

    # Choosing --------------------------------------------------------------------------------------------------------

    def use_workspace(self, models: Models | None, suites: Suites | None, runs: Sequence[RunLine] | None) -> list[str]:
        """Take what is there to choose from; returns what `changed` returns."""
        self.models, self.suites, self._runs = models or Models(), suites or Suites(), runs or ()
        if self._is_unchecked and models is not None and suites is not None:
            self._is_unchecked = False
            names = {line.name for line in models.lines}, {line.name for line in suites.lines}
            self.form.replace(self.form.draft.among(*names))
        return self.changed()

    def toggle_model(self, name: str) -> str:
        """Choose a model, or no longer; return why it cannot be chosen. Foreign text."""
        line = self.models.find(name)
        if line is None:
            return ""
        if not line.ready and name not in self.form.models:
            return line.state
        self.form.toggle_model(name)
        return ""

    def toggle_part(self, part: Part) -> str:
        """Choose a suite, or a group or category of it, or no longer; return why it cannot be chosen. Foreign text."""
        line = self.suites.find(part.suite)
        if line is None or line.mistake:
            return line.mistake if line else ""
        tree = SuiteTree(self.suites.lines)
        self.form.toggle_parts(part.suite, tree.categories_of(part), tree.categories_of(Part(part.suite)))
        return ""

    def asks_to_run(self, suite: str) -> bool:
        """Whether a suite has code that nobody allowed to run yet."""
        line = self.suites.find(suite)
        return line is not None and not line.may_run

    def fill_in(self, preset: Preset) -> tuple[list[str], list[str]]:
        """Fill the form in from a preset.

        Returns:
            Models, suites, categories and options that it names and that are not here, and what `changed` returns.
            Foreign text, both.
        """
        self.form.fill_in(preset)
        missing = self.form.drop_missing(self.models, self.suites)
        problems = self.changed()
        options = {option.name for options in self.form.options.values() for option in options}
        missing += sorted({word.rpartition("/")[2] for word in preset.options} - options)
        return missing, problems

    def changed(self) -> list[str]:
        """Take a change of the form into account; return why chosen suites cannot be opened. Foreign text.

        An earlier request to start is void, and so is what was known of the form as it stood before.
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
        """Read options and needed roles of the chosen suites."""
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

    # What it amounts to ----------------------------------------------------------------------------------------------

    @property
    def mistakes(self) -> list[str]:
        """What must be corrected before anything can start. May hold foreign text."""
        return self.form.mistakes(self.fields)

    @property
    def preset(self) -> Preset:
        """What the form amounts to; only while there are no mistakes."""
        return self.form.preset(self.fields, self.suites)

    @property
    def target(self) -> ComputeTarget:
        """Who plays; only while there are no mistakes."""
        return self.form.target(self.fields)

    @property
    def refusals(self) -> list[tuple[str, str]]:
        """Why what is filled in cannot start, and what would help. Foreign text."""
        labels = {field.id: field.label for field in self.fields}
        shown: list[tuple[str, str]] = []
        for refusal in self.forecast.refusals if self.forecast else ():
            label = labels.get(refused_field(refusal, self.fields)) or refusal.where
            shown.append((f"{label}: {refusal.message}" if label else refusal.message, refusal.hint))
        return shown

    @property
    def role_warnings(self) -> list[str]:
        """Why judge or embedding may not answer, as far as their servers have said. Foreign text."""
        return self.role_check.warnings(self.forecast.models) if self.forecast else []

    @property
    def preflight(self) -> Preflight:
        """What there is to say before it starts."""
        return Preflight(
            self.mistakes, self.refusals, self.forecast, self.sample_runs, self.role_warnings, self.is_starting
        )

    # The forecast ----------------------------------------------------------------------------------------------------

    @property
    def last_change(self) -> int:
        """Number of the last change of the form."""
        return self._change

    def next_forecast(self) -> ForecastRequest | None:
        """Return the forecast to be worked out now; None while another one is, or while there are mistakes."""
        if self._is_forecasting or self.mistakes:
            return None
        self._is_forecasting = True
        return ForecastRequest(self._change, self.preset)

    def is_outdated(self, request: ForecastRequest) -> bool:
        """Whether the form was changed since a forecast was asked for; may be asked in any thread."""
        return request.change != self._change

    def use_forecast(self, request: ForecastRequest, forecast: Forecast | None) -> bool:
        """Take a forecast, None if it was given up; return False when the form was changed meanwhile."""
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
        """Return the models of judge and embedding whose servers are to be asked now; None when there are none."""
        return self.role_check.next_question(self.forecast.models) if self.forecast else None

    # Starting --------------------------------------------------------------------------------------------------------

    def why_not_start(self) -> str:
        """Return what stands in the way of asking anything, or nothing. May hold foreign text."""
        if mistakes := self.mistakes:
            return mistakes[0]
        if self.forecast is None:
            return "one moment: it is being worked out what this will take"
        return "\n".join(self.refusals[0]).strip() if self.refusals else ""

    def request_start(self) -> Start:
        """Ask for a start; see `Start` for what comes of it."""
        if self.is_starting:
            return "under way"
        if not self.mistakes and self.forecast is None:
            self._starts_after_forecast = True
            return "later"
        return "refused" if self.why_not_start() else "now"

    def pop_awaited_start(self) -> bool:
        """Whether a start waited for the forecast that came just now; it does so once."""
        awaited, self._starts_after_forecast = self._starts_after_forecast, False
        return awaited

    @property
    def start_warnings(self) -> list[str]:
        """What the reader should agree to before it starts. Foreign text."""
        cost_warning = self.forecast.cost_warning if self.forecast else ""
        return [*self.role_warnings, *([cost_warning] if cost_warning else [])]

    # Sample runs -----------------------------------------------------------------------------------------------------

    @property
    def is_sampling(self) -> bool:
        """Whether sample runs are being played."""
        return any(not sample_run.is_over for sample_run in self.sample_runs)

    @property
    def sample_cost_to_confirm(self) -> float:
        """About how many US dollars the sample runs will cost if that is much, else nothing."""
        cost = sample_cost(self.forecast) if self.forecast else 0.0
        return cost if cost > ASK_ABOVE_USD else 0.0

    @property
    def telling_sample_run(self) -> SampleRun | None:
        """The sample run to look at: the first that went wrong, or else the first."""
        wrong = [run for run in self.sample_runs if run.problem or run.tally.failed or run.tally.broken]
        return next(iter(wrong or self.sample_runs), None)


def _defaults(options: tuple[Option, ...]) -> dict[str, object]:
    return {option.name: option.default for option in options}
