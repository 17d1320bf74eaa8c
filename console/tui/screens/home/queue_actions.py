"""`Queueing`: what Home can do with the queue of runs (move and take out what waits, play on) and with old runs.

Deleting moves a run to `.trash` of the runs folder, after asking by its name.
"""

from collections.abc import Mapping

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.store.run_queue import RunQueue
from console.tui.data.catalog_items import RunLine
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import one_line
from console.tui.screens.home.models_editor import EditsModels
from console.tui.screens.home.run_list import RunList


class Queueing(EditsModels):
    """A place with the list of runs; see the module."""

    @property
    def line(self) -> RunLine | None:
        """The run under the cursor."""
        return self.query_one(RunList).line

    @property
    def queue(self) -> RunQueue | None:
        """The queue of the runs folder; None while that is not known."""
        root = self.services.workspace.runs_root
        return RunQueue(root) if root is not None else None

    def why_not_queue(self, id: str) -> str:
        """Say why an action of the queue cannot act on what is under the cursor, or nothing."""
        line = self.line
        match id:
            case "queue.earlier" | "queue.later":
                return "" if line is not None and line.is_queued else "this run does not wait in the queue"
            case "queue.go":
                return "" if self.is_stranded else "the queue is empty, or is being played"
            case "run.failed":
                return "" if line is not None and line.tally.failed else "this run has no failed case"
            case "run.delete":
                is_live = line is not None and line.is_live
                return "it is being played; ctrl+x in Live stops it" if is_live else "" if line else "there is no run"
            case _:
                return ""

    def key_words(self) -> Mapping[str, str]:
        """Show keys for the queue and for old runs only where they can act."""
        line, runs = self.line, self.query_one(RunList)
        waits, on_run = line is not None and line.is_queued, self.focused is runs and line is not None
        return {
            **({} if waits and on_run else {"queue.earlier": ""}),
            **({} if on_run and line is not None and line.tally.failed else {"run.failed": ""}),
            **({"run.delete": "take out" if waits else "delete"} if on_run else {"run.delete": ""}),
        }

    @property
    def is_stranded(self) -> bool:
        """Whether runs wait that nobody plays."""
        return self.services.workspace.is_stranded

    def action_queue_earlier(self) -> None:
        """Play the run under the cursor one place earlier."""
        self._move(-1)

    def action_queue_later(self) -> None:
        """Play the run under the cursor one place later."""
        self._move(1)

    def _move(self, step: int) -> None:
        line, queue = self.line, self.queue
        if line is None or queue is None or not line.is_queued:
            self.services.notify(Content("Only a run that waits in the queue can be moved."))
            return
        try:
            queue.move(line.name, step)
        except UsageError as error:
            self.refuse(error)
        self.services.workspace.look()

    def action_queue_go(self) -> None:
        """Play the queue on, after whoever played it was killed."""
        from console.engine.runner import wake

        queue = self.queue
        if queue is None:
            return
        try:
            woken = wake(queue.root)
        except UsageError as error:
            self.refuse(error)
            return
        self.services.notify(Content("The queue goes on." if woken else "The queue is empty, or is being played."))
        self.services.workspace.look()

    def action_run_failed(self) -> None:
        """Open the form for the failed cases of the run under the cursor, with its model and suite."""
        line = self.line
        if line is None or line.summary is None or not line.tally.failed:
            self.services.notify(Content("The run under the cursor has no failed case."))
            return
        self.services.navigator.open_form(model=line.summary.model, suite=line.summary.suite, failed_of=line.name)

    @work(exclusive=True, group="ask")
    async def action_run_delete(self) -> None:
        """Take the run under the cursor out of the queue, or delete it, after asking."""
        line, queue = self.line, self.queue
        if reason := self.why_not_queue("run.delete"):
            self.services.notify(Content(reason))
        if reason or line is None or queue is None:
            return
        what = "Take it out of the queue?" if line.is_queued else "Delete it? It goes to .trash of the runs folder."
        question = Content.assemble(one_line(line.name, 64, "bold"), f"\n{what}")
        answer = Answer("y", "take it out" if line.is_queued else "delete it")
        if await self.services.ask(Question(question, [answer])) != "y":
            return
        try:
            queue.cancel(line.name) if line.is_queued else queue.discard(line.name)
        except UsageError as error:
            self.refuse(error)
        self.services.workspace.read_runs()
