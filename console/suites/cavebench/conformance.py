"""Judging rows of conformance files: the evaluator alone, no network, no model, no scenario code.

Rows are those of an evaluator file (`kind` turn, scenario, normalize, type, access, cost), recorded turns and scenarios
of a peer's run, and tool functions given as signature and docstring. Where the reference evaluator crashes, the answer
carries `evaluator_error` in place of the verdict.
"""

from typing import Any, cast

from console.core.fault import UsageError
from console.suites.cavebench.access import access_of
from console.suites.cavebench.expectation import read_argument, read_expectation
from console.suites.cavebench.match import ActualCall, mismatch_cost
from console.suites.cavebench.pyvalue import UnreadableValue, read_values
from console.suites.cavebench.schema import ToolSchemaError, schema_from_text
from console.suites.cavebench.score import TurnRecord, TurnScore, ValidatorAnswer, score_turn, total
from console.suites.cavebench.value import EvaluatorError, TypeRule, canonical, fits
from console.suites.cavebench.wire import decode, encode, for_peer

_IDENTITY = ("id", "kind", "run", "commit", "scenario", "conversation", "turn", "module", "tool")
UNNAMED = "unnamed_conversation"
"""Id of a conversation that has none, as the reference runner gives it."""
_VALIDATOR_HEAD = "Custom validator failed: "
Row = dict[str, Any]


class CaveLineChecker:
    """Judges the rows of one file in order; a recorded scenario is summed from its turns before it."""

    def __init__(self) -> None:
        """Start with no turns seen."""
        self._turns: dict[tuple[Any, ...], list[TurnScore]] = {}

    def check(self, row: Row) -> Row:
        """Return the answer to one row.

        Raises:
            UsageError: the row is of no known kind, or lacks what its kind needs.
        """
        kind = row.get("kind") if "tool" not in row else "tool"
        judge = {
            "turn": self._turn,
            "scenario": self._scenario,
            "normalize": _normalize,
            "type": _type,
            "access": _access,
            "cost": _cost,
            "tool": _tool,
        }.get(str(kind))
        if judge is None:
            raise UsageError(f"row of unknown kind {kind!r}", hint="Known kinds: turn, scenario, normalize, type, …")
        try:
            answer = judge(row)
        except (EvaluatorError, UnreadableValue) as error:
            answer = {"evaluator_error": str(error)}
            answer = {"verdict": answer} if kind in ("turn", "scenario") else answer
        except KeyError as error:
            raise UsageError(f"{kind} row without {error}") from None
        return {key: row[key] for key in _IDENTITY if key in row and not isinstance(row[key], dict)} | answer

    def _turn(self, row: Row) -> Row:
        if "actual" in row:
            return {"verdict": _judged_turn(row)} | _older(row, _judged_turn)
        record = _recorded(row)
        score = score_turn(read_expectation(_recorded_turn(row)), record)
        key = (row.get("run"), row.get("scenario"))
        self._turns.setdefault(key, []).append(score)
        return {"verdict": _verdict(_recorded_turn(row), record, score)}

    def _scenario(self, row: Row) -> Row:
        if "conversations_in" in row:
            return {"verdict": _judged_scenario(row)} | _older(row, _judged_scenario)
        scores = self._turns.get((row.get("run"), row.get("scenario")))
        if not scores or row.get("whole_run_here") is False:
            raise EvaluatorError("not all turns of this recorded scenario precede it in the file")
        return {"verdict": {"conversations": row.get("conversations", []), "metrics": total(scores).metrics()}}


def _judged_turn(row: Row, rule: TypeRule = "compatible") -> Row:
    turn, record = row["turn"], _record(row)
    return _verdict(turn, record, score_turn(read_expectation(turn), record, rule))


def _judged_scenario(row: Row, rule: TypeRule = "compatible") -> Row:
    conversations: list[Row] = []
    scores: list[TurnScore] = []
    for conversation in row["conversations_in"]:
        turns: list[Row] = []
        for part in conversation.get("turns", []):
            record = _record(part)
            score = score_turn(read_expectation(part["turn"]), record, rule)
            scores.append(score)
            turns.append({k: v for k, v in _verdict(part["turn"], record, score).items() if k != "call_errors"})
        conversations.append({"id": conversation.get("id", UNNAMED), "turns": turns})
    errors = [[error.as_json() for error in score.call_errors] for score in scores]
    return {"conversations": conversations, "metrics": total(scores).metrics(), "call_errors": errors}


def _older(row: Row, judge: Any) -> Row:
    """Answer under the older type rule too, where a row asks for it."""
    return {"verdict_seed_era": judge(row, "exact")} if "verdict_seed_era" in row else {}


def _record(row: Row) -> TurnRecord:
    actual = row["actual"]
    validator = row.get("validator")
    return TurnRecord(
        calls=_calls(read_values(actual.get("calls", []))),
        snippets=tuple(actual.get("code", [])),
        steps=actual.get("steps", 0),
        tokens=cast("tuple[int, int, int]", tuple(actual.get("tokens", (0, 0, 0)))),
        validator=ValidatorAnswer(bool(validator["success"]), validator.get("message", "")) if validator else None,
    )


def _recorded(row: Row) -> TurnRecord:
    metrics = row.get("metrics", {})
    failed = [text for text in row.get("validation_errors", []) if str(text).startswith(_VALIDATOR_HEAD)]
    message = str(failed[0])[len(_VALIDATOR_HEAD) :] if failed else ""
    tokens = tuple(metrics.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return TurnRecord(
        calls=_calls(row["actual_calls"]),
        snippets=tuple(row.get("code_snippets", [])),
        steps=metrics.get("steps", 0),
        tokens=cast("tuple[int, int, int]", tokens),
        validator=ValidatorAnswer(not failed and bool(row.get("validator_result", True)), message),
    )


def _recorded_turn(row: Row) -> Row:
    expected = row["expected_as_written"] if row.get("expected_as_written") is not None else row["expected_calls"]
    return {
        "expected_function_calls": expected,
        "expected_variable_reads": row.get("expected_variable_reads") or [],
        "expected_variable_writes": row.get("expected_variable_writes") or [],
    }


def _calls(calls: list[Any]) -> tuple[ActualCall, ...]:
    return tuple(
        ActualCall(call["function"], call.get("arguments", {}), call.get("call_id") or str(number))
        for number, call in enumerate(calls, start=1)
    )


def _verdict(turn: Row, record: TurnRecord, score: TurnScore) -> Row:
    return {
        "success": score.success,
        "validator_result": score.validator_result,
        "validation_errors": list(score.errors),
        "metrics": score.metrics,
        "expected_calls": [call.as_json() for call in read_expectation(turn).calls],
        "actual_calls": [
            {"function": call.function, "arguments": _shown(call.arguments), "call_id": call.call_id}
            for call in record.calls
        ],
        "actual_variable_reads": list(score.access.reads),
        "actual_variable_writes": list(score.access.writes),
        "call_errors": [error.as_json() for error in score.call_errors],
    }


def _shown(value: Any) -> Any:
    return for_peer(decode(encode(value)))


def _normalize(row: Row) -> Row:
    return {"result": canonical(read_values(row["value"]))}


def _type(row: Row) -> Row:
    value, name = read_values(row["value"]), row["expected_type"]
    return {"result": fits(value, name), "result_seed_era": fits(value, name, "exact")}


def _access(row: Row) -> Row:
    access = access_of(row["code"])
    return {"reads": list(access.reads), "writes": list(access.writes)}


def _cost(row: Row) -> Row:
    expected = [read_argument(item) for item in row["expected_arguments"]]
    return {"result": mismatch_cost(expected, read_values(row["actual_arguments"]))}


def _tool(row: Row) -> Row:
    try:
        return {"schema": schema_from_text(row["tool"], row["signature"], row.get("doc"))}
    except ToolSchemaError as error:
        return {"evaluator_error": str(error)}
