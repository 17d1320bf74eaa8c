"""The verdict of a conversation: all checks must hold; an undecided one leaves it open unless another fails."""

from typing import Any

from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.dialogue.answer import read_output
from console.suites.dialogue.evaluate import findings_by_turn
from console.suites.dialogue.finding import Finding
from console.suites.dialogue.script import Script

_MESSAGES = 5
_LONGEST = 400
"""Characters of a message that are kept."""


def score(script: Script, value: Any) -> Verdict:
    """Judge an output; never raises."""
    try:
        output = read_output(value)
    except UsageError as error:
        return Verdict(Outcome.FAILED, "unreadable_output", messages=(error.message,))
    by_turn = findings_by_turn(script, output)
    findings = [finding for of_turn in by_turn for finding in of_turn]
    scores = _scores(findings)
    failed = [finding for finding in findings if finding.holds is False]
    open_ = [finding for finding in findings if finding.holds is None]
    if not failed and not open_:
        return Verdict(Outcome.PASSED, scores=scores)
    decisive = (failed or open_)[0]
    outcome = Outcome.FAILED if failed else Outcome.UNDECIDED
    messages = tuple(_message(finding, by_turn) for finding in (failed or open_)[:_MESSAGES])
    return Verdict(outcome, decisive.reason, decisive.subject[:_LONGEST], messages, scores)


def _message(finding: Finding, by_turn: list[list[Finding]]) -> str:
    turn = next((number for number, of_turn in enumerate(by_turn, 1) if finding in of_turn), 1)
    place = f"turn {turn}: " if len(by_turn) > 1 else ""
    return f"{place}{finding.message}"[:_LONGEST]


def _scores(findings: list[Finding]) -> dict[str, float]:
    """Return the mean of each score over the conversation."""
    values: dict[str, list[float]] = {}
    for finding in findings:
        for name, value in finding.scores.items():
            values.setdefault(name, []).append(value)
    return {name: sum(of_name) / len(of_name) for name, of_name in values.items()}
