"""New run: one form, no wizard. What it will take is worked out while it is filled in; Enter starts it."""

from collections.abc import Mapping
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from console.core.fault import UsageError
from console.engine.plan import Plan
from console.insight import figures
from console.store.runs import RunFolder
from console.suites.suite import Option
from console.tui.actions import Action
from console.tui.keys import bindings_for
from console.tui.launch.field import Field
from console.tui.launch.fields import FieldList
from console.tui.launch.forecast import Forecast, foresee
from console.tui.launch.form import Form, command_of, must_ask
from console.tui.launch.lists import ModelChoice, SuiteChoice
from console.tui.launch.outlook import outlook
from console.tui.safe import literal, one_line, plain_line
from console.tui.screens.home import WIDE
from console.tui.screens.place import Place
from console.tui.screens.question import Answer, Question
from console.tui.stock import Models, Suites
from console.tui.widgets.rows import Rows
from console.tui.widgets.rule import Rule

_PAUSE_S = 0.15
"""How long typing must rest before the forecast is worked out again."""


class LaunchScreen(Place):
    """The form; see the module."""

    where = "launch"
    heading = "New run"
    BINDINGS: ClassVar = bindings_for("launch")
    AUTO_FOCUS = "#launch-models"
    DEFAULT_CSS = """
    LaunchScreen .form { layout: vertical; height: 1fr; }
    LaunchScreen .choices { layout: horizontal; height: 7; }
    LaunchScreen .choices > Vertical { width: 1fr; }
    LaunchScreen #launch-fields { height: 1fr; }
    LaunchScreen #outlook { height: 4; padding: 0 1; }
    LaunchScreen.-wide {
        .form { layout: horizontal; }
        .choices { layout: vertical; width: 5fr; height: 1fr; }
        #launch-fields { width: 7fr; }
        #outlook { width: 4fr; height: 1fr; border: round $line; border-title-style: bold;
                   border-title-color: $foreground; }
    }
    """

    def __init__(self, *, model: str = "", suite: str = "") -> None:
        """Open the form, with a model or suite chosen already."""
        super().__init__()
        self._form = Form()
        self._form.models += [model] if model else []
        self._form.suites.update({suite: set()} if suite else {})
        self._fields: list[Field] = []
        self._forecast: Forecast | None = None
        self._words = ""
        self._rest: Timer | None = None
        self._is_working = self._is_stale = False
        self._starting = False

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out choices, settings and outlook: above each other, or side by side."""
        models, suites, fields = ModelChoice(self._form), SuiteChoice(self._form), FieldList(self._form)
        with Container(classes="form"):
            with Container(classes="choices"):
                with Vertical():
                    yield from (models.title_line, models)
                with Vertical():
                    yield from (suites.title_line, suites)
            yield from (Rule(), fields, Rule())
            yield Static(id="outlook")

    def on_mount(self) -> None:
        """Show what is on the shelf."""
        super().on_mount()
        self.query_one("#outlook", Static).border_title = Content("Before it starts")
        self.console_app.shelf.changed.subscribe(self, self._take_news)
        self._changed()

    def on_resize(self, event: events.Resize) -> None:
        """Say as much as there is room for."""
        super().on_resize(event)
        self._show_outlook()

    def _take_news(self, what: str) -> None:
        if what != "runs":
            self._changed()

    @property
    def _models(self) -> Models:
        return self.console_app.shelf.models or Models()

    @property
    def _suites(self) -> Suites:
        return self.console_app.shelf.suites or Suites()

    def key_words(self) -> Mapping[str, str]:
        """Enter starts here, whatever has the focus."""
        in_fields = self.focused is not None and self.focused.id == "launch-fields"
        return {"open": "", "run.new": "", "launch.edit": "edit" if in_fields else "select"}

    def why_not(self, action: Action) -> str:
        """Say why it cannot start yet."""
        if action.id in ("launch.start", "copy", "copy.command") and self._mistakes():
            return "something must be mended first"
        return ""

    def _mistakes(self) -> list[str]:
        return self._form.mistakes(self._fields)

    # Choosing --------------------------------------------------------------------------------------------------------

    def action_launch_edit(self) -> None:
        """Select the row under the cursor, or edit the field."""
        focused = self.focused
        if isinstance(focused, ModelChoice):
            self._choose_model(focused.cursor)
        elif isinstance(focused, SuiteChoice):
            self._choose_suite(focused)
        elif isinstance(focused, FieldList):
            focused.act()

    def _choose_model(self, name: str | None) -> None:
        line = self._models.find(name or "")
        if line is None:
            return
        if line.ready or line.name in self._form.models:
            self._form.toggle_model(line.name)
            self._changed()
        else:
            self.console_app.say(Content.assemble(one_line(line.name, 40), ": ", one_line(line.state, 120)))

    def _choose_suite(self, rows: SuiteChoice) -> None:
        line = rows.line_of(rows.cursor or "")
        if line is None:
            return
        suite, part = rows.read_key(rows.cursor or "")
        if line.mistake:
            self.console_app.say(literal(line.mistake, 600), severity="warning")
            return
        if part:
            self._form.toggle_category(suite, part)
        else:
            self._form.toggle_suite(suite)
        self._changed()

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow both lists."""
        self._words = text
        self._show_lists()

    def action_launch_check(self) -> None:
        """Look again for keys, data and models."""
        self.console_app.shelf.read_all()

    # Showing ---------------------------------------------------------------------------------------------------------

    @on(FieldList.FieldChanged)
    def _changed(self) -> None:
        """Take any change of the form into account."""
        self._learn_suites()
        self._fields = self._form.fields(self._models)
        self._show_lists()
        self.query_one(FieldList).offer(self._fields)
        self._forecast = None
        self._is_stale = self._is_working
        self._show_outlook()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_PAUSE_S, self._start_forecast)
        self.refresh_keys()

    def _learn_suites(self) -> None:
        """Ask the chosen suites for their options and the roles they need."""
        catalog = self._suites.catalog
        for name in self._form.suites:
            if catalog is None or name in self._form.options:
                continue
            try:
                suite = catalog.open(name)
                self._form.options[name] = suite.options
                self._form.roles[name] = suite.roles(_defaults(suite.options))
            except UsageError as error:
                self._form.options[name] = ()
                self.console_app.say(literal(str(error), 600), severity="error")

    def _show_lists(self) -> None:
        self.query_one(ModelChoice).offer(self.console_app.shelf.models, self._words)
        self.query_one(SuiteChoice).offer(self.console_app.shelf.suites, self._words)

    def _show_outlook(self) -> None:
        pane, wide = self.query_one("#outlook", Static), self.size.width >= WIDE
        found = outlook(self._mistakes(), self._forecast, wide=wide, models=len(self._form.models))
        if self._starting:
            found = [Content.styled("starting …", "bold $live")]
        pane.update(Content("\n").join([*([] if wide else [self._outlook_title()]), *found]))

    def _outlook_title(self) -> Content:
        """The title while there is no box; while settings are gone through, the whole meaning of the one at hand."""
        fields = self.query_one(FieldList)
        if self.focused is fields and (one := fields.field) is not None:
            return Content.assemble((plain_line(one.label, 30), "bold"), "  ", one_line(one.meaning, 200, "$muted"))
        return Content.styled("BEFORE IT STARTS", "bold")

    @on(Rows.RowHighlighted, "#launch-fields")
    def _show_meaning(self) -> None:
        fields = self.query_one(FieldList)
        fields.border_subtitle = one_line(fields.field.meaning, 200) if fields.field else None
        self._show_outlook()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now, and what its row means."""
        super().on_descendant_focus(event)
        self._show_meaning()

    # The forecast ----------------------------------------------------------------------------------------------------

    def _start_forecast(self) -> None:
        """Work out what the form would take, one at a time: a whole benchmark takes seconds to read."""
        if self._mistakes():
            return
        self._is_stale = self._is_working
        if not self._is_working:
            self._is_working = True
            plans, shelf = self._plans(), self.console_app.shelf
            shelf.in_thread(lambda: shelf.hand_over(self._take_forecast, foresee(plans, lambda: self._is_stale)))

    def _plans(self) -> list[Plan]:
        return self._form.plans(self._fields, self._suites, self.console_app.places)

    def _take_forecast(self, forecast: Forecast | None) -> None:
        self._is_working = False
        if not self.is_running:
            return
        if self._is_stale:
            self._start_forecast()
            return
        self._forecast = forecast
        self._show_outlook()
        self.refresh_keys()

    # Starting --------------------------------------------------------------------------------------------------------

    @on(Rows.RowChosen)
    def _row_chosen(self, event: Rows.RowChosen) -> None:
        event.stop()
        self.action_launch_start()

    def action_launch_start(self) -> None:
        """Start one run for each model and suite, after asking if much money is at stake."""
        if self._starting:
            return
        if mistakes := self._mistakes():
            self.console_app.say(one_line(mistakes[0], 200), severity="warning")
        elif self._forecast is not None and self._forecast.refusals:
            self.console_app.say(literal(self._forecast.refusals[0], 600), severity="error")
        else:
            self._ask_and_start(self._plans())

    @work(exclusive=True, group="ask")
    async def _ask_and_start(self, plans: list[Plan]) -> None:
        chosen = [line for line in self._models.lines if line.name in self._form.models]
        cost = self._forecast.cost_usd if self._forecast else None
        if why := must_ask(plans, chosen, cost):
            question = Content.assemble((why, "bold"), f"\nStart {figures.plural(len(plans), 'run')}?")
            if await self.console_app.push_screen_wait(Question(question, [Answer("y", "start")])) != "y":
                return
        self._starting = True
        self._show_outlook()
        self._start(plans)

    @work(thread=True, group="launch")
    def _start(self, plans: list[Plan]) -> None:
        from console.engine.launch import spawn

        runs: list[RunFolder] = []
        refusal: UsageError | None = None
        try:
            runs += [spawn(plan) for plan in plans]
        except UsageError as error:
            refusal = error
        self.console_app.call_from_thread(self._started, runs, refusal)

    def _started(self, runs: list[RunFolder], refusal: UsageError | None) -> None:
        self._starting = False
        self.console_app.take_launched(runs)
        if refusal is not None:
            self.console_app.say(literal(str(refusal), 600), severity="error")
        if runs:
            self.dismiss(None)
            self.console_app.open_live(runs[0])
        else:
            self._show_outlook()

    def action_copy_command(self) -> None:
        """Copy the shell command that starts the same runs."""
        if not self._mistakes():
            commands = [command_of(plan) for plan in self._plans()]
            self.console_app.copy("\n".join(commands), figures.plural(len(commands), "shell command"))


def _defaults(options: tuple[Option, ...]) -> dict[str, object]:
    return {option.name: option.default for option in options}
