"""Prepares a loop for review: its answers, and the final one next to the one it resembles."""

from collections.abc import Sequence
from typing import Any

import msgspec

from console.benchmarks.aidanbench.options import AidanOptions
from console.benchmarks.aidanbench.rules.acceptance import (
    EMPTY_ANSWER,
    LOW_EMBEDDING_NOVELTY,
    LOW_LLM_NOVELTY,
    MAX_TURNS,
    NO_NOVELTY,
    TIE,
    UNREADABLE_JUDGE,
)
from console.benchmarks.aidanbench.rules.loop import Number, Turn, from_json, read_output
from console.benchmarks.aidanbench.rules.score import reason_words
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Verdict

_HINTS = {
    EMPTY_ANSWER: "Any text inside the answer tags would have been judged.",
    UNREADABLE_JUDGE: "Retry the case, or choose a judge that keeps to the format.",
    NO_NOVELTY: "Retry the case, or choose another embedding model.",
    TIE: "A score has to be greater than its threshold; this one is equal.",
}


def compare(output: Any, verdict: Verdict, options: AidanOptions) -> Comparison:
    """Compare the answers of a loop with the thresholds, and the last one with the earlier answer it resembles."""
    reason = verdict.reason or ""
    try:
        turns = read_output(output)
    except (msgspec.ValidationError, ValueError, TypeError):
        return Comparison(sentence="the loop was not recorded completely", raw=repr(output)[:2000])
    accepted = sum(turn.accepted is True for turn in turns)
    ending = _limit_words(options.max_turns) if reason == MAX_TURNS else reason_words(reason)
    return Comparison(
        sentence=f"{ending} after {accepted} accepted answer{'' if accepted == 1 else 's'}",
        pairs=tuple(_pair(turns, number, options) for number in range(len(turns))),
        rule=_rule(reason, options.max_turns),
        hint=_HINTS.get(reason, ""),
    )


def colliding_turns(turns: Sequence[Turn]) -> tuple[int, int] | None:
    """Return the turns of the two answers whose similarity ended the loop, in order; None for any other ending."""
    if not turns:
        return None
    last = turns[-1]
    reasons = last.reason.split(",")
    if LOW_EMBEDDING_NOVELTY in reasons and last.nearest is not None:
        return last.nearest, len(turns) - 1
    if LOW_LLM_NOVELTY in reasons and last.llm_nearest is not None:
        return last.llm_nearest, len(turns) - 1
    return None


def _pair(turns: Sequence[Turn], number: int, options: AidanOptions) -> Pair:
    turn = turns[number]
    collision = colliding_turns(turns)
    collides = collision is not None and collision[1] == number
    earlier = turns[collision[0]].answer if collision and collides else ""
    return Pair(
        mark=Mark.SAME if turn.accepted else Mark.DIFFERS,
        expected=earlier,
        actual=turn.answer,
        rows=tuple(_rows(turn, options)),
        note=_note(turn, collision if collides else None),
        turn=number,
    )


def _rows(turn: Turn, options: AidanOptions) -> list[Row]:
    limits = options.thresholds
    rows = [
        _row("coherence", turn.coherence, limits.coherence_score, judge_words(turn)),
        _row("novelty", turn.novelty, limits.embedding_dissimilarity_score, _nearest_words(turn)),
    ]
    if options.use_llm_similarity:
        rows.append(_row("llm_novelty", turn.llm_novelty, limits.llm_dissimilarity_score, ""))
    return [] if turn.reason == EMPTY_ANSWER else rows


def _row(name: str, value: Number, limit: float, note: str) -> Row:
    number = from_json(value)
    passes = number is not None and number > limit
    mark = Mark.MISSING if number is None else Mark.SAME if passes else Mark.DIFFERS
    actual = None if number is None else f"{number:.6g}"
    return Row(mark, name, expected=(f"> {limit:g}",), actual=actual, note=note, decisive=not passes)


def judge_words(turn: Turn) -> str:
    """Return the judge's last reply about a turn."""
    return turn.judge[-1] if turn.judge else ""


def _nearest_words(turn: Turn) -> str:
    likeness = from_json(turn.similarity)
    if turn.nearest is None or likeness is None:
        return "the first answer"
    return f"nearest: answer {turn.nearest + 1}, {likeness:.3f} alike"


def _note(turn: Turn, collision: tuple[int, int] | None) -> str:
    if turn.accepted:
        return ""
    words = reason_words(turn.reason)
    return f"{words}: too much like answer {collision[0] + 1}" if collision else words


def _rule(reason: str, most: int | None) -> str:
    if reason != MAX_TURNS:
        return reason
    return f"{_limit_words(most)}; the reference leaves its reason empty"


def _limit_words(most: int | None) -> str:
    limit = f"the limit of {most} rounds" if most is not None else "the limit of rounds"
    return f"stopped by {limit}"
