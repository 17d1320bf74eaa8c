"""Verdict of a loop, derived from its recorded turns."""

from typing import Any

import msgspec

from console.benchmarks.aidanbench.options import AidanOptions
from console.benchmarks.aidanbench.rules.acceptance import (
    EMPTY_ANSWER,
    LOW_COHERENCE,
    LOW_EMBEDDING_NOVELTY,
    LOW_LLM_NOVELTY,
    MAX_TURNS,
    NO_NOVELTY,
    TIE,
    UNREADABLE_JUDGE,
)
from console.benchmarks.aidanbench.rules.loop import Metrics, Turn, format_reward, measure, read_output, scores_of
from console.core.outcome import Outcome, Verdict
from console.core.ranges import is_amount

_WORDS = {
    LOW_COHERENCE: "lost coherence",
    LOW_EMBEDDING_NOVELTY: "repeated itself",
    LOW_LLM_NOVELTY: "repeated itself in the judge's eyes",
    TIE: "a score exactly at its threshold",
    EMPTY_ANSWER: "gave an empty answer",
    UNREADABLE_JUDGE: "the judge gave no readable number, twice",
    NO_NOVELTY: "the embedding had no direction, so nothing could be compared",
    MAX_TURNS: "stopped by the limit of rounds",
}


def score_loop(output: Any, options: AidanOptions) -> Verdict:
    """Judge a loop.

    A loop with an accepted answer passes; its result is the reward, which is one of the scores. An invalid output is
    broken and gets no score.
    """
    try:
        turns = read_output(output)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        return Verdict(Outcome.BROKEN, reason="data", messages=(f"the recorded loop cannot be read: {error}",))
    if not turns:
        return Verdict(Outcome.BROKEN, reason="data", messages=("the recorded loop has no turn",))
    metrics = measure([scores_of(turn) for turn in turns], options.rule, options.max_turns)
    return Verdict(
        outcome=_outcome(metrics),
        reason=metrics.reason or MAX_TURNS,
        messages=(f"{metrics.accepted} accepted; {_ending(metrics, options)}",),
        scores=_scores(metrics, turns[: metrics.turns], options) if metrics.decided else {},
        detail={"accepted": metrics.accepted, "turns": metrics.turns, "official_reason": metrics.reason},
    )


def _ending(metrics: Metrics, options: AidanOptions) -> str:
    if metrics.reason or options.max_turns is None:
        return reason_words(metrics.reason or MAX_TURNS)
    return f"stopped by the limit of {options.max_turns} rounds"


def reason_words(reason: str) -> str:
    """Return a termination reason as text, with combined reasons joined by `and`."""
    return " and ".join(_WORDS.get(part, part) for part in reason.split(",") if part)


def _outcome(metrics: Metrics) -> Outcome:
    if not metrics.decided:
        return Outcome.UNDECIDED
    return Outcome.PASSED if metrics.accepted else Outcome.FAILED


def _scores(metrics: Metrics, turns: list[Turn], options: AidanOptions) -> dict[str, float]:
    """Return the metrics under the reference's documented names, except those that a record cannot store."""
    numbers = {
        "reward": metrics.reward(options.reward_mode),
        "aidanbench_score": metrics.aidanbench_score,
        "format_reward": format_reward(turns),
        "avg_coherence": metrics.avg_coherence,
        "avg_embedding_novelty": metrics.avg_embedding_novelty,
        "sum_embedding_novelty": metrics.sum_embedding_novelty,
        "avg_llm_novelty": metrics.avg_llm_novelty,
    }
    return {name: value for name, value in numbers.items() if is_amount(value)}
