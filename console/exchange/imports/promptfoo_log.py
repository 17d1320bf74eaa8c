"""Results of promptfoo: the JSON file of `eval -o`. Each combination of provider and prompt is an evaluation."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from console.core.chat import Reply, Usage
from console.core.fault import UsageError, os_errors_as
from console.core.json_text import read_json
from console.exchange.imports.chat import conversation
from console.exchange.imports.json_log import placed_pieces, read_pieces
from console.exchange.imports.log import (
    Log,
    LogCall,
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
from console.exchange.imports.numbers import amount, count, moment
from console.store.atomic import open_regular

TOOL = "promptfoo"
_VERSIONS = (2, 3)
_RESULTS = ("results", "results")
_ERROR = 2
"""`failureReason` of results that are errors."""
_PLACED = (
    "success", "score", "namedScores", "latencyMs", "cost", "prompt", "provider", "testCase", "vars", "response",
    "gradingResult", "error", "promptIdx", "testIdx", "failureReason", "tokenUsage",
)  # fmt: skip


class _Place(msgspec.Struct, frozen=True, gc=False):
    """Position of a result in the file."""

    number: int
    start: int
    size: int


class _Results:
    """Positions of each prompt's results, found in one pass over the file when first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def found(self) -> tuple[dict[int, list[_Place]], list[Problem]]:
        """Locations by the index of the prompt, and anything that could not be read."""
        places: dict[int, list[_Place]] = {}
        problems: list[Problem] = []
        number = 0
        for names, piece, end in placed_pieces(self.path, {_RESULTS}, problems):
            if names != _RESULTS:
                continue
            number += 1
            try:
                if piece is None:
                    raise ValueError("is too large")
                record = table(read_json(piece))
                if "testCase" not in record and "vars" not in record:
                    raise ValueError("is not a result")
            except ValueError as error:
                problems.append(Problem(f"result {number}", str(error)))
                continue
            place = _Place(number, end - len(piece), len(piece))
            places.setdefault(count(record.get("promptIdx")), []).append(place)
        return places, problems


class ProviderLog:
    """The results of one prompt and one provider."""

    def __init__(self, results: _Results, head: LogHead, place: int) -> None:
        self.head = head
        self.problems: list[Problem] = []
        self._results = results
        self._place = place

    def samples(self) -> Iterator[LogSample]:
        path = self._results.path
        repeats: dict[int, int] = {}
        with os_errors_as("cannot be read", where=path):
            places, problems = self._results.found
            self.problems += problems
            with open_regular(path) as file:
                for place in places.get(self._place, ()):
                    file.seek(place.start)
                    try:
                        record = table(read_json(file.read(place.size)))
                    except ValueError as error:
                        self.problems.append(Problem(f"result {place.number}", str(error)))
                        continue
                    test = count(record.get("testIdx"))
                    yield _sample(record, test, repeats.get(test, 0))
                    repeats[test] = repeats.get(test, 0) + 1


def _open(path: Path) -> list[Log]:
    whole: Table = {}
    problems: list[Problem] = []
    for names, piece in read_pieces(path, {_RESULTS}, problems):
        if names != _RESULTS and piece is not None:
            target = whole if len(names) == 1 else whole.setdefault("results", {})
            target[names[-1]] = read_json(piece)
    results, metadata = table(whole.get("results")), table(whole.get("metadata"))
    version = results.get("version")
    if version not in _VERSIONS:
        hint = f"Versions {' and '.join(map(str, _VERSIONS))} are supported."
        raise UsageError(f"is a result of version {text(version) or 'unknown'}", where=str(path), hint=hint)
    prompts = tables(results.get("prompts"))
    names = [text(prompt.get("provider")) for prompt in prompts]
    shared = without(whole, "results", "metadata")
    logs: list[Log] = []
    times, cells = Counter(names), _Results(path)
    for place, prompt in enumerate(prompts):
        several = times[names[place]] > 1
        label = text(prompt.get("label"))
        metrics = table(prompt.get("metrics"))
        tests = [metrics.get(name) for name in ("testPassCount", "testFailCount", "testErrorCount")]
        graded = count(tests[0]) + count(tests[1])
        head = LogHead(
            tool=TOOL,
            version=text(metadata.get("promptfooVersion")),
            task=text(table(whole.get("config")).get("description")) or path.stem,
            model=f"{names[place]} {label[:60]}" if several else names[place] or "unknown",
            at=moment(results.get("timestamp")),
            samples=sum(map(count, tests)),
            decisive="success",
            reported={"success": {"mean": count(tests[0]) / graded}} if graded else {},
            rest={"prompt": prompt, "metadata": metadata, **shared},
        )
        logs.append(ProviderLog(cells, head, place))
    if not logs:
        raise UsageError("contains no prompt", where=str(path))
    return logs


def _sample(record: Table, test: int, repeat: int) -> LogSample:
    case, response = table(record.get("testCase")), table(record.get("response"))
    grading = table(record.get("gradingResult"))
    variables = table(record.get("vars")) or table(case.get("vars"))
    is_error = record.get("failureReason") == _ERROR
    output = response.get("output")
    usage = table(response.get("tokenUsage"))
    prompt = text(table(record.get("prompt")).get("raw"))
    seconds = (amount(record.get("latencyMs")) or 0.0) / 1000
    calls = () if is_error and not response else (_call(prompt, output, usage, seconds, record),)
    return LogSample(
        id=f"test {test + 1}",
        epoch=repeat,
        title=text(case.get("description")) or text(next(iter(variables.values()), prompt)),
        target=[_assertion(item) for item in tables(case.get("assert"))] or None,
        data=without({"vars": variables, "metadata": case.get("metadata")}),
        calls=calls,
        answer=output,
        scores={} if is_error else _scores(record, grading),
        error=text(record.get("error")) if is_error else "",
        seconds=seconds,
        input_tokens=count(usage.get("prompt")),
        output_tokens=count(usage.get("completion")),
        cost_usd=amount(record.get("cost")),
        rest=without(
            {
                **without(record, *_PLACED),
                "response": without(response, "output"),
                "gradingResult": grading,
                "testCase": without(case, "vars", "description"),
            }
        ),
    )


def _call(prompt: str, output: Any, usage: Table, seconds: float, record: Table) -> LogCall:
    messages: Any = prompt
    if prompt.lstrip().startswith("["):
        try:
            parsed = read_json(prompt)
            messages = parsed if tables(parsed) else prompt
        except ValueError:
            pass
    tokens = Usage(count(usage.get("prompt")), count(usage.get("completion")), count(usage.get("cached")))
    reply = Reply(text(output), latency_s=seconds, usage=tokens if count(usage.get("total")) else None)
    return LogCall(conversation(messages), reply)


def _scores(record: Table, grading: Table) -> dict[str, LogScore]:
    why = text(grading.get("reason"))
    scores = {"success": LogScore(record.get("success"), explanation=why), "score": LogScore(record.get("score"))}
    named = {**table(grading.get("namedScores")), **table(record.get("namedScores"))}
    return {**scores, **{name: LogScore(value) for name, value in named.items() if name not in scores}}


def _assertion(item: Table) -> str:
    return " ".join(filter(None, (text(item.get("type")), text(item.get("value")))))


def _is_results(path: Path, head: bytes) -> bool:
    start = head[:4096]
    return start.lstrip().startswith(b"{") and b'"evalId"' in start and b'"results"' in start


FORMAT = LogFormat("promptfoo", "results of promptfoo, JSON", _is_results, _open)
