"""The verdict of a conversation: failed if a check fails, else undecided if one is, else passed."""

from collections.abc import Iterable
from typing import Any

from console.benchmarks.dialogue.rules.answer import read_output
from console.benchmarks.dialogue.rules.checks import checks_in, judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.choices import arranged, position_scores
from console.benchmarks.dialogue.rules.code_tests import SCORE as TESTS
from console.benchmarks.dialogue.rules.evaluate import evaluate
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.instructions import ASKED, FOLLOWED, LOOSELY
from console.benchmarks.dialogue.rules.letter_choice import BRIER, CONFIDENCE, RIGHT, is_by_logprob
from console.benchmarks.dialogue.rules.row import Instructed, PythonTests
from console.benchmarks.dialogue.rules.script import Script, expectations
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.judging.rubric import Rubric, category_scores, criteria_of

_MESSAGES = 5
_LONGEST = 400
"""Maximum number of characters in a message."""


def score(script: Script, value: Any) -> Verdict:
    """Score an output; never raises."""
    try:
        output = read_output(value)
    except UsageError as error:
        return Verdict(Outcome.FAILED, "unreadable_output", messages=(error.message,))
    placed = evaluate(arranged(script, output.order), output).placed()
    findings = [finding for _, finding in placed]
    scores = _scores(findings) | position_scores(findings, len(script.choices))
    detail = {ASKED: scores.pop(ASKED)} if ASKED in scores else {}
    failed = [(place, finding) for place, finding in placed if finding.holds is False]
    open_ = [(place, finding) for place, finding in placed if finding.holds is None]
    if not failed and not open_:
        return Verdict(Outcome.PASSED, scores=scores, detail=detail)
    _, decisive = (failed or open_)[0]
    outcome = Outcome.FAILED if failed else Outcome.UNDECIDED
    if failed and (spent := next((turn.spent for turn in output.turns if turn.spent), "")):
        return Verdict(outcome, "step_limit", "", (spent, _message(*failed[0])), scores, detail=detail)
    messages = tuple(_message(place, finding) for place, finding in (failed or open_)[:_MESSAGES])
    return Verdict(outcome, decisive.reason, decisive.subject[:_LONGEST], messages, scores, detail=detail)


def score_names(scripts: Iterable[Script]) -> set[str]:
    """Return the names of the scores that the checks of these scripts can give."""
    names: set[str] = set()
    for script in scripts:
        checks = read_checks(expectations(script))
        names |= {FOLLOWED, LOOSELY} if any(True for _ in checks_in(Instructed, checks)) else set()
        names |= {TESTS} if any(True for _ in checks_in(PythonTests, checks)) else set()
        names |= {BRIER, CONFIDENCE, RIGHT} if is_by_logprob(script) else set()
        for check in judged_in(checks):
            rubric = own_rubric(check) or script.rubric or Rubric()
            criteria = criteria_of(rubric)
            names |= {item.name for item in criteria} | {tag for item in criteria for tag in item.tags}
            names |= {*category_scores(rubric), *(["judge"] if len(criteria) > 1 else [])}
    return names


def _message(place: str, finding: Finding) -> str:
    return f"{place}: {finding.message}"[:_LONGEST] if place else finding.message[:_LONGEST]


def _scores(findings: list[Finding]) -> dict[str, float]:
    """Return the mean of each score over the conversation."""
    values: dict[str, list[float]] = {}
    for finding in findings:
        for name, value in finding.scores.items():
            values.setdefault(name, []).append(value)
    return {name: sum(of_name) / len(of_name) for name, of_name in values.items()}
