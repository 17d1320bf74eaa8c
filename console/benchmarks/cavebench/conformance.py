"""Judges rows of conformance files with the evaluator alone: no network, no model, no scenario code.

Rows are those of an evaluator file (`kind` turn, scenario, normalize, type, access, cost), recorded turns and scenarios
of a peer's run, and tool functions given as signature and docstring. Where the reference evaluator crashes, the answer
has `evaluator_error` instead of the verdict.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec

from console.benchmarks.cavebench.pyvalue import UnreadableValue, read_values
from console.benchmarks.cavebench.rules.access import access_of
from console.benchmarks.cavebench.rules.expectation import read_argument, read_expectation
from console.benchmarks.cavebench.rules.json_values import decode, encode, for_peer
from console.benchmarks.cavebench.rules.match import ActualCall, mismatch_cost
from console.benchmarks.cavebench.rules.schema import ToolSchemaError, schema_from_text
from console.benchmarks.cavebench.rules.score import TurnRecord, TurnScore, ValidatorAnswer, score_turn, total
from console.benchmarks.cavebench.rules.value import EvaluatorError, TypeRule, canonical, fits
from console.core.fault import UsageError
from console.core.ready_type import ready_type

_IDENTITY = ("id", "kind", "run", "commit", "scenario", "conversation", "turn", "module", "tool")
UNNAMED = "unnamed_conversation"
"""Id of a conversation without one, as in the reference runner."""
_VALIDATOR_HEAD = "Custom validator failed: "
Row = dict[str, Any]
RowT = TypeVar("RowT", bound=msgspec.Struct)
Name = str | int | None


class _Call(msgspec.Struct, frozen=True):
    function: str
    arguments: Any = msgspec.field(default_factory=dict[str, Any])
    call_id: str | None = None


class _Actual(msgspec.Struct, frozen=True):
    """The model's actions in a turn."""

    calls: list[_Call] = []
    code: list[str] = []
    steps: int = 0
    tokens: tuple[int, int, int] = (0, 0, 0)


class _Validator(msgspec.Struct, frozen=True):
    """The return value of the turn's validator, of any type; its truth value counts."""

    success: Any
    message: Any = ""


class _PlayedTurn(msgspec.Struct, frozen=True):
    """A turn with the model's actions; its expectations are read by the evaluator, which may crash."""

    turn: dict[str, Any]
    actual: _Actual
    validator: _Validator | None = None


class _PlayedConversation(msgspec.Struct, frozen=True):
    turns: list[_PlayedTurn] = []
    id: Any = UNNAMED


class _PlayedScenario(msgspec.Struct, frozen=True):
    conversations_in: list[_PlayedConversation]


class _Metrics(msgspec.Struct, frozen=True):
    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class _RecordedTurn(msgspec.Struct, frozen=True):
    """A turn in a peer's result file."""

    actual_calls: list[_Call]
    expected_calls: Any = None
    expected_as_written: Any = None
    expected_variable_reads: Any = None
    expected_variable_writes: Any = None
    validation_errors: list[str] = []
    validator_result: Any = True
    code_snippets: list[str] = []
    metrics: _Metrics = _Metrics()
    run: Name = None
    scenario: Name = None

    def expectation(self) -> Row:
        """Expectations of the turn in the format of a scenario file."""
        written = self.expected_as_written
        return {
            "expected_function_calls": self.expected_calls if written is None else written,
            "expected_variable_reads": self.expected_variable_reads or [],
            "expected_variable_writes": self.expected_variable_writes or [],
        }


class _RecordedScenario(msgspec.Struct, frozen=True):
    run: Name = None
    scenario: Name = None
    whole_run_here: bool | None = None
    conversations: Any = msgspec.field(default_factory=list[Any])


class _Value(msgspec.Struct, frozen=True):
    value: Any


class _Typed(msgspec.Struct, frozen=True):
    value: Any
    expected_type: str


class _Code(msgspec.Struct, frozen=True):
    code: str


class _Arguments(msgspec.Struct, frozen=True):
    expected_arguments: list[Any]
    actual_arguments: dict[str, Any]


class _Tool(msgspec.Struct, frozen=True):
    tool: str
    signature: str
    doc: str | None = None


class CaveLineChecker:
    """Judges the rows of one file in order; a recorded scenario is summed from the turns before it."""

    def __init__(self) -> None:
        """Create a checker that has seen no turns."""
        self._turns: dict[tuple[Any, ...], list[TurnScore]] = {}

    def check(self, row: Row) -> Row:
        """Return the answer to one row.

        Raises:
            UsageError: an unknown kind of row, or missing fields.
        """
        kind = row.get("kind") if "tool" not in row else "tool"
        judge = self._kinds().get(str(kind))
        if judge is None:
            raise UsageError(f"row of unknown kind {kind!r}", hint="Known kinds: turn, scenario, normalize, type, …")
        try:
            answer = judge(row)
        except (EvaluatorError, UnreadableValue) as error:
            answer = {"evaluator_error": str(error)}
            answer = {"verdict": answer} if kind in ("turn", "scenario") else answer
        except msgspec.ValidationError as error:
            raise UsageError(f"{kind} row cannot be read: {error}") from None
        return {key: row[key] for key in _IDENTITY if key in row and not isinstance(row[key], dict | list)} | answer

    def _kinds(self) -> dict[str, Callable[[Row], Row]]:
        return {
            "turn": self._turn,
            "scenario": self._scenario,
            "normalize": _normalize,
            "type": _type,
            "access": _access,
            "cost": _cost,
            "tool": _tool,
        }

    def _turn(self, row: Row) -> Row:
        if "actual" in row:
            played = msgspec.convert(row, ready_type(_PlayedTurn))
            return {"verdict": _judged_turn(played)} | _older(row, lambda: _judged_turn(played, "exact"))
        recorded = msgspec.convert(row, ready_type(_RecordedTurn))
        record, expected = _recorded(recorded), recorded.expectation()
        score = score_turn(read_expectation(expected), record)
        self._turns.setdefault((recorded.run, recorded.scenario), []).append(score)
        return {"verdict": _verdict(expected, record, score)}

    def _scenario(self, row: Row) -> Row:
        if "conversations_in" in row:
            played = msgspec.convert(row, ready_type(_PlayedScenario))
            return {"verdict": _judged_scenario(played)} | _older(row, lambda: _judged_scenario(played, "exact"))
        recorded = msgspec.convert(row, ready_type(_RecordedScenario))
        scores = self._turns.get((recorded.run, recorded.scenario))
        if not scores or recorded.whole_run_here is False:
            raise EvaluatorError("not all turns of this recorded scenario precede it in the file")
        return {"verdict": {"conversations": recorded.conversations, "metrics": total(scores).metrics()}}


def _judged_turn(played: _PlayedTurn, rule: TypeRule = "compatible") -> Row:
    record = _record(played)
    return _verdict(played.turn, record, score_turn(read_expectation(played.turn), record, rule))


def _judged_scenario(scenario: _PlayedScenario, rule: TypeRule = "compatible") -> Row:
    conversations: list[Row] = []
    scores: list[TurnScore] = []
    for conversation in scenario.conversations_in:
        turns: list[Row] = []
        for played in conversation.turns:
            record = _record(played)
            score = score_turn(read_expectation(played.turn), record, rule)
            scores.append(score)
            turns.append({k: v for k, v in _verdict(played.turn, record, score).items() if k != "call_errors"})
        conversations.append({"id": conversation.id, "turns": turns})
    errors = [[error.as_json() for error in score.call_errors] for score in scores]
    return {"conversations": conversations, "metrics": total(scores).metrics(), "call_errors": errors}


def _older(row: Row, judged: Callable[[], Row]) -> Row:
    """Also answer under the older type rule, if the row requests it."""
    return {"verdict_seed_era": judged()} if "verdict_seed_era" in row else {}


def _record(played: _PlayedTurn) -> TurnRecord:
    actual, validator = played.actual, played.validator
    return TurnRecord(
        calls=_calls(actual.calls, read_values),
        snippets=tuple(actual.code),
        steps=actual.steps,
        tokens=actual.tokens,
        validator=ValidatorAnswer(bool(validator.success), validator.message) if validator else None,
    )


def _recorded(turn: _RecordedTurn) -> TurnRecord:
    metrics = turn.metrics
    failed = [text for text in turn.validation_errors if text.startswith(_VALIDATOR_HEAD)]
    message = failed[0].removeprefix(_VALIDATOR_HEAD) if failed else ""
    return TurnRecord(
        calls=_calls(turn.actual_calls, lambda arguments: arguments),
        snippets=tuple(turn.code_snippets),
        steps=metrics.steps,
        tokens=(metrics.prompt_tokens, metrics.completion_tokens, metrics.total_tokens),
        validator=ValidatorAnswer(not failed and bool(turn.validator_result), message),
    )


def _calls(calls: Sequence[_Call], read: Callable[[Any], Any]) -> tuple[ActualCall, ...]:
    return tuple(
        ActualCall(call.function, read(call.arguments), call.call_id or str(number))
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
    return {"result": canonical(read_values(msgspec.convert(row, ready_type(_Value)).value))}


def _type(row: Row) -> Row:
    typed = msgspec.convert(row, ready_type(_Typed))
    value = read_values(typed.value)
    return {"result": fits(value, typed.expected_type), "result_seed_era": fits(value, typed.expected_type, "exact")}


def _access(row: Row) -> Row:
    access = access_of(msgspec.convert(row, ready_type(_Code)).code)
    return {"reads": list(access.reads), "writes": list(access.writes)}


def _cost(row: Row) -> Row:
    arguments = msgspec.convert(row, ready_type(_Arguments))
    expected = [read_argument(item) for item in arguments.expected_arguments]
    actual = cast("dict[str, Any]", read_values(arguments.actual_arguments))
    try:
        return {"result": mismatch_cost(expected, actual)}
    except TypeError as error:  # a name or a type that is a list crashes the reference, too
        raise EvaluatorError(str(error)) from None


def _tool(row: Row) -> Row:
    tool = msgspec.convert(row, ready_type(_Tool))
    try:
        return {"schema": schema_from_text(tool.tool, tool.signature, tool.doc)}
    except ToolSchemaError as error:
        return {"evaluator_error": str(error)}
