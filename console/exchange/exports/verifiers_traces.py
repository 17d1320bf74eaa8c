"""Export to `traces.jsonl` of verifiers v1: one episode per line, each with the message graph of one rollout.

Every reply is a sampled node below the request it answers. Passing is the only weighted reward, and named scores are
metrics; where another harness scored, its first score is the reward. Broken and undecided rollouts have an error and
no reward.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from console.core.outcome import OWN_SCORES, Outcome
from console.exchange.document import Item, RunDocument
from console.exchange.document_reader import read_document
from console.exchange.exports.files import write_file
from console.exchange.exports.inspect_messages import target_of
from console.exchange.exports.media_content import Read, chat_content
from console.insight.conversation import Conversation, Exchange
from console.insight.message import NormalizedMessage, normalized_message, normalized_reply
from console.store.journal_line import scrub
from console.store.runs import RunFolder

TRACES = "traces.jsonl"
VERSION = 1
PASSED = "passed"
_ROLES = {"developer": "system", "function": "tool"}

Json = dict[str, Any]


def export_run(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    """Write the file into the folder `root` and return its path.

    Raises:
        UsageError: the run cannot be read, or the file cannot be written.
    """
    document, _ = read_document(run, data, with_conversations=True)
    cases = {
        case: number for number, case in enumerate(dict.fromkeys(item.rollout.key.case for item in document.items))
    }
    episodes = (_episode(item, document, cases[item.rollout.key.case]) for item in document.items)
    lines = "".join(json.dumps(scrub(episode), allow_nan=False, default=str) + "\n" for episode in episodes)
    write_file(root / TRACES, lines.encode())
    return [root / TRACES]


def _episode(item: Item, document: RunDocument, number: int) -> Json:
    trace = _trace(item, document, number)
    return {
        "id": trace["id"],
        "env": {"id": document.manifest.dataset.get("task", document.manifest.suite)},
        "task": trace["task"],
        "ok": trace["ok"],
        "errors": [],
        "traces": [trace],
    }


def _trace(item: Item, document: RunDocument, number: int) -> Json:
    rollout = item.rollout
    graph = _Graph(item.conversation)
    is_graded = item.graded is not None
    verdict = item.finished.verdict if item.finished is not None else None
    why = "; ".join(verdict.messages) if verdict is not None else ""
    data = {"idx": number, "name": rollout.key.case, "prompt": graph.prompt or rollout.title, "answer": target_of(item)}
    ended = {"start": rollout.started_at, "end": rollout.started_at + max(rollout.seconds, 0.0)}
    return {
        "version": VERSION,
        "id": f"{document.manifest.id}/{rollout.key}",
        "verifiers": {"version": "unknown"},
        "task": {"type": document.manifest.suite, "data": data, "key": rollout.key.case},
        "agent": {"config": {"model": document.manifest.model.model_id or document.manifest.model.name}},
        "tools": graph.tools,
        "nodes": graph.nodes,
        "calls": graph.calls,
        "rewards": _rewards(item, document.manifest.headline),
        "metrics": dict(rollout.scores),
        "info": {
            "eval_console": {
                "run": document.manifest.id,
                "rollout": rollout.key.rollout,
                "outcome": item.outcome,
                "reason": rollout.reason,
                "simulated": document.simulated,
            }
        },
        "is_completed": item.finished is not None,
        "ok": is_graded,
        "errors": [] if is_graded or item.is_setup else [{"type": item.outcome, "message": why or rollout.reason}],
        "timing": {"start": rollout.started_at, "agent": ended},
    }


def _rewards(item: Item, headline: str) -> Json:
    """Return the run's headline score as the reward, so that the mean reward equals it; by default, passing."""
    if item.graded is None:
        return {headline or PASSED: None}
    detail = item.finished.verdict.detail if item.finished is not None else {}
    headline = next(iter(detail.get(OWN_SCORES) or (headline,)))
    score = item.rollout.scores.get(headline)
    if score is not None:
        return {headline: {"score": score, "weight": 1.0}}
    return {PASSED: {"score": float(item.graded is Outcome.PASSED), "weight": 1.0}}


class _Graph:
    """The messages of a conversation, each stored once below its predecessor."""

    def __init__(self, conversation: Conversation | None) -> None:
        self.nodes: list[Json] = []
        self.calls: list[Json] = []
        self.tools: list[Json] = []
        self.prompt = ""
        """Text of the first user message."""
        self._places: dict[tuple[int | None, NormalizedMessage], int] = {}
        self._read: Read | None = conversation.read_file if conversation else None
        for exchange in conversation.exchanges if conversation else []:
            if exchange.asked.role == "model":
                self._add_exchange(exchange)

    def _add_exchange(self, exchange: Exchange) -> None:
        parent: int | None = None
        for message in map(normalized_message, exchange.messages):
            self.prompt = self.prompt or (message.text if message.role == "user" else "")
            parent = self._add(parent, message, exchange.asked.at)
        reply = exchange.asked.reply
        node = self._add(parent, normalized_reply(reply), exchange.asked.at)
        self.nodes[node]["sampled"] = True
        if reply.reasoning:
            self.nodes[node]["message"]["reasoning_content"] = reply.reasoning
        self.tools = self.tools or [_tool(tool) for tool in exchange.tools]
        call: Json = {"node": node, "model": reply.model or None}
        call["time"] = {"start": exchange.asked.at - max(reply.latency_s, 0.0), "end": exchange.asked.at}
        if reply.usage is not None:
            call["usage"] = {"prompt_tokens": reply.usage.input, "completion_tokens": reply.usage.output}
        self.calls.append(call)

    def _add(self, parent: int | None, message: NormalizedMessage, at: float) -> int:
        place = self._places.get((parent, message))
        if place is None:
            place = self._places[parent, message] = len(self.nodes)
            node: Json = {"message": _message(message, self._read), "timestamp": at, "sampled": False}
            self.nodes.append(node if parent is None else node | {"parent": parent})
        return place


def _message(message: NormalizedMessage, read: Read | None) -> Json:
    role = _ROLES.get(message.role, message.role)
    if role == "assistant":
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
        return {"role": role, "content": message.text} | ({"tool_calls": calls} if calls else {})
    if role == "tool":
        named = {"name": message.name} if message.name else {}
        return {"role": role, "tool_call_id": message.answers, "content": message.text} | named
    content = chat_content(message, read) if read is not None else message.text
    return {"role": role if role == "system" else "user", "content": content}


def _tool(tool: Json) -> Json:
    described: Any = tool.get("function")
    function = msgspec.convert(described, dict[str, Any]) if isinstance(described, dict) else tool
    parameters: Any = function.get("parameters")
    return {
        "name": str(function.get("name") or ""),
        "description": str(function.get("description") or ""),
        "parameters": parameters if isinstance(parameters, dict) else {},
    }
