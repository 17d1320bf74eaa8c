"""`check aidanbench`: one conformance line in, our verdict out. Offline, no dataset needed, expectations ignored."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from console.core.fault import UsageError
from console.suites.aidanbench import novelty, reply_tags
from console.suites.aidanbench.loop import Metrics, measure, to_json
from console.suites.aidanbench.rules import Rule, Scores, Thresholds

Row = Mapping[str, Any]


def check_line(row: Row) -> dict[str, Any]:
    """Judge one line.

    Args:
        row: a line of kind `loop`, `verdict`, `answer`, `coherence`, `similarity`, `format` or `novelty`.

    Raises:
        UsageError: the kind is unknown, or a field is missing or of the wrong type.
    """
    kind = row.get("kind")
    judge = _KINDS.get(kind) if isinstance(kind, str) else None
    name = "case" if "case" in row else "id"
    if judge is None:
        raise UsageError(f"unknown kind {kind!r}", where=str(row.get(name, "")), hint=f"Known: {', '.join(_KINDS)}.")
    try:
        return {name: row.get(name), **judge(row)}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"line of kind {kind} cannot be read: {error!r}", where=str(row.get(name, ""))) from error


def _loop(row: Row) -> dict[str, Any]:
    answers = [_scores(answer, index) for index, answer in enumerate(row["answers"])]
    metrics: Metrics = measure(answers, _rule(row), row.get("max_turns"))
    return {
        "turns": metrics.turns,
        "stopped_at": metrics.stopped_at,
        "reason": metrics.reason,
        "accepted": metrics.accepted,
        "aidanbench_score": to_json(metrics.aidanbench_score),
        "avg_coherence": to_json(metrics.avg_coherence),
        "avg_embedding_novelty": to_json(metrics.avg_embedding_novelty),
        "sum_embedding_novelty": to_json(metrics.sum_embedding_novelty),
        "avg_llm_novelty": to_json(metrics.avg_llm_novelty),
    }


def _scores(answer: Row, index: int) -> Scores:
    """Read the scores of an answer; the first has nothing before it, so its novelties are 1.0 whatever is recorded."""
    if index == 0:
        return Scores(_real(answer["c"]), 1.0, 1.0)
    return Scores(_real(answer["c"]), _without_rounding(_real(answer["e"])), _real(answer.get("l", 1.0)))


def _without_rounding(novelty: float) -> float:
    """Take a recorded novelty a hair below zero as zero: it is the rounding of a cosine of one, which none exceeds."""
    return 0.0 if -1e-9 < novelty < 0.0 else novelty


def _verdict(row: Row) -> dict[str, Any]:
    decision = _rule(row).decide(Scores(_real(row["c"]), _real(row["e"]), _real(row.get("l", 1.0))))
    return {"accepted": decision.accepted, "reason": decision.reason}


def _answer(row: Row) -> dict[str, Any]:
    return {"value": reply_tags.answer_of(row["text"])}


def _coherence(row: Row) -> dict[str, Any]:
    return {"value": to_json(reply_tags.strict_coherence(row["text"]))}


def _similarity(row: Row) -> dict[str, Any]:
    return {"value": to_json(reply_tags.strict_similarity(row["text"]))}


def _format(row: Row) -> dict[str, Any]:
    replies = [message.get("content") or "" for message in row["messages"] if message.get("role") == "assistant"]
    return {"value": reply_tags.format_reward(replies)}


def _novelty(row: Row) -> dict[str, Any]:
    try:
        value = novelty.novelty(row["new"], row["previous"])
    except ValueError as error:
        return {"novelty": None, "error": str(error)}
    return {"novelty": None if math.isnan(value) else to_json(value)}


def _rule(row: Row) -> Rule:
    limits: dict[str, float] = row.get("thresholds") or {}
    return Rule(Thresholds(**{**Thresholds()._asdict(), **limits}), bool(row.get("use_llm_similarity")))


def _real(value: float | str | None) -> float:
    return math.nan if value is None else float(value)


_KINDS: dict[str, Callable[[Row], dict[str, Any]]] = {
    "loop": _loop,
    "verdict": _verdict,
    "answer": _answer,
    "coherence": _coherence,
    "similarity": _similarity,
    "format": _format,
    "novelty": _novelty,
}
