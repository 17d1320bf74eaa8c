"""Rows of Live's lists: conversations, failures, problems, and live runs."""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from console.core.case import Key, Slot
from console.core.live import EndpointState, Status, slowed_words
from console.core.run import Summary
from console.core.wait import wait_words
from console.insight import number_format
from console.insight.overview import Problem
from console.insight.reasons import reason_words, sentence
from console.insight.rollout import Rollout
from console.tui.data.runs import RunLine
from console.tui.render import lines
from console.tui.render.columns import GAP, Column, Face
from console.tui.render.lines import stacked
from console.tui.render.progress import is_stalled, lost_words, outcome_words, time_left
from console.tui.render.row_cells import bare_score, score_words, suite_and_name
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, muted, outcome_counts, outcome_sign, state_word

TAIL = 34
"""Maximum number of characters of streamed text in a row, limited by its column's width."""
_QUIET = frozenset({"", "queued"})
_SHORTER_STATES = {"running code": "runs code", "user writing": "user writes"}
"""Words short enough for the column of states."""

CASES = (
    Column("", 1),
    Column("case", 20, 5, is_name=True),
    Column("turn", 4, right=True, from_width=60),
    Column("state", 11),
    Column("says now", 20, 5, worth=16),
)
FAILURES = (
    Column("", 1),
    Column("case", 20, 2, is_name=True),
    Column("why", 24, 4),
    Column("", 7, right=True, from_width=44),
)
PROBLEMS = (Column("at", 8), Column("case", 14, 2, is_name=True), Column("what", 30, 6))


def row_key(slot: Slot) -> str:
    """Return the row key of a rollout."""
    return f"{slot[1]}/{slot[0]}"


def slot_of(key: str) -> Slot:
    """Return the rollout of a row key."""
    rollout, _, case = key.partition("/")
    return case, int(rollout)


def case_cells(rollout: Rollout, now: float, *, live: bool = True) -> tuple[Content, ...]:
    """Return the cells of CASES at the time `now`, in seconds since the epoch."""
    done = rollout.outcome is not None
    turn = f"{rollout.turn + 1}.{rollout.step + 1}"
    return (
        state_mark(rollout, live=live),
        one_line(str(rollout.key), lines.LONGEST_ID, MUTED if done else ""),
        muted("" if done else turn),
        _state_word(rollout, live),
        spoken_cell(rollout, now),
    )


def repeat_words(key: Key) -> str:
    """Return the name of a rollout below the name of its case: `repeat 2`, or `repeat 2 attempt 3`."""
    return f"repeat {key.rollout + 1}" + str(Key("", attempt=key.attempt))


def state_mark(rollout: Rollout, *, live: bool = True) -> Content:
    """Return the symbol of a rollout's outcome or current state; `live` is True if its run is live."""
    if rollout.is_setup:
        return muted(SYMBOLS.setup)
    if rollout.outcome is not None:
        return outcome_sign(rollout.outcome)
    if not live:
        return muted(SYMBOLS.stopped)
    if rollout.state == "waiting":
        return Content.styled(SYMBOLS.paused, "$undecided")
    return Content.styled(SYMBOLS.running, "$live" if rollout.state not in _QUIET else MUTED)


def _state_word(rollout: Rollout, live: bool) -> Content:
    if rollout.outcome is not None:
        return Content.styled(rollout.ending, MUTED if rollout.is_setup else OUTCOME_STYLES[rollout.outcome])
    if not live:
        return muted("interrupted")
    if not rollout.state:
        return muted("begun")
    word = _SHORTER_STATES.get(rollout.state, rollout.state)
    return one_line(word, 20, "$undecided" if rollout.state == "waiting" else "")


def spoken_cell(rollout: Rollout, now: float) -> Content:
    """Return the reason for waiting or ending, else the end of the streamed text or the time in the state."""
    if rollout.why:
        return one_line(rollout.why, 200, "$undecided")
    if rollout.is_failure:
        return one_line(sentence(rollout.reason, rollout.subject, rollout.outcome), 200)
    if rollout.outcome is not None:
        return one_line(reason_words(rollout.reason, rollout.outcome) if rollout.reason else "", 200, MUTED)
    words = last_words(rollout.recent_text)
    if not words and rollout.since:
        return muted(f"{number_format.duration(max(now - rollout.since, 0))}")
    return one_line(words, 200)


def last_words(text: str) -> str:
    """Return the tail of streamed text, starting with a whole word."""
    if len(text) <= TAIL:
        return text.replace("\n", " ").strip()
    return f"{SYMBOLS.cut} {text[-TAIL:].replace(chr(10), ' ').partition(' ')[2].strip()}"


def failure_cells(rollout: Rollout) -> tuple[Content, ...]:
    """Return a failed rollout's cells for the columns `FAILURES`."""
    assert rollout.outcome is not None
    return (
        state_mark(rollout),
        one_line(str(rollout.key), lines.LONGEST_ID),
        one_line(sentence(rollout.reason, rollout.subject, rollout.outcome), 200),
        muted(number_format.duration(rollout.seconds) if rollout.seconds else ""),
    )


def failing_cells(text: str) -> tuple[Content, ...]:
    """Return the cells of PROBLEMS for requests that keep failing at present."""
    return muted("now"), Content("run"), one_line(text, 120, "$undecided")


def problem_cells(problem: Problem) -> tuple[Content, ...]:
    """Return a problem's cells for the columns `PROBLEMS`."""
    then = "" if problem.wait_s is None else f", again in {wait_words(problem.wait_s)}"
    words = one_line(reason_words(problem.kind), 60, "$broken" if problem.is_error else "$undecided")
    case = one_line(str(problem.key), 80) if problem.key is not None else Content("run")
    happened_at = muted(time.strftime("%H:%M:%S", time.localtime(problem.at)))
    return happened_at, case, words.append(one_line(f"{then}  {problem.message}", 300, MUTED))


def has_costs(lines: Sequence[RunLine]) -> bool:
    """Return whether any of the runs costs money."""
    return any(line.summary and (line.summary.tally.cost_usd or not line.summary.simulated) for line in lines)


_RESUMES = " · r resumes"
_MOST_MODEL = 14
"""Maximum width of the column of models."""
_ENOUGH_SUITE, _LEAST_SUITE = 24, 8
"""Widths of the column of suites for which words, and then what a score is based on, are left out."""
ROOM_FOR_FIGURES = 110
"""Minimum list width for a separate column per number."""


@dataclass(frozen=True, slots=True)
class RunsLayout:
    """Layout of the list of runs, the same for all of them."""

    columns: tuple[Column, ...] = ()
    is_wide: bool = True
    """True for a separate column per number; otherwise outcomes and number of cases share one."""
    with_cost: bool = False
    brevity: int = 0
    """Degree to which words and what a score is based on are left out, so that no number and no suite is cut."""

    @property
    def with_keys(self) -> bool:
        """True if a run that can be resumed names the key."""
        return self.brevity < 2

    @property
    def requests(self) -> str:
        """Unit of the requests in flight."""
        return ("requests" if self.is_wide else "req.", "req.", "", "")[self.brevity]

    @property
    def with_zeros(self) -> bool:
        """True if outcomes that did not occur are counted too."""
        return self.brevity < 1

    @property
    def most_state(self) -> int:
        """Width of the state, such as the reason for waiting, that other columns make room for."""
        return (40, 24, 18, 18)[self.brevity]

    @property
    def with_basis(self) -> bool:
        """True if a score is followed by the rollouts that it is based on."""
        return self.brevity < 3


_BREVITIES = 4


def runs_layout(runs: Sequence[RunLine], statuses: Mapping[Path, Status], width: int) -> RunsLayout:
    """Return the layout for these runs: columns fitted to their contents, with the fewest words left out."""
    layout = RunsLayout()
    for brevity in range(_BREVITIES):
        is_wide = width >= ROOM_FOR_FIGURES
        layout = RunsLayout(is_wide=is_wide, with_cost=is_wide and has_costs(runs), brevity=brevity)
        names = [name for name in (_WIDE if is_wide else _NARROW) if name != "cost" or layout.with_cost]
        rows = [_cells(line, line.summary, statuses.get(line.folder.path), layout) for line in runs if line.summary]
        widths = [max(len(name), *(row[place].cell_length for row in rows), 0) for place, name in enumerate(names)]
        widths[1], widths[-1] = min(widths[1], _MOST_MODEL), min(widths[-1], layout.most_state)
        longest_suite = widths[2]
        rest = width - sum(widths) + longest_suite - len(GAP) * (len(widths) - 1)
        widths[2] = max(min(longest_suite, rest), _LEAST_SUITE)
        widths[-1] += max(rest - widths[2], 0)
        columns = (
            Column(name, fitted, right=name in _RIGHT, is_name=name in ("model", "suite"))
            for name, fitted in zip(names, widths, strict=True)
        )
        layout = dataclasses.replace(layout, columns=tuple(columns))
        if rest >= min(longest_suite, _ENOUGH_SUITE if brevity < 2 else _LEAST_SUITE):
            break
    return layout


_NARROW = ("", "model", "suite", "done", "score", "ETA", "state")
_WIDE = ("", "model", "suite", "done", "score", "outcomes", "tok/s", "cost", "ETA", "state")
_RIGHT = frozenset({"tok/s", "cost", "ETA"})


def run_cells(line: RunLine, status: Status | None, layout: RunsLayout, *, is_watched: bool = False) -> Face:
    """Return the cells of a run, or a single line if it cannot be read."""
    if line.summary is None:
        _, model, suite, *_ = layout.columns
        name = lines.fit_name(one_line(line.name, lines.LONGEST_ID), model.width + len(GAP) + suite.width)
        mark = Content.styled(SYMBOLS.broken, "$broken")
        return Content(GAP).join([mark, name, one_line(line.mistake, 200, "$broken")])
    mark, model, *cells = _cells(line, line.summary, status, layout)
    cells = (mark, model.stylize("bold") if is_watched else model, *cells)
    return cells if line.is_begun_or_waits else tuple(cell.stylize(MUTED) for cell in cells)


def _cells(line: RunLine, summary: Summary, status: Status | None, layout: RunsLayout) -> tuple[Content, ...]:
    tally = summary.tally
    is_stuck = line.is_live and is_stalled(status, summary.seconds, tally.finished, summary.updated)
    words = score_words(summary)
    score = Content.styled(words if layout.with_basis else bare_score(words), "bold")
    start = (_mark(line), one_line(summary.model, lines.LONGEST_ID), suite_and_name(line))
    end = (Content("–" if is_stuck else _time_left(line, summary)), state_and_waits(line, status, layout))
    if not layout.is_wide:
        return *start, _counts_of(summary), score, *end
    is_free = number_format.is_free(tally, summary.simulated_note)
    cost = [Content("free" if is_free else number_format.spent_amount(tally))] * layout.with_cost
    outcomes = outcome_words(tally, with_setup=False, with_zeros=layout.with_zeros)
    return *start, Content(_done(summary)), score, outcomes, muted(_speed(line, summary)), *cost, *end


def _counts_of(summary: Summary) -> Content:
    """Return counts and the total, `✓3 ✗56 ·7 of 258` with 7 not run; before the first, the progress of the setup."""
    tally = summary.tally
    if summary.setup and tally.done <= 0:
        return muted(f"setup {number_format.count(tally.setup_done)}/{number_format.count(summary.setup)}")
    counts = [*outcome_counts(tally), (SYMBOLS.not_run, tally.not_run, MUTED)]
    cells = [Content.styled(f"{mark}{number_format.count(count)}", style) for mark, count, style in counts if count]
    cells = cells or [muted("0")]
    return Content(" ").join([*cells, muted(f"of {number_format.count(summary.planned_cases)}")])


def _mark(line: RunLine) -> Content:
    if line.is_live:
        return Content.styled(SYMBOLS.running, "$live")
    if line.state in ("starting", "queued"):
        return Content.styled(SYMBOLS.not_ready, "$live")
    return muted(SYMBOLS.passed if line.state == "completed" else SYMBOLS.stopped)


def _done(summary: Summary) -> str:
    return number_format.done(summary.tally, summary.planned, summary.setup)


def _speed(line: RunLine, summary: Summary) -> str:
    """Return output tokens per second over the run so far, from finished rollouts."""
    if not line.is_live or not summary.seconds or not summary.tally.output_tokens:
        return ""
    return number_format.count(summary.tally.output_tokens / summary.seconds)


def _time_left(line: RunLine, summary: Summary) -> str:
    left = summary.planned - summary.tally.done - summary.tally.setup_done
    return time_left(summary.seconds_per_rollout, left) if line.is_live else ""


def state_and_waits(line: RunLine, status: Status | None, layout: RunsLayout) -> Content:
    """Return a run's state: the engine's message, lost workers and waits, or requests in flight."""
    if line.can_resume:
        return state_word(line.state).append(_RESUMES * layout.with_keys)
    if status is None or not line.is_live:
        return state_word(line.state)
    if status.message:
        return one_line(status.message, 200, "$broken")
    lost = lost_words(status)
    for endpoint in status.endpoints:
        if endpoint.why:
            return stacked(
                [lost, one_line(_wait_words(endpoint, status.waiting, wide=layout.is_wide), 200, "$undecided")]
            )
    if lost:
        return lost
    in_flight = sum(endpoint.in_flight for endpoint in status.endpoints)
    limit = sum(endpoint.limit for endpoint in status.endpoints)
    if slowed := slowed_words(status.endpoints):
        return Content.styled(slowed, "$undecided")
    if status.state != "running":
        return state_word(status.state)
    return muted(f"{in_flight}/{limit} {layout.requests}".rstrip() if limit else "running")


def _wait_words(endpoint: EndpointState, waiting: int, *, wide: bool) -> str:
    if endpoint.is_batched:
        return f"{number_format.count(endpoint.in_flight)} in batches"
    if not waiting:
        return endpoint.why
    return f"{waiting} wait: {endpoint.why}" if wide else f"{waiting}× {endpoint.why}"


def ended_words(count: int) -> Content:
    """Return the line that stands for all ended runs."""
    return muted(f"{count} ended (E shows them)")
