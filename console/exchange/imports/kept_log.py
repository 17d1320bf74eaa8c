"""The Inspect log that a run was imported from, kept in the run's folder so that an export is what was imported.

It is an `.eval`: an imported one is copied, or if truncated, its complete members are. A JSON log is split into the
members of an `.eval`, sample by sample, with every value as written.
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

from console.core.json_text import read_json
from console.exchange.imports.json_log import read_pieces
from console.exchange.imports.log import Problem, Table, listed, table, tables, text
from console.exchange.imports.numbers import count
from console.exchange.imports.zip_members import BadMember, ZipMembers
from console.store.atomic import open_regular

_LISTS = {("samples",), ("reductions",)}
_START, _HEADER = "_journal/start.json", "header.json"
_OF_START = ("version", "eval", "plan")
_OF_SUMMARY = (
    "id", "epoch", "input", "choices", "target", "description", "metadata", "model_usage", "role_usage",
    "model_fallbacks", "started_at", "completed_at", "total_time", "working_time", "uuid", "turn_count", "token_limit",
    "token_limit_type", "token_limit_usage", "message_limit", "time_limit",
)  # fmt: skip
_FASTEST = 1
"""Compression level; logs are large, and compress well at any."""
_LONGEST_IN_SUMMARY = 1024
_REMOVED = "Key removed from summary (> 1k)"
"""Placeholder with Inspect's own wording."""


def keep_eval(log: Path, into: IO[bytes]) -> None:
    """Write a copy of an `.eval`.

    Raises:
        UsageError: it cannot be read.
        OSError: reading or writing failed.
    """
    members = ZipMembers(log)
    if not members.is_cut_off:
        with open_regular(log) as file:
            shutil.copyfileobj(file, into)
        return
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members.by_name:
            try:
                add_member(archive, name, members.read(name))
            except BadMember:
                continue


def keep_json(log: Path, into: IO[bytes]) -> None:
    """Write a JSON log as an `.eval`.

    Raises:
        UsageError: it cannot be read.
        OSError: writing failed.
    """
    head: dict[str, bytes] = {}
    reductions: list[bytes] = []
    taken: set[str] = set()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive, TemporaryFile() as summaries:
        for names, piece in read_pieces(log, _LISTS, list[Problem]()):
            if piece is None:
                continue
            if names == ("samples",):
                for summary in _add_sample(archive, piece, taken):
                    summaries.write((b"," if summaries.tell() else b"[") + json.dumps(summary).encode())
            elif names == ("reductions",):
                reductions.append(piece)
            else:
                head[names[0]] = piece
        add_member(archive, _START, _object({name: head[name] for name in _OF_START if name in head}))
        if reductions and reductions != [b"null"]:
            add_member(archive, "reductions.json", b"[" + b",".join(reductions) + b"]")
        summaries.write(b"]" if summaries.tell() else b"[]")
        summaries.seek(0)
        with archive.open(_member("summaries.json"), "w", force_zip64=True) as member:
            shutil.copyfileobj(summaries, member)
        add_member(archive, _HEADER, _object({name: piece for name, piece in head.items() if name != "samples"}))


def add_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Write one member."""
    archive.writestr(_member(name), data, compresslevel=_FASTEST)


def _member(name: str) -> zipfile.ZipInfo:
    """Return a member with a fixed time, so that the same log gives the same bytes."""
    info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _object(members: dict[str, bytes]) -> bytes:
    """Return a JSON object of members whose values are JSON already."""
    return b"{" + b",".join(json.dumps(name).encode() + b":" + value for name, value in members.items()) + b"}"


def _add_sample(archive: zipfile.ZipFile, piece: bytes, taken: set[str]) -> Iterator[Table]:
    """Add a sample as written, and yield its summary; anything that is not a sample is skipped."""
    try:
        record = table(read_json(piece))
    except ValueError:
        return
    if "id" not in record:
        return
    stem = f"{_in_archive(text(record['id']))}_epoch_{count(record.get('epoch', 1))}"
    number, name = 1, f"samples/{stem}.json"
    while name in taken:
        number += 1
        name = f"samples/{stem}~{number}.json"
    taken.add(name)
    add_member(archive, name, piece)
    yield _summary(record)


def _in_archive(sample: str) -> str:
    """Return a sample's id, by which Inspect finds it, unless it could leave the folder of an unpacked archive."""
    is_safe = ".." not in sample.split("/") and not sample.startswith("/") and sample.isprintable()
    if is_safe and "\\" not in sample and 0 < len(sample) < 1000:
        return sample
    return "".join(letter if letter.isalnum() else "-" for letter in sample[:100]) or "sample"


def _summary(record: Table) -> Table:
    """Return a summary of a sample, as brief as Inspect's."""
    summary = {name: record[name] for name in _OF_SUMMARY if record.get(name) is not None}
    if isinstance(record.get("input"), list):
        summary["input"] = [_short_message(message) for message in tables(record["input"])]
    elif isinstance(record.get("input"), str):
        summary["input"] = _short(record["input"])
    summary["scores"] = {name: _short_score(table(score)) for name, score in table(record.get("scores")).items()}
    summary["metadata"] = {name: _short(value) for name, value in table(record.get("metadata")).items()}
    if error := table(record.get("error")):
        summary["error"] = text(error.get("message"))
    if limit := table(record.get("limit")):
        summary |= {"limit": text(limit.get("type")), "limit_reason": limit.get("reason")}
    retries, messages = listed(record.get("error_retries")), listed(record.get("messages"))
    return summary | {"retries": len(retries), "completed": True, "message_count": len(messages)}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_IN_SUMMARY else f"{value[:_LONGEST_IN_SUMMARY]}..."
    return value if len(json.dumps(value)) <= _LONGEST_IN_SUMMARY else _REMOVED


def _short_score(score: Table) -> Table:
    """Return a score with texts shortened and its history removed."""
    shown = {name: _short(value) for name, value in score.items() if isinstance(value, str)}
    metadata = {name: _short(value) for name, value in table(score.get("metadata")).items()}
    return shown | {"value": score.get("value"), **({"metadata": metadata} if metadata else {})}


def _short_message(message: Table) -> Table:
    """Return a message with texts shortened, and media replaced by their names."""
    content: object = message.get("content")
    if not isinstance(content, list):
        return {**message, "content": _short(text(content))}
    parts = [
        {**part, "text": _short(text(part["text"]))}
        if "text" in part
        else {"type": "text", "text": f"({text(part.get('type')).capitalize()})"}
        for part in tables(cast("object", content))
    ]
    return {**message, "content": parts}
