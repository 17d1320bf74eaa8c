"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl` with `results_TIME.json`, from `--log_samples`.

A line is one document under one filter; the lines of a further filter follow those of all documents. A document is one
sample: its scores under several filters are named `METRIC,FILTER`. With `repeats`, each response is a rollout. The
harness scores the responses to a document together, so that only the first has a score, unless it wrote one for each.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from console.core.chat import Reply
from console.core.fault import os_errors_as, reason_of
from console.core.json_text import decode_as, read_json
from console.core.ready_type import ready_type
from console.exchange.imports.chat import conversation
from console.exchange.imports.json_stream import LARGEST_BYTES, line_at, placed_lines
from console.exchange.imports.jsonl import first_line
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
from console.exchange.imports.numbers import amount, count, moment, score_number
from console.store.atomic import open_regular, read_regular

TOOL = "lm_eval"
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d:.-]+)\.jsonl\Z")
_PLACED = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
_NO_FILTER = "none"
_RANKED = "the model ranked given texts by likelihood, and wrote no answers that a judge could grade"
_SCORED_TOGETHER = "lm_eval scores the responses to a document together; the first one has the score"


class _Lines(msgspec.Struct, frozen=True):
    """Positions of the lines of a file."""

    documents: dict[tuple[str, int], list[tuple[int, int]]]
    """Number and position of each document's lines, by id and occurrence, because files may have been concatenated."""
    filters: list[str]
    """Names of the filters, in order."""
    repeats: int
    """Maximum number of responses to a request."""
    decisive: str
    """Name of the first metric in the first line."""
    are_ranked: bool
    """True if the responses of every line are likelihoods."""


class _Line(msgspec.Struct):
    """Fields that identify a line; they may have any type."""

    doc_id: Any = None
    filter: Any = None
    resps: Any = None
    metrics: Any = None


class SamplesLog:
    """The samples of one task."""

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self._path = path
        name = _NAME.match(path.name)
        self._task = name["task"] if name else path.stem.removeprefix("samples_")
        self._lines = _lines(path, self.problems)
        self.head = _head(self._task, _results(path, name["time"] if name else "", self.problems), self._lines)

    def samples(self) -> Iterator[LogSample]:
        several = len(self._lines.filters) > 1
        with os_errors_as("cannot be read", where=self._path), open_regular(self._path) as file:
            for places in self._lines.documents.values():
                records = list(self._records(file, places))
                yield from _samples(records, self._task, several=several) if records else ()

    def _records(self, file: BinaryIO, places: list[tuple[int, int]]) -> Iterator[Table]:
        for number, place in places:
            try:
                yield table(read_json(line_at(file, place)))
            except ValueError as error:
                self.problems.append(Problem(f"line {number}", str(error)))


def _lines(path: Path, problems: list[Problem]) -> _Lines:
    """Return the positions of each document's lines; lines without a document become problems.

    Raises:
        UsageError: the file cannot be read.
    """
    documents: dict[tuple[str, int], list[tuple[int, int]]] = {}
    filters: dict[str, dict[str, int]] = {}
    repeats, decisive, written = 1, "", False
    for number, place, line in placed_lines(path):
        try:
            if line is None:
                raise ValueError("is too large")
            read = _read_line(line)
            if read.doc_id is None:
                raise ValueError("is not a sample: it has no doc_id")
        except ValueError as error:
            problems.append(Problem(f"line {number}", str(error)))
            continue
        name, filter_name = text(read.doc_id), text(read.filter) or _NO_FILTER
        decisive = decisive or next(map(text, listed(read.metrics)), "")
        responses = listed(read.resps)
        repeats = max(repeats, _repeats(responses))
        written = written or not responses or not all(map(_are_likelihoods, responses))
        counts = filters.setdefault(filter_name, {})
        occurrence = counts[name] = counts.get(name, 0) + 1
        documents.setdefault((name, occurrence), []).append((number, place))
    return _Lines(documents, list(filters), repeats, decisive, not written)


def _read_line(line: bytes) -> _Line:
    """Read the fields that identify a line.

    Raises:
        ValueError: it is not a JSON object.
    """
    try:
        return decode_as(line, _Line)
    except ValueError:  # NaN and the like, which strict JSON forbids
        return msgspec.convert(read_json(line), ready_type(_Line))


def _results(path: Path, time: str, problems: list[Problem]) -> Table:
    """Return the results written at the same time, or an empty object."""
    results = path.with_name(f"results_{time}.json")
    try:
        if time and not results.is_symlink() and results.stat().st_size <= LARGEST_BYTES:
            return table(read_json(read_regular(results)))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        problems.append(Problem(results.name, f"cannot be read: {reason_of(error)}"))
    return {}


def _head(task: str, results: Table, lines: _Lines) -> LogHead:
    config = table(results.get("config"))
    of_task = table(table(results.get("results")).get(task))
    several = len(lines.filters) > 1
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
        repeats=lines.repeats,
        samples=count(samples) * lines.repeats if samples is not None else None,
        decisive=_score_name(lines.decisive, lines.filters[0], several=several) if lines.decisive else "",
        reported=reported,
        no_judge=_RANKED if lines.are_ranked else "",
        simulated=text(config.get("model")) == "dummy",
        rest=without(
            {
                "filters": lines.filters,
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


def _samples(records: list[Table], task: str, *, several: bool) -> Iterator[LogSample]:
    """Yield the responses to one document, given its lines: one for each filter."""
    record = records[0]
    arguments = list(table(record.get("arguments")).values()) or listed(record.get("arguments"))
    responses = listed(record.get("resps"))
    repeats = _repeats(responses)
    values = [(name, score) for line in records for name, score in _scores(line, several=several)]
    metrics = [text(name) for line in records for name in listed(line.get("metrics"))]
    rest = {**without(record, *_PLACED, *metrics), "resps": responses}
    if several:
        rest["filtered_resps"] = {
            text(line.get("filter")) or _NO_FILTER: line.get("filtered_resps") for line in records
        }
    for repeat in range(repeats):
        scores = {name: score for name, value in values if (score := _of_repeat(value, repeat, repeats)) is not None}
        calls = tuple(_calls(arguments, responses, repeat))
        yield LogSample(
            id=text(record.get("doc_id")),
            epoch=repeat,
            title=_title(record, arguments),
            category=task,
            target=record.get("target"),
            data={"doc": record.get("doc")},
            calls=calls,
            answer=_answer(record) if repeat == 0 else calls[-1].reply.content if calls else None,
            scores=scores,
            unscored="" if scores else _SCORED_TOGETHER,
            rest=rest if repeat == 0 else {},
        )


def _scores(record: Table, *, several: bool) -> Iterator[tuple[str, LogScore]]:
    filter_name = text(record.get("filter")) or _NO_FILTER
    answer = _answer(record)
    for name in map(text, listed(record.get("metrics"))):
        if name in record:
            answered = answer if several and isinstance(answer, str) else ""
            yield _score_name(name, filter_name, several=several), LogScore(record[name], answered)


def _of_repeat(score: LogScore, repeat: int, repeats: int) -> LogScore | None:
    """Return the score of one response: its own, or for the first one, the joint score."""
    values = listed(score.value)
    if repeats > 1 and len(values) == repeats:
        return LogScore(values[repeat], score.answer)
    return score if repeat == 0 else None


def _answer(record: Table) -> Any:
    filtered = listed(record.get("filtered_resps"))
    return filtered[0] if len(filtered) == 1 else filtered


def _repeats(responses: list[Any]) -> int:
    """Return the number of responses to each request of a document."""
    counts = (1 if _is_likelihood(listed(answers)) else len(listed(answers)) for answers in responses)
    return max((1, *counts))


def _is_likelihood(answers: list[Any]) -> bool:
    """Return whether this is a log likelihood and whether it is the greedy choice, not two responses."""
    return len(answers) == 2 and text(answers[1]).title() in ("True", "False") and score_number(answers[0]) is not None


def _are_likelihoods(answers: Any) -> bool:
    """Return whether the responses to a request are likelihoods of its continuation."""
    given = listed(answers)
    return _is_likelihood(given) or (bool(given) and all(_is_likelihood(listed(answer)) for answer in given))


def _title(record: Table, arguments: list[Any]) -> str:
    prompt = _parts(arguments[0])[0] if arguments else record.get("doc")
    return text(prompt).strip().rsplit("\n", 1)[-1]


def _parts(argument: Any) -> list[Any]:
    """Return the parts of a request: a prompt, and the continuation or generation settings."""
    parts = list(table(argument).values()) or listed(argument)
    return parts or [""]


def _calls(arguments: list[Any], responses: list[Any], repeat: int) -> Iterator[LogCall]:
    """Yield the requests of one repeat: generated texts, or choices ranked by likelihood."""
    for place, argument in enumerate(arguments):
        parts = _parts(argument)
        answers = responses[place] if place < len(responses) else None
        answer = listed(answers)[repeat] if repeat < len(listed(answers)) else None if listed(answers) else answers
        options = table(parts[1]) if len(parts) > 1 else {}
        messages = conversation(_chat(text(parts[0])))
        if len(parts) > 1 and isinstance(parts[1], str):
            yield LogCall(
                [*messages, {"role": "assistant", "content": parts[1]}], Reply(f"log likelihood {text(answer)}")
            )
        else:
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
