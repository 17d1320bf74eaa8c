"""Comparison of expected and actual for each check of a case, by turn. Pure."""

from itertools import chain
from typing import Any

from msgspec.structs import replace

from console.benchmarks.dialogue.rules.answer import read_output
from console.benchmarks.dialogue.rules.choices import arranged
from console.benchmarks.dialogue.rules.evaluate import evaluate
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.script import Script
from console.core.comparison import Comparison, Mark, Pair
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.reason_words import own_words

_SHOWN = 4000
"""Maximum number of characters in an answer shown with a check."""


def compare(script: Script, value: Any, verdict: Verdict) -> Comparison:
    """Build the comparison of a case."""
    try:
        output = read_output(value)
    except UsageError as error:
        return Comparison(error.message, raw=repr(value)[:_SHOWN])
    turns, at_end = evaluate(arranged(script, output.order), output)
    has_end = len(turns) > 1 and bool(at_end)
    parts = [*turns, at_end] if has_end else turns if len(turns) > 1 else [[*chain(*turns), *at_end]]
    pairs = tuple(
        pair for number, findings in enumerate(parts) for finding in findings for pair in _pairs(finding, number)
    )
    marks = tuple(map(_mark, parts)) if len(parts) > 1 else ()
    return Comparison(_sentence(verdict), pairs, turns=marks, has_end=has_end)


def _sentence(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.PASSED:
        return "all checks hold"
    words = own_words().get(verdict.reason or "", verdict.reason or "")
    message = verdict.messages[0] if verdict.messages else ""
    if words in message:  # `the answer is not JSON`
        return message
    return f"{words}: {message}" if message else words


def _pairs(finding: Finding, turn: int) -> list[Pair]:
    """Return the pairs of one check: one, or one per call or grade."""
    mark = Mark.SAME if finding.holds else Mark.MISSING if finding.holds is None else Mark.DIFFERS
    if finding.make_pairs is not None:
        return [replace(pair, turn=turn) for pair in finding.make_pairs()]
    expected = f"{finding.kind.replace('_', ' ')}: {finding.expected}"
    return [Pair(mark, expected[:_SHOWN], finding.actual[:_SHOWN], note=finding.message, turn=turn, kind="check")]


def _mark(findings: list[Finding]) -> Mark:
    if any(finding.holds is False for finding in findings):
        return Mark.DIFFERS
    return Mark.SAME if findings and all(finding.holds for finding in findings) else Mark.OMITTED
