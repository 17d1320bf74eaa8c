"""Counts of a bicycle counter, as plain lists; hooks bring new data between turns."""

from cave_agent import Variable
from cave_agent.runtime import PythonRuntime
from core.types import ToolCall, Turn
from core.validation import ValidatorResult

_WEEK = [("Mon", 412), ("Tue", 455), ("Wed", 390), ("Thu", 471), ("Fri", 503), ("Sat", 288), ("Sun", 240)]
_CORRECTED = ("Wed", 490)


def correct_wednesday(runtime: PythonRuntime, turn: Turn) -> str:
    """Replace Wednesday's count, as if the counter had been read again, and say so in the question."""
    counts = [_CORRECTED if day == "Wed" else (day, count) for day, count in runtime.retrieve("counts")]
    runtime.update_variable("counts", counts)
    return f"{turn.query} (Wednesday has just been corrected to {_CORRECTED[1]}.)"


def validate_busiest(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the busiest day."""
    found = runtime.retrieve("busiest")
    return ValidatorResult(found == "Fri", f"busiest should be 'Fri', not {found!r}")


def validate_weekend_share(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the share of the weekend."""
    found = runtime.retrieve("weekend_share")
    right = (288 + 240) / sum(count for _, count in _WEEK)
    good = isinstance(found, float) and abs(found - right) < 0.001
    return ValidatorResult(good, f"weekend_share should be {right:.4f}, not {found!r}")


def validate_corrected(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the total after the correction."""
    found = runtime.retrieve("total")
    right = sum(count for _, count in _WEEK) + 100
    return ValidatorResult(found == right, f"total should be {right}, not {found!r}")


def validate_ranking(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the days by count, after the correction."""
    found = runtime.retrieve("ranking")
    right = ["Fri", "Wed", "Thu", "Tue", "Mon", "Sat", "Sun"]
    return ValidatorResult(list(found or []) == right, f"ranking should be {right}, not {found!r}")


variables = [
    Variable("counts", list(_WEEK), "Pairs of weekday and number of bicycles"),
    Variable("busiest", None, "Put the busiest weekday here"),
    Variable("weekend_share", None, "Put the share of Saturday and Sunday here, from 0 to 1"),
    Variable("total", None, "Put the number of bicycles in the whole week here"),
    Variable("ranking", None, "Put the weekdays here, busiest first"),
]
hooks = {"correct_wednesday": correct_wednesday}
validators = {
    "validate_busiest": validate_busiest,
    "validate_weekend_share": validate_weekend_share,
    "validate_corrected": validate_corrected,
    "validate_ranking": validate_ranking,
}
