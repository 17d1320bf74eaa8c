"""Verdict of a conversation: every turn judged, the first failure named.

A conversation passes if all its turns succeed. If the model's code ends the worker, the turn and all later ones fail. A
validator that raises fails only its turn.
"""

from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.cavebench.rules.expectation import Expectation, read_expectation
from console.benchmarks.cavebench.rules.record import BadRecord, TurnJson, read_turn
from console.benchmarks.cavebench.rules.score import TurnRecord, TurnScore, score_turn
from console.benchmarks.cavebench.rules.value import EvaluatorError, TypeRule
from console.core.case import Case
from console.core.outcome import Outcome, Verdict

NOT_PLAYED = "Not played: the conversation had ended before"


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """A turn with its expectations, record and score."""

    expectation: Expectation
    record: TurnRecord
    score: TurnScore | None
    """None if the turn was not judged by its calls."""
    reason: str
    """Empty on success."""
    errors: tuple[str, ...]
    query: str = ""
    """The query sent, after the hook."""
    response: str | None = None

    @property
    def success(self) -> bool:
        return not self.reason


def judge_turns(case: Case, output: Any, rule: TypeRule) -> list[JudgedTurn]:
    """Judge every turn of a conversation, including unplayed ones."""
    turns = cast("list[dict[str, Any]]", case.data["conversation"]["turns"])
    played = _played(output)
    return [_judge(turn, played[number] if number < len(played) else None, rule) for number, turn in enumerate(turns)]


def judge(case: Case, output: Any, rule: TypeRule) -> Verdict:
    """Return the verdict of a conversation."""
    turns = judge_turns(case, output, rule)
    failed = [(number, turn) for number, turn in enumerate(turns, start=1) if not turn.success]
    first = failed[0][1] if failed else None
    successes = len(turns) - len(failed)
    return Verdict(
        Outcome.FAILED if failed else Outcome.PASSED,
        reason=first.reason if first else None,
        subject=_subject(first) if first else "",
        messages=tuple(f"turn {number}: {text}" for number, turn in failed for text in turn.errors),
        scores={"success_rate": successes / len(turns) if turns else 0.0},
        detail={"scenario": case.data.get("scenario", case.category), "turns": [_detail(turn) for turn in turns]},
    )


def _played(output: Any) -> list[dict[str, Any]]:
    turns = cast("dict[str, Any]", output).get("turns") if isinstance(output, dict) else None
    return [item for item in cast("list[Any]", turns) if isinstance(item, dict)] if isinstance(turns, list) else []


def _judge(turn: dict[str, Any], data: dict[str, Any] | None, rule: TypeRule) -> JudgedTurn:
    try:
        expectation = read_expectation(turn)
    except EvaluatorError as error:
        return JudgedTurn(Expectation(), TurnRecord(), None, "evaluator_error", (str(error),))
    if data is None:
        return JudgedTurn(expectation, TurnRecord(), None, "not_played", (NOT_PLAYED,))
    try:
        played = read_turn(data)
    except BadRecord as error:
        return JudgedTurn(expectation, TurnRecord(), None, "bad_record", (f"the record is damaged: {error}",))
    record, texts = played.record(), (played.query, played.response)
    if played.reason:
        return JudgedTurn(expectation, record, None, played.reason, (played.lost or played.trouble,), *texts)
    try:
        score = score_turn(expectation, record, rule)
    except EvaluatorError as error:
        return JudgedTurn(expectation, record, None, "evaluator_error", (f"cannot be judged: {error}",), *texts)
    return JudgedTurn(expectation, record, score, _reason(score, played), score.errors, *texts)


def _reason(score: TurnScore, played: TurnJson) -> str:
    if score.success:
        return ""
    if score.call_errors:
        return score.call_errors[0].type
    if score.metrics["missing_variable_reads"]:
        return "missing_variable_read"
    if score.metrics["missing_variable_writes"]:
        return "missing_variable_write"
    return "validator_error" if played.validator and played.validator.trouble else "validator_failed"


def _subject(turn: JudgedTurn) -> str:
    """Return what failed: the argument, else the function or the variable."""
    if turn.score is None:
        return ""
    for error in turn.score.call_errors:
        if error.arg:
            return error.arg
        if error.call_index is not None:
            return turn.expectation.calls[error.call_index].name
        return error.message.split("'")[1] if "'" in error.message else ""
    for names, seen in (
        (turn.expectation.reads, turn.score.access.reads),
        (turn.expectation.writes, turn.score.access.writes),
    ):
        for name in names:
            if name not in seen:
                return name
    return ""


def _detail(turn: JudgedTurn) -> dict[str, Any]:
    """Return the numbers that the report sums."""
    score = turn.score
    if score is None:
        prompt, completion, tokens = turn.record.tokens
        metrics = {
            "steps": turn.record.steps,
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": tokens,
        }
        missing = sum(1 for call in turn.expectation.calls if call.required)
        return _turn_json(turn, metrics, missing)
    return _turn_json(turn, score.metrics, score.missing_required)


def _turn_json(turn: JudgedTurn, metrics: dict[str, int], missing: int) -> dict[str, Any]:
    return {
        "success": turn.success,
        "reason": turn.reason,
        "metrics": metrics,
        "expected_calls": len(turn.expectation.calls),
        "actual_calls": len(turn.record.calls),
        "missing_required": missing,
    }
