"""Blame for a failure, by rules on the trajectory. Pure.

Rules look for signs; the first party with a strong one is to blame, else the first with any. Signs are no proof: where
there is none, the answer is `open`.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, USER, World, canonical, differing
from console.benchmarks.tau2.rules.evaluate import Evaluation
from console.benchmarks.tau2.rules.replay import begun, expected, replayed
from console.benchmarks.tau2.rules.task import Action, Call, Message, Output, Task, calls_of

AGENTS, USERS, GRADERS, TASKS, OPEN = "agent", "user", "grader", "task", "open"
PARTIES = (GRADERS, USERS, AGENTS, TASKS, OPEN)
"""Parties in the order in which a strong sign decides."""
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
    """One sign in a trajectory."""

    who: str
    sign: str
    text: str = ""
    strong: bool = False


def blame(domain: Domain, task: Task, output: Output, evaluation: Evaluation, *, solo: bool) -> tuple[str, list[Sign]]:
    """Return the party to blame for a failure, and all signs."""
    signs: list[Sign] = [
        *_grader_signs(domain, task, output, evaluation, solo=solo),
        *(() if solo else _user_signs(domain, task, output)),
        *_agent_signs(domain, task, output, evaluation),
        *task_signs(domain, task),
    ]
    for is_strong in (True, False):
        for party in PARTIES:
            if any(sign.who == party and sign.strong >= is_strong for sign in signs):
                return party, signs
    return OPEN, signs


# Grader --------------------------------------------------------------------------------------------------------------


def _grader_signs(domain: Domain, task: Task, output: Output, evaluation: Evaluation, *, solo: bool) -> Iterator[Sign]:
    """Yield differences that mean nothing, if they are the only ones."""
    parts = evaluation.reward_breakdown or {}
    failed = {name for name, part in parts.items() if part == 0}
    if failed == {"DB"}:
        pairs = differing(replayed(domain, task, output.messages, strict=False, solo=solo), expected(domain, task))
        states = [(here and here.after, there and there.after) for here, there in pairs]
        if all(canonical(_as_floats(here)) == canonical(_as_floats(there)) for here, there in states):
            yield Sign(GRADERS, "number_spelling", "the worlds differ only in 2 against 2.0", strong=True)
        elif all(canonical(_without_texts(here)) == canonical(_without_texts(there)) for here, there in states):
            yield Sign(GRADERS, "free_text", "the worlds differ only in free texts", strong=True)
    if failed == {"COMMUNICATE"}:
        texts = [_loose(item.content or "") for item in output.messages if item.role == AGENT]
        if all(any(_loose(info) in text for text in texts) for info in task.criteria.communicate_info or ()):
            yield Sign(GRADERS, "number_format", "all is said, in another format", strong=True)


def _as_floats(value: Any) -> Any:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return float(cast(int, value)) if is_int else _mapped(value, _as_floats)


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        value = {key: item for key, item in cast(dict[str, Any], value).items() if key not in _FREE_TEXTS}
    return _mapped(value, _without_texts)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value with all its parts changed."""
    if isinstance(value, dict):
        return {key: change(item) for key, item in cast(dict[str, Any], value).items()}
    return [change(item) for item in cast(list[Any], value)] if isinstance(value, list) else value


def _loose(text: str) -> str:
    """Return a text without signs of money and commas, and numbers without trailing zeros."""
    plain = _NOT_DIGITS.sub(" ", text.lower().replace(",", "").replace("$", ""))
    return re.sub(r"(\d+)\.0+\b|(\d+\.\d*[1-9])0+\b", lambda number: number[1] or number[2], plain)


# User ----------------------------------------------------------------------------------------------------------------


def _user_signs(domain: Domain, task: Task, output: Output) -> Iterator[Sign]:
    yield from _early_stop(domain, task, output)
    yield from _invented(task, output.messages)
    texts = [item.content or "" for item in output.messages if item.role == USER]
    last, calls = texts[-1] if texts else "", calls_of(output.messages)
    if output.reason == "user_stop" and "###TRANSFER###" in last and not any(call.name == TRANSFER for call in calls):
        yield Sign(USERS, "transfer_without_transfer", "says it was transferred, but was not", strong=True)
    if sum(mark in last for mark in ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")) > 1:
        yield Sign(USERS, "two_marks", "ends with two marks")
    if any(_AGENT_WORDS.search(text) for text in texts):
        yield Sign(USERS, "left_role", "speaks like the agent", strong=True)
    expected_names = {action.name for action in task.criteria.actions or () if action.requestor == USER}
    world = domain.world()
    for call in calls:
        tool = world.find_tool(USER, call.name) if call.requestor == USER else None
        if tool is not None and tool.kind == "write" and expected_names and call.name not in expected_names:
            yield Sign(USERS, "needless_write", f"{call.name} is expected of nobody")
    if output.reason == "user_error":
        yield Sign(USERS, "protocol", "text and calls in one message", strong=True)


def _early_stop(domain: Domain, task: Task, output: Output) -> Iterator[Sign]:
    """Yield a sign if the user left while the agent was on the right way."""
    if output.reason != "user_stop" or not output.messages:
        return
    replies = [item for item in output.messages if item.role == AGENT and item.content]
    asks = bool(replies) and _ASKS.search(replies[-1].content or "") is not None
    rest = _remaining(task, calls_of(output.messages))
    if not rest:
        return
    world = replayed(domain, task, output.messages, strict=False)
    for action in rest:
        world.call(action.requestor, action.name, action.arguments, sync=False)
    was_right = _writes(domain, rest) and not differing(world, expected(domain, task))
    if asks and was_right:
        yield Sign(USERS, "stopped_early", f"leaves before {rest[0].name}, which the agent asks about", strong=True)
    elif asks:
        yield Sign(USERS, "stopped_early", "leaves after a question of the agent")


def _invented(task: Task, messages: Sequence[Message]) -> Iterator[Sign]:
    """Yield facts in the user's words that it could not know."""
    told_facts = _known_text(json.dumps(msgspec.to_builtins(task.user_scenario), ensure_ascii=False))
    for message in messages:
        if message.role == USER:
            for fact in _FACT.findall(message.content or ""):
                if _known_text(fact) not in told_facts:
                    yield Sign(USERS, "invented", f"says {fact}, which it cannot know", strong=True)
            continue
        if message.role == AGENT or message.requestor == USER:
            told_facts += " " + _known_text(message.content or "")


def _known_text(text: str) -> str:
    return text.lower().replace(",", "").replace("#", "")


# Agent and task ------------------------------------------------------------------------------------------------------


def _agent_signs(domain: Domain, task: Task, output: Output, evaluation: Evaluation) -> Iterator[Sign]:
    calls, world = calls_of(output.messages), domain.world()
    actions = task.criteria.actions or []
    for call in calls:
        tool = world.find_tool(AGENT, call.name) if call.requestor == AGENT else None
        if tool is not None and tool.kind == "write" and not any(action.fits(call) for action in actions):
            near = [action for action in actions if action.name == call.name]
            yield Sign(AGENTS, "wrong_write", f"{call.name}: {_differing_keys(near, call)}", strong=True)
    yield from _refused_writes(domain, task, output)
    if any(call.name == TRANSFER for call in calls) and not any(action.name == TRANSFER for action in actions):
        yield Sign(AGENTS, "needless_transfer", "hands over to a person, which is not expected")
    errors = sum(item.error and item.requestor == AGENT for item in output.messages)
    if output.reason == "too_many_errors" and errors * 2 >= output.errors:
        yield Sign(AGENTS, "errors", f"{errors} tool errors", strong=True)
    if output.reason in ("max_steps", "agent_error"):
        yield Sign(AGENTS, "protocol" if output.reason == "agent_error" else "no_end", "", strong=True)
    rest = [action for action in _remaining(task, calls) if action.requestor == AGENT]
    if missing := _writes(domain, rest):
        yield Sign(AGENTS, "missing_write", f"{missing[0].name} is not done")
    elif evaluation.communicate_checks and not all(evaluation.communicate_checks):
        yield Sign(AGENTS, "not_said", "words that are expected of it")
    if evaluation.nl_assertions and not all(evaluation.nl_assertions):
        yield Sign(AGENTS, "judged_unmet", "by the judge")


def _refused_writes(domain: Domain, task: Task, output: Output) -> Iterator[Sign]:
    """Yield the expected calls that were made only in a form that the tool refuses."""
    calls = calls_of(output.messages)
    failed = {item.id for item in output.messages if item.error and item.requestor == AGENT}
    for action in _writes(domain, task.criteria.actions or []):
        fitting = [call for call in calls if action.fits(call)]
        if fitting and all(call.id in failed for call in fitting):
            yield Sign(AGENTS, "failed_write", f"{action.name} is refused by the tool")


def _differing_keys(near: Sequence[Action], call: Call) -> str:
    if not near:
        return "not expected"
    keys = [_other_keys(action.arguments, call.arguments) for action in near]
    return f"differs in {', '.join(min(keys, key=len))}"


def _other_keys(gold: dict[str, Any], actual: dict[str, Any]) -> list[str]:
    return [name for name in {**gold, **actual} if gold.get(name) != actual.get(name)]


def task_signs(domain: Domain, task: Task) -> Iterator[Sign]:
    """Yield the expected calls that fail when they are made, so that nobody can make them."""
    world: World = begun(domain, task)
    for action in _writes(domain, task.criteria.actions or []):
        result = world.call(action.requestor, action.name, action.arguments)
        if result.error:
            yield Sign(TASKS, "gold_fails", f"{action.name} of the expected calls fails: {result.content[:200]}")


def _remaining(task: Task, calls: Sequence[Call]) -> list[Action]:
    return [action for action in task.criteria.actions or () if not any(action.fits(call) for call in calls)]


def _writes(domain: Domain, actions: Sequence[Action]) -> list[Action]:
    world = domain.world()
    with_tools = ((action, world.find_tool(action.requestor, action.name)) for action in actions)
    return [action for action, tool in with_tools if tool is not None and tool.kind == "write"]
