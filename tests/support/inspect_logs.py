"""Logs in the form of inspect_ai's, written by us: small, with whatever a test wants to be in them."""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def sample(name: str | int, value: Any = "C", *, epoch: int = 1, answer: str = "4", **more: Any) -> Json:
    """Return a sample that was asked one thing and answered it; `value` is what the scorer `match` said."""
    asked = {"role": "user", "content": f"What is {name}?"}
    reply = {"role": "assistant", "content": answer, "model": "mock/model"}
    output = {
        "model": "mock/model",
        "choices": [{"message": reply, "stop_reason": "stop"}],
        "completion": answer,
        "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
    }
    events = [{"event": "model", "model": "mock/model", "input": [asked], "tools": [], "config": {}, "output": output}]
    return {
        "id": name,
        "epoch": epoch,
        "input": asked["content"],
        "target": "4",
        "messages": [asked, reply],
        "output": output,
        "scores": {"match": {"value": value, "answer": answer, "explanation": f"because {value}"}},
        "metadata": {},
        "store": {},
        "events": events,
        "model_usage": {"mock/model": output["usage"]},
        "attachments": {},
        "total_time": 0.5,
    } | more


def header(samples: Iterable[Json], *, version: int = 2, status: str = "success", **more: Any) -> Json:
    """Return the head of a log of these samples."""
    listed = list(samples)
    return {
        "version": version,
        "status": status,
        "eval": {
            "task": "sums",
            "created": "2026-01-02T03:04:05+00:00",
            "model": "mock/model",
            "dataset": {"samples": len(listed), "sample_ids": list(dict.fromkeys(item["id"] for item in listed))},
            "config": {"epochs": max((item["epoch"] for item in listed), default=1)},
            "packages": {"inspect_ai": "0.3.285"},
        },
        "plan": {"steps": []},
        "results": {"total_samples": len(listed), "completed_samples": len(listed), "scores": []},
        "stats": {},
    } | more


_OF_SUMMARY = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time")


def eval_members(samples: Iterable[Json], head: Json | None = None) -> dict[str, bytes]:
    """Return the members of an `.eval` by name."""
    listed = list(samples)
    summaries = [
        {name: item[name] for name in _OF_SUMMARY}
        | ({"error": item["error"]["message"]} if item.get("error") else {})
        | {"completed": True, "retries": len(item.get("error_retries") or [])}
        for item in listed
    ]
    head = head or header(listed)
    start = {name: head[name] for name in ("version", "eval", "plan")}
    return {
        "_journal/start.json": _bytes(start),
        **{f"samples/{item['id']}_epoch_{item['epoch']}.json": _bytes(item) for item in listed},
        "summaries.json": _bytes(summaries),
        "header.json": _bytes(head),
    }


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def write_eval(path: Path, members: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a zip file of members, in order."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_zstd_eval(path: Path, members: Mapping[str, bytes]) -> Path:
    """Write it as inspect_ai does, each member compressed with zstd."""
    from backports.zstd import zipfile as zstd_zipfile

    out = io.BytesIO()
    with zstd_zipfile.ZipFile(out, "w", zstd_zipfile.ZIP_ZSTANDARD) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    path.write_bytes(out.getvalue())
    return path


def write_json_log(path: Path, samples: Iterable[Json], head: Json | None = None) -> Path:
    """Write a log as one JSON file."""
    listed = list(samples)
    path.write_bytes(_bytes({**(head or header(listed)), "samples": listed}))
    return path
