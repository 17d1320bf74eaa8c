"""The reward of a conversation, by the official rules. Pure."""

from math import prod
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domains.world import AGENT, World
from console.benchmarks.tau2.rules.replay import ReplayError, Trial
from console.benchmarks.tau2.rules.task import Basis, Criteria
from console.core.json_text import read_json

EVALUATED = ("user_stop", "agent_stop")
"""Ends that are evaluated; all others have the reward 0."""
WHOLE = "all"
"""Parts of the evaluation that count; `env`, `action`, `communicate` and `all_ignore_basis` are for diagnosis."""
_ALL_BASIS: tuple[Basis, ...] = ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE")


class Evaluation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reward with its parts; None for parts that were not evaluated."""

    reward: float
    reward_breakdown: dict[str, float] | None = None
    reward_basis: tuple[Basis, ...] | None = None
    db_match: bool | None = None
    env_assertions: list[bool] | None = None
    action_checks: list[tuple[bool, str | None]] | None = None
    communicate_checks: list[bool] | None = None
    nl_assertions: list[bool] | None = None

    @property
    def passed(self) -> bool:
        """True if the reward is 1."""
        return abs(self.reward - 1) <= 1e-6


class UnreadableJudge(ValueError):
    """The judge's reply has the wrong format."""


def evaluate(trial: Trial, reason: str, *, evaluation: str = WHOLE, judge_reply: str | None = None) -> Evaluation:
    """Compute the reward of a trajectory.

    Raises:
        ReplayError: the trajectory cannot be replayed, or an assertion fails to run.
        UnreadableJudge: the judge's reply has the wrong format.
    """
    if reason not in EVALUATED:
        return Evaluation(0.0)
    criteria = trial.task.evaluation_criteria
    if criteria is None:
        return Evaluation(1.0)
    whole, ignores = evaluation == WHOLE, evaluation == "all_ignore_basis"
    asked = {"env", "action", "communicate"} if whole or ignores else {evaluation}
    met: dict[Basis, bool] = {}
    db_match = assertions = actions = spoken = judged = None
    if "env" in asked:
        db_match = True
        if criteria.actions is not None or criteria.env_assertions is not None:
            db_match = not trial.differences
            assertions = _assertion_checks(trial.world, criteria)
            met |= {"DB": db_match, "ENV_ASSERTION": all(assertions)}
    if "action" in asked:
        actions = _action_checks(trial, criteria)
        met["ACTION"] = all(fits for fits, _ in actions)
    if "communicate" in asked:
        spoken = _communicate_checks(trial, criteria)
        met["COMMUNICATE"] = all(spoken)
    if whole and "NL_ASSERTION" in criteria.reward_basis:
        judged = read_judge(judge_reply) if criteria.nl_assertions else []
        met["NL_ASSERTION"] = all(judged)
    counted = {*criteria.reward_basis, *(() if whole else ("ACTION", "COMMUNICATE"))}
    parts = {name: float(is_met) for name, is_met in met.items() if name in counted}
    basis = criteria.reward_basis if whole or evaluation == "env" else _ALL_BASIS if ignores else _ALL_BASIS[:1]
    return Evaluation(
        prod(parts.values(), start=1.0), parts, basis, db_match, assertions, actions or None, spoken or None, judged
    )


def _assertion_checks(world: World, criteria: Criteria) -> list[bool]:
    """Return which assertions hold in a world."""
    met: list[bool] = []
    for item in criteria.env_assertions or ():
        try:
            met.append(world.run(item.func_name, item.arguments) == item.assert_value)
        except Exception as error:  # functions of the data, with arguments of the data
            raise ReplayError(f"{item.func_name}: {error}") from error
    return met


def _action_checks(trial: Trial, criteria: Criteria) -> list[tuple[bool, str | None]]:
    """Return, for each expected call, whether an actual call matches it, and the kind of its tool."""
    kind_of = trial.domain.kind_of
    return [
        (action not in trial.missing, kind_of(action.requestor, action.name) or kind_of(AGENT, action.name))
        for action in criteria.actions or ()
    ]


def _communicate_checks(trial: Trial, criteria: Criteria) -> list[bool]:
    """Return, for each text, whether a message from the agent contains it. Commas are removed only from the message."""
    texts = [(item.content or "").lower().replace(",", "") for item in trial.messages if item.role == AGENT]
    return [any(info.lower() in text for text in texts) for info in criteria.communicate_info or ()]


def read_judge(reply: str | None) -> list[bool]:
    """Return the judge's verdicts. A fenced reply is refused, as in the original.

    Raises:
        UnreadableJudge: the reply has the wrong format.
    """
    try:
        value: Any = read_json(reply or "")
        results = cast(list[dict[str, Any]], value.get("results", []))
        return [bool(item["metExpectation"]) for item in results if (item["expectedOutcome"], item["reasoning"])]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableJudge(f"the judge's reply cannot be read: {error}") from error
