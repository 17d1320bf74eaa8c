"""Logs of verifiers for any environment: v1's `traces.jsonl`, and the older `results.jsonl` with `metadata.json`.

A v1 trace is a graph of messages: each sampled one answers the path that leads to it. The sum of a trace's weighted
rewards decides its verdict.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import fsum
from pathlib import Path
from typing import Any

import msgspec

from console.core.chat import Usage
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.exchange.imports.chat import (
    after_last_reply,
    calls_of_messages,
    chat_message,
    content_text,
    conversation,
    first_question,
    reply_of,
)
from console.exchange.imports.jsonl import LinesLog, first_line, line_tables
from console.exchange.imports.log import (
    Log,
    LogCall,
    LogFormat,
    LogHead,
    LogSample,
    LogScore,
    Table,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, moment, seconds
from console.store.atomic import read_regular

TOOL = "verifiers"
REWARD = "reward"
_TRACE_VERSION = 1
_PLACED = ("task", "tools", "nodes", "calls", "rewards", "metrics", "errors")
_LOOKED_AT_LINES = 50


# Traces of v1 ---------------------------------------------------------------------------------------------------------


def _open_traces(path: Path) -> list[Log]:
    config = _config(path)
    first = next((episode for _, episode in line_tables(path, []) if tables(episode.get("traces"))), None)
    if first is None:
        raise UsageError("contains no trace", where=str(path))
    trace = tables(first.get("traces"))[0]
    version = trace.get("version", _TRACE_VERSION)
    if version != _TRACE_VERSION:
        raise UsageError(f"contains traces of version {text(version)}", where=str(path), hint="Version 1 is supported.")
    calls = tables(trace.get("calls"))
    model = text(config.get("model")) or next(
        (text(call.get("model")) for call in calls if call.get("model")), "unknown"
    )
    head = LogHead(
        tool=TOOL,
        has_counts=True,
        version=text(table(trace.get("verifiers")).get("version")),
        task=text(table(first.get("env")).get("id")) or text(table(first.get("task")).get("type")) or "environment",
        model=model,
        at=moment(table(trace.get("timing")).get("start")),
        params=table(config.get("sampling")),
        decisive=REWARD,
        simulated=bool(table(table(trace.get("info")).get("eval_console")).get("simulated")),
        rest=without({"config": config}),
    )
    return [_NumberedLines(path, head, _traces)]


def _config(path: Path) -> Table:
    """Return the configuration stored next to the traces, if any."""
    for place in (path.parent / "configs" / "eval.json", path.parent / "config.json"):
        try:
            if not place.is_symlink() and place.stat().st_size < 1 << 20:
                return table(read_json(read_regular(place)))
        except (OSError, ValueError):
            continue
    return {}


_Numbers = defaultdict[str, "itertools.count[int]"]
"""The next rollout number of each task."""


class _NumberedLines(LinesLog):
    """Lines whose samples get new rollout numbers, because older versions number them wrongly."""

    def __init__(
        self, path: Path, head: LogHead, samples_of: Callable[[Table, int, _Numbers], Iterator[LogSample]]
    ) -> None:
        super().__init__(path, head, lambda record, number: samples_of(record, number, self._numbers))
        self._numbers = _Numbers(itertools.count)

    def samples(self) -> Iterator[LogSample]:
        self._numbers = _Numbers(itertools.count)
        return super().samples()


def _traces(episode: Table, number: int, numbers: _Numbers) -> Iterator[LogSample]:
    """Yield the traces of an episode; several agents are separate samples."""
    traces = tables(episode.get("traces"))
    if not traces:
        raise ValueError("is not an episode: it contains no trace")
    for trace in traces:
        agent = text(table(trace.get("agent")).get("name"))
        name = _task_name(trace, number) + (f"/{agent}" if len(traces) > 1 and agent else "")
        yield _trace_sample(trace, episode, name, next(numbers[name]))


def _task_name(trace: Table, number: int) -> str:
    task = table(trace.get("task"))
    data = table(task.get("data"))
    names = (task.get("key"), data.get("id"), data.get("name"), data.get("idx"), task.get("hash"))
    return next((text(name) for name in names if name not in (None, "")), f"line {number}")


def _trace_sample(trace: Table, episode: Table, name: str, rollout: int) -> LogSample:
    data = table(table(trace.get("task")).get("data"))
    nodes = tables(trace.get("nodes"))
    calls = tuple(_node_calls(nodes, tables(trace.get("calls")), tables(trace.get("tools"))))
    errors = [f"{text(error.get('type'))}: {text(error.get('message'))}" for error in tables(trace.get("errors"))]
    is_error = bool(errors) and not trace.get("ok")
    timing = table(trace.get("timing"))
    spans = [table(timing.get(part)) for part in ("boot", "setup", "agent", "finalize", "scoring")]
    messages = [chat_message(table(node.get("message"))) for node in nodes]
    rewards = table(trace.get("rewards"))
    return LogSample(
        id=name,
        epoch=rollout,
        title=first_question(data.get("prompt")) or first_question(messages),
        target=next((data[key] for key in ("answer", "target", "solution") if data.get(key) is not None), None),
        data={"task": data},
        calls=calls,
        tail=tuple(after_last_reply(messages)),
        answer=calls[-1].reply.content if calls else None,
        scores={} if is_error else _rewards(rewards, table(trace.get("metrics"))),
        error=errors[-1] if is_error else "",
        limit="" if not trace.get("is_timeout") else "time",
        at=max((moment(span.get("end")) or 0.0 for span in spans), default=0.0) or None,
        seconds=fsum(max(0.0, seconds(span.get("end")) - seconds(span.get("start"))) for span in spans),
        input_tokens=sum(call.reply.usage.input for call in calls if call.reply.usage),
        output_tokens=sum(call.reply.usage.output for call in calls if call.reply.usage),
        rest=without(
            {
                **without(trace, *_PLACED),
                "errors": errors,
                "rewards": rewards,
                "episode": without(episode, "traces", "task"),
                "node_details": [without(node, "message", "parent", "sampled") for node in nodes],
            }
        ),
    )


def _rewards(rewards: Table, metrics: Table) -> dict[str, LogScore]:
    """Return the weighted sum, then each reward and metric by name."""
    parts = {name: table(reward) for name, reward in rewards.items() if table(reward)}
    scores: dict[str, LogScore] = {}
    if parts:
        values = ((amount(part.get("score")) or 0.0) * _weight(part) for part in parts.values())
        scores[REWARD] = LogScore(fsum(values))
    for name, part in parts.items():
        scores[name if name not in scores else f"{name}."] = LogScore(part.get("score"))
    for name, value in metrics.items():
        if value is not None:
            scores[name if name not in scores else f"metric {name}"] = LogScore(value)
    return scores


def _weight(part: Table) -> float:
    weight = amount(part.get("weight", 1.0))
    return 1.0 if weight is None else weight


def _node_calls(nodes: list[Table], calls: list[Table], tools: list[Table]) -> Iterator[LogCall]:
    by_node = {node: call for call in calls if isinstance(node := call.get("node"), int)}
    offered = [
        {"type": "function", "function": {key: tool.get(key) for key in ("name", "description", "parameters")}}
        for tool in tools
    ]
    for place, node in enumerate(nodes):
        if not node.get("sampled"):
            continue
        reply = reply_of(table(node.get("message")))
        call = by_node.get(place, {})
        usage, time = table(call.get("usage")), table(call.get("time"))
        reply = msgspec.structs.replace(
            reply,
            usage=Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))) if usage else None,
            model=text(call.get("model")),
            latency_s=max(0.0, seconds(time.get("end")) - seconds(time.get("start"))),
            finish="length" if call.get("finish_reason") == "length" else reply.finish,
        )
        at = moment(time.get("end")) or moment(node.get("timestamp"))
        yield LogCall(_path(nodes, node), reply, offered, params=table(call.get("sampling")), at=at)


def _path(nodes: list[Table], node: Table) -> list[Table]:
    """Return the messages that lead to a node, up to a cyclic or dangling parent."""
    messages: list[Table] = []
    visited: set[int] = set()
    parent = node.get("parent")
    while isinstance(parent, int) and 0 <= parent < len(nodes) and parent not in visited:
        visited.add(parent)
        messages.append(chat_message(table(nodes[parent].get("message"))))
        parent = nodes[parent].get("parent")
    return messages[::-1]


# Older results -------------------------------------------------------------------------------------------------------

_PLACED_OF_RESULT = (
    "id",
    "example_id",
    "prompt",
    "completion",
    "answer",
    "reward",
    "metrics",
    "error",
    "task",
    "timing",
)


def _open_results(path: Path) -> list[Log]:
    try:
        metadata = table(read_json(read_regular(path.parent / "metadata.json")))
    except FileNotFoundError:
        metadata = {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path.parent / "metadata.json")) from None
    averages = {name[4:]: amount(value) for name, value in metadata.items() if name.startswith("avg_")}
    reported = {name: {"mean": value} for name, value in averages.items() if value is not None}
    head = LogHead(
        tool=TOOL,
        has_counts=True,
        version=text(metadata.get("version")),
        task=text(metadata.get("env_id") or metadata.get("env")) or "environment",
        model=text(metadata.get("model")) or "unknown",
        at=moment(f"{text(metadata.get('date'))} {text(metadata.get('time'))}".strip()),
        params=table(metadata.get("sampling_args")),
        decisive=REWARD,
        reported=reported,
        rest=metadata,
    )
    return [_NumberedLines(path, head, _rollout)]


def _rollout(row: Table, number: int, numbers: _Numbers) -> Iterator[LogSample]:
    """Yield the rollout of a line."""
    if "prompt" not in row and "completion" not in row:
        raise ValueError("is not a rollout: it has neither prompt nor completion")
    prompt, completion = conversation(row.get("prompt")), _completion(row.get("completion"))
    name = next((text(row[key]) for key in ("example_id", "id") if row.get(key) is not None), f"line {number}")
    placed = {*_PLACED_OF_RESULT}
    metrics = table(row.get("metrics")) or {
        key: value for key, value in row.items() if key not in placed and amount(value) is not None
    }
    scores = {REWARD: LogScore(row[REWARD])} if row.get(REWARD) is not None else {}
    scores |= {key: LogScore(value) for key, value in metrics.items() if key not in scores and value is not None}
    answers = [message for message in completion if message["role"] == "assistant"]
    timing = table(row.get("timing"))
    yield LogSample(
        id=name,
        epoch=next(numbers[name]),
        title=first_question(prompt),
        target=row.get("answer") if row.get("answer") not in (None, "") else None,
        data=without({"info": row.get("info"), "task": row.get("task")}),
        calls=calls_of_messages([*prompt, *completion])[len(calls_of_messages(prompt)) :],
        tail=tuple(after_last_reply(completion)),
        answer=content_text(answers[-1]["content"])[0] if answers else None,
        scores={} if row.get("error") else scores,
        error=text(row.get("error")),
        seconds=(amount(timing.get("total_ms")) or 0.0) / 1000,
        rest=without(row, *_PLACED_OF_RESULT[:-1], "info", *metrics),
    )


def _completion(value: Any) -> list[Table]:
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    return conversation(value)


def _is_traces(path: Path, head: bytes) -> bool:
    start = head[: _LOOKED_AT_LINES * 100]
    return path.suffix == ".jsonl" and start.startswith(b"{") and b'"traces"' in head and b'"nodes"' in head


def _is_results(path: Path, head: bytes) -> bool:
    first = first_line(head)
    return path.suffix == ".jsonl" and {"prompt", "completion"} <= first.keys()


TRACES = LogFormat("verifiers-traces", "traces.jsonl of verifiers v1", _is_traces, _open_traces)
RESULTS = LogFormat("verifiers-results", "results.jsonl of older verifiers", _is_results, _open_results)
