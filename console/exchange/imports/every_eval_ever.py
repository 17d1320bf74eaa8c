"""Records of Every Eval Ever, schemas 0.2 and 0.3: instances as JSON lines, with their aggregate record.

An instance with several metrics takes several lines; they become the scores of one sample.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from console.core.chat import Reply
from console.core.fault import UsageError
from console.core.json_text import read_json
from console.exchange.imports.chat import calls_of_messages, chat_message
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
    first_table,
    listed,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, moment
from console.store.atomic import open_regular, read_regular

TOOL = "every_eval_ever"
_VERSIONS = ("0.2", "0.3")
_PLACED = (
    "schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "input", "output", "messages",
    "evaluation", "error", "metadata", "answer_attribution", "evaluation_result_id", "token_usage", "performance",
)  # fmt: skip


class InstancesLog:
    """The instances of one evaluation and model."""

    def __init__(self, path: Path, head: LogHead, names: dict[str, str]) -> None:
        self.head = head
        self.problems: list[Problem] = []
        self._path, self._names = path, names

    def samples(self) -> Iterator[LogSample]:
        lines = line_tables(self._path, self.problems)
        repeats: dict[str, int] = {}
        for name, group in groupby(lines, key=lambda line: text(line[1].get("sample_id"))):
            records = [record for _, record in group]
            if not name or "evaluation" not in records[0]:
                self.problems.append(Problem(f"sample {name or '?'}", "is not an instance: it has no evaluation"))
                continue
            for same in _tries(records):
                yield _sample(same, name, repeats.get(name, 0), self._names)
                repeats[name] = repeats.get(name, 0) + 1


def _tries(records: list[Table]) -> Iterator[list[Table]]:
    """Yield the lines of each try; a repeated metric starts the next one."""
    same: list[Table] = []
    metrics: set[str] = set()
    for record in records:
        metric = text(record.get("evaluation_result_id")) or text(record.get("evaluation_name"))
        if metric in metrics:
            yield same
            same, metrics = [], set()
        same.append(record)
        metrics.add(metric)
    if same:
        yield same


def _open(path: Path) -> list[Log]:
    with open_regular(path) as file:
        first = first_line(file.read(1 << 20))
    version = text(first.get("schema_version"))
    if not version.startswith(_VERSIONS):
        hint = f"Versions {' and '.join(_VERSIONS)} are supported."
        raise UsageError(f"is a record of version {version or 'unknown'}", where=str(path), hint=hint)
    aggregate = _aggregate(path, text(first.get("evaluation_id")))
    results = tables(aggregate.get("evaluation_results"))
    names = {text(item.get("evaluation_result_id")): _result_name(item) for item in results}
    reported: dict[str, dict[str, float]] = {}
    for item in results:
        score = amount(table(item.get("score_details")).get("score"))
        if score is not None:
            reported[_result_name(item)] = {"mean": score}
    source = table(aggregate.get("eval_library"))
    head = LogHead(
        tool=TOOL,
        version=" ".join(filter(None, (version, text(source.get("name")), text(source.get("version"))))),
        task=text(first.get("evaluation_name")) or "evaluation",
        model=text(table(aggregate.get("model_info")).get("id")) or text(first.get("model_id")) or "unknown",
        at=moment(aggregate.get("evaluation_timestamp")) or moment(aggregate.get("retrieved_timestamp")),
        params=table(table(first_table(results).get("generation_config")).get("generation_args")),
        reported=reported,
        simulated=text(table(table(aggregate.get("model_info")).get("additional_details")).get("simulated")) == "true",
        rest=aggregate,
    )
    return [InstancesLog(path, head, names)]


def _result_name(item: Table) -> str:
    metric = table(item.get("metric_config"))
    return text(metric.get("metric_name")) or text(metric.get("metric_id")) or text(item.get("evaluation_name"))


def _aggregate(path: Path, evaluation: str) -> Table:
    """Return the aggregate record next to the instances, if it is of the same evaluation."""
    for place in (path.with_suffix(".json"), path.with_name(path.name.replace("_samples.jsonl", ".json"))):
        try:
            if place.suffix == ".json" and not place.is_symlink() and place.stat().st_size < 1 << 24:
                record = table(read_json(read_regular(place)))
                if text(record.get("evaluation_id")) == evaluation:
                    return record
        except (OSError, ValueError):
            continue
    return {}


def _sample(records: list[Table], name: str, rollout: int, names: dict[str, str]) -> LogSample:
    record = records[0]
    asked, output = table(record.get("input")), table(record.get("output"))
    usage, performance = table(record.get("token_usage")), table(record.get("performance"))
    references = listed(asked.get("reference")) or listed(asked.get("references"))
    calls = _calls(
        record, text(asked.get("formatted") or asked.get("raw")), listed(output.get("raw")) or [output.get("raw")]
    )
    attributed = [text(item.get("extracted_value")) for item in tables(record.get("answer_attribution"))]
    scores: dict[str, LogScore] = {}
    for line in records:
        judged = table(line.get("evaluation"))
        label = names.get(text(line.get("evaluation_result_id"))) or text(line.get("evaluation_name")) or "score"
        scores[label] = LogScore(judged.get("score"), answer=attributed[-1] if attributed else "")
        scores.setdefault("is_correct", LogScore(judged.get("is_correct")))
    is_correct = table(record.get("evaluation")).get("is_correct")
    return LogSample(
        id=name,
        epoch=rollout,
        title=text(asked.get("raw")),
        target=references[0] if len(references) == 1 else references or None,
        data=without({"choices": asked.get("choices"), "metadata": record.get("metadata")}),
        calls=calls,
        answer=attributed[-1] if attributed else calls[-1].reply.content if calls else None,
        scores=scores,
        passed=is_correct if isinstance(is_correct, bool) else None,
        error=text(record.get("error")),
        seconds=(amount(performance.get("latency_ms")) or 0.0) / 1000,
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        rest=without(
            {
                **without(record, *_PLACED),
                "answer_attribution": record.get("answer_attribution"),
                "evaluation": record.get("evaluation"),
                "performance": performance,
            }
        ),
    )


def _calls(record: Table, question: str, answers: list[Any]) -> tuple[LogCall, ...]:
    if messages := tables(record.get("messages")):
        return calls_of_messages([_message(message) for message in messages])
    reasoning = listed(table(record.get("output")).get("reasoning_trace"))
    thoughts = "\n".join(map(text, reasoning))
    asked = [{"role": "user", "content": question}]
    return tuple(LogCall(asked, Reply(text(answer), reasoning=thoughts)) for answer in answers if answer is not None)


def _message(message: Table) -> Table:
    """Convert a message to the chat format; a result lists the calls it answers."""
    shown = chat_message({**message, "reasoning_content": message.get("reasoning_trace"), "tool_call_id": None})
    answered = listed(message.get("tool_call_id"))
    return {**shown, "tool_call_id": text(answered[0])} if answered else shown


def _is_instances(path: Path, head: bytes) -> bool:
    first = first_line(head)
    return path.suffix == ".jsonl" and {"schema_version", "evaluation_id", "sample_id"} <= first.keys()


FORMAT = LogFormat("every-eval-ever", "instances of Every Eval Ever", _is_instances, _open)
