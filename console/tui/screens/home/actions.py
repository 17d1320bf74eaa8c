"""Actions of Home on the queue, on a run and on engines.

Deleting asks first, then moves the run to `.trash` in the runs folder.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import TYPE_CHECKING

import msgspec
from textual.content import Content

from console.core.fault import UsageError
from console.store.journal_line import scrub
from console.store.run_marks import change_marks
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder
from console.tui.data.runs import RunLine
from console.tui.dialogs.small_dialogs import Answer, CommentScreen, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.controller import HomeController
from console.tui.screens.resuming import resume_run
from console.tui.services import Services
from console.tui.shell_commands import command, run_words

if TYPE_CHECKING:
    from console.engine.plan import Plan

_DEMO_CONCURRENCY = 6
_DEMO_SEED = 7


def _start_demo(plan: "Plan", other_mode: str) -> RunFolder:
    """Start a demo in its usual mode or, where that lacks its extra, in the other mode, if any."""
    from console.engine.launch import spawn

    try:
        return spawn([plan])[0]
    except UsageError:
        if not other_mode:
            raise
        all_categories = msgspec.structs.replace(plan.selection, categories=())
        return spawn([replace(plan, mode=other_mode, selection=all_categories)])[0]


@dataclass
class QueueActions:
    """Reorders, dequeues and deletes runs."""

    services: Services
    line_under_cursor: Callable[[], RunLine | None]
    why_not: Callable[[str], str]
    """Returns why an action, given by id, is unavailable, or an empty string."""
    run_dialog: Callable[[Awaitable[None]], object]

    @property
    def _queue(self) -> RunQueue | None:
        root = self.services.workspace.runs_root
        return RunQueue(root) if root is not None else None

    def _move(self, step: int) -> None:
        line, queue = self.line_under_cursor(), self._queue
        if line is None or queue is None or not line.is_queued:
            self.services.notify(Content("Only queued runs can be moved."))
            return
        try:
            queue.move(line.name, step)
        except UsageError as error:
            self.services.refuse(error)
        self.services.workspace.look()

    action_queue_earlier = partialmethod(_move, -1)
    action_queue_later = partialmethod(_move, 1)

    def action_queue_go(self) -> None:
        from console.engine.runner import wake

        queue = self._queue
        if queue is None:
            return
        try:
            woken = wake(queue.root)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.services.notify(Content("The queue continues." if woken else "The queue is empty, or running."))
        self.services.workspace.look()

    def action_run_delete(self) -> None:
        """Dequeue or delete the run under the cursor, after asking."""
        line, queue = self.line_under_cursor(), self._queue
        if reason := self.why_not("run.delete"):
            self.services.notify(Content(reason))
        elif line is not None and queue is not None:
            self.run_dialog(self._ask_and_delete(line, queue))

    async def _ask_and_delete(self, line: RunLine, queue: RunQueue) -> None:
        delete = "Delete it? It moves to .trash in the runs folder."
        question = Content.assemble(
            one_line(line.name, 64, "bold"), "\n", "Remove it from the queue?" if line.is_queued else delete
        )
        answer = Answer("y", "remove it" if line.is_queued else "delete it")
        if await self.services.ask(Question(question, [answer])) != "y":
            return
        try:
            queue.cancel(line.name) if line.is_queued else queue.discard(line.name)
        except UsageError as error:
            self.services.refuse(error)
        self.services.workspace.read_runs()


@dataclass
class RunActions:
    """Acts on the run under the cursor."""

    services: Services
    controller: HomeController
    line_under_cursor: Callable[[], RunLine | None]
    marks_changed: Callable[[], None]
    """Called when the runs marked for Compare have changed."""

    def open(self, line: RunLine) -> None:
        """Open a run in Live or Review, or show why it cannot be opened."""
        if line.summary is None:
            self.services.notify(literal(line.mistake, 400), severity="error")
        elif line.is_live:
            self.services.navigator.open_live(line.folder)
        elif line.is_queued:
            words = f"Queued at position {line.place}. [ ] move it, D removes it."
            self.services.notify(Content(words))
        else:
            self.services.navigator.open_review(line.folder)

    def action_run_review(self) -> None:
        line = self.line_under_cursor()
        if line is not None and line.summary is not None:
            self.services.navigator.open_review(line.folder)

    def action_run_failed(self) -> None:
        line = self.line_under_cursor()
        if line is None or line.summary is None or not line.tally.failed:
            self.services.notify(Content("The run under the cursor has no failed case."))
            return
        self.services.navigator.open_form(model=line.summary.model, suite=line.summary.suite, failed_of=line.name)

    def action_mark(self) -> None:
        """Mark the run under the cursor for Compare; a second mark opens it."""
        line, navigator = self.line_under_cursor(), self.services.navigator
        marked = self.controller.toggle_mark(line)
        if len(marked) == 2:
            self.controller.unmark_all()
            navigator.open_compare(marked[0].folder, marked[1].folder)
        elif marked and navigator.marked is not None:
            self.controller.unmark_all()
            navigator.mark_for_compare(marked[0].folder)
        elif marked:
            self.services.notify(Content("Marked as A; m on another run compares it with this one."))
        self.marks_changed()

    def action_copy_id(self) -> None:
        if (line := self.line_under_cursor()) is not None:
            self.services.copy(line.name, "the run's name")

    def action_copy_link(self) -> None:
        if (line := self.line_under_cursor()) is not None:
            self.services.copy(str(line.folder.path), "the run's path")

    def action_copy_command(self) -> None:
        if (line := self.line_under_cursor()) is not None:
            words = command("show", *run_words([line.folder]), places=self.services.paths)
            self.services.copy(words, "the shell command")


@dataclass
class OrganizeActions:
    """Renames, annotates, pins and archives the run under the cursor, as `organize` does."""

    services: Services
    controller: HomeController
    line_under_cursor: Callable[[], RunLine | None]
    run_dialog: Callable[[Awaitable[None]], object]
    runs_changed: Callable[[], None]
    """Called when other runs are to be listed."""

    def action_organize_name(self) -> None:
        if (run := self._run) is not None:
            self.run_dialog(self._ask_for("name", "Name of ", run, run.marks.name))

    def action_organize_note(self) -> None:
        if (run := self._run) is not None:
            self.run_dialog(self._ask_for("note", "Note on ", run, run.marks.note))

    def action_organize_pin(self) -> None:
        if (run := self._run) is not None:
            self._mark(run, pinned=not run.marks.pinned)

    def action_organize_archive(self) -> None:
        """Archive the run in the background, since a large one takes a moment, or restore it."""
        if (run := self._run) is not None:
            self.services.workspace.in_thread(lambda: self._archive(run))

    def action_organize_archived(self) -> None:
        self.controller.shows_archived = not self.controller.shows_archived
        self.runs_changed()

    def action_branch_regrade(self) -> None:
        if (run := self._run) is not None:
            from console.tui.screens.regrading import regrade

            self.run_dialog(regrade(self.services, run, self.services.workspace.in_thread))

    @property
    def _run(self) -> RunFolder | None:
        line = self.line_under_cursor()
        if line is None or line.summary is None:
            self.services.notify(Content("There is no readable run under the cursor."))
            return None
        return line.folder

    async def _ask_for(self, kind: str, words: str, run: RunFolder, text: str) -> None:
        title = Content.assemble(words, one_line(run.name, 50, "bold"))
        written = await self.services.ask(CommentScreen(title, text))
        if written is not None and written != text:
            self._mark(run, **{kind: scrub(written)})
            if kind == "note":
                self.services.notify(Content("Noted. o t shows it again." if written else "The note is deleted."))

    def _mark(self, run: RunFolder, **changes: str | bool) -> None:
        try:
            change_marks(run.path, **changes)
        except UsageError as error:
            self.services.refuse(error)
        self.services.workspace.read_runs()

    def _archive(self, run: RunFolder) -> None:
        from console.store.run_archive import archive_run, restore_run  # lazy, as archiving is rare

        workspace, is_archived = self.services.workspace, run.is_archived
        try:
            (restore_run if is_archived else archive_run)(run)
        except UsageError as error:
            workspace.hand_over(self.services.refuse, error)
        else:
            words = "The run is listed again." if is_archived else "Archived. o s shows the archived runs."
            workspace.hand_over(self.services.notify, Content(words))
        workspace.hand_over(workspace.read_runs)


@dataclass
class ImportActions:
    """Imports logs of other tools as runs."""

    services: Services
    run_dialog: Callable[[Awaitable[None]], object]

    def action_import(self) -> None:
        """Ask for paths, import them, and open the first run on request."""
        self.run_dialog(self._ask_and_open())

    async def _ask_and_open(self) -> None:
        from console.tui.data.import_session import ImportSession  # lazy, as importing is rare
        from console.tui.dialogs.import_dialog import ImportDialog

        services, root = self.services, self.services.workspace.runs_root
        if root is None:
            return
        name = await services.ask(ImportDialog(lambda: ImportSession(root, services.paths.data)))
        services.workspace.read_runs()
        if name:
            services.navigator.open_review(RunFolder(root / name))


@dataclass
class ModelActions:
    """Adds a model to models.toml, and checks the endpoint of one."""

    services: Services
    model_under_cursor: Callable[[], str]
    """Returns the name of the model under the cursor, or an empty string in another list."""
    run_dialog: Callable[[Awaitable[None]], object]

    def action_models_add(self) -> None:
        from console.tui.screens.home.adding import ModelAdding  # lazy, as adding is rare

        self.run_dialog(ModelAdding(self.services).ask_and_add())

    def action_models_check(self) -> None:
        from console.tui.screens.home.checking import EndpointChecking  # lazy, as checking is rare

        self.run_dialog(EndpointChecking(self.services).ask_and_check(self.model_under_cursor()))


@dataclass
class EngineActions:
    """Starts and resumes engines."""

    services: Services
    line_to_resume: Callable[[], RunLine | None]
    demo_starting: Callable[[bool], None]
    """Called with True when the demo starts launching and with False when all its runs are launched."""
    _is_demo_starting: bool = False

    def action_run_resume(self) -> None:
        """Resume the run under the cursor or, from another list, the newest resumable one."""
        resume_run(self.services, self.line_to_resume())

    def start_demo(self) -> None:
        """Launch the demo's runs and open the first."""
        if not self._is_demo_starting:
            self._set_starting(True)
            self.services.workspace.in_thread(self._spawn_demo)

    def _spawn_demo(self) -> None:
        from console.core.run import Selection
        from console.engine.plan import Plan
        from console.tui.data.suites import read_suites

        workspace, paths = self.services.workspace, self.services.paths
        runs = (workspace.suites or read_suites(paths)).demo_runs()
        if not runs:
            workspace.hand_over(self.services.notify, Content("No installed suite has a demo."))
        for number, (suite, demo) in enumerate(runs):
            plan = Plan(
                demo.model,
                suite,
                Selection(demo.categories, limit=demo.cases, seed=_DEMO_SEED),
                concurrency=_DEMO_CONCURRENCY,
                paths=paths,
            )
            try:
                run = _start_demo(plan, demo.other_mode)
            except UsageError as error:
                workspace.hand_over(self.services.refuse, error)
            else:
                workspace.hand_over(self._show_started, run, number == 0)
        workspace.hand_over(self._set_starting, False)

    def _set_starting(self, is_starting: bool) -> None:
        self._is_demo_starting = is_starting
        self.demo_starting(is_starting)

    def _show_started(self, run: RunFolder, is_watched: bool) -> None:
        self.services.navigator.add_launched([run])
        if is_watched:
            self.services.navigator.open_live(run)
