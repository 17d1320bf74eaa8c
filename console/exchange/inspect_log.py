"""A run as an Inspect log (`.eval`, format 2): a zip of `header.json`, `summaries.json` and one file for each sample.

A rollout is a sample, its number (from 1) the epoch. Passed and failed become the score values `C` and `I`; what is
broken carries an error and what could not be graded no score, so neither enters an average there. Names of samples
that could lead out of a folder are replaced by a slug with a digest; the true id stays in the metadata.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from console.core.outcome import Outcome
from console.core.statistics.intervals import rate_interval
from console.core.statistics.sample import Observation, sample_of
from console.exchange.document import Item, RunDocument
from console.exchange.inspect_messages import model_output, model_usage, target_of, transcript
from console.store.line import scrub
from console.store.runs import slug

VERSION = 2
_VALUES = {Outcome.PASSED: "C", Outcome.FAILED: "I"}
_STATUS = {"completed": "success", "running": "started", "starting": "started"}
_PLAIN_ID = re.compile(r"[\w:. +=@#~,-]{1,120}\Z")
_SCORER = "eval_console"


def eval_log(document: RunDocument) -> bytes:
    """Return the log as the bytes of a zip file."""
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
    """Write one file; the time is fixed, so that the same run gives the same bytes."""
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
            "task": slug(manifest.suite) or "task",
            "task_id": _digest(f"task {manifest.suite}", 22),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": manifest.dataset.get("name", manifest.suite),
                "samples": len(ids),
                "sample_ids": ids,
                "shuffled": False,
            },
            "model": manifest.model.model_id or manifest.model.name,
            "model_args": {},
            "config": {"epochs": manifest.rollouts},
            "packages": {},
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
            "model_usage": model_usage(manifest.model.name, document.items),
        },
    }


def _outcomes(items: Sequence[Item]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in items:
        counts[item.outcome] = counts.get(item.outcome, 0) + 1
    return counts


def _results(items: Sequence[Item]) -> dict[str, Any]:
    graded = [item for item in items if item.graded]
    interval = rate_interval(
        sample_of(
            Observation(
                item.rollout.key.case,
                float(item.graded is Outcome.PASSED),
                item.rollout.category,
                item.rollout.cluster,
            )
            for item in graded
        )
    )
    metrics = (
        {}
        if interval is None
        else {"accuracy": interval.value, "wilson_low": interval.low, "wilson_high": interval.high}
    )
    return {
        "total_samples": len(items),
        "completed_samples": sum(item.finished is not None for item in items),
        "scores": [
            {
                "name": _SCORER,
                "scorer": _SCORER,
                "scored_samples": len(graded),
                "unscored_samples": len(items) - len(graded),
                "params": {},
                "metrics": {name: {"name": name, "value": value, "params": {}} for name, value in metrics.items()},
            }
        ],
    }


def _sample(item: Item, document: RunDocument) -> dict[str, Any]:
    rollout, verdict = item.rollout, item.finished.verdict if item.finished else None
    messages = transcript(item.conversation)
    sample: dict[str, Any] = {
        "id": _sample_id(rollout.key.case),
        "epoch": rollout.key.rollout + 1,
        "input": next((str(message["content"]) for message in messages if message["role"] == "user"), rollout.title),
        "target": target_of(item),
        "messages": messages,
        "output": model_output(item, document.manifest.model.name),
        "scores": _scores(item),
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
        "model_usage": model_usage(document.manifest.model.name, [item]),
        "total_time": rollout.seconds,
    }
    if item.graded is None and not item.is_preparation:
        messages = "\n".join(verdict.messages) if verdict else ""
        text = f"{item.outcome}: {rollout.reason}" + (f"\n{messages}" if messages else "")
        sample["error"] = {"message": text, "traceback": text, "traceback_ansi": text}
    return sample


def _scores(item: Item) -> dict[str, Any]:
    value = _VALUES[item.graded] if item.graded else None
    if value is None or item.finished is None:
        return {}
    answer = item.finished.output
    return {
        _SCORER: {
            "value": value,
            "answer": answer if isinstance(answer, str) else json.dumps(answer, default=str),
            "explanation": "\n".join(item.finished.verdict.messages) or item.rollout.reason,
            "metadata": {"reason": item.rollout.reason, "official": item.finished.verdict.official},
        }
    }


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    taken = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time")
    error = sample.get("error")
    return {name: sample[name] for name in taken} | ({"error": error["message"]} if error else {}) | {"completed": True}


def _sample_id(case: str) -> str:
    """Return a name that is safe as a part of a path in any archive."""
    if _PLAIN_ID.match(case) and not case.startswith((".", "~")):
        return case
    return f"{slug(case).replace('.', '-') or 'case'}-{_digest(case, 12)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
