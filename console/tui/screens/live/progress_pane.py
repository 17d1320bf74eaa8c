"""Figures of a run: progress with warnings and replay clock, facts for tall screens, and the trend of scores."""

import time
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from console.insight import number_format
from console.insight.rollout import Rollout
from console.tui.data.replay_feed import SPEEDS, Replay
from console.tui.render.decision_plot import decision_lines, decision_title
from console.tui.render.progress import facts_lines, look_words_of, notice_words, progress_line
from console.tui.screens.live.controller import WatchedRun
from console.tui.suite_views.suite_view import LiveView
from console.tui.symbols import MUTED, SYMBOLS
from console.tui.widgets.titles import tell

WIDE = 120
"""Minimum width in cells for the speed history."""


def replay_line(replay: Replay, width: int) -> Content:
    """Return the status line of a replay."""
    speed = "max" if replay.speed == SPEEDS[-1] else f"×{replay.speed:.0f}"
    mark = SYMBOLS.running if replay.is_playing else SYMBOLS.stopped
    state = "playing" if replay.is_playing else "at the end, p restarts" if replay.is_at_end else "paused"
    length = replay.timeline.length_s
    head = Content.assemble((" REPLAY ", "bold reverse $undecided"), f" {mark} {state} ", (speed, "bold"), "  ")
    if not replay.is_read:
        return head.append_text("reading the journal …", MUTED)
    place = f"{number_format.duration(replay.time_s)} of {number_format.duration(length)}"
    clock = time.strftime("%d %b %H:%M:%S", time.localtime(replay.now()))
    tail = Content.assemble(f"  {place}", (f"   {clock}", MUTED), " ")
    room = max(width - head.cell_length - tail.cell_length, 0)
    done = round(room * min(replay.time_s / length, 1.0)) if length else room
    bar = Content.assemble((SYMBOLS.bar * done, "$undecided"), (SYMBOLS.rule * (room - done), "$line"))
    return head.append(bar).append(tail)


def _read_until(run: WatchedRun) -> float:
    """Return the time until which a run has been read, so that the time left does not grow while reading."""
    return run.now() if run.is_read else run.overview.fold.last_at


MOST_FACTS = 7
"""Maximum number of lines of general facts below those of a suite's own view."""


class DecisionPane(Static):
    """Estimate and boundary over the looks at a run that they may end: one line on a small screen."""

    DEFAULT_CSS = """
    DecisionPane {
        height: auto;
        display: none;
        &.-line { border: none; padding: 0 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="decision", classes="pane")

    def show_run(self, run: WatchedRun, width: int, height: int) -> None:
        """Draw the looks for a screen of this size in cells and lines; hidden for other runs."""
        plan, fold = run.manifest.looks, run.overview.fold
        is_shown = plan is not None and plan.until is not None
        if self.display is not is_shown:
            self.display = is_shown
        if plan is None or plan.until is None:
            return
        lines = 1 if height < 30 else min(height // 5, 9)
        self.set_class(lines == 1, "-line")
        self.border_title = decision_title(plan.until)
        tell(self, Content("\n").join(decision_lines(plan, fold.looks, width - 4, lines)))


class ProgressPane(Vertical):
    """The lines above the lists: replay clock, progress, and a warning if any."""

    DEFAULT_CSS = """
    ProgressPane {
        height: auto;
        #progress, #replay { height: 1; }
        #replay { display: none; }
        #notice { height: auto; max-height: 3; padding: 0 1; display: none; }
    }
    """

    def __init__(self, view: LiveView) -> None:
        super().__init__(id="figures")
        self.view = view
        self._replay = Static(id="replay")
        self._progress = Static(id="progress")
        self._notice = Static(id="notice")
        self._decision = DecisionPane()

    def compose(self) -> ComposeResult:
        yield self._replay
        yield self._progress
        yield self._notice
        yield self._decision

    def show_run(
        self, run: WatchedRun, width: int, speeds: Sequence[float | None] = (), *, nothing_live: bool = False
    ) -> None:
        """Draw progress and warning; `speeds` are tokens per second, latest last, `nothing_live` is of all runs."""
        overview = run.overview
        by_look = overview.fold.is_shown_by_look(run.manifest, live=run.is_live)
        average = look_words_of(overview, run.manifest) if by_look else self.view.average(overview, run.manifest)
        short_average = look_words_of(overview, run.manifest, with_categories=False) if by_look else None
        trend = number_format.sparkline(list(speeds), len(speeds)) if width >= WIDE and len(speeds) > 1 else ""
        line = progress_line(
            run.overview,
            run.manifest,
            live=run.is_live,
            now=_read_until(run),
            width=width,
            average=average,
            short_average=short_average,
            trend=trend,
        )
        if run.damages:
            line = line.append_text(f"   {number_format.plural(run.damages, 'unreadable line')}", "$broken")
        tell(self._progress, line)
        words = notice_words(run.overview, run.manifest, live=run.is_live, nothing_live=nothing_live)
        if bool(words) != self._notice.display:
            self._notice.display = bool(words)
        tell(self._notice, words)
        self._decision.show_run(run, width, self.screen.size.height)

    def show_replay(self, replay: Replay | None, width: int) -> None:
        """Draw the clock of a replay; None hides it."""
        if self._replay.display is (replay is None):
            self._replay.display = replay is not None
        if replay is not None:
            tell(self._replay, replay_line(replay, width))


class FactsPane(Static):
    """Tokens, cost, endpoints and scores of a run, for tall screens."""

    def __init__(self, view: LiveView) -> None:
        super().__init__(id="facts", classes="pane")
        self.view = view
        self.border_title = Content("This run")

    def show_run(self, run: WatchedRun, width: int) -> None:
        """Draw the facts, those of a suite's own view first; `width` is used until the pane is laid out."""
        if not self.display:
            return
        width = self.size.width or width
        of_suite = self.view.facts(list(run.overview.rollouts.values()), width)
        of_run = facts_lines(run.overview, run.manifest, live=run.is_live, now=_read_until(run), width=width)
        tell(self, Content("\n").join([*of_suite, *of_run[:MOST_FACTS]] if of_suite else of_run))


class TrendPane(Static):
    """The score trend of the watched conversation, if the suite's view has one."""

    def __init__(self, view: LiveView) -> None:
        super().__init__(id="trend", classes="pane")
        self.view = view
        self.border_title = Content("Against the thresholds")

    def show_rollout(self, rollout: Rollout | None, *, live: bool) -> None:
        tell(self, self.view.trend(rollout, live=live))
