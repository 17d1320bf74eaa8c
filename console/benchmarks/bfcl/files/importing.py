"""Import of official BFCL result files as a run, with fresh verdicts.

Makes no model calls. A failed inference (`Error during inference: …`) becomes broken, with the official verdict
recorded. Memory prerequisites, which are never scored, are skipped.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from console.benchmarks.bfcl.files.layout import PREFIX, Line, is_plausible, read_lines
from console.benchmarks.bfcl.files.reading import Reading
from console.benchmarks.bfcl.files.results import is_error
from console.benchmarks.bfcl.files.scores import check_ids
from console.benchmarks.bfcl.rules.categories import ALL, is_prerequisite
from console.core.case import Case, Key, Setting
from console.core.fault import FaultKind, UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Finished, Started
from console.core.run import Manifest, ModelFacts, Selection
from console.exchange.imports.imported_run import write_run
from console.store.runs import RunFolder, new_run_id
from console.suites.suite import Suite


def import_results(
    path: Path, suite: Suite, runs_root: Path, *, handler: str | None = None, mode: str | None = None
) -> RunFolder:
    """Create a run from a model's result files.

    Args:
        path: the model's folder, another folder with results of one model, or one result file.
        suite: the BFCL suite with the matching data.
        runs_root: folder of runs.
        handler: registry name or decode family of the answers; None to use the folder's name.
        mode: prompting mode, for results of our own runs.

    Raises:
        UsageError: no result file, several models, unknown decoding, or results that do not fit the data.
    """
    model, files = _files(path)
    lines = {category: read_lines(file) for category, file in files.items()}
    all_lines = [line for of_category in lines.values() for line in of_category]
    if not all_lines:
        raise UsageError("has no results", where=str(path))
    setting = Reading(handler, mode, frozenset((model,))).setting(model, all_lines, path)
    judged: list[tuple[Case, Line]] = []
    for category, of_category in lines.items():
        chosen = suite.cases((category,), setting)
        cases = {case.id: case for case in chosen if not is_prerequisite(case.id)}
        check_ids(of_category, cases, files[category], partial=True)
        judged += [(cases[line["id"]], line) for line in of_category]
    manifest = _manifest(model, suite, setting, judged)
    return write_run(manifest, _records(suite, setting, judged, manifest.at), runs_root)


def _files(path: Path) -> tuple[str, dict[str, Path]]:
    """Return the model's folder name and its result files by category."""
    by_model: dict[str, dict[str, Path]] = defaultdict(dict)
    listed = [path] if path.is_file() else sorted(path.rglob(f"{PREFIX}_*_result.json"))
    for file in listed:
        category = file.name.removeprefix(f"{PREFIX}_").removesuffix("_result.json")
        if category in ALL:
            by_model[_model_of(file)][category] = file
    if not by_model:
        raise UsageError(
            "has no BFCL result file",
            where=str(path),
            hint=f"Name a model's folder in `result`, with files named {PREFIX}_<category>_result.json.",
        )
    if len(by_model) > 1:
        raise UsageError(
            f"has results from {len(by_model)} models: {', '.join(sorted(by_model))}",
            where=str(path),
            hint="Name the folder of one of them.",
        )
    return next(iter(by_model.items()))


def _model_of(file: Path) -> str:
    """Return the name of the folder above the group folders."""
    groups = {"non_live", "live", "multi_turn", "agentic", "format_sensitivity", "memory", "kv", "vector", "rec_sum"}
    folder = file.resolve().parent
    while folder.name in groups:
        folder = folder.parent
    return folder.name or "model"


def _manifest(model: str, suite: Suite, setting: Setting, judged: list[tuple[Case, Line]]) -> Manifest:
    simulated = any(line.get("simulated") is True for _, line in judged)
    return Manifest(
        id=new_run_id(suite.entry.name, model, "imported"),
        at=time.time(),
        suite=suite.entry.name,
        model=ModelFacts(name=model, model_id=model, provider="imported", simulated=simulated),
        setting=setting,
        selection=Selection(categories=tuple(dict.fromkeys(case.category for case, _ in judged))),
        cases=len(judged),
        dataset=dict(suite.entry.source),
        name="imported",
        format=suite.entry.format,
    )


def _records(suite: Suite, setting: Setting, judged: list[tuple[Case, Line]], at: float) -> Iterator[AnyRecord]:
    for case, line in judged:
        key = Key(case.id)
        yield Started(at=at, key=key, case=case)
        yield Finished(
            at=at,
            key=key,
            verdict=_verdict(suite, setting, case, line),
            output=None if is_error(line) else line["result"],
            seconds=sum(_numbers(line.get("latency"))),
            input_tokens=int(sum(_numbers(line.get("input_token_count")))),
            output_tokens=int(sum(_numbers(line.get("output_token_count")))),
        )


def _verdict(suite: Suite, setting: Setting, case: Case, line: Line) -> Verdict:
    verdict = suite.score(case, line["result"], setting)
    if not is_error(line):
        return verdict
    messages = (str(line["result"]), "the file records a failed inference")
    official = verdict.official or (verdict.outcome.value if verdict.outcome.is_graded else None)
    return Verdict(Outcome.BROKEN, FaultKind.SERVER.value, messages=messages, official=official)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for item in cast("list[Any]", value) for number in _numbers(item)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [float(value)] if is_number and is_plausible(value) else []
