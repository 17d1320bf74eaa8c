"""`check tau2`: plays and judges rows of conformance files; needs the data, but no network or key.

One answer per row with the same fields: conversations are replayed with their replies in order, trajectories are
judged as they are, metrics are computed, and requests and prompts are shown by `request_check`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import cast

import msgspec
from msgspec import structs

from console.benchmarks.tau2.conversation.play import Player
from console.benchmarks.tau2.conversation.talk import DONE, Ask, Limits, Silent, Talk
from console.benchmarks.tau2.data.editions import Edition, domain_of, find_edition, tasks_of
from console.benchmarks.tau2.data.prompts import GROUND_TRUTH, MANUAL, MODEL, SOLO, WORKFLOW
from console.benchmarks.tau2.options import Tau2Options
from console.benchmarks.tau2.request_check import RecordedStage, RepliesEnded, prompt_row
from console.benchmarks.tau2.rules.domains.world import AGENT, USER
from console.benchmarks.tau2.rules.evaluate import WHOLE, UnreadableJudge, evaluate
from console.benchmarks.tau2.rules.metrics import Trials, metrics
from console.benchmarks.tau2.rules.replay import ReplayError, Trial
from console.benchmarks.tau2.rules.task import Call, Message, Task
from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.suites.line_checks import RowChecker
from console.suites.suite import Row

_WORKFLOW_DOMAIN = "telecom-workflow"
_AGENTS = {
    "llm_agent_gt": GROUND_TRUTH,
    "ground truth agent system prompt": GROUND_TRUTH,
    "llm_agent_solo": SOLO,
    "solo agent system prompt": SOLO,
}
"""Agents by their names in rows."""


class _Options(Limits, frozen=True):
    evaluation: str = WHOLE
    strict: bool = True
    agent: str = ""


class _Row(msgspec.Struct, frozen=True):
    """A row about a task: a conversation, an episode if it has `requests`, or a prompt if it has `what`."""

    edition: str
    domain: str
    kind: str = ""
    task: str | None = None
    """Id of the task; None if any will do."""
    what: str = ""
    requests: list[Row] | None = None
    messages: list[Row] = []
    options: _Options = _Options()
    judge_reply: str | None = None
    replies: dict[str, list[Row]] | None = None
    termination_reason: str = ""


def line_checker(folder: Path) -> RowChecker:
    """Return the checker of rows of conformance files."""
    return RowChecker(lambda row: {key: row[key] for key in ("case", "id") if key in row} | _answer(folder, row))


def _answer(folder: Path, row: Row) -> Row:
    try:
        if "simulations" in row:
            return {"expect": metrics(msgspec.convert(row, ready_type(Trials)))}
        return _task_answer(folder, msgspec.convert(row, ready_type(_Row)))
    except msgspec.ValidationError as error:
        raise UsageError(f"not a row of τ²-bench: {error}") from None


def _task_answer(folder: Path, row: _Row) -> Row:
    edition = find_edition(folder, row.edition)
    policy = WORKFLOW if row.domain == _WORKFLOW_DOMAIN else MANUAL
    domain = "telecom" if policy == WORKFLOW else row.domain
    task = _task_of(edition, domain, row.task)
    messages = [_message(item.get("role", AGENT), item) for item in row.messages]
    trial = Trial(domain_of(edition, domain), task, messages, row.options.solo, row.options.strict)
    if row.what or row.requests is not None:
        agent = next((agent for name, agent in _AGENTS.items() if name in (row.what, row.options.agent)), MODEL)
        limits = structs.replace(row.options, solo=agent == SOLO)
        stage = RecordedStage(row.requests or (), task)
        player = Player(edition, domain, task, stage, Tau2Options(limits, policy, agent, official_calls=True))
        return prompt_row(player, row.what) if row.what else _requests(player, stage, trial, row)
    if row.kind.startswith("rescore"):
        return _judged(trial, row, row.termination_reason, row.judge_reply)
    return _played(trial, row)


def _task_of(edition: Edition, domain: str, name: str | None) -> Task:
    tasks = tasks_of(edition, domain)
    if name is not None and name not in tasks:
        raise UsageError(f"the edition {edition.name} has no task {name!r} in {domain}")
    return next(iter(tasks.values())) if name is None else tasks[name]


def _message(role: str, item: Row) -> Message:
    """Read a message of a trajectory; calls without a requestor belong to the message's role."""
    calls = cast(list[Row] | None, item.get("tool_calls"))
    own = calls and [{"id": "", "requestor": role, **call} for call in calls]
    return msgspec.convert({"role": role, **item, "tool_calls": own}, ready_type(Message))


def _requests(player: Player, stage: RecordedStage, trial: Trial, row: _Row) -> Row:
    """Play a recorded episode: the requests, its end and reward."""
    raised = {"where": "play", "text": "replies ended"}
    try:
        output = asyncio.run(player.play())
    except RepliesEnded:
        return {"requests": stage.requests, "raises": raised}
    if output.silent:
        return {"requests": stage.requests, "raises": raised | {"text": f"{output.silent}: {output.silence}"}}
    end = {"termination_reason": output.reason, "steps": output.steps, "errors": output.errors}
    judged = _judged(replace(trial, messages=output.messages), row, output.reason, output.judge)
    return {"requests": stage.requests, **end, **judged}


def _played(trial: Trial, row: _Row) -> Row:
    """Play a row with its replies and judge the result."""
    talk = Talk(trial.domain, trial.task, row.options)
    out: Row = {}
    try:
        talk.play(_scripted(trial, row, len(talk.messages))).send(None)
    except StopIteration:
        out = _judged(replace(trial, messages=talk.messages), row, talk.reason, row.judge_reply)
        out["termination_reason"] = talk.reason
    except Silent as error:
        outcome = "undecided" if error.party == USER else "failed"
        out = {"raises": {"where": "play", "text": str(error)}, "outcome": outcome, "reason": error.reason}
    except RepliesEnded as error:
        out = {"raises": {"where": "play", "text": str(error)}, "outcome": "broken", "reason": "connection"}
    return {"messages": [_shown(item) for item in talk.messages], "steps": talk.steps, "errors": talk.errors, **out}


def _scripted(trial: Trial, row: _Row, greeted: int) -> Ask:
    """Return a function that gives the replies of a row, in order."""
    replies = {party: [item for item in trial.messages[greeted:] if item.role == party] for party in (AGENT, USER)}
    if row.replies is not None:
        names = {AGENT: "agent", USER: USER}
        replies = {
            party: [_message(party, item) for item in row.replies.get(name, ())] for party, name in names.items()
        }
    numbers = count(1)

    async def ask(party: str, _: Sequence[Message]) -> Message:
        if not replies[party]:
            raise RepliesEnded(f"{'user' if party == USER else 'agent'} script ended")
        reply = replies[party].pop(0)
        calls = [structs.replace(call, id=call.id or f"call_{next(numbers)}") for call in reply.tool_calls or ()]
        if trial.solo and row.replies is None and not calls:
            calls = [Call("done", DONE, {}, party)]  # the row has only the text that replaced this call
        return structs.replace(reply, tool_calls=calls)

    return ask


def _judged(trial: Trial, row: _Row, reason: str, judge_reply: str | None) -> Row:
    try:
        evaluation = evaluate(trial, reason, evaluation=row.options.evaluation, judge_reply=judge_reply)
    except (ReplayError, UnreadableJudge) as error:
        kind = "undecided" if isinstance(error, UnreadableJudge) else "broken"
        return {"raises": {"where": "evaluate", "text": str(error)}, "outcome": kind}
    return {"expect": msgspec.to_builtins(evaluation)}


def _shown(message: Message) -> Row:
    row: Row = {"role": message.role, "content": message.content}
    if message.role == "tool":
        row |= {"id": message.id, "requestor": message.requestor} | ({"error": True} if message.error else {})
    if message.tool_calls:
        calls = message.tool_calls
        row["tool_calls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return row
