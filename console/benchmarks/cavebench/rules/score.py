"""Verdict of a turn, and the sums over conversation, scenario and run, by cave-bench's evaluator.

A turn is judged from its record alone. It succeeds if its calls and variables have no error and its validator agrees;
the text of the answer, steps and tokens are irrelevant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from console.benchmarks.cavebench.rules.access import Access, expected_access
from console.benchmarks.cavebench.rules.expectation import Expectation
from console.benchmarks.cavebench.rules.match import ActualCall, CallCheck, CallError, Match, check_calls
from console.benchmarks.cavebench.rules.value import TypeRule

_SUMMED = {
    "missing_calls": "missing_calls",
    "wrong_argument_values": "wrong_argument_values",
    "wrong_argument_types": "wrong_argument_types",
    "missing_arguments": "missing_arguments",
    "total_steps": "steps",
    "missing_variable_reads": "missing_variable_reads",
    "missing_variable_writes": "missing_variable_writes",
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_tokens": "total_tokens",
}
"""Scenario metric by turn metric."""


@dataclass(frozen=True, slots=True)
class ValidatorAnswer:
    """The result of a scenario's validator; its truth value decides."""

    success: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """The record of one turn."""

    calls: tuple[ActualCall, ...] = ()
    snippets: tuple[str, ...] = ()
    """Executed code cells, in order."""
    steps: int = 0
    tokens: tuple[int, int, int] = (0, 0, 0)
    """Prompt, completion and total, as reported."""
    validator: ValidatorAnswer | None = None
    """None if the turn has no validator, which counts as agreement."""


@dataclass(frozen=True, slots=True)
class TurnScore:
    """Verdict of one turn, in the peer's terms."""

    success: bool
    validator_result: bool
    errors: tuple[str, ...]
    """Official messages: calls first, then variables, then the validator."""
    call_errors: tuple[CallError, ...]
    matches: tuple[Match, ...]
    access: Access
    metrics: dict[str, int]
    missing_required: int
    """Number of required calls that were not made; unlike the peer's `missing_calls`, it counts each of them."""
    expected_calls: int = 0
    actual_calls: int = 0


def score_turn(expected: Expectation, record: TurnRecord, rule: TypeRule = "compatible") -> TurnScore:
    """Judge one turn.

    Raises:
        EvaluatorError: an expectation or argument that cannot be judged.
    """
    check = check_calls(expected.calls, record.calls, rule)
    access = expected_access(record.snippets, expected.reads, expected.writes)
    unread = [name for name in expected.reads if name not in access.reads]
    unwritten = [name for name in expected.writes if name not in access.writes]
    agreed = record.validator is None or record.validator.success
    errors = [error.message for error in check.errors]
    errors += [f"Variable {name} is not read" for name in unread]
    errors += [f"Variable {name} is not written" for name in unwritten]
    if record.validator is not None and not agreed:
        errors.append(f"Custom validator failed: {record.validator.message}")
    return TurnScore(
        success=not errors,
        validator_result=agreed,
        errors=tuple(errors),
        call_errors=tuple(check.errors),
        matches=tuple(check.matches),
        access=access,
        metrics=_turn_metrics(expected, record, check, len(unread), len(unwritten)),
        missing_required=_missing_required(expected, check, record),
        expected_calls=len(expected.calls),
        actual_calls=len(record.calls),
    )


@dataclass(slots=True)
class Totals:
    """Sums over the turns of a conversation, a scenario or a run."""

    turns: int = 0
    successful: int = 0
    expected_calls: int = 0
    actual_calls: int = 0
    missing_required: int = 0
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0))

    def add_turn(self, success: bool, metrics: Mapping[str, int], expected: int, actual: int, missing: int) -> None:
        self.turns += 1
        self.successful += success
        self.expected_calls += expected
        self.actual_calls += actual
        self.missing_required += missing
        for name, source in _SUMMED.items():
            self.sums[name] += metrics.get(source, 0)

    def add(self, other: "Totals") -> None:
        self.turns += other.turns
        self.successful += other.successful
        self.expected_calls += other.expected_calls
        self.actual_calls += other.actual_calls
        self.missing_required += other.missing_required
        for name in _SUMMED:
            self.sums[name] += other.sums[name]

    def metrics(self) -> dict[str, Any]:
        """Return the peer's scenario metrics; a scenario without turns has success rate 0."""
        sums = self.sums
        return {
            "total_turns": self.turns,
            "successful_turns": self.successful,
            "failed_turns": self.turns - self.successful,
            "total_expected_calls": self.expected_calls,
            "total_actual_calls": self.actual_calls,
            "missing_calls": sums["missing_calls"],
            "wrong_argument_values": sums["wrong_argument_values"],
            "wrong_argument_types": sums["wrong_argument_types"],
            "missing_arguments": sums["missing_arguments"],
            "wrong_argument_names": 0,
            "total_steps": sums["total_steps"],
            "success_rate": self.successful / self.turns if self.turns else 0,
            "missing_variable_reads": sums["missing_variable_reads"],
            "missing_variable_writes": sums["missing_variable_writes"],
            "total_prompt_tokens": sums["total_prompt_tokens"],
            "total_completion_tokens": sums["total_completion_tokens"],
            "total_tokens": sums["total_tokens"],
        }


def total(scores: Iterable[TurnScore]) -> Totals:
    """Sum judged turns."""
    totals = Totals()
    for score in scores:
        totals.add_turn(score.success, score.metrics, score.expected_calls, score.actual_calls, score.missing_required)
    return totals


def _turn_metrics(
    expected: Expectation, record: TurnRecord, check: CallCheck, unread: int, unwritten: int
) -> dict[str, int]:
    called = {call.function for call in record.calls}
    counts = [error.type for error in check.errors]
    prompt, completion, tokens = record.tokens
    return {
        "missing_calls": sum(1 for call in expected.calls if call.required and call.name not in called),
        "wrong_argument_types": counts.count("wrong_argument_type"),
        "wrong_argument_values": counts.count("wrong_argument_value"),
        "missing_arguments": counts.count("missing_argument"),
        "steps": record.steps,
        "missing_variable_reads": unread,
        "missing_variable_writes": unwritten,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": tokens,
    }


def _missing_required(expected: Expectation, check: CallCheck, record: TurnRecord) -> int:
    """Return the number of required calls, by name, without a matching call of the model."""
    missing = sum(
        1 for match in check.matches if match.actual_index is None and expected.calls[match.expected_index].required
    )
    matched = {expected.calls[match.expected_index].name for match in check.matches}
    for name in {call.name for call in expected.calls} - matched:
        required = sum(1 for call in expected.calls if call.name == name and call.required)
        missing += required - sum(1 for call in record.calls if call.function == name)
    return missing
