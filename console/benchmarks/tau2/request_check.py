"""Rows of recorded requests and prompts: the requests to our models, in the format of the conformance files."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.tau2.conversation.play import JUDGE, Player
from console.benchmarks.tau2.rules.domains.world import AGENT, USER
from console.benchmarks.tau2.rules.task import Task
from console.core.case import Key
from console.core.chat import Message, Reply, ToolCall
from console.suites.stage import UnrecordedStage
from console.suites.suite import Row

_LONGEST = 200
_MODELS = {"model": "agent-model", "user": "user-model", JUDGE: "gpt-4.1-2025-04-14"}
_SERVER_ERROR = 500


class RepliesEnded(Exception):
    """A party is called more often than the row has replies, for example because its model could not be reached."""


def prompt_row(player: Player, what: str) -> Row:
    """Answer a row of prompts: digests of the system prompt and of the tools."""
    party = USER if what.startswith("user") else AGENT
    tools = player.tools[party]
    names = {} if what.startswith("user simulator") else {"names": _names(tools)}
    prompt = {} if what.startswith("user tools") else _text(player.system[party])
    return prompt | {"tools": _digest(tools)} | names


class RecordedStage(UnrecordedStage):
    """Gives recorded replies in order, and keeps the requests."""

    def __init__(self, requests: Sequence[Row], task: Task) -> None:
        super().__init__(Key("episode"))  # the first trial
        self._task = task
        self._replies = iter([cast(Row, item["reply"]) for item in requests])
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
        """Record a request, and return the reply; failed requests are repeated."""
        for reply in self._replies:
            self._keep(list(messages), tools, role, dict(params or {}), reply)
            if reply.get("status", 0) < _SERVER_ERROR:
                recorded = ((call["id"], call["function"]) for call in reply.get("tool_calls") or ())
                calls = (ToolCall(name, part["name"], self._arguments(part["arguments"])) for name, part in recorded)
                return Reply(self._content(reply.get("content")), tuple(calls))
        raise RepliesEnded

    def _content(self, recorded: Any) -> str | None:
        """Return a recorded text; a judge's digest becomes a reply that finds all expectations met."""
        if not isinstance(recorded, dict):
            return recorded
        results = [
            {"expectedOutcome": text, "reasoning": "seen", "metExpectation": True}
            for text in self._task.criteria.nl_assertions or ()
        ]
        return json.dumps({"results": results})

    def _arguments(self, recorded: Any) -> str:
        """Return the arguments of a recorded call; long ones, recorded as a digest, are taken from the task."""
        if isinstance(recorded, str):
            return recorded
        texts = (json.dumps(action.arguments) for action in self._task.criteria.actions or ())
        return next((text for text in texts if _text(text) == recorded), json.dumps(recorded))

    def _keep(self, messages: list[Any], tools: Sequence[Row], role: str, params: Row, reply: Row) -> None:
        params.pop("seed", None)  # recorded with a seed other than the first trial's
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
