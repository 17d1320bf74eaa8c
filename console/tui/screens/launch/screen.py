"""New run: one form, no wizard. What it will take is worked out while it is filled in; Enter starts it."""

from collections.abc import Mapping
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.config.preset import Preset
from console.core.fault import UsageError
from console.engine.matrix import plans_of
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.dialogs.question import Answer, Question
from console.tui.keymap import bindings_for
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.screen import WIDE
from console.tui.screens.launch.choice_lists import ModelChoice, SuiteChoice
from console.tui.screens.launch.clickable_list import ClickableList
from console.tui.screens.launch.field import Field
from console.tui.screens.launch.field_list import FieldList
from console.tui.screens.launch.forecast_panel import outlook
from console.tui.screens.launch.form import command_of
from console.tui.screens.launch.presets import PresetActions
from console.tui.screens.launch.preview import CasePreview
from console.tui.screens.launch.trying import SampleRunActions
from console.tui.services import Services
from console.tui.widgets.row_list import RowList
from console.tui.widgets.rule import Rule


class LaunchScreen(PresetActions, SampleRunActions):
    """The form; see the module."""

    heading = "New run"
    BINDINGS: ClassVar = bindings_for("launch")
    DEFAULT_CSS = """
    LaunchScreen .form { layout: vertical; height: 1fr; }
    LaunchScreen .choices { layout: horizontal; height: 6; }
    LaunchScreen .choices > Vertical { width: 1fr; }
    LaunchScreen .settings { height: 1fr; }
    LaunchScreen #launch-fields { height: 1fr; }
    LaunchScreen .outlooks, LaunchScreen #outlook { height: auto; min-height: 4; max-height: 8; }
    LaunchScreen #outlook { padding: 0 1; }
    LaunchScreen #about-field, LaunchScreen #preview { display: none; }
    LaunchScreen.-wide {
        .form { layout: horizontal; }
        .choices { layout: vertical; width: 8fr; height: 1fr; }
        .settings { width: 14fr; }
        .outlooks { width: 10fr; height: 1fr; max-height: 100%; }
        #about-field { display: block; height: 6; padding: 0 1; border: round $line; border-title-style: bold;
                       border-title-color: $foreground; }
        #outlook { height: auto; min-height: 12; max-height: 100%; border: round $line; border-title-style: bold;
                   border-title-color: $foreground; }
        #preview { display: block; height: 1fr; }
    }
    """

    def __init__(self, services: Services, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Open the form, with a model, a suite or a run whose failed cases are wanted chosen already."""
        super().__init__(services)
        self.form.models += [model] if model else []
        self.form.suites.update({suite: set()} if suite else {})
        self.form.texts |= {"failed_of": failed_of} if failed_of else {}
        self._starting = self._is_start_wanted = False

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out choices, settings and outlook: above each other, or side by side."""
        models, suites, fields = ModelChoice(self.form), SuiteChoice(self.form), FieldList(self.form)
        outlook_pane, about = Static(id="outlook"), Static(id="about-field")
        outlook_pane.border_title, about.border_title = Content("Before it starts"), Content("This setting")
        with Container(classes="form"):
            with Container(classes="choices"):
                with Vertical():
                    yield from (models.title_line, models)
                with Vertical():
                    yield from (suites.title_line, suites)
            yield Rule()
            with Vertical(classes="settings"):
                yield from (fields, about)
            yield Rule()
            with Container(classes="outlooks"):
                yield from (outlook_pane, CasePreview())

    def on_mount(self) -> None:
        """Show what is in the workspace."""
        super().on_mount()
        self.services.workspace.changed.subscribe(self, self._take_news)
        self.changed()

    def on_resize(self, event: events.Resize) -> None:
        """Say as much as there is room for."""
        super().on_resize(event)
        self.show_outlook()

    def _take_news(self, what: str) -> None:
        if what != "runs":
            self.changed()

    def key_words(self) -> Mapping[str, str]:
        """Enter starts here, whatever has the focus."""
        in_fields = self.focused is not None and self.focused.id == "launch-fields"
        tried = "see trial" if self.trials else ""
        return {"open": "", "run.new": "", "launch.edit": "edit" if in_fields else "select", "launch.review": tried}

    def why_not(self, action: Action) -> str:
        """Say why it cannot start yet."""
        if action.id in ("launch.start", "launch.try", "preset.save", "copy", "copy.command") and self.mistakes:
            return "something must be mended first"
        if action.id == "launch.review" and not self.trials:
            return "nothing was tried yet"
        return ""

    # Choosing --------------------------------------------------------------------------------------------------------

    @on(ClickableList.Picked)
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
        line = self.models.find(name or "")
        if line is None:
            return
        if line.ready or line.name in self.form.models:
            self.form.toggle_model(line.name)
            self.changed()
        else:
            self.services.notify(Content.assemble(one_line(line.name, 40), ": ", one_line(line.state, 120)))

    def _choose_suite(self, rows: SuiteChoice) -> None:
        line = rows.line_of(rows.cursor or "")
        if line is None:
            return
        suite, part = rows.read_key(rows.cursor or "")
        if line.mistake:
            self.services.notify(literal(line.mistake, 600), severity="warning")
            return
        if part:
            self.form.toggle_category(suite, part)
        else:
            self.form.toggle_suite(suite)
        self.changed()

    def action_launch_check(self) -> None:
        """Look again for keys, data and models, and ask again what is served."""
        self.asking.forget()
        self.services.workspace.read_all()

    @on(FieldList.TypingChanged)
    def _typing_changed(self) -> None:
        self.refresh_keys()

    @on(FieldList.FieldChanged)
    def _field_changed(self) -> None:
        self.changed()

    # Showing ---------------------------------------------------------------------------------------------------------

    def show_outlook(self) -> None:
        """Draw what stands under or beside the form."""
        if not self.query("#outlook"):
            return
        pane, wide = self.query_one("#outlook", Static), self.size.width >= WIDE
        width = (pane.size.width or self.size.width) - 2
        found = outlook(self.mistakes, self.refusals, self.forecast, self.trials, self.doubts, width=width, wide=wide)
        if self._starting:
            found = [Content.styled("starting …", "bold $live")]
        pane.update(Content("\n").join([*([] if wide else [self._outlook_title()]), *found]))

    def _outlook_title(self) -> Content:
        """The title while there is no box; while settings are gone through, the whole meaning of the one at hand."""
        fields = self.query_one(FieldList)
        if self.focused is fields and (one := fields.field) is not None:
            words = Content.assemble((one.label, "bold"), "  ", one_line(one.meaning, 200, "$muted"))
            default = one_line(f"  default {one.default}" if one.default else "", 30, "$muted")
            room = self.size.width - 2
            return words.append(default) if words.cell_length + default.cell_length <= room else words
        return Content.styled("TRIED FOR REAL" if self.trials else "BEFORE IT STARTS", "bold")

    @on(RowList.RowHighlighted, "#launch-fields")
    def _show_meaning(self) -> None:
        if (one := self.query_one(FieldList).field) is not None:
            self.query_one("#about-field", Static).update(_about(one))
        self.show_outlook()

    @on(RowList.RowHighlighted, "#launch-suites")
    def _show_first_case(self) -> None:
        suites = self.query_one(SuiteChoice)
        if self.size.width >= WIDE and suites.cursor is not None:
            self.query_one(CasePreview).offer(self.services.workspace, *suites.read_key(suites.cursor))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now, and what its row means."""
        super().on_descendant_focus(event)
        self._show_meaning()

    # Starting --------------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen)
    def _row_chosen(self, event: RowList.RowChosen) -> None:
        event.stop()
        self.action_launch_start()

    def action_launch_start(self) -> None:
        """Start one run for each model and suite, after asking if much money is at stake."""
        if self._starting:
            return
        if not self.mistakes and self.forecast is None:
            self._is_start_wanted = True  # it starts, or asks, as soon as it is known what it will take
        elif reason := self.why_not_start():
            self.services.notify(literal(reason, 600), severity="warning" if self.mistakes else "error")
        else:
            self._ask_and_start(self.preset)

    def changed(self) -> None:
        """A form that was changed is not started by an earlier Enter."""
        self._is_start_wanted = False
        super().changed()

    def forecast_came(self) -> None:
        """Start what Enter was pressed for before it was known what it will take."""
        if self._is_start_wanted:
            self._is_start_wanted = False
            self.action_launch_start()

    @work(exclusive=True, group="ask")
    async def _ask_and_start(self, preset: Preset) -> None:
        forecast = self.forecast
        at_stake = [*self.doubts, *([forecast.stake] if forecast and forecast.stake else [])]
        if forecast is not None and at_stake:
            said = Content("\n").join(one_line(text, 300, "bold") for text in at_stake)
            question = Content.assemble(said, f"\nStart {number_format.plural(len(forecast.runs), 'run')}?")
            if await self.services.ask(Question(question, [Answer("y", "start")])) != "y":
                return
        self._starting = True
        self.show_outlook()
        self._start(preset)

    @work(thread=True, group="launch")
    def _start(self, preset: Preset) -> None:
        from console.engine.launch import enqueue, spawn

        runs: list[RunFolder] = []
        refusal: UsageError | None = None
        try:
            plans = plans_of(preset, self.services.paths)
            if preset.queue:
                runs = enqueue(plans)
            else:
                runs += [spawn(plan) for plan in plans]
        except UsageError as error:
            refusal = error
        self.services.from_thread(self._started, runs, refusal)

    def _started(self, runs: list[RunFolder], refusal: UsageError | None) -> None:
        self._starting = False
        self.services.navigator.take_launched(runs)
        if refusal is not None:
            self.services.notify(literal(str(refusal), 600), severity="error")
        if not runs:
            self.show_outlook()
            return
        self.dismiss(None)
        line = self.services.workspace.find(runs[0].path)
        if line is not None and line.place > 1:
            self.services.notify(
                Content(f"Queued: {number_format.plural(len(runs), 'run')}, from place {line.place} on.")
            )
            self.services.navigator.go_home()
        else:
            self.services.navigator.open_live(runs[0])

    def action_copy_command(self) -> None:
        """Copy the shell command that starts the same runs."""
        if not self.mistakes:
            self.services.copy(command_of(self.preset, self.services.paths), "the shell command")


def _about(one: Field) -> Content:
    """Describe a field: what it means, what it is unless changed, and what `run` calls it."""
    default = Content.assemble(("default  ", "$muted"), one_line(one.default or "empty", 60))
    choices = Content.assemble(
        ("one of   ", "$muted"), one_line(", ".join(word or "empty" for word in one.choices), 200)
    )
    flag = Content.assemble(("shell    ", "$muted"), one_line(one.flag, 60))
    meaning = Content.assemble((one.label, "bold"), "  ", one_line(one.meaning, 300))
    return Content("\n").join([meaning, default, *([choices] if one.choices else []), flag])
