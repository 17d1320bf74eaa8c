"""A loop as a row of Live: its round, its last scores, the course of its novelty, and what it does. Pure."""

from textual.content import Content

from console.insight import number_format
from console.insight.rollout import Rollout, Track
from console.tui.render.columns import Column
from console.tui.render.rollout_rows import last_words, spoken_cell, state_mark
from console.tui.render.symbols import MUTED, SYMBOLS, muted, spark
from console.tui.sanitize import one_line
from console.tui.suite_views.aidanbench.loops import answer_so_far, rounds_left

SOON_ROUNDS = 3
"""A score that at its pace meets its threshold in fewer rounds is marked as falling."""
NOVELTY_WIDTH = 13
_OTHER_ROLES = frozenset({"judging", "embedding"})
"""What other models than the examined one do."""
LOOP_COLUMNS = (
    Column("", 1),
    Column("#", 3, right=True),
    Column("question", 20, 4),
    Column("round", 5, right=True),
    Column("coh", 4, right=True),
    Column("nov", 4, right=True),
    Column("novelty", NOVELTY_WIDTH),
    Column("says now", 10, 4),
)


def loop_cells(rollout: Rollout, now: float, *, live: bool = True) -> tuple[Content, ...]:
    """Return the cells of LOOP_COLUMNS as they are at a time."""
    novelty = rollout.tracks.get("novelty", Track())
    return (
        state_mark(rollout, live=live),
        muted(str(rollout.order + 1)),
        one_line(rollout.title or str(rollout.key), 200),
        Content(str(len(novelty.values)) if novelty.values else ""),
        _score_cell(rollout.tracks.get("coherence")),
        _score_cell(novelty, falls=live and rollout.is_running),
        Content.styled(spark(novelty.values, NOVELTY_WIDTH, 1.0), "$live"),
        _now_cell(rollout, now, live),
    )


def _score_cell(track: Track | None, *, falls: bool = False) -> Content:
    """Return the last value; marked when it is too low, and if `falls` matters, when it will soon be."""
    if track is None or not track.values:
        return Content("")
    if track.last is None:
        return Content.styled("?", "$undecided")
    low = track.threshold is not None and track.last <= track.threshold
    left = rounds_left(track.values, track.threshold) if falls and not low else None
    if left is not None and left < SOON_ROUNDS:
        return Content.styled(f"▾{number_format.number(track.last)}", "bold $undecided")
    return Content.styled(
        f"{SYMBOLS.failed if low else ''}{number_format.number(track.last)}", "bold $fail" if low else ""
    )


def _now_cell(rollout: Rollout, now: float, live: bool) -> Content:
    """Return what a loop does in words, else its own words; once it has ended, why."""
    if live and rollout.is_running and not rollout.why:
        word = rollout.state if rollout.state in _OTHER_ROLES else ""
        if word or not rollout.says:
            spent = number_format.duration(max(now - rollout.since, 0)) if rollout.since and not word else ""
            return one_line(f"{word or rollout.state or 'begun'} {spent or f'round {rollout.turn + 1}'}", 60, MUTED)
        return one_line(last_words(answer_so_far(rollout.says)), 200)
    return spoken_cell(rollout, now)
