"""Rows of recorded requests and prompts: what our models are sent, in the form of the conformance files."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.tau2.conversation.play import JUDGE, Player, agent_tools
from console.benchmarks.tau2.data.editions import Edition
from console.benchmarks.tau2.data.prompts import (
    GROUND_TRUTH,
    MANUAL,
    MODEL,
    SOLO,
    WORKFLOW,
    agent_prompt,
    user_prompt,
)
from console.benchmarks.tau2.data.schemas import tool_schemas
from console.benchmarks.tau2.options import read_options
from console.benchmarks.tau2.rules.domains.world import USER
from console.benchmarks.tau2.rules.task import Output, Task
from console.core.case import Key
from console.core.chat import Message, Reply, ToolCall
from console.suites.stage import UnrecordedStage
from console.suites.suite import Row

_WORKFLOW_DOMAIN = "telecom-workflow"
_LONGEST = 200
_MODELS = {"model": "agent-model", "user": "user-model", JUDGE: "gpt-4.1-2025-04-14"}
_SERVER_ERROR = 500


class RepliesEnded(Exception):
    """A model is asked more often than it was in the recording."""


def domain_and_policy(name: str) -> tuple[str, str]:
    """Return the domain of a name in the files, and the policy of telecom."""
    return ("telecom", WORKFLOW) if name == _WORKFLOW_DOMAIN else (name, MANUAL)


def prompt_row(edition: Edition, name: str, task: Task, what: str) -> Row:
    """Answer a row of prompts: digests of the system prompt and of the tools."""
    domain, variant = domain_and_policy(name)
    user_tools = tool_schemas(edition, domain, USER)
    if what.startswith("user tools"):
        return {"tools": _digest(user_tools), "names": _names(user_tools)}
    if what.startswith("user"):
        return _text(user_prompt(edition, task, has_tools=bool(user_tools))) | {"tools": _digest(user_tools)}
    agent = SOLO if what.startswith("solo") else GROUND_TRUTH if what.startswith("ground") else MODEL
    tools = agent_tools(edition, domain, solo=agent == SOLO)
    return _text(agent_prompt(edition, domain, task, variant=variant, agent=agent)) | {
        "tools": _digest(tools),
        "names": _names(tools),
    }


async def play_requests(edition: Edition, row: Row, task: Task) -> tuple[list[Row], Output | None]:
    """Play a recorded episode with its replies; return the requests, and the output unless the replies end."""
    domain, variant = domain_and_policy(row["domain"])
    row_options = cast(Row, row.get("options") or {})
    agent = {"llm_agent_gt": GROUND_TRUTH, "llm_agent_solo": SOLO}.get(row_options.get("agent", ""), MODEL)
    values: Row = {"agent": agent, "telecom_policy": variant, "official_calls": True}
    values |= {name: row_options[name] for name in ("max_steps", "max_errors") if name in row_options}
    stage = _RecordedStage(row["requests"], task)
    try:
        output = await Player(edition, domain, task, stage, read_options(values)).play()
    except RepliesEnded:
        output = None
    return stage.requests, output


class _RecordedStage(UnrecordedStage):
    """Gives recorded replies in order, and keeps the requests."""

    def __init__(self, requests: Sequence[Row], task: Task) -> None:
        super().__init__(Key("episode"))  # the first trial
        self._task = task
        self._replies = [item["reply"] for item in requests]
        self._before: dict[str, list[Any]] = {}
        self._named: set[str] = set()
        self.requests: list[Row] = []

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Row] = (),
        role: str = "model",
        params: Row | None = None,
        **_: Any,
    ) -> Reply:
        """Keep a request, and return the reply; failed ones are asked again."""
        while True:
            if not self._replies:
                raise RepliesEnded
            reply = cast(Row, self._replies.pop(0))
            self._keep(list(messages), tools, role, dict(params or {}), reply)
            if reply.get("status", 0) < _SERVER_ERROR:
                break
        calls = cast(list[Row], reply.get("tool_calls") or [])
        calls_in_reply = (
            ToolCall(call["id"], call["function"]["name"], self._arguments(call["function"])) for call in calls
        )
        return Reply(self._content(reply.get("content")), tuple(calls_in_reply))

    def _content(self, recorded: Any) -> str | None:
        """Return a recorded text; a judge's long one was recorded as a digest, and finds all expectations met."""
        if not isinstance(recorded, dict):
            return recorded
        results = [
            {"expectedOutcome": text, "reasoning": "seen", "metExpectation": True}
            for text in self._task.criteria.nl_assertions or ()
        ]
        return json.dumps({"results": results})

    def _arguments(self, function: Row) -> str:
        """Return the arguments of a recorded call; long ones were recorded as a digest, and are those of the task."""
        recorded = function["arguments"]
        if isinstance(recorded, str):
            return recorded
        texts = (json.dumps(action.arguments) for action in self._task.criteria.actions or ())
        return next((text for text in texts if _text(text) == recorded), json.dumps(recorded))

    def _keep(self, messages: list[Any], tools: Sequence[Row], role: str, params: Row, reply: Row) -> None:
        params.pop("seed", None)  # recorded with another seed than that of a first trial
        before = self._before.get(role)
        shown: Any = _compact(messages)
        if before is not None and messages[: len(before)] == before:
            shown = {"same_as_before": len(before), "then": _compact(messages[len(before) :])}
        self._before[role] = messages
        body: Row = {"model": _MODELS[role], "messages": shown, **params}
        if tools:
            digest = _digest(tools)
            body["tools"] = {"sha256": digest} | ({} if digest in self._named else {"names": _names(tools)})
            self._named.add(digest)
        self.requests.append({"path": "/v1/chat/completions", "body": body, "reply": reply})


def _compact(value: Any) -> Any:
    """Replace long texts by their digests."""
    if isinstance(value, str):
        return _text(value) if len(value) > _LONGEST else value
    if isinstance(value, dict):
        return {key: _compact(item) for key, item in cast(Row, value).items()}
    return [_compact(item) for item in cast(list[Any], value)] if isinstance(value, list) else value


def _text(text: str) -> Row:
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "chars": len(text)}


def _digest(tools: Sequence[Row]) -> str:
    text = json.dumps(tools, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _names(tools: Sequence[Row]) -> list[str]:
    return [tool["function"]["name"] for tool in tools]
