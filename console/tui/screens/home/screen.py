"""Home: next steps, runs, models and suites. Starts with the cursor on the demo, which needs no key."""

import time
from collections.abc import Mapping, Sequence
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.filter_in_force import FilterInForce
from console.tui.data.runs import RunLine, last_failures
from console.tui.sanitize import literal
from console.tui.screens.base import WIDE, BaseScreen
from console.tui.screens.home.actions import (
    EngineActions,
    ImportActions,
    ModelActions,
    OrganizeActions,
    QueueActions,
    RunActions,
)
from console.tui.screens.home.controller import HomeController
from console.tui.screens.home.lists import LibraryLine, ModelList, RunDetails, RunList, StartList, SuiteList
from console.tui.screens.resuming import resume_run
from console.tui.screens.sorting import SortActions
from console.tui.services import Services
from console.tui.widgets.row_list import RowList

_TALL = 24
"""Minimum height in lines for the full list of next steps on a narrow screen."""
_SMALL_START, _WHOLE_START = 3, 9
"""Maximum number of rows of next steps, on small and large screens."""
_DAY_LOOKED_AT_S = 30.0
_ROOM_FOR_DEMO = 30
"""Minimum height in lines of a wide screen for the demo's second line."""


class HomeScreen(BaseScreen):
    """Next steps, runs, models and suites."""

    where = "home"
    heading = "Home"
    AUTO_FOCUS = "#start"
    shown_parts = frozenset({"runs", "models", "suites"})
    DEFAULT_CSS = """
    HomeScreen .columns { height: 1fr; layout: vertical; }
    HomeScreen .left { height: 1fr; width: 1fr; }
    HomeScreen .right { height: auto; width: 1fr; }
    HomeScreen #start { height: auto; max-height: 6; }
    HomeScreen #runs { height: 1fr; min-height: 3; }
    HomeScreen #library-line { height: 1; }
    HomeScreen.-narrow .right, HomeScreen.-wide #library-line { display: none; }
    HomeScreen.-narrow.-short #start-title { display: none; }
    HomeScreen.-narrow.-short.-compact #start-title { display: block; }
    HomeScreen #about { display: none; }
    HomeScreen.-wide {
        .columns { layout: horizontal; }
        .left { width: 9fr; min-width: 92; }
        .right { width: 5fr; max-width: 60; height: 1fr; }
        #start { max-height: 10; }
        #models, #suites { height: 1fr; max-height: 100h; }
    }
    HomeScreen.-wide.-tall #about { display: block; height: 8; border: round $line; padding: 0 1;
                                    border-title-color: $muted; }
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.controller = HomeController()
        self._shown_room = (False, 0)
        self._start_list, self._run_list, self._run_details = StartList(), RunList(), RunDetails()
        self._model_list, self._suite_list, self._library_line = ModelList(), SuiteList(), LibraryLine()
        self._engines = EngineActions(services, self._line_to_resume, demo_starting=self._start_list.set_starting)
        self._runs = RunActions(
            services, self.controller, self._line_under_cursor, marks_changed=partial(self.show_workspace, "runs")
        )
        self._queue = QueueActions(
            services,
            self._line_under_cursor,
            why_not=self._why_not,
            run_dialog=partial(self.run_worker, exclusive=True, group="ask"),
        )
        self._organizing = OrganizeActions(
            services,
            self.controller,
            self._line_under_cursor,
            run_dialog=partial(self.run_worker, exclusive=True, group="ask"),
            runs_changed=partial(self.show_workspace, "runs"),
        )
        self._sorting = SortActions(self.controller, listed=self._sorted)
        self._adding = ModelActions(
            services, self._model_under_cursor, run_dialog=partial(self.run_worker, exclusive=True, group="ask")
        )
        self._imports = ImportActions(services, run_dialog=partial(self.run_worker, exclusive=True, group="ask"))

    @property
    def responders(self) -> Sequence[object]:
        return self._engines, self._runs, self._sorting, self._queue, self._organizing, self._imports, self._adding

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        start, runs, models, suites = self._start_list, self._run_list, self._model_list, self._suite_list
        with Container(classes="columns"):
            with Vertical(classes="left"):
                yield from (start.title_line, start, runs.title_line, runs, self._run_details, self._library_line)
            with Vertical(classes="right"):
                yield from (models.title_line, models, suites.title_line, suites)

    def on_mount(self) -> None:
        self.controller.order = self.services.ui_state.text("home.order")
        self.show_workspace("")
        self.set_interval(_DAY_LOOKED_AT_S, self._renew_day)

    def _renew_day(self) -> None:
        """Summarize the new day after midnight, when today's times become dates."""
        if self.controller.is_new_day(time.time()):
            self.show_workspace("runs")

    def on_resize(self, event: events.Resize) -> None:
        if self._room_for_steps != self._shown_room:
            self.show_workspace("runs")

    @property
    def _room_for_steps(self) -> tuple[bool, int]:
        """Layout of the next steps: True if the demo has a second line, and the maximum number of rows."""
        is_wide, height = self.size.width >= WIDE, self.size.height
        is_small = not is_wide and height < _TALL and bool(self.services.workspace.runs)
        return is_wide and height >= _ROOM_FOR_DEMO, _SMALL_START if is_small else _WHOLE_START

    def show_workspace(self, part: str) -> None:
        if not self._suite_list.is_attached:
            return
        workspace = self.services.workspace
        if part in ("", "runs"):
            runs = workspace.runs or []
            self.controller.use_runs(
                runs, workspace.run_count, failed=last_failures(runs), is_stranded=workspace.is_stranded
            )
            self._shown_room = self._room_for_steps
            has_room, most = self._shown_room
            self._start_list.set_steps(self.controller.next_steps, wide=has_room, most=most)
            self._run_list.set_listing(
                self.controller.listing,
                today=self.controller.today(time.time()),
                is_complete=workspace.runs_complete,
                mistake=workspace.runs_mistake,
            )
            self._show_details()
        if part in ("", "models"):
            self._model_list.set_models(workspace.models)
            self._library_line.set_models(workspace.models)
        if part in ("", "suites"):
            self._suite_list.set_suites(workspace.suites)
            self._library_line.set_suites(workspace.suites)

    @on(RowList.RowHighlighted, "#runs")
    def _show_details(self) -> None:
        self._run_details.describe(self._run_list.line)
        self.refresh_keys()

    # Key labels -------------------------------------------------------------------------------------------------------

    def _line_under_cursor(self) -> RunLine | None:
        return self._run_list.line

    def _line_to_resume(self) -> RunLine | None:
        return self._run_list.line if self.focused is self._run_list else self.controller.next_steps.resumable

    @property
    def run_under_cursor(self) -> RunFolder | None:
        line = self._run_list.line
        return line.folder if line is not None and line.summary is not None else None

    def _why_not(self, action_id: str) -> str:
        return self.controller.why_not(action_id, self._run_list.line, self._line_to_resume())

    def why_not(self, action: Action) -> str:
        return self._why_not(action.id)

    def key_words(self) -> Mapping[str, str]:
        return self.controller.key_words(self._run_list.line if self.focused is self._run_list else None)

    @on(RowList.EndReached)
    def _flow_on(self, event: RowList.EndReached) -> None:
        """Move the focus from the end of one list to the next one in the same column."""
        lists: list[RowList] = [self._start_list, self._run_list, self._library_line]
        if event.rows in lists:
            place = lists.index(event.rows) + event.step
            if 0 <= place < len(lists) and lists[place].cursor is not None and lists[place].display:
                lists[place].focus()

    # Choosing --------------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#start")
    def _start_chosen(self, event: RowList.RowChosen) -> None:
        steps = self.controller.next_steps
        match event.key:
            case "demo":
                self._engines.start_demo()
            case "resume":
                resume_run(self.services, steps.resumable)
            case "failures" if steps.failed is not None:
                self.services.navigator.open_review(steps.failed.folder)
            case "queue" if steps.is_stranded:
                self._queue.action_queue_go()
            case "queue" if steps.queued:
                self._run_list.move_to(str(steps.queued[0].folder.path))
                self._run_list.focus()
            case _:
                self.services.navigator.action_run_new()

    @on(RowList.RowChosen, "#runs")
    def _run_chosen(self) -> None:
        if (line := self._run_list.line) is not None:
            self._runs.open(line)

    @on(RowList.RowChosen, "#library-line")
    def _library_chosen(self) -> None:
        self.services.navigator.action_go_library()

    @on(RowList.RowChosen, "#models")
    def _model_chosen(self, event: RowList.RowChosen) -> None:
        if note := self._model_list.note_of(event.key):
            self.services.notify(literal(note, 600), severity="warning")
        else:
            self.services.navigator.open_form(model=self._model_list.name_of(event.key))

    @on(RowList.RowChosen, "#suites")
    def _suite_chosen(self, event: RowList.RowChosen) -> None:
        if note := self._suite_list.note_of(event.key):
            self.services.notify(literal(note, 600), severity="warning")
        else:
            self.services.navigator.open_form(suite=self._suite_list.name_of(event.key))

    @property
    def filter_in_force(self) -> FilterInForce | None:
        if not self.controller.words:
            return None
        listing = self.controller.listing
        return FilterInForce(listing.words, len(listing.lines), listing.total)

    # The list of runs ------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        self.controller.words = text
        self.show_workspace("runs")
        if done:
            self._run_list.focus()

    def action_filter_clear(self) -> None:
        self.find_session.clear()
        self.refresh_keys()

    def _sorted(self) -> None:
        self.services.ui_state.keep("home.order", self.controller.order)
        self.show_workspace("runs")

    def action_fold(self) -> None:
        """Fold or unfold the branches of the run under the cursor; the cursor goes to the run if its row is folded."""
        if (name := self.controller.fold(self._run_list.line)) is None:
            self.services.notify(Content("The run under the cursor has no branches."))
            return
        keys = {line.name: str(line.folder.path) for line in self.controller.listing.lines}
        if name not in self.controller.listing.unfolded:
            self._run_list.move_to(keys[name])
        self.show_workspace("runs")

    def _model_under_cursor(self) -> str:
        key = self._model_list.cursor if self._model_list.has_focus else None
        return self._model_list.name_of(key) if key is not None and not self._model_list.note_of(key) else ""

    def action_models_edit(self) -> None:
        from console.tui.editor import edit_models  # lazy, as Home is the first frame and editing is rare

        edit_models(self.services)

    def action_reload(self) -> None:
        self.services.workspace.read_all()
