"""Simulations of τ-bench (a list of results) and of τ²-bench (simulations and tasks), as JSON files."""

from collections.abc import Iterator
from pathlib import Path

from console.core.json_text import read_json
from console.exchange.imports.chat import after_last_reply, calls_of_messages, chat_message, content_text
from console.exchange.imports.json_log import read_pieces
from console.exchange.imports.json_stream import Names
from console.exchange.imports.log import (
    Log,
    LogFormat,
    LogHead,
    LogSample,
    LogScore,
    Problem,
    Table,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, moment, seconds

_REWARD = "reward"
_OLD, _SIMULATIONS = (), ("simulations",)
_ENDED_BY_ITSELF = ("", "user_stop", "agent_stop")
_ERRORS = ("agent_error", "user_error", "infrastructure_error", "too_many_errors", "unexpected_error")


class SimulationsLog:
    """One file of simulations."""

    def __init__(self, path: Path, head: LogHead, elements: Names, tasks: dict[str, Table]) -> None:
        self.head = head
        self.problems: list[Problem] = []
        self._path, self._elements, self._tasks = path, elements, tasks

    def samples(self) -> Iterator[LogSample]:
        number = 0
        for names, piece in read_pieces(self._path, {self._elements}, self.problems):
            if names != self._elements:
                continue
            number += 1
            try:
                if piece is None:
                    raise ValueError("is too large")
                record = table(read_json(piece))
                if "task_id" not in record:
                    raise ValueError("is not a simulation: it has no task_id")
                yield _old_sample(record) if self._elements == _OLD else _sample(record, self._tasks)
            except ValueError as error:
                self.problems.append(Problem(f"simulation {number}", str(error)))


def _open_old(path: Path) -> list[Log]:
    head = LogHead(tool="tau-bench", task="tau-bench", model=path.stem.split("_")[0] or "unknown", decisive=_REWARD)
    return [SimulationsLog(path, head, _OLD, {})]


def _open_new(path: Path) -> list[Log]:
    whole: Table = {}
    for names, piece in read_pieces(path, {_SIMULATIONS}, []):
        if names != _SIMULATIONS and piece is not None:
            whole[names[0]] = read_json(piece)
    info = table(whole.get("info"))
    agent, domain = table(info.get("agent_info")), text(table(info.get("environment_info")).get("domain_name"))
    head = LogHead(
        tool="tau2-bench",
        version=text(info.get("git_commit"))[:12],
        task=domain or "tau2-bench",
        model=text(agent.get("llm")) or "unknown",
        at=moment(whole.get("timestamp")),
        params=table(agent.get("llm_args")),
        repeats=max(1, count(info.get("num_trials"))),
        decisive=_REWARD,
        rest=without(whole, "tasks", "simulations", "timestamp"),
    )
    tasks = {text(task.get("id")): task for task in tables(whole.get("tasks"))}
    return [SimulationsLog(path, head, _SIMULATIONS, tasks)]


def _old_sample(record: Table) -> LogSample:
    info = table(record.get("info"))
    task = table(info.get("task"))
    messages = [chat_message(message) for message in tables(record.get("traj"))]
    error = text(info.get("error"))
    return LogSample(
        id=text(record.get("task_id")),
        epoch=count(record.get("trial")),
        title=text(task.get("instruction")),
        target=without({"actions": task.get("actions"), "outputs": task.get("outputs")}) or None,
        data=without({"task": task}),
        calls=calls_of_messages(messages),
        tail=tuple(after_last_reply(messages)),
        answer=_last_answer(messages),
        scores={} if error else {_REWARD: LogScore(record.get("reward"))},
        error=error,
        cost_usd=amount(info.get("agent_cost")),
        rest=without({**without(record, "task_id", "trial", "reward", "traj", "info"), "info": without(info, "task")}),
    )


def _sample(record: Table, tasks: dict[str, Table]) -> LogSample:
    name = text(record.get("task_id"))
    task, judged = tasks.get(name, {}), table(record.get("reward_info"))
    shown = tables(record.get("messages"))
    messages = [_message(message) for message in shown]
    ended = text(record.get("termination_reason"))
    is_error = ended in _ERRORS and not judged
    usage = [table(message.get("usage")) for message in shown if message.get("role") == "assistant"]
    breakdown = {key: LogScore(value) for key, value in table(judged.get("reward_breakdown")).items()}
    scores = {_REWARD: LogScore(judged.get(_REWARD), explanation=text(table(judged.get("info")).get("note")))}
    return LogSample(
        id=name,
        epoch=count(record.get("trial")),
        title=text(table(task.get("description")).get("purpose")) or _instructions(task),
        target=task.get("evaluation_criteria"),
        data=without({"task": without(task, "evaluation_criteria")}),
        calls=calls_of_messages(messages),
        tail=tuple(after_last_reply(messages)),
        answer=_last_answer(messages),
        scores={} if not judged else scores | breakdown,
        error=ended if is_error else "",
        limit="" if ended in (*_ENDED_BY_ITSELF, *_ERRORS) else ended.replace("_", " "),
        at=moment(record.get("end_time")),
        seconds=seconds(record.get("duration")),
        input_tokens=sum(count(part.get("prompt_tokens")) for part in usage),
        output_tokens=sum(count(part.get("completion_tokens")) for part in usage),
        cost_usd=amount(record.get("agent_cost")),
        rest=without(record, "task_id", "trial", "messages", "duration"),
    )


def _message(message: Table) -> Table:
    """Convert a message to the chat format; τ²-bench results name their call by `id`."""
    if message.get("role") == "tool":
        return {"role": "tool", "tool_call_id": text(message.get("id")), "content": text(message.get("content"))}
    return chat_message(message)


def _instructions(task: Table) -> str:
    return text(table(table(task.get("user_scenario")).get("instructions")).get("reason_for_call"))


def _last_answer(messages: list[Table]) -> str | None:
    texts = [content_text(message.get("content"))[0] for message in messages if message["role"] == "assistant"]
    return next((answer for answer in reversed(texts) if answer), None)


def _is_old(path: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"[") and b'"task_id"' in head[:4096] and b'"reward"' in head[:4096]


def _is_new(path: Path, head: bytes) -> bool:
    start = head.lstrip()[:4096]
    return start.startswith(b"{") and b'"info"' in start and (b'"num_trials"' in head or b'"agent_info"' in head)


OLD = LogFormat("tau", "results of tau-bench", _is_old, _open_old)
NEW = LogFormat("tau2", "simulations of tau2-bench", _is_new, _open_new)
