"""Blame for a failure, by rules on the trajectory. Pure.

Rules look for evidence; the first party with strong evidence is to blame, else the first with any. Evidence is not
proof; without any, the answer is `open`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, USER, Difference, canonical, differing
from console.benchmarks.tau2.rules.evaluate import Evaluation
from console.benchmarks.tau2.rules.replay import Trial, begun, carry_out, replayed
from console.benchmarks.tau2.rules.task import Action, Call, Output, Task

AGENTS, USERS, GRADERS, TASKS, OPEN = "agent", "user", "grader", "task", "open"
PARTIES = (GRADERS, USERS, AGENTS, TASKS, OPEN)
"""Parties in the order in which strong evidence decides."""
TRANSFER = "transfer_to_human_agents"
_ASKS = re.compile(r"\?\s*\Z|\b(?:confirm|proceed|would you like|shall i|do you want|\(yes/no\))", re.IGNORECASE)
_AGENT_WORDS = re.compile(r"how can i (?:help|assist) you|is there anything else i can", re.IGNORECASE)
_FACT = re.compile(
    r"\b(?:[\w.+-]+@[\w-]+\.\w+|[A-Za-z]+_[A-Za-z]+_\d{3,}|[A-Z]\d{5,}|\d{5,}|(?=[A-Z]*\d)[A-Z0-9]{6})\b"
)
"""E-mail addresses, ids of users and orders, long numbers, and codes of reservations."""
_FREE_TEXTS = frozenset({"reason", "summary", "description", "cancel_reason"})
_NOT_DIGITS = re.compile(r"[^\w.]+")


class Sign(msgspec.Struct, frozen=True):
    """One piece of evidence in a trajectory."""

    who: str
    sign: str
    text: str = ""
    strong: bool = False


def blame(trial: Trial, output: Output, evaluation: Evaluation) -> tuple[str, list[Sign]]:
    """Return the party to blame for a failure, and all evidence."""
    signs: list[Sign] = [
        *_grader_signs(trial, evaluation),
        *(() if trial.solo else _user_signs(trial, output)),
        *_agent_signs(trial, output, evaluation),
        *task_signs(trial.domain, trial.task),
    ]
    for is_strong in (True, False):
        for party in PARTIES:
            if any(sign.who == party and sign.strong >= is_strong for sign in signs):
                return party, signs
    return OPEN, signs


# Grader --------------------------------------------------------------------------------------------------------------


def _grader_signs(trial: Trial, evaluation: Evaluation) -> Iterator[Sign]:
    """Yield the differences between the worlds if none of them is meaningful."""
    failed = {name for name, part in (evaluation.reward_breakdown or {}).items() if part == 0}
    if failed == {"DB"}:
        if _are_alike(trial.differences, parse_int=float):
            yield Sign(GRADERS, "number_spelling", "the worlds differ only in 2 against 2.0", strong=True)
        elif _are_alike(trial.differences, object_hook=_without_texts):
            yield Sign(GRADERS, "free_text", "the worlds differ only in free text", strong=True)
    if failed == {"COMMUNICATE"}:
        texts = [_loose(item.content or "") for item in trial.messages if item.role == AGENT]
        if all(any(_loose(info) in text for text in texts) for info in trial.task.criteria.communicate_info or ()):
            yield Sign(GRADERS, "number_format", "everything is said, in another format", strong=True)


def _are_alike(differences: Sequence[Difference], **reading: Any) -> bool:
    """Return whether two worlds are equal if their JSON is read loosely."""

    def read(row: Any) -> str:
        return canonical(json.loads(canonical(row), **reading))

    return all(read(item.ours) == read(item.theirs) for item in differences)


def _without_texts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _FREE_TEXTS}


def _loose(text: str) -> str:
    """Return a text without currency signs and commas, and numbers without trailing zeros."""
    plain = _NOT_DIGITS.sub(" ", text.lower().replace(",", "").replace("$", ""))
    return re.sub(r"(\d+)\.0+\b|(\d+\.\d*[1-9])0+\b", lambda number: number[1] or number[2], plain)


# User ----------------------------------------------------------------------------------------------------------------


def _user_signs(trial: Trial, output: Output) -> Iterator[Sign]:
    if output.reason == "user_stop":
        yield from _early_stop(trial)
    yield from _invented(trial)
    texts = [item.content or "" for item in trial.messages if item.role == USER]
    last = texts[-1] if texts else ""
    if output.reason == "user_stop" and "###TRANSFER###" in last and not _has_transfer(trial.calls):
        yield Sign(USERS, "transfer_without_transfer", "writes that it was transferred, but was not", strong=True)
    if sum(mark in last for mark in ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")) > 1:
        yield Sign(USERS, "two_marks", "ends with two marks")
    if any(_AGENT_WORDS.search(text) for text in texts):
        yield Sign(USERS, "left_role", "speaks like the agent", strong=True)
    expected_names = {action.name for action in trial.task.criteria.actions or () if action.requestor == USER}
    for call in trial.calls:
        is_users = call.requestor == USER and trial.is_write(call)
        if is_users and expected_names and call.name not in expected_names:
            yield Sign(USERS, "needless_write", f"{call.name} is not expected of anybody")
    if output.reason == "user_error":
        yield Sign(USERS, "protocol", "text and calls in one message", strong=True)


def _early_stop(trial: Trial) -> Iterator[Sign]:
    """Yield evidence against a user who left after a question; strong evidence if the agent was on the right track."""
    replies = [item.content for item in trial.messages if item.role == AGENT and item.content]
    if not trial.missing or not replies or not _ASKS.search(replies[-1]):
        return
    world = replayed(trial.domain, trial.task, trial.messages)
    carry_out(world, trial.missing)
    if any(map(trial.is_write, trial.missing)) and not differing(world, trial.expected):
        text = f"leaves before {trial.missing[0].name}, which the agent asks about"
        yield Sign(USERS, "stopped_early", text, strong=True)
    else:
        yield Sign(USERS, "stopped_early", "leaves after the agent's question")


def _invented(trial: Trial) -> Iterator[Sign]:
    """Yield facts in the user's messages that the user could not know."""
    told_facts = _known_text(json.dumps(msgspec.to_builtins(trial.task.user_scenario), ensure_ascii=False))
    for message in trial.messages:
        if message.role == USER:
            for fact in _FACT.findall(message.content or ""):
                if _known_text(fact) not in told_facts:
                    yield Sign(USERS, "invented", f"says {fact}, which it cannot know", strong=True)
        elif message.role == AGENT or message.requestor == USER:
            told_facts += " " + _known_text(message.content or "")


def _known_text(text: str) -> str:
    return text.lower().replace(",", "").replace("#", "")


# Agent and task ------------------------------------------------------------------------------------------------------


def _write_signs(trial: Trial) -> Iterator[Sign]:
    """Yield the agent's unexpected writes, and the expected ones that its tools reject."""
    actions = trial.task.criteria.actions or []
    for call in trial.calls:
        is_agents = call.requestor == AGENT and trial.is_write(call)
        if is_agents and not any(action.fits(call) for action in actions):
            near = [action for action in actions if action.name == call.name]
            yield Sign(AGENTS, "wrong_write", f"{call.name}: {_differing_keys(near, call)}", strong=True)
    results = (item for item in trial.messages if item.role == "tool")
    outcomes = list(zip(trial.calls, results, strict=False))  # by position: some models give all calls the same id
    for action in filter(trial.is_write, actions):
        refused = [result.error and call.requestor == AGENT for call, result in outcomes if action.fits(call)]
        if refused and all(refused):
            yield Sign(AGENTS, "failed_write", f"{action.name} is refused by the tool")


def _agent_signs(trial: Trial, output: Output, evaluation: Evaluation) -> Iterator[Sign]:
    yield from _write_signs(trial)
    if _has_transfer(trial.calls) and not _has_transfer(trial.task.criteria.actions or ()):
        yield Sign(AGENTS, "needless_transfer", "transfers to a person, which is not expected")
    errors = sum(item.error and item.requestor == AGENT for item in trial.messages)
    if output.reason == "too_many_errors" and errors * 2 >= output.errors:
        yield Sign(AGENTS, "errors", f"{errors} tool errors", strong=True)
    if output.reason in ("max_steps", "agent_error"):
        yield Sign(AGENTS, "protocol" if output.reason == "agent_error" else "no_end", "", strong=True)
    missing = [action for action in trial.missing if action.requestor == AGENT and trial.is_write(action)]
    if missing:
        yield Sign(AGENTS, "missing_write", f"{missing[0].name} is not done")
    elif evaluation.communicate_checks and not all(evaluation.communicate_checks):
        yield Sign(AGENTS, "not_said", "does not say the expected words")
    if evaluation.nl_assertions and not all(evaluation.nl_assertions):
        yield Sign(AGENTS, "judged_unmet", "by the judge")


def _has_transfer(calls: Sequence[Call | Action]) -> bool:
    return any(call.name == TRANSFER for call in calls)


def _differing_keys(near: Sequence[Action], call: Call) -> str:
    given = call.arguments
    pairs = (({**action.arguments, **given}, action.arguments) for action in near)
    keys = [[name for name in names if gold.get(name) != given.get(name)] for names, gold in pairs]
    return f"differs in {', '.join(min(keys, key=len))}" if near else "not expected"


def task_signs(domain: Domain, task: Task) -> Iterator[Sign]:
    """Yield the expected calls that fail when executed, so that no agent can make them."""
    world = begun(domain, task)
    for action in task.criteria.actions or ():
        if domain.kind_of(action.requestor, action.name) == "write":
            result = world.call(action.requestor, action.name, action.arguments)
            if result.error:
                yield Sign(TASKS, "gold_fails", f"{action.name} of the expected calls fails: {result.content[:200]}")
