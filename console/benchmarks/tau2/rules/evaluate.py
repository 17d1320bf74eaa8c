"""The reward of a conversation, by the official rules. Pure."""

import json
from collections.abc import Sequence
from math import prod
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, Change, World, differing
from console.benchmarks.tau2.rules.replay import ReplayError, expected, replayed
from console.benchmarks.tau2.rules.task import Action, Basis, Criteria, Message, Task, calls_of

EVALUATED = ("user_stop", "agent_stop")
"""Ends that are evaluated; all others have the reward 0."""
WHOLE = "all"
"""The evaluation that counts; `env`, `action`, `communicate` and `all_ignore_basis` are for diagnosis."""
_ALL_BASIS: tuple[Basis, ...] = ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE")


class Evaluation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reward with its parts; None: not evaluated."""

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
    """The judge's reply has another form."""


def evaluate(
    domain: Domain,
    task: Task,
    messages: Sequence[Message],
    reason: str,
    *,
    evaluation: str = WHOLE,
    strict: bool = True,
    solo: bool = False,
    judge_reply: str | None = None,
) -> Evaluation:
    """Compute the reward of a trajectory; if `strict`, recorded results must be those of our tools.

    Raises:
        ReplayError: the trajectory cannot be carried out again, or an assertion fails to run.
        UnreadableJudge: the judge's reply has another form.
    """
    if reason not in EVALUATED:
        return Evaluation(0.0)
    criteria = task.evaluation_criteria
    if criteria is None:
        return Evaluation(1.0)
    whole, ignores = evaluation == WHOLE, evaluation == "all_ignore_basis"
    parts_asked = {"env", "action", "communicate"} if whole or ignores else {evaluation}
    parts: dict[str, float] = {}
    db_match = assertions = actions = spoken = judged = None
    if "env" in parts_asked:
        db_match, assertions = _environment(domain, task, criteria, messages, strict=strict, solo=solo)
        if assertions is not None:
            env_parts: dict[Basis, bool] = {"DB": db_match, "ENV_ASSERTION": all(assertions)}
            parts |= {name: float(met) for name, met in env_parts.items() if name in criteria.reward_basis}
    if "action" in parts_asked:
        actions = action_checks(domain.world(), criteria, messages)
        if not whole or "ACTION" in criteria.reward_basis:
            parts["ACTION"] = float(all(met for met, _ in actions))
    if "communicate" in parts_asked:
        spoken = communicate_checks(criteria, messages)
        if not whole or "COMMUNICATE" in criteria.reward_basis:
            parts["COMMUNICATE"] = float(all(spoken))
    if whole and "NL_ASSERTION" in criteria.reward_basis:
        judged = read_judge(judge_reply) if criteria.nl_assertions else []
        parts["NL_ASSERTION"] = float(all(judged))
    basis = criteria.reward_basis if whole or evaluation == "env" else _ALL_BASIS if ignores else _ALL_BASIS[:1]
    return Evaluation(
        prod(parts.values(), start=1.0), parts, basis, db_match, assertions, actions or None, spoken or None, judged
    )


def _environment(
    domain: Domain, task: Task, criteria: Criteria, messages: Sequence[Message], *, strict: bool, solo: bool
) -> tuple[bool, list[bool] | None]:
    """Return whether the world is the expected one, and the assertions; None: nothing is expected of the world."""
    if criteria.actions is None and criteria.env_assertions is None:
        return True, None
    world = replayed(domain, task, messages, strict=strict, solo=solo)
    is_equal = not differing(world, expected(domain, task))
    return is_equal, assertion_checks(world, criteria)


def world_differences(
    domain: Domain, task: Task, messages: Sequence[Message], *, solo: bool
) -> list[tuple[Change | None, Change | None]]:
    """Return the rows in which the final world and the expected one differ, in this order."""
    return differing(replayed(domain, task, messages, strict=False, solo=solo), expected(domain, task))


def assertion_checks(world: World, criteria: Criteria) -> list[bool]:
    """Return which assertions hold in a world.

    Raises:
        ReplayError: one fails to run.
    """
    met: list[bool] = []
    for item in criteria.env_assertions or ():
        try:
            met.append(world.run(item.env_type, item.func_name, item.arguments) == item.assert_value)
        except Exception as error:  # functions of the data, with arguments of the data
            raise ReplayError(f"{item.func_name}: {error}") from error
    return met


def action_checks(world: World, criteria: Criteria, messages: Sequence[Message]) -> list[tuple[bool, str | None]]:
    """Return for each expected call whether one fits, and the kind of its tool."""
    calls = calls_of(messages)
    return [(any(action.fits(call) for call in calls), _kind_of(world, action)) for action in criteria.actions or ()]


def _kind_of(world: World, action: Action) -> str | None:
    tool = world.find_tool(action.requestor, action.name) or world.find_tool(AGENT, action.name)
    return tool and tool.kind


def communicate_checks(criteria: Criteria, messages: Sequence[Message]) -> list[bool]:
    """Return for each text whether one message of the agent says it. Only the message loses its commas."""
    texts = [(item.content or "").lower().replace(",", "") for item in messages if item.role == AGENT]
    return [any(info.lower() in text for text in texts) for info in criteria.communicate_info or ()]


def read_judge(reply: str | None) -> list[bool]:
    """Return the judge's verdicts. A fenced reply is refused, as in the original.

    Raises:
        UnreadableJudge: the reply has another form.
    """
    try:
        value: Any = json.loads(reply or "")
        results = cast(list[dict[str, Any]], value.get("results", []))
        return [bool(item["metExpectation"]) for item in results if (item["expectedOutcome"], item["reasoning"])]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableJudge(f"the judge's reply cannot be read: {error}") from error
