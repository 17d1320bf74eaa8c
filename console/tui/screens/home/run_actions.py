"""`RunActions`: what Home does with the run under the cursor: opening, comparing, copying, playing its failed cases."""

from collections.abc import Callable

from textual.content import Content

from console.tui.data.catalog_items import RunLine
from console.tui.sanitize import literal
from console.tui.screens.home.controller import HomeController
from console.tui.services import Services


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
        """Look at the failures of the run under the cursor."""
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
        """Copy the name of the run under the cursor."""
        if (line := self._line_under_cursor()) is not None:
            self._services.copy(line.name, "the run's name")

    def action_copy_link(self) -> None:
        """Copy the path of the run under the cursor."""
        if (line := self._line_under_cursor()) is not None:
            self._services.copy(str(line.folder.path), "the run's path")

    def action_copy_command(self) -> None:
        """Copy the shell command that shows the run under the cursor."""
        import shlex

        if (line := self._line_under_cursor()) is not None:
            self._services.copy(f"eval-console show {shlex.quote(line.name)}", "a shell command")
