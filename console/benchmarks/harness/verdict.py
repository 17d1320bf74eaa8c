"""Verdicts from a harness's own scores."""

from typing import Any, cast

from console.core.case import Case
from console.core.outcome import OWN_SCORES, Outcome, Verdict
from console.core.ranges import is_amount

REASON_WORDS = {
    "scored_low": "scored too low",
    "no_answer": "no answer",
    "harness_error": "error in the harness",
    "harness_limit": "limit of the harness",
    "not_scored": "not scored",
}
"""Display text by verdict reason."""
_OF_MODEL = ("message", "token", "turn", "context")
"""Limits that the model itself can reach; the harness scores the result so far."""


def decide(case: Case, output: dict[str, Any], score: str, threshold: float) -> Verdict:
    """Return the verdict on a rollout.

    Args:
        case: the case, with its target.
        output: the harness's result.
        score: name of the score that decides; empty for the first.
        threshold: lowest value of that score that passes.
    """
    error, limit = str(output.get("error") or ""), str(output.get("limit") or "")
    if limit and limit not in _OF_MODEL:
        words = error or f"the harness ended it at its {limit} limit"
        return Verdict(Outcome.BROKEN, "harness_limit", limit, messages=(words,))
    if error:
        return Verdict(Outcome.BROKEN, "harness_error", messages=(error,))
    scores = numbers_of(output)
    detail: dict[str, Any] = {"actual": output.get("answer", ""), OWN_SCORES: _own_scores(output)}
    if (target := case.data.get("target")) not in (None, "", []):
        detail["expected"] = target
    if not scores or (score and score not in scores):
        words = f"the harness gives no number for {score or 'any score'}"
        return Verdict(Outcome.UNDECIDED, "not_scored", messages=(words,), scores=scores, detail=detail)
    name = score or next(iter(scores))
    messages = tuple(filter(None, (_why(output, name), f"ended at its {limit} limit" if limit else "")))
    if scores[name] >= threshold:
        return Verdict(Outcome.PASSED, messages=messages, scores=scores, detail=detail)
    reason = "no_answer" if _value(output, name) == "N" else "scored_low"
    return Verdict(Outcome.FAILED, reason, messages=messages, scores=scores, detail=detail)


def numbers_of(output: dict[str, Any]) -> dict[str, float]:
    """Return all numbers that the harness gave, by `scorer` or `scorer/part`."""
    out: dict[str, float] = {}
    for scorer, score in _scores(output).items():
        for part, number in cast("dict[str, Any]", score.get("numbers") or {}).items():
            if isinstance(number, int | float) and is_amount(number):
                out[f"{scorer}/{part}" if part else scorer] = float(number)
    return out


def _scores(output: dict[str, Any]) -> dict[str, dict[str, Any]]:
    scores = output.get("scores")
    return cast("dict[str, dict[str, Any]]", scores) if isinstance(scores, dict) else {}


def _own_scores(output: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the scores exactly as the harness gave them, for its own log format."""
    names = {"value": "value", "answer": "answer", "why": "explanation"}
    return {
        scorer: {theirs: score[ours] for ours, theirs in names.items() if score.get(ours) is not None}
        for scorer, score in _scores(output).items()
    }


def _why(output: dict[str, Any], name: str) -> str:
    return str(_scores(output).get(name.partition("/")[0], {}).get("why") or "")[:2000]


def _value(output: dict[str, Any], name: str) -> Any:
    return _scores(output).get(name, {}).get("value")
