"""Export to an Inspect log (`.eval`, format 2): a zip of `header.json`, `summaries.json` and one file per sample.

A rollout is a sample, its number (from 1) the epoch. Passed and failed become the score values `C` and `I`; broken
rollouts have an error and undecided ones no score, so neither enters an average there. A run that another harness
played and scored has the name of its task and its own scorers instead. Sample names that could leave a folder are
replaced by a slug with a digest; the true id is kept in the metadata. A run that was imported from an Inspect log is
exported as that log.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from math import fsum, sqrt
from statistics import stdev
from typing import Any, cast

from console.core.names import slug
from console.core.outcome import OWN_SCORES, Outcome
from console.exchange.document import Item, RunDocument
from console.exchange.exports.inspect_kept import kept_log
from console.exchange.exports.inspect_messages import (
    inspect_role,
    model_events,
    model_name,
    model_output,
    model_usage,
    role_usage,
    target_of,
    transcript,
)
from console.store.journal_line import scrub

VERSION = 2
_VALUES = {Outcome.PASSED: "C", Outcome.FAILED: "I"}
_STATUS = {"completed": "success", "running": "started", "starting": "started"}
_PLAIN_ID = re.compile(r"[\w:. +=@#~,-]{1,120}\Z")
_SCORER = "eval_console"
_PACKAGES = ("inspect_ai", "inspect_evals")
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Numbers that Inspect assigns to its letters."""


def eval_log(document: RunDocument) -> bytes:
    """Return the log as the bytes of a zip file; for an imported log, that log with the annotations."""
    if document.kept_log is not None:
        return kept_log(document.kept_log, document.annotations())
    samples = [_sample(item, document) for item in document.items]
    header = _header(document)
    files = {f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {"version": VERSION, "eval": header["eval"], "plan": header["plan"]}
        _add(archive, "_journal/start.json", start)
        for name, sample in files.items():
            _add(archive, name, sample)
        _add(archive, "summaries.json", [_summary(sample) for sample in samples])
        _add(archive, "header.json", header)
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    """Write one file with a fixed time, so that the same run gives the same bytes."""
    info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, json.dumps(scrub(value), default=str).encode("ascii"))


def _header(document: RunDocument) -> dict[str, Any]:
    manifest, summary = document.manifest, document.summary
    created = _moment(manifest.at)
    ids = list(dict.fromkeys(_sample_id(item.rollout.key.case) for item in document.items))
    return {
        "version": VERSION,
        "status": _STATUS.get(summary.state, "cancelled"),
        "eval": {
            "eval_id": _digest(f"eval {manifest.id}", 22),
            "run_id": _digest(f"run {manifest.id}", 22),
            "created": created,
            "task": manifest.dataset.get("task") or slug(manifest.suite) or "task",
            # per run, not per suite: Inspect treats runs with the same task id as retries and shows only the last
            "task_id": _digest(f"task {manifest.id}", 22),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": manifest.dataset.get("name", manifest.suite),
                "samples": len(ids),
                "sample_ids": ids,
                "shuffled": False,
            },
            "model": model_name(manifest),
            "model_args": {},
            "model_roles": {inspect_role(role): _model(model_name(manifest, role)) for role in manifest.roles},
            "config": {"epochs": manifest.rollouts},
            "packages": {name: manifest.dataset[name] for name in _PACKAGES if name in manifest.dataset},
            "scorers": _scorers(document.items),
            "tags": ["simulated"] if document.simulated else [],
            "metadata": {
                "simulated": document.simulated,
                "eval_console": {
                    "run": manifest.id,
                    "suite": manifest.suite,
                    "mode": manifest.setting.mode,
                    "options": manifest.setting.options,
                    "dataset": manifest.dataset,
                    "versions": manifest.versions,
                    "outcomes": _outcomes(document.items),
                },
            },
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(document.items),
        "stats": {
            "started_at": created,
            "completed_at": _moment(manifest.at + summary.seconds),
            "model_usage": model_usage(manifest, document.items),
            "role_usage": role_usage(manifest, document.items),
        },
    }


def _model(name: str) -> dict[str, Any]:
    """Return a model as Inspect lists it by role."""
    return {"model": name, "config": {}, "args": {}}


def _outcomes(items: Sequence[Item]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in items:
        counts[item.outcome] = counts.get(item.outcome, 0) + 1
    return counts


def _own_scores(item: Item) -> dict[str, dict[str, Any]]:
    """Return the scores that another harness gave, by scorer; empty if the suite is ours."""
    detail = item.finished.verdict.detail if item.finished is not None and item.graded else {}
    return detail.get(OWN_SCORES) or {}


def _own_numbers(items: Sequence[Item]) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Return the numbers of another harness's scorers: by scorer, or by scorer and part if its value has parts."""
    numbers: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for item in items:
        for scorer, score in _own_scores(item).items():
            value: Any = score.get("value")
            parts = cast("dict[str, Any]", value) if isinstance(value, dict) else {scorer: value}
            for part, each in parts.items():
                number = _LETTERS.get(each) if isinstance(each, str) else each
                if isinstance(number, int | float):
                    numbers.setdefault((scorer, part), []).append((item.rollout.key.case, float(number)))
    return numbers


def _results(items: Sequence[Item]) -> dict[str, Any]:
    if own := _own_numbers(items):
        return {
            "total_samples": len(items),
            "completed_samples": sum(item.finished is not None for item in items),
            "scores": [
                _result(part, "accuracy", values, len(items)) | {"scorer": scorer}
                for (scorer, part), values in own.items()
            ],
        }
    graded = [item for item in items if item.graded]
    passed = [(item.rollout.key.case, float(item.graded is Outcome.PASSED)) for item in graded]
    scores = [_result(_SCORER, "accuracy", passed, len(items))]
    scores += [_result(name, "mean", _values(graded, name), len(items)) for name in _score_names(items)]
    return {
        "total_samples": len(items),
        "completed_samples": sum(item.finished is not None for item in items),
        "scores": scores,
    }


def _result(name: str, metric: str, values: Sequence[tuple[str, float]], total: int) -> dict[str, Any]:
    """Aggregate a score as Inspect does: the mean over cases of the means over their epochs."""
    by_case: dict[str, list[float]] = {}
    for case, value in values:
        by_case.setdefault(case, []).append(value)
    means = [fsum(of_case) / len(of_case) for of_case in by_case.values()]
    error = stdev(means) / sqrt(len(means)) if len(means) > 1 else 0.0
    numbers = {metric: fsum(means) / len(means), "stderr": error} if means else {}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(means),
        "unscored_samples": total - len(values),
        "params": {},
        "metrics": {key: {"name": key, "value": value, "params": {}} for key, value in numbers.items()},
    }


def _score_names(items: Sequence[Item]) -> list[str]:
    """Return the names of scores other than passing, including a judge's."""
    names = dict.fromkeys(name for item in items if item.graded for name in item.rollout.scores)
    return [name for name in names if name != _SCORER]


def _values(graded: Sequence[Item], name: str) -> list[tuple[str, float]]:
    having = (item.rollout for item in graded if name in item.rollout.scores)
    return [(rollout.key.case, rollout.scores[name]) for rollout in having]


def _scorers(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the scorers with their metrics, from which Inspect recomputes the results."""
    own = dict.fromkeys((scorer for scorer, _ in _own_numbers(items)), "accuracy")
    metrics = own or {_SCORER: "accuracy", **dict.fromkeys(_score_names(items), "mean")}
    return [
        {
            "name": name,
            "options": {},
            "metrics": [{"name": f"inspect_ai/{key}", "options": {}} for key in (metric, "stderr")],
            "metadata": {},
        }
        for name, metric in metrics.items()
    ]


def _input(message: dict[str, Any]) -> str | list[dict[str, Any]]:
    """Return a user message as the input of a sample: its text, or the whole content if it is more than text."""
    content = message["content"]
    return content if isinstance(content, str) else [message]


def _sample(item: Item, document: RunDocument) -> dict[str, Any]:
    rollout, verdict = item.rollout, item.finished.verdict if item.finished else None
    messages = transcript(item.conversation)
    sample: dict[str, Any] = {
        "id": _sample_id(rollout.key.case),
        "epoch": rollout.key.rollout + 1,
        "input": next((_input(message) for message in messages if message["role"] == "user"), rollout.title),
        "target": target_of(item),
        "messages": messages,
        "output": model_output(item, document.manifest),
        "scores": _scores(item),
        "events": model_events(item.conversation, document.manifest),
        "metadata": {
            "case": rollout.key.case,
            "category": rollout.category,
            "outcome": item.outcome,
            "reason": rollout.reason,
            "subject": rollout.subject,
            "simulated": document.simulated,
            **({"scores": rollout.scores} if rollout.scores else {}),
            **{kind: text for kind, text in (item.annotations or {}).items() if text},
        },
        "model_usage": model_usage(document.manifest, [item]),
        "role_usage": role_usage(document.manifest, [item]),
        "total_time": rollout.seconds,
    }
    if item.graded is None and not item.is_setup:
        messages = "\n".join(verdict.messages) if verdict else ""
        text = f"{item.outcome}: {rollout.reason}" + (f"\n{messages}" if messages else "")
        sample["error"] = {"message": text, "traceback": text, "traceback_ansi": text}
    return sample


def _scores(item: Item) -> dict[str, Any]:
    value = _VALUES[item.graded] if item.graded else None
    if value is None or item.finished is None:
        return {}
    if own := _own_scores(item):
        return own
    answer = item.finished.output
    passing: dict[str, Any] = {
        "value": value,
        "answer": answer if isinstance(answer, str) else json.dumps(answer, default=str),
        "explanation": "\n".join(item.finished.verdict.messages) or item.rollout.reason,
        "metadata": {"reason": item.rollout.reason, "official": item.finished.verdict.official},
    }
    others = {name: {"value": number} for name, number in item.rollout.scores.items() if name != _SCORER}
    return {_SCORER: passing, **others}


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    fields = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "role_usage", "total_time")
    error = sample.get("error")
    return (
        {name: sample[name] for name in fields} | ({"error": error["message"]} if error else {}) | {"completed": True}
    )


def _sample_id(case: str) -> str:
    """Return a name that is safe as a path component in any archive."""
    if _PLAIN_ID.match(case) and not case.startswith((".", "~")):
        return case
    return f"{slug(case).replace('.', '-') or 'case'}-{_digest(case, 12)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
