"""Home: what can I run, what did I run? Opens with the cursor on the line that needs no key."""

from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.core.annotation import remark_counts
from console.core.fault import UsageError
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.catalog_items import RunLine
from console.tui.keymap import bindings_for
from console.tui.render import row_cells
from console.tui.sanitize import literal
from console.tui.screens.home.lists import ModelList, SuiteList
from console.tui.screens.home.queue_actions import Queueing
from console.tui.screens.home.run_list import RunList
from console.tui.screens.home.start_list import DEMO, StartList
from console.tui.widgets.row_list import RowList

WIDE = 120


class HomeScreen(Queueing):
    """Start, runs, models and suites; see the module."""

    where = "home"
    heading = "Home"
    BINDINGS: ClassVar = bindings_for("home")
    AUTO_FOCUS = "#start"
    DEFAULT_CSS = """
    HomeScreen .columns { height: 1fr; layout: vertical; }
    HomeScreen .left { height: 1fr; width: 1fr; }
    HomeScreen .right { height: auto; width: 1fr; }
    HomeScreen #start { height: auto; max-height: 6; margin-bottom: 1; }
    HomeScreen #runs { height: 1fr; min-height: 3; margin-bottom: 1; }
    HomeScreen #models { height: auto; max-height: 3; margin-bottom: 1; }
    HomeScreen #suites { height: auto; max-height: 2; }
    HomeScreen #about { display: none; }
    HomeScreen.-wide {
        .columns { layout: horizontal; }
        .left { width: 9fr; }
        .right { width: 5fr; height: 1fr; }
        #start { max-height: 10; margin-bottom: 0; }
        #runs { margin-bottom: 0; }
        #models, #suites { height: 1fr; max-height: 100h; margin-bottom: 0; }
    }
    HomeScreen.-wide.-tall #about { display: block; height: 8; border: round $line; padding: 0 1;
                                    border-title-color: $muted; }
    """

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out start and runs, beside (or above) models and suites."""
        start, runs, models, suites = StartList(), RunList(), ModelList(), SuiteList()
        with Container(classes="columns"):
            with Vertical(classes="left"):
                yield from (start.title_line, start, runs.title_line, runs, Static(id="about"))
            with Vertical(classes="right"):
                yield from (models.title_line, models, suites.title_line, suites)

    def on_mount(self) -> None:
        """Subscribe to the workspace and show what is there already."""
        self.query_one("#about", Static).border_title = Content("This run")
        runs, memory = self.query_one(RunList), self.services.ui_state
        runs.order, runs.words = memory.text("home.order"), memory.text("home.words")
        self.services.workspace.changed.subscribe(self, self._take_news)
        self._show_all()

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit."""
        self._show_all()

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._show_all()

    def _take_news(self, what: str) -> None:
        if self.is_current:
            self._show_all(what)
            self.refresh_keys()

    def _show_all(self, what: str = "") -> None:
        """Show what is in the workspace, or only one part of it."""
        workspace, wide = self.services.workspace, self.size.width >= WIDE
        if not self.query("#suites"):
            return
        if what in ("", "runs"):
            start = self.query_one(StartList)
            start.offer(
                workspace.runs or [],
                wide=wide and self.size.height >= 30,
                reviewed=self.services.navigator.next_review,
                stranded=workspace.is_stranded,
            )
            self.query_one(RunList).offer(workspace)
            self._show_about()
        if what in ("", "models"):
            self.query_one(ModelList).offer(workspace.models)
        if what in ("", "suites"):
            self.query_one(SuiteList).offer(workspace.suites)

    @on(RowList.RowHighlighted, "#runs")
    def _show_about(self) -> None:
        about, line = self.query_one("#about", Static), self.query_one(RunList).line
        text = row_cells.about_run(line, max(about.size.width, 40)) if line else []
        if line and (said := remark_counts(Notes(line.folder.path).annotations().values())):
            text.append(Content.styled(said, "$undecided"))
        about.update(Content("\n").join(text) if text else Content.styled("No run is under the cursor.", "$muted"))
        self.refresh_keys()

    def why_not(self, action: Action) -> str:
        """Say why an action cannot act on what is under the cursor."""
        line = self._resume_candidate()
        if action.id == "run.resume" and (line is None or not line.can_resume):
            return "this run has nothing to resume"
        if (
            action.id in ("run.review", "mark", "export", "copy.id", "copy.command", "copy.link")
            and self.query_one(RunList).line is None
        ):
            return "there is no run"
        return self.why_not_queue(action.id)

    # Choosing --------------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#start")
    def _start_chosen(self, event: RowList.RowChosen) -> None:
        start = self.query_one(StartList)
        match event.key:
            case "demo":
                self._try_demo()
            case "resume":
                self._resume(start.resumable)
            case "failures" if start.failed is not None:
                self.services.navigator.open_review(start.failed.folder)
            case "queue" if self.is_stranded:
                self.action_queue_go()
            case "queue" if start.queued:
                runs = self.query_one(RunList)
                runs.move_to(str(start.queued[0].folder.path))
                runs.focus()
            case _:
                self.services.navigator.open_form_for_cursor()

    @on(RowList.RowChosen, "#runs")
    def _run_chosen(self, event: RowList.RowChosen) -> None:
        line = self.query_one(RunList).line_of(event.key)
        if line.summary is None:
            self.services.notify(literal(line.mistake, 400), severity="error")
        elif line.is_live:
            self.services.navigator.open_live(line.folder)
        elif line.is_queued:
            self.services.notify(Content(f"It waits in the queue, place {line.place}. [ ] move it, D takes it out."))
        else:
            self.services.navigator.open_review(line.folder)

    @on(RowList.RowChosen, "#models")
    def _model_chosen(self, event: RowList.RowChosen) -> None:
        if note := self.query_one(ModelList).note_of(event.key):
            self.services.notify(literal(note, 600), severity="warning")
        else:
            self.services.navigator.open_form(model=event.key[2:])

    @on(RowList.RowChosen, "#suites")
    def _suite_chosen(self, event: RowList.RowChosen) -> None:
        if note := self.query_one(SuiteList).note_of(event.key):
            self.services.notify(literal(note, 600), severity="warning")
        else:
            self.services.navigator.open_form(suite=event.key[2:])

    # The list of runs ------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow the runs."""
        runs = self.query_one(RunList)
        runs.words = text
        self.services.ui_state.keep("home.words", text)
        self._show_all("runs")
        if done:
            runs.focus()

    def action_filter_clear(self) -> None:
        """Show all runs."""
        self.find_session.clear()

    def action_sort(self) -> None:
        """Sort the runs another way."""
        runs = self.query_one(RunList)
        runs.next_order()
        self.services.ui_state.keep("home.order", runs.order)
        self._show_all("runs")

    def action_reload(self) -> None:
        """Read models, suites and runs again."""
        self.services.workspace.read_all()

    def action_run_review(self) -> None:
        """Look at the failures of the run under the cursor."""
        line = self.query_one(RunList).line
        if line is not None and line.summary is not None:
            self.services.navigator.open_review(line.folder)

    @property
    def run_under_cursor(self) -> RunFolder | None:
        """The run that keys act on."""
        line = self.query_one(RunList).line
        return line.folder if line is not None and line.summary is not None else None

    def action_mark(self) -> None:
        """Mark the run under the cursor for Compare; the second mark opens it."""
        marked = self.query_one(RunList).mark()
        if len(marked) == 2:
            self.query_one(RunList).unmark()
            self.services.navigator.open_compare(marked[0].folder, marked[1].folder)
        elif marked and self.services.navigator.marked is not None:
            self.query_one(RunList).unmark()
            self.services.navigator.mark_for_compare(marked[0].folder)
        elif marked:
            self.services.notify(Content("Marked as A; m on another run compares it with this one."))

    def action_copy_id(self) -> None:
        """Copy the name of the run under the cursor."""
        if (line := self.query_one(RunList).line) is not None:
            self.services.copy(line.name, "the run's name")

    def action_copy_link(self) -> None:
        """Copy the path of the run under the cursor."""
        if (line := self.query_one(RunList).line) is not None:
            self.services.copy(str(line.folder.path), "the run's path")

    def action_copy_command(self) -> None:
        """Copy the shell command that shows the run under the cursor."""
        import shlex

        if (line := self.query_one(RunList).line) is not None:
            self.services.copy(f"eval-console show {shlex.quote(line.name)}", "a shell command")

    # Starting engines ------------------------------------------------------------------------------------------------

    def action_run_resume(self) -> None:
        """Go on with the run under the cursor, or from another list with the newest that can be resumed."""
        self._resume(self._resume_candidate())

    def _resume_candidate(self) -> RunLine | None:
        runs = self.query_one(RunList)
        return runs.line if self.focused is runs else self.query_one(StartList).resumable

    def _resume(self, line: RunLine | None) -> None:
        if line is None or not line.can_resume:
            self.services.notify(Content("There is nothing to resume here."))
        else:
            self._play_on(line.folder)

    @work(thread=True, exclusive=True, group="launch")
    def _play_on(self, run: RunFolder) -> None:
        """Start an engine on a run that stopped, and watch it."""
        from console.engine.plan import reopen
        from console.engine.process import spawn_engine

        places = self.services.paths
        try:
            reopen(run, places.models, places.data)
            spawn_engine(run, models_path=places.models, data_path=places.data)
        except UsageError as error:
            self.services.from_thread(self.refuse, error)
        else:
            self.services.from_thread(self._watch, [run])

    @work(thread=True, exclusive=True, group="launch")
    def _try_demo(self) -> None:
        """Start the demo's runs; the first is watched while the others are still being started."""
        from console.core.run import Selection
        from console.engine.launch import spawn
        from console.engine.plan import Plan

        start, places = self.query_one(StartList), self.services.paths
        self.services.from_thread(start.set_starting, True)
        for number, (model, suite, categories, cases) in enumerate(DEMO):
            plan = Plan(
                model,
                suite,
                Selection(categories, limit=cases, seed=7),
                name="demo",
                concurrency=6,
                models_path=places.models,
                data_path=places.data,
                runs_path=places.runs,
            )
            try:
                started = spawn(plan)
            except UsageError as error:
                self.services.from_thread(self.refuse, error)
            else:
                show = self.services.navigator.take_launched if number else self._watch
                self.services.from_thread(show, [started])
        self.services.from_thread(start.set_starting, False)

    def _watch(self, runs: list[RunFolder]) -> None:
        self.services.navigator.take_launched(runs)
        self.services.navigator.open_live(runs[0])
