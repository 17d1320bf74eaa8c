"""What the keys of Home do, by what they act on: the queue, one run, engines, models.toml.

Deleting moves a run to `.trash` of the runs folder, after asking by its name.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.content import Content

from console.core.fault import UsageError
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder
from console.tui.data.catalog_items import RunLine
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.controller import HomeController, demo_runs
from console.tui.services import Services
from console.tui.shell_commands import command, run_words

_DEMO_CONCURRENCY = 6
_DEMO_SEED = 7


class QueueActions:
    """Moves, takes out and deletes the run under the cursor."""

    def __init__(
        self,
        services: Services,
        line_under_cursor: Callable[[], RunLine | None],
        *,
        why_not: Callable[[str], str],
        run_dialog: Callable[[Awaitable[None]], object],
    ) -> None:
        """`why_not` says why an action, by its id, cannot act on the run under the cursor; empty if it can."""
        self._services = services
        self._line_under_cursor = line_under_cursor
        self._why_not = why_not
        self._run_dialog = run_dialog

    @property
    def _queue(self) -> RunQueue | None:
        root = self._services.workspace.runs_root
        return RunQueue(root) if root is not None else None

    def action_queue_earlier(self) -> None:
        self._move(-1)

    def action_queue_later(self) -> None:
        self._move(1)

    def _move(self, step: int) -> None:
        line, queue = self._line_under_cursor(), self._queue
        if line is None or queue is None or not line.is_queued:
            self._services.notify(Content("Only a run that waits in the queue can be moved."))
            return
        try:
            queue.move(line.name, step)
        except UsageError as error:
            _refuse(self._services, error)
        self._services.workspace.look()

    def action_queue_go(self) -> None:
        """Play the queue on, after whoever played it was killed."""
        from console.engine.runner import wake

        queue = self._queue
        if queue is None:
            return
        try:
            woken = wake(queue.root)
        except UsageError as error:
            _refuse(self._services, error)
            return
        self._services.notify(Content("The queue continues." if woken else "The queue is empty, or running."))
        self._services.workspace.look()

    def action_run_delete(self) -> None:
        """Take the run under the cursor out of the queue, or delete it, after asking."""
        line, queue = self._line_under_cursor(), self._queue
        if reason := self._why_not("run.delete"):
            self._services.notify(Content(reason))
        elif line is not None and queue is not None:
            self._run_dialog(self._ask_and_delete(line, queue))

    async def _ask_and_delete(self, line: RunLine, queue: RunQueue) -> None:
        delete = "Delete it? It goes to .trash of the runs folder."
        question = Content.assemble(
            one_line(line.name, 64, "bold"), "\n", "Take it out of the queue?" if line.is_queued else delete
        )
        answer = Answer("y", "take it out" if line.is_queued else "delete it")
        if await self._services.ask(Question(question, [answer])) != "y":
            return
        try:
            queue.cancel(line.name) if line.is_queued else queue.discard(line.name)
        except UsageError as error:
            _refuse(self._services, error)
        self._services.workspace.read_runs()


class RunActions:
    """Acts on one run of the list."""

    def __init__(
        self,
        services: Services,
        controller: HomeController,
        line_under_cursor: Callable[[], RunLine | None],
        *,
        marks_changed: Callable[[], None],
    ) -> None:
        """Act on the run under the cursor; `marks_changed` is called when runs are marked for Compare or no longer."""
        self._services = services
        self._controller = controller
        self._line_under_cursor = line_under_cursor
        self._marks_changed = marks_changed

    def open(self, line: RunLine) -> None:
        """Open a run where it is best looked at, or say why it cannot be opened."""
        if line.summary is None:
            self._services.notify(literal(line.mistake, 400), severity="error")
        elif line.is_live:
            self._services.navigator.open_live(line.folder)
        elif line.is_queued:
            words = f"It waits in the queue, place {line.place}. [ ] move it, D takes it out."
            self._services.notify(Content(words))
        else:
            self._services.navigator.open_review(line.folder)

    def action_run_review(self) -> None:
        line = self._line_under_cursor()
        if line is not None and line.summary is not None:
            self._services.navigator.open_review(line.folder)

    def action_run_failed(self) -> None:
        """Open the form for the failed cases of the run under the cursor, with its model and suite."""
        line = self._line_under_cursor()
        if line is None or line.summary is None or not line.tally.failed:
            self._services.notify(Content("The run under the cursor has no failed case."))
            return
        self._services.navigator.open_form(model=line.summary.model, suite=line.summary.suite, failed_of=line.name)

    def action_mark(self) -> None:
        """Mark the run under the cursor for Compare; the second mark opens it."""
        line, navigator = self._line_under_cursor(), self._services.navigator
        marked = self._controller.toggle_mark(line)
        if len(marked) == 2:
            self._controller.unmark_all()
            navigator.open_compare(marked[0].folder, marked[1].folder)
        elif marked and navigator.marked is not None:
            self._controller.unmark_all()
            navigator.mark_for_compare(marked[0].folder)
        elif marked:
            self._services.notify(Content("Marked as A; m on another run compares it with this one."))
        self._marks_changed()

    def action_copy_id(self) -> None:
        if (line := self._line_under_cursor()) is not None:
            self._services.copy(line.name, "the run's name")

    def action_copy_link(self) -> None:
        if (line := self._line_under_cursor()) is not None:
            self._services.copy(str(line.folder.path), "the run's path")

    def action_copy_command(self) -> None:
        if (line := self._line_under_cursor()) is not None:
            words = command("show", *run_words([line.folder]), places=self._services.paths)
            self._services.copy(words, "the shell command")


class ImportActions:
    """Makes runs of logs of other tools."""

    def __init__(self, services: Services, *, run_dialog: Callable[[Awaitable[None]], object]) -> None:
        self._services = services
        self._run_dialog = run_dialog

    def action_import(self) -> None:
        """Ask for paths and import them, then review the first run if the reader wants to."""
        self._run_dialog(self._ask_and_open())

    async def _ask_and_open(self) -> None:
        from console.tui.data.import_session import ImportSession  # both here, as importing is rare
        from console.tui.dialogs.import_dialog import ImportDialog

        services, root = self._services, self._services.workspace.runs_root
        if root is None:
            return
        name = await services.ask(ImportDialog(lambda: ImportSession(root, services.paths.data)))
        services.workspace.read_runs()
        if name:
            services.navigator.open_review(RunFolder(root / name))


class EngineActions:
    """Starts engines and watches them."""

    def __init__(
        self,
        services: Services,
        line_to_resume: Callable[[], RunLine | None],
        *,
        demo_starting: Callable[[bool], None],
    ) -> None:
        """`demo_starting` is called with True when the demo is being started, with False when that is over."""
        self._services = services
        self._line_to_resume = line_to_resume
        self._demo_starting = demo_starting
        self._is_demo_starting = False

    def action_run_resume(self) -> None:
        """Go on with the run under the cursor, or from another list with the newest that can be resumed."""
        self.resume(self._line_to_resume())

    def resume(self, line: RunLine | None) -> None:
        if line is None or not line.can_resume:
            self._services.notify(Content("There is nothing to resume here."))
        else:
            self._services.workspace.in_thread(lambda: self._reopen(line.folder))

    def _reopen(self, run: RunFolder) -> None:
        from console.engine.plan import reopen
        from console.engine.process import spawn_engine

        workspace, paths = self._services.workspace, self._services.paths
        try:
            reopen(run, paths.models, paths.data)
            spawn_engine(run, models_path=paths.models, data_path=paths.data)
        except UsageError as error:
            workspace.hand_over(_refuse, self._services, error)
        else:
            workspace.hand_over(self._take_started, run, True)

    def start_demo(self) -> None:
        """Start the demo's runs; the first is watched while the others are still being started."""
        if not self._is_demo_starting:
            self._set_starting(True)
            self._services.workspace.in_thread(self._spawn_demo)

    def _spawn_demo(self) -> None:
        from console.core.run import Selection
        from console.engine.launch import spawn
        from console.engine.plan import Plan
        from console.tui.data.catalog_items import read_suites

        workspace, paths = self._services.workspace, self._services.paths
        runs = demo_runs(workspace.suites or read_suites(paths))
        if not runs:
            workspace.hand_over(self._services.notify, Content("No suite that is here has a demo."))
        for number, (suite, demo) in enumerate(runs):
            plan = Plan(
                demo.model,
                suite,
                Selection(demo.categories, limit=demo.cases, seed=_DEMO_SEED),
                concurrency=_DEMO_CONCURRENCY,
                models_path=paths.models,
                data_path=paths.data,
                runs_path=paths.runs,
            )
            try:
                run = spawn(plan)
            except UsageError as error:
                workspace.hand_over(_refuse, self._services, error)
            else:
                workspace.hand_over(self._take_started, run, number == 0)
        workspace.hand_over(self._set_starting, False)

    def _set_starting(self, is_starting: bool) -> None:
        self._is_demo_starting = is_starting
        self._demo_starting(is_starting)

    def _take_started(self, run: RunFolder, is_watched: bool) -> None:
        self._services.navigator.take_launched([run])
        if is_watched:
            self._services.navigator.open_live(run)


EXAMPLE = """\
# The models that eval-console can ask, one table each; the name in brackets is what you see everywhere.
# Keys stay in the environment: api_key_env names the variable. Prices are USD per million tokens.
# The simulated models (sim/careful, sim/hasty, …) are always there and need no line here.

# [gpt]
# model_id = "gpt-4o-mini"
# api_key_env = "OPENAI_API_KEY"
# price = { in = 0.15, out = 0.60 }

# [local]
# model_id = "the-name-your-server-uses"
# base_url = "http://localhost:8000/v1"
"""
"""The first models.toml of somebody who has none: every line explained, nothing in it asked until it is filled in."""


class ModelsEditor:
    """Edits the models file."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def action_models_edit(self) -> None:
        """Open models.toml in the reader's editor, made from an example if there is none, then read it again."""
        from console.tui.editor import edit_file  # here, as Home is the first frame and this is rare

        services = self._services
        models = services.workspace.models
        path = (models.path if models else None) or services.paths.models or Path("models.toml")
        try:
            if not path.exists():
                path.write_text(EXAMPLE, encoding="utf-8")
        except OSError as error:
            _refuse(services, UsageError(f"{path} cannot be written: {error.strerror}"))
            return
        edit_file(services, path)
        services.workspace.read_models()


def _refuse(services: Services, error: UsageError) -> None:
    services.notify(literal(str(error), 600), severity="error")
