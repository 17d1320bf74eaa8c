"""`QueueActions`: what Home does with the queue of runs (move what waits, play on) and how it takes runs away.

Deleting moves a run to `.trash` of the runs folder, after asking by its name.
"""

from collections.abc import Awaitable, Callable

from textual.content import Content

from console.core.fault import UsageError
from console.store.run_queue import RunQueue
from console.tui.data.catalog_items import RunLine
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.services import Services


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
        """Act on the runs of the workspace.

        Args:
            services: what the app does for screens.
            line_under_cursor: the run that is meant.
            why_not: why an action, by its id, cannot act on that run; empty if it can.
            run_dialog: runs what asks the reader something.
        """
        self._services = services
        self._line_under_cursor = line_under_cursor
        self._why_not = why_not
        self._run_dialog = run_dialog

    @property
    def _queue(self) -> RunQueue | None:
        """The queue of the runs folder; None while that is not known."""
        root = self._services.workspace.runs_root
        return RunQueue(root) if root is not None else None

    def action_queue_earlier(self) -> None:
        """Play the run under the cursor one place earlier."""
        self._move(-1)

    def action_queue_later(self) -> None:
        """Play the run under the cursor one place later."""
        self._move(1)

    def _move(self, step: int) -> None:
        line, queue = self._line_under_cursor(), self._queue
        if line is None or queue is None or not line.is_queued:
            self._services.notify(Content("Only a run that waits in the queue can be moved."))
            return
        try:
            queue.move(line.name, step)
        except UsageError as error:
            self._refuse(error)
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
            self._refuse(error)
            return
        self._services.notify(Content("The queue goes on." if woken else "The queue is empty, or is being played."))
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
            self._refuse(error)
        self._services.workspace.read_runs()

    def _refuse(self, error: UsageError) -> None:
        self._services.notify(literal(str(error), 600), severity="error")
