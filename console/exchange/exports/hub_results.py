"""Export to the Hugging Face Hub's evaluation results: YAML as in a model repository's `.eval_results`.

    <root>/<task>.yaml      one entry: dataset and task, value, date, notes, and a source if one was named

The Hub identifies results by benchmark dataset and task. Both are named by the user, or by the suite in `[source]` of
its `suite.toml`; they are never guessed. No `verifyToken` is written: the Hub issues it for its own runs.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from console import __version__
from console.core.fault import UsageError
from console.core.run import SIMULATED, reroll_words
from console.core.text import visible_line
from console.exchange.document import RunDocument
from console.exchange.document_reader import read_document
from console.exchange.exports.files import write_file
from console.insight.run_number import headline_gap, ranking_number
from console.store.runs import RunFolder
from console.suites.suite import Metric

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_DATASET = re.compile(f"{_NAME}/{_NAME}")
_TASK = re.compile(_NAME)
_ADDRESS = re.compile(r"https?://[!-~]+")
_PERCENT = 100


class Benchmark(NamedTuple):
    """The Hub's names for a benchmark, and the source of the result; empty to use those of the suite."""

    dataset: str = ""
    """`organization/name`."""
    task: str = ""
    """Name of the task in the dataset's `eval.yaml`."""
    source: str = ""
    """URL of traces or a report."""
    revision: str = ""
    """Commit of the dataset."""


_OF_SUITE = Benchmark()


def export_run(run: RunFolder, root: Path, data: Path | None, benchmark: Benchmark = _OF_SUITE) -> list[Path]:
    """Write the file into the folder `root` and return its path.

    Raises:
        UsageError: dataset or task are missing or invalid, the run has no score, or the file cannot be written.
    """
    document, why = read_document(run, data)
    if why:
        raise UsageError(f"its score is unknown without its suite: {why}", where=run.name)
    benchmark = _complete(benchmark, document)
    text = "\n".join(_lines(document, _score(document), benchmark)) + "\n"
    path = root / f"{benchmark.task}.yaml"
    write_file(path, text.encode("ascii", "replace"))
    return [path]


def _complete(benchmark: Benchmark, document: RunDocument) -> Benchmark:
    suite, named = document.manifest.suite, document.manifest.dataset
    dataset = benchmark.dataset or named.get("hub_dataset", "")
    of_suite = named if dataset == named.get("hub_dataset") else {}
    task = benchmark.task or of_suite.get("hub_task", "")
    if not dataset:
        raise UsageError(f"the suite {suite} has no dataset on the Hub: give one with --hub-dataset ORGANIZATION/NAME")
    if not task:
        raise UsageError(f"the suite {suite} has no task in {dataset}: give one with --hub-task TASK")
    if not _DATASET.fullmatch(dataset):
        raise UsageError(
            f"{dataset!r} is not a Hub dataset",
            where="--hub-dataset",
            hint="Write ORGANIZATION/NAME, such as cais/hle.",
        )
    if not _TASK.fullmatch(task):
        raise UsageError(
            f"{task!r} is not a task name", where="--hub-task", hint="Use letters, digits, `.`, `_` and `-`."
        )
    if benchmark.source and not _ADDRESS.fullmatch(benchmark.source):
        raise UsageError(
            f"{benchmark.source!r} is not a URL", where="--hub-source", hint="Write a full address, such as https://…"
        )
    return Benchmark(dataset, task, benchmark.source, of_suite.get("hub_revision", ""))


def _score(document: RunDocument) -> Metric:
    """Return the report's headline; rates in percent, as in the Hub's leaderboards."""
    metric = next(iter(document.report.metrics), None) if document.report is not None else None
    if metric is None or metric.value is None:
        raise UsageError("has no score, because nothing was graded", where=document.manifest.id)
    if ranking_number(document.summary).value is None and (gap := headline_gap(document.summary)):
        raise UsageError(f"has no score: {gap}", where=document.manifest.id)
    return metric


def _lines(document: RunDocument, metric: Metric, benchmark: Benchmark) -> Iterator[str]:
    scale = _PERCENT if metric.unit == "rate" else 1
    started = datetime.fromtimestamp(document.manifest.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    yield "- dataset:"
    yield f"    id: {_quoted(benchmark.dataset)}"
    yield f"    task_id: {_quoted(benchmark.task)}"
    if benchmark.revision:
        yield f"    revision: {_quoted(benchmark.revision)}"
    yield f"  value: {(metric.value or 0.0) * scale:.4f}"
    yield f"  date: {_quoted(started)}"
    if benchmark.source:
        yield "  source:"
        yield f"    url: {_quoted(benchmark.source)}"
    yield f"  notes: {_quoted('; '.join(_notes(document, metric, scale)))}"


def _notes(document: RunDocument, metric: Metric, scale: int) -> Iterator[str]:
    """Yield notes on the basis of the value."""
    manifest = document.manifest
    if document.simulated:
        is_whole = manifest.simulated_note == SIMULATED
        yield "simulated, not a model's result" if is_whole else manifest.simulated_note
    yield f"{metric.name}{' in percent' if scale == _PERCENT else ''}"
    if metric.low is not None and metric.high is not None:
        yield f"95% interval {metric.low * scale:.4f} to {metric.high * scale:.4f}"
    counts = Counter(item.outcome for item in document.items)
    yield "rollouts: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    if document.summary.state != "completed":
        yield f"run {document.summary.state}"
    selection = manifest.selection
    if selection.categories or selection.ids or selection.limit is not None or not manifest.is_whole:
        yield "part of the suite"
    if gap := headline_gap(document.summary):
        yield gap
    if words := reroll_words(document.summary.rerolled):
        yield words
    if source := manifest.versions.get("imported"):
        yield f"imported from {source}"
    yield f"suite {manifest.suite}, eval-console {__version__}"


def _quoted(text: str) -> str:
    """Quote a string so that both JSON and YAML can read it; non-ASCII characters become question marks."""
    return json.dumps(visible_line(text).encode("ascii", "replace").decode("ascii"))
