"""`check tau2`: plays and judges rows of conformance files; needs the data, but no network or key.

One answer per row with the same fields: conversations are played again with their replies in order, trajectories are
judged as they are, metrics are computed.
"""

import asyncio
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec

from console.benchmarks.tau2 import request_check
from console.benchmarks.tau2.conversation.talk import DONE, Ask, Limits, Silent, Talk
from console.benchmarks.tau2.data.editions import Edition, find_edition
from console.benchmarks.tau2.rules.domains.world import AGENT, USER
from console.benchmarks.tau2.rules.evaluate import UnreadableJudge, evaluate
from console.benchmarks.tau2.rules.metrics import Simulation, metrics
from console.benchmarks.tau2.rules.replay import ReplayError, begun
from console.benchmarks.tau2.rules.task import Call, Message, Task
from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.suites.line_checks import RowChecker
from console.suites.suite import Row


class _Options(Limits, frozen=True):
    evaluation: str = "all"
    strict: bool = True


class _Case(msgspec.Struct, frozen=True):
    """A row with a conversation."""

    edition: str
    domain: str
    task: str
    kind: str
    messages: list[dict[str, Any]]
    options: _Options | None = None
    judge_reply: str | None = None
    replies: dict[str, list[dict[str, Any]]] | None = None
    termination_reason: str | None = None


class _MetricsRow(msgspec.Struct, frozen=True):
    num_trials: int
    simulations: list[Simulation]


class ScriptEnded(Exception):
    """A party is asked more often than the row has replies: its model could not be reached."""


def line_checker(folder: Path) -> RowChecker:
    """Return the checker of rows of conformance files."""
    return RowChecker(lambda row: {key: row[key] for key in ("case", "id") if key in row} | _answer(folder, row))


def _answer(folder: Path, row: Row) -> Row:
    try:
        if "simulations" in row:
            asked = msgspec.convert(row, ready_type(_MetricsRow))
            return {"expect": msgspec.to_builtins(metrics(asked.simulations, asked.num_trials), str_keys=True)}
        edition = find_edition(folder, row["edition"])
        task = _task_of(edition, row["domain"], row.get("task"))
        if "what" in row:
            return request_check.prompt_row(edition, row["domain"], task, row["what"])
        if "requests" in row:
            return _requests(edition, row, task)
        case = msgspec.convert(row, ready_type(_Case))
        if not case.kind.startswith("rescore"):
            return _played(edition, case, task)
        messages = [message_of(item) for item in case.messages]
    except msgspec.ValidationError as error:
        raise UsageError(f"not a row of τ²-bench: {error}") from None
    return _judged(edition, case, task, messages, case.termination_reason or "")


def _requests(edition: Edition, row: Row, task: Task) -> Row:
    """Play a recorded episode: the requests, its end and reward."""
    requests, output = asyncio.run(request_check.play_requests(edition, row, task))
    if output is None or output.silent:
        why = "replies ended" if output is None else f"{output.silent}: {output.silence}"
        return {"requests": requests, "raises": {"where": "play", "text": why}}
    domain, _ = request_check.domain_and_policy(row["domain"])
    case = _Case(edition.name, domain, task.id, row["kind"], [], judge_reply=output.judge)
    end = {"termination_reason": output.reason, "steps": output.steps, "errors": output.errors}
    return {"requests": requests, **end, **_judged(edition, case, task, output.messages, output.reason)}


def _task_of(edition: Edition, name: str, task: str | None) -> Task:
    """Return a task; any one if none is named."""
    domain, _ = request_check.domain_and_policy(name)
    tasks = edition.tasks(domain)
    if task is not None and task not in tasks:
        raise UsageError(f"the edition {edition.name} has no task {task!r} in {domain}")
    return next(iter(tasks.values())) if task is None else tasks[task]


def message_of(item: dict[str, Any]) -> Message:
    """Read a message of a trajectory; calls without a requestor are of the message's role."""
    calls = cast(list[dict[str, Any]] | None, item.get("tool_calls"))
    own = None if calls is None else [{"id": "", "requestor": item.get("role", AGENT), **call} for call in calls]
    return msgspec.convert({**item, "tool_calls": own}, ready_type(Message))


def _played(edition: Edition, case: _Case, task: Task) -> Row:
    """Play a row with its replies and judge the result."""
    options = case.options or _Options()
    talk = Talk(begun(edition.domain(case.domain), task, solo=options.solo), options)
    talk.messages += task.earlier_messages
    ask = _scripted(case, len(talk.messages) or not options.solo)
    out: Row = {}
    try:
        talk.play(ask).send(None)
    except StopIteration:
        out = _judged(edition, case, task, talk.messages, talk.reason)
        out["termination_reason"] = talk.reason
    except Silent as error:
        outcome = "undecided" if error.party == "user" else "failed"
        out = {"raises": {"where": "play", "text": str(error)}, "outcome": outcome, "reason": error.reason}
    except ScriptEnded as error:
        out = {"raises": {"where": "play", "text": str(error)}, "outcome": "broken", "reason": "connection"}
    return {"messages": [_shown(item) for item in talk.messages], "steps": talk.steps, "errors": talk.errors, **out}


def _judged(edition: Edition, case: _Case, task: Task, messages: list[Message], reason: str) -> Row:
    options = case.options or _Options()
    try:
        evaluation = evaluate(
            edition.domain(case.domain),
            task,
            messages,
            reason,
            evaluation=options.evaluation,
            strict=options.strict,
            solo=options.solo,
            judge_reply=case.judge_reply,
        )
    except (ReplayError, UnreadableJudge) as error:
        kind = "undecided" if isinstance(error, UnreadableJudge) else "broken"
        return {"raises": {"where": "evaluate", "text": str(error)}, "outcome": kind}
    expect: Row = msgspec.to_builtins(evaluation)
    if evaluation.reward_breakdown is not None and evaluation.env_assertions == []:
        expect["env_assertions"] = []
    return {"expect": expect}


def _shown(message: Message) -> Row:
    row: Row = {"role": message.role, "content": message.content}
    if message.role == "tool":
        row |= {"id": message.id, "requestor": message.requestor} | ({"error": True} if message.error else {})
    if message.tool_calls:
        calls = message.tool_calls
        row["tool_calls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return row


def _scripted(case: _Case, greeted: int) -> Ask:
    """Return a function that gives the replies of a row, in order."""
    is_solo = (case.options or _Options()).solo
    own = case.messages[greeted:]
    replies = {party: [item for item in own if item["role"] == party] for party in (AGENT, USER)}
    if case.replies is not None:
        replies = {AGENT: [*case.replies.get("agent", ())], USER: [*case.replies.get(USER, ())]}
    numbers = count(1)

    async def ask(party: str, _: Sequence[Message]) -> Message:
        if not replies[party]:
            raise ScriptEnded(f"{'user' if party == USER else 'agent'} script ended")
        reply = replies[party].pop(0)
        calls = [
            Call(str(call.get("id") or f"call_{next(numbers)}"), call["name"], call["arguments"], party)
            for call in cast(list[dict[str, Any]], reply.get("tool_calls") or ())
        ]
        if is_solo and case.replies is None and not calls:
            calls = [Call("done", DONE, {}, party)]  # the row has the text that took its place
        return Message(party, reply.get("content"), calls or None)

    return ask
