"""New run: a form with a forecast that is updated while it is filled in; enter starts the runs."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from console.tui.actions import Action
from console.tui.data.filter_in_force import FilterInForce
from console.tui.dialogs.allow_code import ask_to_allow
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.render.columns import Column
from console.tui.sanitize import literal, one_line
from console.tui.screens.base import WIDE, BaseScreen
from console.tui.screens.launch.actions import PresetActions, SampleRunActions, StartActions
from console.tui.screens.launch.choices import (
    CasePreview,
    ChoiceList,
    ModelChoices,
    SuiteChoices,
    has_letters,
    read_first_case,
)
from console.tui.screens.launch.controller import LaunchController
from console.tui.screens.launch.field_list import MORE, FieldHelp, FieldList
from console.tui.screens.launch.fields import Field
from console.tui.screens.launch.forecast import ForecastPanel, ForecastWorker
from console.tui.screens.launch.suite_tree import Part, SuiteTree
from console.tui.services import Services
from console.tui.symbols import MUTED
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule

_NEEDS_NO_MISTAKES = ("launch.start", "launch.try", "preset.save", "copy", "copy.command")


class LaunchScreen(BaseScreen):
    """The launch form: models, suites and settings, and the forecast of the planned runs."""

    where = "launch"
    heading = "New run"
    AUTO_FOCUS: ClassVar[str | None] = "#launch-models"
    DEFAULT_CSS = """
    LaunchScreen .form { layout: vertical; height: 1fr; }
    LaunchScreen .choices { layout: horizontal; height: 5; }
    LaunchScreen .choices > Vertical { width: 1fr; }
    LaunchScreen .choices > .suites { width: 6fr; }
    LaunchScreen .choices > .models { width: 5fr; }
    LaunchScreen .choices:focus-within { height: 9; }
    LaunchScreen .settings { height: 1fr; min-height: 4; }
    LaunchScreen #launch-fields { height: 1fr; }
    LaunchScreen .before-start, LaunchScreen #forecast { height: auto; min-height: 4; max-height: 8; }
    LaunchScreen #forecast { padding: 0 1; }
    LaunchScreen #about-field, LaunchScreen #preview { display: none; }
    LaunchScreen.-wide {
        .form { layout: horizontal; }
        .choices, .choices:focus-within { layout: vertical; width: 9fr; height: 1fr; }
        .choices > .models, .choices > .suites { width: 1fr; }
        .settings { width: 11fr; }
        .before-start { width: 12fr; height: 1fr; max-height: 100%; }
        #about-field { display: block; height: 8; padding: 0 1; border: round $line;
                       border-title-style: bold; border-title-color: $foreground; }
        #forecast { height: auto; min-height: 12; max-height: 100%; border: round $line; border-title-style: bold;
                    border-title-color: $foreground; }
        #preview { display: block; height: 1fr; }
    }
    """

    def __init__(self, services: Services, *, model: str = "", suite: str = "", failed_of: str = "") -> None:
        """Open the form with a model, a suite or the failed cases of a run preselected."""
        super().__init__(services)
        self.controller = LaunchController(model=model, suite=suite, failed_of=failed_of)
        self._lacks_only_suite = bool(model) and not suite
        draft = services.navigator.draft
        self._has_draft = draft is not None and not failed_of
        if draft is not None and not failed_of:
            self.controller.add_draft(draft)
        self._words = ""
        """Text by which models and suites are filtered."""
        self._models, self._suites = ModelChoices(), SuiteChoices()
        self._fields, self._field_help = FieldList(self.controller.form), FieldHelp()
        self._forecast_panel, self._preview = ForecastPanel(), CasePreview()
        self._forecast_worker = ForecastWorker(
            services, self.controller, forecast_came=self._forecast_came, roles_checked=self._show_forecast
        )
        run_dialog, leave = partial(self.run_worker, exclusive=True, group="ask"), partial(self.dismiss, None)
        self._start = StartActions(
            services, self.controller, run_dialog=run_dialog, changed=self._show_forecast, leave=leave
        )
        self._sample_runs = SampleRunActions(
            services, self.controller, run_dialog=run_dialog, changed=self._show_progress, leave=leave
        )
        self._presets = PresetActions(services, self.controller, run_dialog=run_dialog, filled_in=self._show_change)

    @property
    def responders(self) -> Sequence[object]:
        return self._start, self._sample_runs, self._presets

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        with Container(classes="form"):
            with Container(classes="choices"):
                with Vertical(classes="models"):
                    yield from (self._models.title_line, self._models)
                with Vertical(classes="suites"):
                    yield from (self._suites.title_line, self._suites)
            yield Rule()
            with Vertical(classes="settings"):
                yield from (self._fields.title_line.add_class("zoom-title"), self._fields, self._field_help)
            yield Rule()
            with Container(classes="before-start"):
                yield from (self._forecast_panel, self._preview)

    def on_mount(self) -> None:
        self.services.workspace.changed.subscribe(self, self._workspace_changed)
        if self._lacks_only_suite:
            self._suites.focus()
        self._use_workspace()
        if self._has_draft:
            self.services.notify(Content("Draft restored. ctrl+l clears the form."))

    def on_unmount(self) -> None:
        """Keep an unstarted draft; threads and sample runs finish by themselves."""
        if self.controller.keeps_draft:
            self.services.navigator.draft = self.controller.draft
        self._forecast_worker.close()
        self._sample_runs.close()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._fields.set_fields, self.controller.fields)
        self.call_after_refresh(self._show_forecast)

    def _workspace_changed(self, part: str) -> None:
        if part != "runs":
            self._use_workspace()

    def _use_workspace(self) -> None:
        workspace = self.services.workspace
        self._show_change(self.controller.use_workspace(workspace.models, workspace.suites, workspace.runs))
        if self._lacks_only_suite and workspace.suites is not None:
            self._lacks_only_suite = False
            if not self.controller.form.suites and (demos := workspace.suites.demo_runs()):
                self._suites.move_to(Part(demos[0][0]).key)  # made for a first run: it needs no other model
        self._show_first_case()

    def key_words(self) -> Mapping[str, str]:
        edit = "edit" if self.focused is self._fields else "select"
        review = "see trial" if self.controller.sample_runs else ""
        fold = "open/close" if self.focused in (self._suites, self._fields) else ""
        return {"open": "", "run.new": "", "launch.edit": edit, "launch.review": review, "launch.fold": fold}

    def why_not(self, action: Action) -> str:
        if action.id in _NEEDS_NO_MISTAKES and self.controller.mistakes:
            return "fix the errors in the form first"
        if action.id == "launch.fold" and self.focused is self._models:
            return "only suites and settings can be opened: tab goes there"
        if action.id == "launch.review" and not self.controller.sample_runs:
            return "no sample has been run yet"
        return ""

    # Choosing --------------------------------------------------------------------------------------------------------

    @on(ChoiceList.RowClicked)
    def action_launch_edit(self) -> None:
        """Select the row under the cursor, or edit the field."""
        focused = self.focused
        if focused is self._fields:
            self._fields.edit()
        elif focused is self._models:
            name = self._models.cursor or ""
            if reason := self.controller.toggle_model(name):
                self.services.notify(Content.assemble(one_line(name, 40), ": ", one_line(reason, 120)))
            else:
                self.apply_change()
        elif focused is self._suites and (part := self._suites.under_cursor) is not None:
            catalog = self.controller.suites.catalog
            if catalog is not None and self.controller.asks_to_run(part.suite):
                self.run_worker(ask_to_allow(self.services, catalog, part.suite), exclusive=True, group="ask")
            elif reason := self.controller.toggle_part(part):
                self.services.notify(literal(reason, 600), severity="warning")
            else:
                if part.suite in self.controller.form.suites:
                    self._suites.suite_tree.unfold(part)
                self.apply_change()

    def action_launch_fold(self) -> None:
        """Fold or unfold the suite or group under the cursor, or the settings that few runs need."""
        if self.focused is self._fields:
            self._fields.move_to(MORE)
            self._fields.edit()
        elif (part := self._suites.under_cursor) is not None:
            still_shown = self._suites.suite_tree.toggle(part)
            self._show_choices()
            self._suites.move_to(still_shown.key)

    @on(FieldList.FieldChanged)
    def apply_change(self) -> None:
        """Update after a change of the form."""
        self._show_change(self.controller.changed())

    @on(FieldList.ChoiceAsked)
    def _ask_for_choice(self, event: FieldList.ChoiceAsked) -> None:
        self.run_worker(self._choose(event.field), exclusive=True, group="ask")

    async def _choose(self, field: Field) -> None:
        faces = {f"= {choice}": (one_line(choice or "—", 200),) for choice in field.choices}
        title = Content.assemble(one_line(field.label, 60, "bold"), "  ", one_line(field.meaning, 200, MUTED))
        if (key := await self.services.ask(Chooser(title, (Column("", 30, 1, is_name=True),), faces, ""))) is not None:
            self._fields.set_text(field, key.removeprefix("= "))

    @on(FieldList.TypingChanged)
    def _typing_changed(self) -> None:
        self.refresh_keys()

    def action_launch_empty(self) -> None:
        self.controller.form.empty()
        self.services.navigator.draft = None
        self.apply_change()

    def action_launch_check(self) -> None:
        """Reload models, suites and keys, and check the servers again."""
        self.controller.role_check.forget()
        self.services.workspace.read_all()

    @property
    def filter_in_force(self) -> FilterInForce | None:
        if not self._words:
            return None
        models, suites = self.services.workspace.models, self.services.workspace.suites
        names = [line.name for line in models.lines] if models is not None else []
        lines = suites.lines if suites is not None else []
        listed = sum(name in self.controller.form.models or has_letters(self._words, name) for name in names)
        listed += len({row.part.suite for row in SuiteTree(lines).rows(self.controller.form.suites, self._words)})
        return FilterInForce(self._words, listed, len(names) + len(lines))

    def find_changed(self, text: str, *, done: bool) -> None:
        self._words = text
        self._show_choices()

    def action_filter_clear(self) -> None:
        self.find_session.clear()
        self.refresh_keys()

    def go_back(self) -> bool:
        """Clear the filter before closing; the form stays."""
        if super().go_back():
            return True
        if self._words:
            self.action_filter_clear()
            return True
        return False

    # Showing ---------------------------------------------------------------------------------------------------------

    def _show_change(self, problems: Sequence[str]) -> None:
        """Show the form after a change, and why chosen suites cannot be opened. Untrusted text."""
        for problem in problems:
            self.services.notify(literal(problem, 600), severity="error")
        self._sample_runs.stop_following()
        self._show_choices()
        self._fields.set_fields(self.controller.fields)
        self._show_forecast()
        self._forecast_worker.form_changed()
        self.refresh_keys()

    def _show_choices(self) -> None:
        workspace, form = self.services.workspace, self.controller.form
        self._models.set_models(workspace.models, form.models, self._words)
        self._suites.set_suites(workspace.suites, form.suites, self._words)

    def _show_forecast(self) -> None:
        if self._forecast_panel.is_attached:
            width, field = self.size.width, self._fields.field if self.focused is self._fields else None
            self._forecast_panel.set_preflight(self.controller.preflight, field, screen_width=width, wide=width >= WIDE)

    def _show_progress(self) -> None:
        self._show_forecast()
        self.refresh_keys()

    @on(RowList.RowHighlighted, "#launch-fields")
    def _show_meaning(self) -> None:
        if (field := self._fields.field) is not None:
            self._field_help.describe(field)
        else:
            self._field_help.list_folded([each for each in self.controller.fields if each.id not in self._fields.keys])
        self._show_forecast()

    @on(RowList.RowHighlighted, "#launch-suites")
    def _show_first_case(self) -> None:
        suites, workspace = self.services.workspace.suites, self.services.workspace
        part = self._suites.under_cursor or Part("")
        suite, category = part.suite, next(iter(self._suites.suite_tree.categories_of(part)), "")
        if self.size.width >= WIDE and suites is not None and self._preview.point_at(suite, category):

            def read() -> None:
                workspace.hand_over(self._preview.set_case, suite, category, read_first_case(suites, suite, category))

            workspace.in_thread(read)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._show_meaning()

    def _forecast_came(self) -> None:
        self._fields.set_fields(self.controller.fields)
        self._show_progress()
        if self.controller.pop_awaited_start():
            self._start.action_launch_start()

    @on(RowList.RowChosen)
    def _row_chosen(self, event: RowList.RowChosen) -> None:
        event.stop()
        if event.rows is self._fields and event.key == MORE:
            self._fields.edit()
        else:
            self._start.action_launch_start()
