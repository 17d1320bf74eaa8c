"""How conversations, failures and problems look as rows. Foreign text goes through `sanitize`."""

import time

from textual.content import Content

from console.core.case import Key
from console.insight import number_format
from console.insight.overview import Problem
from console.insight.reasons import reason_words, sentence
from console.insight.rollout import Rollout, Slot
from console.tui.render.columns import Column
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"
TAIL = 34
"""Characters of what is being said that a row shows, which is what its column has room for."""
_QUIET = frozenset({"", "queued"})

CASES = (
    Column("", 1),
    Column("case", 20, 2),
    Column("turn", 4, right=True, from_width=100),
    Column("state", 11),
    Column("says now", 20, 5),
)
FAILURES = (Column("", 1), Column("case", 20, 2), Column("why", 24, 4), Column("", 7, right=True, from_width=70))
PROBLEMS = (Column("at", 8), Column("case", 14, 2), Column("what", 30, 6))


def row_key(slot: Slot) -> str:
    """Return the list key of a rollout."""
    return f"{slot[1]}/{slot[0]}"


def slot_of(key: str) -> Slot:
    """Return the rollout of a list key."""
    rollout, _, case = key.partition("/")
    return case, int(rollout)


def key_name(key: Key, width: int = 80) -> Content:
    """Return a conversation's name: case id, with rollout and attempt where they matter."""
    return one_line(str(key), width)


def case_cells(rollout: Rollout, now: float, *, live: bool = True) -> tuple[Content, ...]:
    """Return the cells of CASES as they are at a time, seconds since the epoch."""
    done = rollout.outcome is not None
    turn = f"{rollout.turn + 1}.{rollout.step + 1}"
    return (
        state_mark(rollout, live=live),
        one_line(str(rollout.key), 120, MUTED if done else ""),
        Content.styled("" if done else turn, MUTED),
        _state_word(rollout, live),
        spoken_cell(rollout, now),
    )


def state_mark(rollout: Rollout, *, live: bool = True) -> Content:
    """Return the sign of what a rollout does or how it ended; in a run that is not live, nothing goes on."""
    if rollout.is_prepared:
        return Content.styled(SYMBOLS.prepared, MUTED)
    if rollout.outcome is not None:
        return Content.styled(SYMBOLS.of(rollout.outcome), OUTCOME_STYLES[rollout.outcome])
    if not live:
        return Content.styled(SYMBOLS.stopped, MUTED)
    if rollout.state == "waiting":
        return Content.styled(SYMBOLS.paused, "$undecided")
    return Content.styled(SYMBOLS.running, "$live" if rollout.state not in _QUIET else MUTED)


def _state_word(rollout: Rollout, live: bool) -> Content:
    if rollout.outcome is not None:
        return Content.styled(rollout.ending, MUTED if rollout.is_prepared else OUTCOME_STYLES[rollout.outcome])
    if not live:
        return Content.styled("interrupted", MUTED)
    if not rollout.state:
        return Content.styled("begun", MUTED)
    word = "runs code" if rollout.state == "running code" else rollout.state  # fits the column
    return one_line(word, 20, "$undecided" if rollout.state == "waiting" else "")


def spoken_cell(rollout: Rollout, now: float) -> Content:
    """Return why it waits, why it ended, or the end of what it says."""
    if rollout.why:
        return one_line(rollout.why, 200, "$undecided")
    if rollout.is_failure:
        return one_line(sentence(rollout.reason, rollout.subject, rollout.outcome), 200)
    if rollout.outcome is not None:
        return one_line(reason_words(rollout.reason, rollout.outcome) if rollout.reason else "", 200, MUTED)
    words = last_words(rollout.says)
    if not words and rollout.since:
        return Content.styled(f"{number_format.duration(max(now - rollout.since, 0))}", MUTED)
    return one_line(words, 200)


def last_words(text: str) -> str:
    """Return the end of a text that is being written, from a word on."""
    if len(text) <= TAIL:
        return text.replace("\n", " ").strip()
    return f"{SYMBOLS.cut} {text[-TAIL:].replace(chr(10), ' ').partition(' ')[2].strip()}"


def failure_cells(rollout: Rollout) -> tuple[Content, ...]:
    """Return the cells of FAILURES."""
    assert rollout.outcome is not None
    return (
        state_mark(rollout),
        one_line(str(rollout.key), 120),
        one_line(sentence(rollout.reason, rollout.subject, rollout.outcome), 200),
        Content.styled(number_format.duration(rollout.seconds) if rollout.seconds else "", MUTED),
    )


def problem_cells(problem: Problem) -> tuple[Content, ...]:
    """Return the cells of PROBLEMS."""
    then = "" if problem.wait_s is None else f", again in {problem.wait_s:.0f} s"
    words = one_line(reason_words(problem.kind), 60, "$broken" if problem.grave else "$undecided")
    case = key_name(problem.key) if problem.key is not None else Content("run")
    happened_at = Content.styled(time.strftime("%H:%M:%S", time.localtime(problem.at)), MUTED)
    return happened_at, case, words.append(one_line(f"{then}  {problem.message}", 300, MUTED))
