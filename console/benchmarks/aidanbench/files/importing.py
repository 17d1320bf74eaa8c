"""Imports results of the verifiers tools as runs.

Our own exports contain all answers and scores. Files of those tools contain only averages: the loop's numbers are
imported unchanged, and its answers are read from the completion. Rollouts are numbered by question, because older
versions number repeats wrongly. A loop that ended by an error is broken here, even if the file gives it a partial
reward.
"""

import calendar
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from console.benchmarks.aidanbench.files.results import (
    ENVIRONMENT,
    METADATA,
    NAMES,
    Row,
    environment_of,
    read_results,
    results_folder,
)
from console.benchmarks.aidanbench.options import read_options
from console.benchmarks.aidanbench.rules.score import score_loop
from console.core.case import Case, Key, Setting
from console.core.chat import Reply
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Finished, Started
from console.core.request import Thread, digest
from console.core.run import Manifest, ModelFacts
from console.exchange.imports.imported_run import write_run
from console.store.runs import RunFolder, new_run_id


def import_results(path: Path, runs_root: Path) -> RunFolder:
    """Create a run from a results folder and return it.

    Args:
        path: the folder with `results.jsonl` and `metadata.json`, or the path of `results.jsonl`.
        runs_root: folder of all runs.

    Raises:
        UsageError: files that are missing, damaged, or of another environment.
    """
    metadata, rows = read_results(path)
    try:
        manifest = _manifest(metadata, rows)
    except UsageError as error:
        where = ": ".join(filter(None, (str(results_folder(path) / METADATA), error.where)))
        raise UsageError(error.message, where=where, hint=error.hint) from None
    return write_run(manifest, _records(rows, manifest), runs_root)


def _manifest(metadata: Mapping[str, Any], rows: Sequence[Row]) -> Manifest:
    environment = environment_of(metadata)
    if environment != ENVIRONMENT:
        raise UsageError(f"these are results of {environment or 'an unnamed environment'}, not of {ENVIRONMENT}")
    ours = _table(metadata.get("eval_console"))
    model = str(metadata.get("model", "unknown"))
    suite = str(ours.get("suite", ENVIRONMENT))
    rollouts = max(Counter(_question(row) for row in rows).values())
    return Manifest(
        id=new_run_id(suite, model),
        at=_moment(metadata),
        suite=suite,
        model=ModelFacts(
            name=model,
            model_id=model,
            provider="imported",
            simulated=bool(ours.get("simulated")),
            params=_table(metadata.get("sampling_args")),
        ),
        setting=Setting(mode=str(ours.get("mode", "prompt")), options=_options(ours)),
        roles={
            role: ModelFacts(name=str(name), model_id=str(name), provider="imported")
            for role, name in _table(ours.get("roles")).items()
        },
        rollouts=rollouts,
        cases=len(rows),
        dataset={key: str(value) for key, value in _table(ours.get("dataset")).items()} or {"name": "imported"},
        versions={"imported": "verifiers results"},
        format=ENVIRONMENT,
    )


def _options(ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked options of an exported run, or the defaults."""
    options = _table(ours.get("options"))
    checked = read_options(options)
    return {**checked.values, "thresholds": checked.thresholds._asdict()}


def _records(rows: Sequence[Row], manifest: Manifest) -> Iterator[AnyRecord]:
    at = manifest.at
    seen: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    for row in rows:
        question = _question(row)
        number = numbers.setdefault(question, len(numbers) + 1)
        case = _case(row, question, number)
        key = Key(case.id, seen[question])
        seen[question] += 1
        yield Started(at=at, key=key, case=case)
        calls = list(_calls(row, key, at))
        yield from calls
        output = _table(row.get(ENVIRONMENT)).get("turns") or None
        verdict = _verdict(row, output, manifest.setting)
        yield Finished(at=at, key=key, verdict=verdict, output=output, calls=len(calls))


def _case(row: Row, question: str, number: int) -> Case:
    return Case(
        id=str(row.get("case") or f"q{number:02}"),
        category=str(row.get("category") or "questions"),
        data={"question": question},
        title=question,
    )


def _verdict(row: Row, output: Any, setting: Setting) -> Verdict:
    if row.get("error"):
        return Verdict(Outcome.BROKEN, reason="server", messages=(str(row["error"]),))
    if output is not None:
        return score_loop(output, read_options(setting.options))
    values = {ours: _number(row.get(name)) for ours, name in NAMES.items()}
    scores = {name: value for name, value in values.items() if value is not None}
    scores.setdefault("aidanbench_score", scores["reward"])
    return Verdict(
        Outcome.PASSED if scores["aidanbench_score"] > 0 else Outcome.FAILED,
        reason=str(_table(row.get(ENVIRONMENT)).get("termination_reason") or row.get("stop_condition") or "") or None,
        messages=("imported: the numbers are those of the file",),
        scores=scores,
        detail={"imported": True},
    )


def _calls(row: Row, key: Key, at: float) -> Iterator[Asked]:
    """Yield the model calls in prompt and completion."""
    messages: list[dict[str, Any]] = []
    thread = Thread()
    turn = 0
    for message in [*_messages(row.get("prompt")), *_messages(row.get("completion"))]:
        if message.get("role") == "assistant":
            prefix, new, _ = thread.condense(messages, [])
            name = digest("ask", "model", [messages, list[Any](), dict[str, Any]()])
            reply = Reply(content=_text(message.get("content")))
            yield Asked(
                at=at, key=key, n=turn + 1, digest=name, reply=reply, turn=turn, prefix=prefix, messages=list(new)
            )
            turn += 1
        messages.append(message)


def _messages(value: object) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    items = cast(list[object], value) if isinstance(value, list) else []
    return [
        {"role": str(message.get("role", "user")), "content": _text(message.get("content"))}
        for message in (cast(dict[str, Any], item) for item in items if isinstance(item, dict))
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _question(row: Row) -> str:
    question = _table(row.get("info")).get("question")
    if isinstance(question, str) and question:
        return question
    first = _messages(row.get("prompt"))
    text = first[-1]["content"] if first else f"example {row.get('example_id', row.get('id', ''))}"
    return str(text)


def _moment(metadata: Mapping[str, Any]) -> float:
    """Return the creation time of the results, as UTC; the current time if they have none."""
    try:
        return float(calendar.timegm(time.strptime(f"{metadata['date']} {metadata['time']}", "%Y-%m-%d %H:%M:%S")))
    except (KeyError, ValueError):
        return time.time()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def _table(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
