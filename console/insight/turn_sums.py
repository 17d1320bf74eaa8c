"""Per-turn numbers from a verdict's details (cave-bench). Pure.

The details may come from another tool's file, so no type is assumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

COUNTS = (
    ("missing calls", "missing_calls"),
    ("wrong values", "wrong_argument_values"),
    ("wrong types", "wrong_argument_types"),
    ("missing arguments", "missing_arguments"),
    ("not read", "missing_variable_reads"),
    ("not written", "missing_variable_writes"),
)
"""Labels and metric names; `missing calls` is the official number, which counts functions never called."""


@dataclass(frozen=True, slots=True)
class TurnSums:
    """The numbers of one turn."""

    success: bool
    reason: str
    expected_calls: int
    actual_calls: int
    missing_calls: int
    """Required calls without a matching one: the true count, next to the official one."""
    counts: dict[str, int]
    """Counts by the labels in COUNTS."""
    steps: int
    tokens: int

    @property
    def wrong(self) -> list[tuple[str, int]]:
        """Non-zero counts, with the true count of missing calls after the official one."""
        named = [(words, count) for words, count in self.counts.items() if words != COUNTS[0][0]]
        missing = [(COUNTS[0][0], self.counts.get(COUNTS[0][0], 0)), ("missing calls (true)", self.missing_calls)]
        return [*(missing if any(count for _, count in missing) else ()), *(pair for pair in named if pair[1])]


def turn_sums(detail: Any) -> list[TurnSums]:
    """Return the turns of a verdict's details; empty if they contain no numbers."""
    turns = _mapping(detail).get("turns")
    listed = cast("list[Any]", turns) if isinstance(turns, list) else []
    return [_read(_mapping(turn)) for turn in listed if "metrics" in _mapping(turn)]


def _read(turn: Mapping[str, Any]) -> TurnSums:
    metrics = _mapping(turn.get("metrics"))
    return TurnSums(
        success=turn.get("success") is True,
        reason=str(turn.get("reason") or ""),
        expected_calls=_whole(turn.get("expected_calls")),
        actual_calls=_whole(turn.get("actual_calls")),
        missing_calls=_whole(turn.get("missing_required")),
        counts={words: _whole(metrics.get(name)) for words, name in COUNTS},
        steps=_whole(metrics.get("steps")),
        tokens=_whole(metrics.get("total_tokens")),
    )


def _mapping(item: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", item) if isinstance(item, dict) else {}


def _whole(item: Any) -> int:
    return item if isinstance(item, int) else 0
