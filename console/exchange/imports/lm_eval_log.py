"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl` with `results_TIME.json`, from `--log_samples`.

A line is one document under one filter. If a task has several filters, each line is a separate sample.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from console.core.chat import Reply
from console.core.json_text import read_json
from console.exchange.imports.chat import conversation
from console.exchange.imports.json_stream import LARGEST_BYTES
from console.exchange.imports.jsonl import first_line, line_tables
from console.exchange.imports.log import (
    Log,
    LogCall,
    LogFormat,
    LogHead,
    LogSample,
    LogScore,
    Problem,
    Table,
    listed,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, moment

TOOL = "lm_eval"
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d:.-]+)\.jsonl\Z")
_PLACED = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
_NO_FILTER = "none"


class SamplesLog:
    """The samples of one task."""

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self._path = path
        name = _NAME.match(path.name)
        self._task = name["task"] if name else path.stem.removeprefix("samples_")
        self.head = _head(self._task, _results(path, name["time"] if name else "", self.problems), self._filters())

    def _filters(self) -> list[str]:
        """Return the names of the filters that occur in the first documents."""
        names: dict[str, None] = {}
        for number, record in line_tables(self._path, []):
            names[text(record.get("filter")) or _NO_FILTER] = None
            if number > 1000:
                break
        return list(names)

    def samples(self, skip: int = 0) -> Iterator[LogSample]:
        """Yield the documents; lines of further filters, which come later, are samples of those filters."""
        for place, (number, record) in enumerate(line_tables(self._path, self.problems)):
            if place < skip:
                continue
            if "doc_id" not in record:
                self.problems.append(Problem(f"line {number}", "is not a sample: it has no doc_id"))
                continue
            yield _sample(record, self._task, several=len(self.head.rest.get("filters") or ()) > 1)


def _results(path: Path, time: str, problems: list[Problem]) -> Table:
    """Return the results written at the same time, or an empty object."""
    results = path.with_name(f"results_{time}.json")
    try:
        if time and not results.is_symlink() and results.stat().st_size <= LARGEST_BYTES:
            return table(read_json(results.read_bytes()))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        problems.append(Problem(results.name, f"cannot be read: {error}"))
    return {}


def _head(task: str, results: Table, filters: list[str]) -> LogHead:
    config = table(results.get("config"))
    of_task = table(table(results.get("results")).get(task))
    several = len(filters) > 1
    reported: dict[str, dict[str, float]] = {}
    for name, value in of_task.items():
        metric, comma, filter_name = name.partition(",")
        number = amount(value)
        if comma and number is not None and not metric.endswith("_stderr"):
            reported.setdefault(_score_name(metric, filter_name, several=several), {})["mean"] = number
    samples = table(table(results.get("n-samples")).get(task)).get("effective")
    return LogHead(
        tool=TOOL,
        version=text(results.get("lm_eval_version")),
        task=task,
        model=_model(config) or text(results.get("model_name")) or "unknown",
        at=moment(results.get("date")),
        params=table(config.get("gen_kwargs")),
        samples=count(samples) * max(1, len(filters)) if samples is not None else None,
        reported=reported,
        simulated=text(config.get("model")) == "dummy",
        rest=without(
            {
                "filters": filters,
                "config": config,
                "task": table(table(results.get("configs")).get(task)),
                "results": of_task,
                "version": table(results.get("versions")).get(task),
                "git_hash": results.get("git_hash"),
            }
        ),
    )


def _model(config: Table) -> str:
    """Return the name of the loaded or remote model, else the kind of model."""
    arguments = table(config.get("model_args"))
    if isinstance(config.get("model_args"), str):
        pairs = (part.partition("=") for part in text(config.get("model_args")).split(","))
        arguments = {name.strip(): value.strip() for name, _, value in pairs}
    return text(arguments.get("pretrained") or arguments.get("model") or config.get("model"))


def _score_name(metric: str, filter_name: str, *, several: bool) -> str:
    return f"{metric},{filter_name}" if several and filter_name else metric


def _sample(record: Table, task: str, *, several: bool) -> LogSample:
    filter_name = text(record.get("filter")) or _NO_FILTER
    metrics = [text(name) for name in listed(record.get("metrics"))]
    scores = {
        _score_name(name, filter_name, several=several): LogScore(record.get(name))
        for name in metrics
        if name in record
    }
    arguments = list(table(record.get("arguments")).values()) or listed(record.get("arguments"))
    filtered = listed(record.get("filtered_resps"))
    answer: Any = filtered[0] if len(filtered) == 1 else filtered
    calls = tuple(_calls(arguments, listed(record.get("resps"))))
    name = text(record.get("doc_id"))
    return LogSample(
        id=f"{name}/{filter_name}" if several else name,
        title=_title(record, arguments),
        category=task,
        target=record.get("target"),
        data={"doc": record.get("doc")},
        calls=calls,
        answer=answer,
        scores=scores,
        rest={**without(record, *_PLACED, *metrics), "resps": record.get("resps")},
    )


def _title(record: Table, arguments: list[Any]) -> str:
    prompt = _parts(arguments[0])[0] if arguments else record.get("doc")
    return text(prompt).strip().rsplit("\n", 1)[-1]


def _parts(argument: Any) -> list[Any]:
    """Return the parts of a request: a prompt, and the continuation or generation settings."""
    parts = list(table(argument).values()) or listed(argument)
    return parts or [""]


def _calls(arguments: list[Any], responses: list[Any]) -> Iterator[LogCall]:
    """Yield the requests: generated texts, or choices ranked by likelihood."""
    for place, argument in enumerate(arguments):
        parts = _parts(argument)
        answers = responses[place] if place < len(responses) else None
        first = listed(answers)[0] if listed(answers) else answers
        options = table(parts[1]) if len(parts) > 1 else {}
        messages = conversation(_chat(text(parts[0])))
        if len(parts) > 1 and isinstance(parts[1], str):
            yield LogCall(
                [*messages, {"role": "assistant", "content": parts[1]}], Reply(f"log likelihood {text(first)}")
            )
        else:
            for answer in listed(answers) or [answers]:
                yield LogCall(messages, Reply(text(answer)), params=options)


def _chat(prompt: str) -> Any:
    """Return the messages of a prompt that is a chat encoded as JSON, else the prompt."""
    if prompt.startswith("[{"):
        try:
            messages = msgspec.json.decode(prompt)
        except (msgspec.DecodeError, RecursionError):
            return prompt
        chat = tables(messages)
        if chat and all("role" in item for item in chat):
            return chat
    return prompt


def _is_samples(path: Path, head: bytes) -> bool:
    first = first_line(head)
    begins = b'"doc_id"' in head[:200] and b'"doc"' in head[:400]
    return path.suffix == ".jsonl" and ({"doc_id", "arguments", "resps"} <= first.keys() or (not first and begins))


def _open(path: Path) -> list[Log]:
    return [SamplesLog(path)]


FORMAT = LogFormat("lm-eval", "samples of lm-evaluation-harness", _is_samples, _open)
