"""The lists of Live: conversations, failures and problems of a run, and other live runs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.core.case import Slot
from console.core.live import Status
from console.insight import number_format
from console.insight.overview import Overview
from console.tui.data.run_feed import Changes
from console.tui.data.runs import RunLine
from console.tui.render.columns import Face, with_names
from console.tui.render.progress import begun_words, is_starting
from console.tui.render.rollout_rows import (
    FAILURES,
    PROBLEMS,
    RunsLayout,
    ended_words,
    failing_cells,
    failure_cells,
    problem_cells,
    row_key,
    run_cells,
    runs_layout,
    slot_of,
)
from console.tui.screens.live.controller import WatchedRun
from console.tui.screens.live.progress_pane import FactsPane
from console.tui.suite_views.suite_view import LiveView
from console.tui.symbols import MUTED, muted
from console.tui.widgets.row_list import GUTTER, RowList
from console.tui.widgets.titles import PaneTitle

_REPEATED = "Rollouts"
"""Heading of the rows of a run that plays each case several times."""


class ConversationList(RowList):
    """The rollouts of a run, drawn in their current state."""

    def __init__(self, view: LiveView) -> None:
        super().__init__(view.columns, id="running", classes="pane", empty=Content("reading the run …"))
        self.pane_title = PaneTitle("running", id="running-caption")
        self.view = view
        self._watched: WatchedRun | None = None
        self._longest = 0

    @property
    def slot(self) -> Slot | None:
        return slot_of(self.cursor) if self.cursor is not None else None

    def use_view(self, view: LiveView) -> None:
        """Switch to a suite's own view and show its column names."""
        self.view = view
        self.set_columns(view.columns, names=True)

    def show_rollouts(self, run: WatchedRun, slots: Sequence[Slot]) -> None:
        self._watched = run
        keys = [row_key(slot) for slot in slots]
        if not keys or keys != self.keys:
            self._fit_names(run, slots)
            self.show(keys, draw=self._draw_rollout, empty=_empty_words(run))

    def _fit_names(self, run: WatchedRun, slots: Sequence[Slot]) -> None:
        """Fit the column of ids to the longest one listed so far, so that it only grows."""
        repeat = len(f" r{run.manifest.rollouts}") if run.manifest.rollouts > 1 else 0
        self._longest = max([self._longest, *(len(case) + repeat for case, _ in slots)])
        columns = with_names(self.view.columns, self._longest)
        if columns != self.columns:
            self.set_columns(columns)

    def touch_rollouts(self, slots: Iterable[Slot]) -> None:
        """Redraw the rows of these rollouts."""
        if keys := [row_key(slot) for slot in slots]:
            self.touch(*keys)

    def draw_title(self, run: WatchedRun, *, order: str, only_running: bool) -> None:
        """Show the number of rows and their order."""
        begun = len(run.overview.running)
        waiting = sum(rollout.state == "waiting" for rollout in run.overview.running.values())
        running = number_format.count(begun - waiting)
        waits = f", {number_format.count(waiting)} waiting" if waiting else ""
        if only_running:
            left = Content.assemble("Running", (f"  {running}{waits}", MUTED))
        else:
            state = "running" if run.is_live else "interrupted"
            unfinished = f", {running} {state}{waits}" if run.is_live or begun else ""
            title = _REPEATED if run.manifest.rollouts > 1 else self.view.rows_title
            left = Content.assemble(title, (f"  {begun_words(run.overview, run.manifest)}{unfinished}", MUTED))
        self.pane_title.tell(left, muted(f"o {order}"))

    def _draw_rollout(self, key: str) -> tuple[Content, ...]:
        run = self._watched
        rollout = run.overview.rollouts.get(slot_of(key)) if run is not None else None
        if run is None or rollout is None:
            return ()
        return self.view.row_cells(rollout, run.now(), live=run.is_live)


def _empty_words(run: WatchedRun) -> Content:
    if not run.is_read:
        word = "rollout" if run.manifest.rollouts > 1 else "case"
        cases, read = number_format.plural(run.manifest.cases, word), len(run.overview.rollouts)
        return Content(f"reading {cases}, {number_format.count(read)} so far")
    if not run.is_live and is_starting(run.overview, run.manifest):
        return Content("The engine is starting …")
    return Content("No case has started yet." if run.is_live else "No case was run.")


SHOWN_FAILURES = 200


class FailureList(RowList):
    """One row for each rollout that failed, broke or stayed undecided."""

    def __init__(self) -> None:
        super().__init__(
            FAILURES, id="failures", classes="pane", quiet=True, newest_first=True, empty=Content("No failure so far.")
        )
        self.pane_title = PaneTitle("failures", id="failures-caption")
        self._overview, self._is_live = Overview(), True

    def show_failures(self, overview: Overview, *, is_live: bool) -> None:
        self._overview = overview
        latest = [rollout.slot for rollout in reversed(overview.failures) if rollout.is_failure]
        keys = [row_key(slot) for slot in dict.fromkeys(latest)][:SHOWN_FAILURES]
        if keys != self.keys or is_live != self._is_live:
            self._is_live = is_live
            self.show(keys, draw=self._draw_failure, empty=Content("No failure so far." if is_live else "No failures."))

    def draw_title(self, overview: Overview) -> None:
        counts = number_format.failures(overview.fold.tally)
        self.pane_title.tell(
            Content.assemble("Failures", (f"  {counts or 0}, latest first", MUTED)),
            muted("enter reviews" if counts else ""),
        )

    def _draw_failure(self, key: str) -> tuple[Content, ...]:
        rollout = self._overview.rollouts.get(slot_of(key))
        return failure_cells(rollout) if rollout is not None and rollout.outcome is not None else ()


_FAILING = "failing"
"""Key of the row that describes requests that keep failing."""


class ProblemList(RowList):
    """Requests that keep failing, then one row for each problem, keyed by its number in the run."""

    def __init__(self) -> None:
        super().__init__(
            PROBLEMS,
            id="problems",
            classes="pane",
            quiet=True,
            newest_first=True,
            empty=Content("No waits, retries or errors."),
        )
        self.pane_title = PaneTitle("problems", id="problems-caption")

    def show_problems(self, overview: Overview) -> None:
        problems = list(overview.problems)
        first = overview.problem_count - len(problems)
        keys = [str(number) for number in reversed(range(first, overview.problem_count))]
        failing = overview.failing.text

        def draw(key: str) -> tuple[Content, ...]:
            return failing_cells(failing) if key == _FAILING else problem_cells(problems[int(key) - first])

        self.show([_FAILING, *keys] if failing else keys, draw=draw)
        if failing:
            self.touch(_FAILING)

    def draw_title(self, overview: Overview) -> None:
        self.pane_title.tell(
            Content.assemble("Problems", (f"  {number_format.count(overview.problem_count)}", MUTED)),
            muted("i hides"),
        )


class RunLists(Vertical):
    """Lists and figures of Live: conversations, failures and problems; a suite's own view has no list of failures."""

    def __init__(self, view: LiveView) -> None:
        """Initialize with a view that draws conversations and figures."""
        super().__init__(id="left")
        self.conversations, self.facts = ConversationList(view), FactsPane(view)
        self.failures, self.problems = FailureList(), ProblemList()
        self._lists_failures = True

    def compose(self) -> ComposeResult:
        yield self.conversations.pane_title
        yield self.conversations
        yield self.facts
        for pane in (self.failures, self.problems):
            yield pane.pane_title
            yield pane

    def use_view(self, view: LiveView) -> None:
        """Switch to a suite's own view."""
        self.conversations.use_view(view)
        self.facts.view = view
        self._lists_failures = False

    def show_run(self, run: WatchedRun, slots: Sequence[Slot], changes: Changes, *, with_problems: bool) -> None:
        """Update the lists; problems only if visible."""
        self.conversations.show_rollouts(run, slots)
        if self._lists_failures and (changes.records or changes.settled or changes.rewound):
            self.failures.show_failures(run.overview, is_live=run.is_live or not run.is_read)
        if with_problems and (changes.records or changes.status):
            self.problems.show_problems(run.overview)

    def draw_figures(self, run: WatchedRun, *, order: str, only_running: bool, screen_width: int) -> None:
        """Draw titles and figures; `screen_width` is used until the figures are laid out."""
        self.conversations.draw_title(run, order=order, only_running=only_running)
        self.failures.draw_title(run.overview)
        self.problems.draw_title(run.overview)
        self.facts.show_run(run, screen_width)


_ENDED = "ended"
"""Key of the row that stands for all ended runs."""


class LiveRunsPanel(RowList):
    """One row for each run, keyed by its folder; ended ones are dimmed, and share one row while folded."""

    class RunChosen(Message):
        """The user chose a run to watch."""

        def __init__(self, line: RunLine) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__(id="beside", quiet=True)
        self._run_lines: dict[str, RunLine] = {}
        self._statuses: Mapping[Path, Status] = {}
        self._watched = ""
        self._layout = RunsLayout()
        self._ended = 0
        self._is_unfolded = True

    def show_runs(self, lines: Sequence[RunLine], statuses: Mapping[Path, Status], *, watched: Path) -> None:
        """List runs with their engines' statuses; the cursor starts on the watched run."""
        is_first = self.cursor is None
        self._statuses, self._watched = statuses, str(watched)
        self._run_lines = {str(line.folder.path): line for line in lines}
        self._list()
        if is_first:
            self.move_to(self._watched)

    def toggle_ended(self) -> None:
        """Fold or unfold the ended runs."""
        self._is_unfolded = not self._is_unfolded
        self._list()

    @property
    def line(self) -> RunLine | None:
        return self._run_lines.get(self.cursor or "")

    @property
    def strips(self) -> int:
        """Number of rows."""
        return len(self.keys)

    def _list(self) -> None:
        ended = [key for key, line in self._run_lines.items() if not line.is_begun_or_waits and key != self._watched]
        self._ended = len(ended)
        keys = [key for key in self._run_lines if key not in ended]
        keys += ended if self._is_unfolded else [_ENDED] * bool(ended)
        self._fit_columns()
        self.show(keys, draw=self._draw_run)
        self.styles.height = len(keys)

    def on_resize(self, event: events.Resize) -> None:
        self._fit_columns()

    def _fit_columns(self) -> None:
        self._layout = runs_layout(list(self._run_lines.values()), self._statuses, self.room - GUTTER)
        self.set_columns(self._layout.columns)

    def _draw_run(self, key: str) -> Face:
        if key == _ENDED:
            return ended_words(self._ended)
        line = self._run_lines.get(key)
        if line is None:
            return ()
        return run_cells(line, self._statuses.get(line.folder.path), self._layout, is_watched=key == self._watched)

    @on(RowList.RowChosen)
    def _choose_run(self, event: RowList.RowChosen) -> None:
        event.stop()
        if event.key == _ENDED:
            self.toggle_ended()
        elif (line := self._run_lines.get(event.key)) is not None:
            self.post_message(self.RunChosen(line))
