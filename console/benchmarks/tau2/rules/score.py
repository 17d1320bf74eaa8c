"""The verdict on a conversation. Pure."""

from typing import Any

import msgspec

from console.benchmarks.tau2.rules.blame import AGENTS, USERS, blame
from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.evaluate import Evaluation, UnreadableJudge, evaluate
from console.benchmarks.tau2.rules.replay import ReplayError, Trial
from console.benchmarks.tau2.rules.task import Output, Task
from console.core.outcome import BLAME_PREFIX, Outcome, Verdict
from console.core.ready_type import ready_type

_REASONS = (
    ("DB", "wrong_world"),
    ("ENV_ASSERTION", "goal_missed"),
    ("ACTION", "missing_call"),
    ("COMMUNICATE", "not_said"),
    ("NL_ASSERTION", "judged_unmet"),
)
"""Verdict reason of each failed part, the most informative first."""


def score(domain: Domain, task: Task, value: Any, *, solo: bool) -> Verdict:
    """Judge an output by the official rules, and add the blame to a failure."""
    try:
        output = msgspec.convert(value, ready_type(Output))
    except msgspec.ValidationError as error:
        return Verdict(Outcome.FAILED, "unreadable_output", messages=(str(error),))
    if output.silent:
        return _silent(output)
    if output.judge_problem:
        return Verdict(Outcome.UNDECIDED, "judge_unreadable", messages=(output.judge_problem,))
    trial = Trial(domain, task, output.messages, solo)
    try:
        evaluation = evaluate(trial, output.reason, judge_reply=output.judge)
    except UnreadableJudge as error:
        return Verdict(Outcome.UNDECIDED, "judge_unreadable", messages=(str(error),))
    except ReplayError as error:
        return Verdict(Outcome.BROKEN, "replay", messages=(str(error),))
    detail: dict[str, Any] = {"evaluation": msgspec.to_builtins(evaluation), "end": output.reason}
    scores = {name.lower(): part for name, part in (evaluation.reward_breakdown or {}).items()}
    scores["reward"] = evaluation.reward
    if evaluation.passed:
        return Verdict(Outcome.PASSED, scores=scores, detail=detail)
    reason, messages = _why(output, evaluation)
    party, signs = blame(trial, output, evaluation)
    decisive = next((sign for sign in signs if sign.who == party), None)
    detail["blame"] = {"who": party, "signs": msgspec.to_builtins(signs)}
    scores[f"{BLAME_PREFIX}{party}"] = 1.0
    subject = f"{party}: {decisive.sign.replace('_', ' ')}" if decisive else party
    return Verdict(Outcome.FAILED, reason, subject, messages, scores, detail=detail)


def _silent(output: Output) -> Verdict:
    is_user, detail = output.silent == "user", {"end": output.silence}
    scores = {f"{BLAME_PREFIX}{USERS if is_user else AGENTS}": 1.0}
    if not is_user:
        return Verdict(Outcome.FAILED, output.silence, scores=scores, detail=detail)
    text = "the simulated user wrote no message, twice"
    return Verdict(Outcome.UNDECIDED, "user_silent", messages=(text,), scores=scores, detail=detail)


def _why(output: Output, evaluation: Evaluation) -> tuple[str, tuple[str, ...]]:
    parts = evaluation.reward_breakdown
    if parts is None:
        return output.reason, ()
    failed = [(name, reason) for name, reason in _REASONS if parts.get(name) == 0]
    return failed[0][1], tuple(f"{name}: 0" for name, _ in failed)
