"""The runs that are live beside the one on the screen: how far, how good, how fast, and why one waits. Enter switches.

Counts come from the journals, as the workspace reads them; what only an engine knows comes from a connection that asks
for its state and no text, so that ten runs cost no more than their figures.
"""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from pathlib import Path

from textual import on
from textual.content import Content

from console.core.live import Command, Status
from console.core.run import Summary
from console.engine.attach import EngineLink
from console.insight import number_format
from console.tui.actions import Action
from console.tui.data.catalog_items import RunLine
from console.tui.render.progress import outcome_counts
from console.tui.render.run_states import state_word
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.live.replay_controls import Replaying
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import Column, RowList

MUTED = "$muted"
RETRY_S = 2.0
"""How long after a refused connection it is tried again."""


def run_columns(lines: Sequence[RunLine]) -> tuple[Column, ...]:
    """Return the columns for these runs: none is wider than they need, and money only where some is spent."""
    done = max((len(_done(line.summary)) for line in lines if line.summary), default=4)
    is_paid = any(line.summary and (line.summary.tally.cost_usd or not line.summary.simulated) for line in lines)
    return (
        Column("", 1),
        Column("run", 14, 4),
        Column("done", max(done, 4), right=True),
        Column("score", 11),
        Column("outcomes", 20, from_width=110),
        Column("tok/s", 5, right=True, from_width=74),
        *[Column("cost", 7, right=True)] * is_paid,
        Column("left", 6, right=True),
        Column("state", 9, 2),
    )


def run_cells(line: RunLine, status: Status | None, *, name: Content, is_paid: bool) -> tuple[Content, ...]:
    """Return the cells of `run_columns`.

    Args:
        line: the run as its journal tells it.
        status: what its engine says of itself; None: no engine, or it has not answered yet.
        name: what tells the run from the others.
        is_paid: whether there is a column for money.
    """
    summary = line.summary
    if summary is None:
        mistake = one_line(line.mistake, 200, "$broken")
        return (
            Content.styled(SYMBOLS.broken, "$broken"),
            one_line(line.name, 60),
            *[Content.empty()] * (5 + is_paid),
            mistake,
        )
    tally = summary.tally
    cost = [Content("free" if summary.simulated and not tally.cost_usd else number_format.spent(tally))] * is_paid
    return (
        _mark(line),
        name,
        Content(_done(summary)),
        Content.styled(number_format.headline(summary), "bold"),
        outcome_counts(tally),
        Content.styled(_speed(line, summary), MUTED),
        *cost,
        Content(_left(line, summary)),
        state_and_waits(line, status),
    )


def _mark(line: RunLine) -> Content:
    if line.is_live:
        return Content.styled(SYMBOLS.running, "$live")
    begins = line.state in ("starting", "queued")
    return Content.styled(SYMBOLS.not_ready, "$live") if begins else Content.styled(SYMBOLS.stopped, MUTED)


def _done(summary: Summary) -> str:
    return (
        f"{number_format.count(summary.tally.finished + summary.tally.not_run)}/{number_format.count(summary.planned)}"
    )


def _speed(line: RunLine, summary: Summary) -> str:
    """Return output tokens a second over the run so far, of finished rollouts."""
    if not line.is_live or not summary.seconds or not summary.tally.output_tokens:
        return ""
    return number_format.count(summary.tally.output_tokens / summary.seconds)


def _left(line: RunLine, summary: Summary) -> str:
    """Return about how long it will take, if the rest is like what has ended."""
    tally = summary.tally
    left = summary.planned - tally.finished - tally.not_run
    if not line.is_live or not tally.finished or left <= 0 or not summary.seconds:
        return ""
    return f"≈{number_format.duration(summary.seconds / tally.finished * left)}"


def state_and_waits(line: RunLine, status: Status | None) -> Content:
    """Return what a run does, and why it waits where it does: message, limiter, or its place in the queue."""
    if status is None or not line.is_live:
        return state_word(line.state)
    if status.message:
        return one_line(status.message, 200, "$broken")
    for endpoint in status.endpoints:
        if endpoint.why:
            return one_line(f"{endpoint.why}, {endpoint.waiting or endpoint.in_flight} wait", 200, "$undecided")
    flying = sum(endpoint.in_flight for endpoint in status.endpoints)
    limit = sum(endpoint.limit for endpoint in status.endpoints)
    if status.state != "running":
        return state_word(status.state)
    return Content.styled(f"{flying} of {limit} calls" if limit else "running", MUTED)


def names_apart(lines: Sequence[RunLine]) -> tuple[str, list[Content]]:
    """Return what all runs have in common, and for each what tells it apart: its model, suite, or both."""
    labels = [line.label for line in lines]
    models = [line.summary.model if line.summary else "" for line in lines]
    if len(set(models)) > 1 and len(set(labels)) == 1:
        return labels[0], [one_line(model, 60) for model in models]
    if len(set(labels)) > 1 and len(set(models)) == 1:
        return models[0], [one_line(label, 60) for label in labels]
    both = zip(labels, models, strict=True)
    return "", [Content.assemble(one_line(label, 40), (" / ", MUTED), one_line(model, 40)) for label, model in both]


def _how_many(lines: Sequence[RunLine]) -> str:
    """Return how many run, wait and have ended; none of a kind is not said."""
    live = sum(line.is_live for line in lines)
    begin = sum(line.state == "starting" for line in lines)
    queued = sum(line.is_queued for line in lines)
    kinds = ((live, "live"), (begin, "starting"), (queued, "queued"), (len(lines) - live - begin - queued, "ended"))
    return ", ".join(f"{number} {kind}" for number, kind in kinds if number)


class LiveRunGlances:
    """What the engines of several runs say of themselves, each over a connection without text."""

    def __init__(self) -> None:
        """Look at none."""
        self.statuses: dict[Path, Status] = {}
        self._looking: dict[Path, asyncio.Task[None]] = {}

    def look_at(self, paths: Collection[Path]) -> None:
        """Look at exactly these runs from now on."""
        for path in [path for path in self._looking if path not in paths]:
            self._looking.pop(path).cancel()
            self.statuses.pop(path, None)
        for path in paths:
            if path not in self._looking:
                self._looking[path] = asyncio.get_running_loop().create_task(self._look(path), name="glance")

    async def _look(self, path: Path) -> None:
        while True:
            link = await EngineLink.connect(path)
            if link is not None:
                link.send(Command("state_only"))
                with contextlib.suppress(OSError):
                    try:
                        async for frame in link.frames():
                            if isinstance(frame, Status):
                                self.statuses[path] = frame
                    finally:
                        link.close()
                self.statuses.pop(path, None)
            await asyncio.sleep(RETRY_S)


class LiveRunList(RowList):
    """The list of runs; shown as soon as there is more than one."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(run_columns(()), id="beside", classes="pane", names=True, quiet=True)


class LiveRuns(Replaying):
    """Shows the runs beside this one and goes to them; see the module."""

    _glances: LiveRunGlances | None = None
    _beside: dict[str, RunLine]
    _names: dict[str, Content]

    def on_mount(self) -> None:
        """Follow the runs that the app knows of."""
        self._beside, self._names, self._glances = {}, {}, LiveRunGlances()
        self.services.workspace.changed.subscribe(self, self._take_runs)

    def on_unmount(self) -> None:
        """Look at no other run any more."""
        if self._glances is not None:
            self._glances.look_at(())

    def on_screen_resume(self) -> None:
        """Catch up with what began and ended meanwhile."""
        self._take_runs("runs")

    def on_screen_suspend(self) -> None:
        """Ask the other engines nothing while nobody looks."""
        if self._glances is not None:
            self._glances.look_at(())

    def runs_beside(self) -> Sequence[RunLine]:
        """Return this run and what is live, waits, or was started from here, in the order of their names."""
        started = {run.path for run in self.services.navigator.launched}
        here = self.run_folder.path
        found = [
            line
            for line in self.services.workspace.runs or ()
            if line.is_live or line.state in ("queued", "starting") or line.folder.path == here
            or line.folder.path in started
        ]  # fmt: skip
        return sorted(found, key=lambda line: line.name)

    def _take_runs(self, what: str) -> None:
        if what != "runs" or self._glances is None or not self.is_current:
            return
        lines = self.runs_beside()
        alone = len(lines) < 2
        self._beside = {} if alone else {str(line.folder.path): line for line in lines}
        self._glances.look_at([] if alone else [line.folder.path for line in lines if line.is_live])
        beside = self.query_one(LiveRunList)
        if self.has_class("-among") == alone:
            self.set_class(not alone, "-among")
            self.refresh_keys()
        if not alone:
            before = beside.cursor
            beside.styles.height = len(lines) + 1 + 2 * self.has_class("-wide")
            shared, names = names_apart(lines)
            self._names = dict(zip(self._beside, names, strict=True))
            beside.set_columns(run_columns(lines))
            beside.show(list(self._beside), draw=self._draw_run)
            if before is None:
                beside.move_to(str(self.run_folder.path))
            head = Content.assemble("Runs", (f"  {_how_many(lines)}   ", MUTED), one_line(shared, 60, MUTED))
            self.query_one("#beside-caption", PaneTitle).tell(
                head, Content.styled("enter watches  [ ] other run", MUTED)
            )

    def _draw_run(self, key: str) -> tuple[Content, ...]:
        line = self._beside.get(key)
        if line is None or self._glances is None:
            return ()
        is_paid = any(column.name == "cost" for column in self.query_one(LiveRunList).columns)
        name = self._names[key].stylize("bold") if line.folder.path == self.run_folder.path else self._names[key]
        return run_cells(line, self._glances.statuses.get(line.folder.path), name=name, is_paid=is_paid)

    @on(RowList.RowChosen, "#beside")
    def _run_chosen(self, event: RowList.RowChosen) -> None:
        if (line := self._beside.get(event.key)) is not None:
            self._go_to(line)

    def action_run_next(self) -> None:
        """Watch the next run."""
        self._step(1)

    def action_run_prev(self) -> None:
        """Watch the previous run."""
        self._step(-1)

    def _step(self, by: int) -> None:
        lines = [line for line in self._beside.values() if line.state != "queued"]
        places = [place for place, line in enumerate(lines) if line.folder.path == self.run_folder.path]
        if len(lines) < 2 or not places:
            self.services.notify(Content("No other run is live. L starts one."))
        else:
            self._go_to(lines[(places[0] + by) % len(lines)])

    def _go_to(self, line: RunLine) -> None:
        if line.state == "queued":
            self.services.notify(Content("This run waits in the queue; it can be watched once it is played."))
        elif line.folder.path != self.run_folder.path:
            self.services.navigator.open_live(line.folder)

    def run_words(self) -> dict[str, str]:
        """Name the keys of the list only where there is one."""
        return {} if self._beside_is_shown else {"run.next": ""}

    @property
    def _beside_is_shown(self) -> bool:
        return self._glances is not None and bool(self._beside)

    def why_not_steer(self, action: Action) -> str:
        """Return why an action cannot act now."""
        if action.id in ("run.next", "run.prev") and not self._beside_is_shown:
            return "no other run is live"
        return super().why_not_steer(action)
