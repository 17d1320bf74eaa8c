"""The first list of Home: what a newcomer and a returning reader most likely want next."""

from typing import ClassVar

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import RunLine
from console.tui.render.run_states import state_word
from console.tui.sanitize import one_line
from console.tui.screens.home.controller import NextSteps
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.titles import ListTitle

_COLUMNS = (Column("", 15), Column("", 30, 1), Column("", 2, right=True))
_MORE = Content.styled(f"  {'':15}  function calls, creativity loops and code, by simulated models", "$muted")


class StartList(RowList):
    """Demo, new run, queue, resume, last failures; only what makes sense now."""

    FIXED: ClassVar[frozenset[str]] = frozenset({"more", "gap"})

    def __init__(self) -> None:
        super().__init__(_COLUMNS, draw=self._cells, quiet=True, id="start", classes="pane")
        self.title_line = ListTitle(self)
        self._steps = NextSteps()
        self._is_starting = False

    def set_steps(self, steps: NextSteps, *, wide: bool) -> None:
        """Show what can be done; `wide` where there is room for a second line about the demo."""
        self._steps = steps
        self.title_line.show("Start")
        keys = ["demo", "more", "gap", "new"] if wide else ["demo", "new"]
        keys += ["queue"] * bool(steps.queued or steps.is_stranded)
        keys += ["resume"] * (steps.resumable is not None) + ["failures"] * (steps.failed is not None)
        self.show(keys, fixed=self.FIXED)

    def set_starting(self, starting: bool) -> None:
        """Say that the demo is being started, or no longer."""
        self._is_starting = starting
        self.touch("demo")

    def _cells(self, key: str) -> Face:
        match key:
            case "demo":
                words = "starting …" if self._is_starting else "offline, no key needed, about a minute"
                return Content.styled("Try the demo", "bold"), _muted(Content(words)), Content.empty()
            case "more":
                return _MORE
            case "gap":
                return Content.empty()
            case "new":
                return Content("New run"), _muted(Content("pick models, suites and limits")), _key("L")
            case "queue":
                return Content("Queue"), self._queue_words(), Content.empty()
            case "resume":
                return Content("Resume a run"), _muted(_resume_words(self._steps.resumable)), _key("r")
            case _:
                key_of_review = "3" if self._steps.is_failed_reviewed else ""
                return Content("Last failures"), _muted(_failure_words(self._steps.failed)), _key(key_of_review)

    def _queue_words(self) -> Content:
        queued = self._steps.queued
        waits = f"{number_format.plural(len(queued), 'run')} {'waits' if len(queued) == 1 else 'wait'}"
        if self._steps.is_stranded:
            return Content.styled(f"{waits}, nobody plays them: enter goes on", "$fail")
        return _muted(Content.assemble(f"{waits}, next: ", _who(queued[0])) if queued else Content(waits))


def _resume_words(line: RunLine | None) -> Content:
    if line is None or line.summary is None:
        return Content.empty()
    return _who(line).append(
        f", {line.tally.finished} of {line.summary.planned} finished, {state_word(line.state).plain}"
    )


def _failure_words(line: RunLine | None) -> Content:
    if line is None:
        return Content.empty()
    return Content(f"{line.tally.failed + line.tally.broken} in ").append(_who(line))


def _who(line: RunLine) -> Content:
    model = line.summary.model if line.summary else ""
    return Content.assemble(one_line(line.label, 24), " / ", one_line(model, 24))


def _muted(content: Content) -> Content:
    return content.stylize_before("$muted")


def _key(key: str) -> Content:
    return Content.styled(key, "bold $focus")
