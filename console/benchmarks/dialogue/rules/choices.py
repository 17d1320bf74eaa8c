"""Choices below a question: their order in one rollout, and the letters that belong to it. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.script import Script

FIRST = ord("A")
_CHOSE, _RIGHT_AT = "chose ", "right at "


def arranged(script: Script, order: Sequence[int]) -> Script:
    """Return a script that asks with its choices in an order and expects the letters of that order.

    Args:
        script: the script; without choices it is returned unchanged.
        order: for each position, the number of the choice in the row; empty for the order of the row.
    """
    if not script.choices:
        return script
    order = order or range(len(script.choices))
    *before, last = script.turns
    lines = "\n".join(f"{chr(FIRST + place)}) {script.choices[number]}" for place, number in enumerate(order))
    asked = replace(last, user=f"{last.user}\n\n{lines}", expect=_moved(last.expect, order))
    return replace(script, turns=[*before, asked], expect=_moved(script.expect, order), choices=[])


def _moved(checks: Sequence[dict[str, Any]], order: Sequence[int]) -> list[dict[str, Any]]:
    return [_moved_check(check, order) for check in checks]


def _moved_check(check: dict[str, Any], order: Sequence[int]) -> dict[str, Any]:
    if "any" in check:
        return {**check, "any": _moved(check["any"], order)}
    if "choice" not in check:
        return check
    return {**check, "choice": chr(FIRST + order.index(ord(check["choice"].upper()) - FIRST))}


def position_scores(findings: Sequence[Finding], count: int) -> dict[str, float]:
    """Return scores that show position bias: the share of each chosen letter, and of successes where it is right."""
    chosen = next((finding for finding in findings if finding.kind == "choice"), None)
    if chosen is None:
        return {}
    letters = [chr(FIRST + place) for place in range(count)]
    shares = {f"{_CHOSE}{letter}": float(chosen.actual == letter) for letter in letters}
    return {**shares, f"{_RIGHT_AT}{chosen.expected}": float(bool(chosen.holds))}


def is_of_letter(score: str) -> bool:
    """Return whether a score is one of `position_scores`."""
    return any(score.startswith(start) and len(score) == len(start) + 1 for start in (_CHOSE, _RIGHT_AT))
