"""Reads questions from a dataset with a `question` field: a local file, or one of the hub through an optional package.

Local files need no network: `.jsonl`, `.json` (a list of objects), `.csv` with a header, and `.parquet` if pyarrow is
installed. Any other name is looked up on the hub, which needs the package `datasets`.
"""

import csv
import importlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from console.config.extras import install_command
from console.config.paths import expanded
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.core.suggestion import nearest
from console.store.atomic import open_regular, read_regular_text

FIELD = "question"
Row = Mapping[str, Any]


def read_dataset(name: str, split: str) -> list[str]:
    """Return all values of the field `question`, in order.

    Args:
        name: path of a local file, or a name on the hub.
        split: split of a hub dataset.

    Raises:
        UsageError: unreadable, no such field, an empty value (names the row), or a missing package.
    """
    path = expanded(name)
    read = _READERS.get(path.suffix.lower())
    if read is None and path.exists():
        raise UsageError("has an unsupported format", where=str(path), hint=f"Known: {', '.join(_READERS)}.")
    if read is None:
        return _questions(_hub(name, split), name)
    try:
        return _questions(read(path), str(path))
    except OSError as error:
        reason = error.strerror or "there is no such file"
        raise UsageError(f"cannot be read: {reason}", where=str(path), hint="Check the path.") from error
    except (ValueError, csv.Error) as error:
        raise UsageError(f"is damaged: {reason_of(error)}", where=str(path)) from error


def _questions(rows: Iterable[object], where: str) -> list[str]:
    out: list[str] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise UsageError("is not an object", where=f"{where}: row {number}")
        fields = cast(Row, row)
        value = fields.get(FIELD)
        if FIELD not in fields:
            raise _without_field([str(name) for name in fields], f"{where}: row {number}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"`{FIELD}` is not a string: {value!r}", where=f"{where}: row {number}")
        out.append(value.strip())
    if not out:
        raise UsageError("contains no questions", where=where)
    return out


def _without_field(fields: list[str], where: str) -> UsageError:
    close = nearest(FIELD, fields)
    hint = f"Did you mean to rename {close!r}?" if close else f"Fields: {', '.join(fields)}."
    return UsageError(f"has no field `{FIELD}`", where=where, hint=hint)


def _jsonl(path: Path) -> Iterator[object]:
    for number, line in enumerate(read_regular_text(path).split("\n"), 1):
        if line.strip():
            try:
                yield read_json(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number} is not JSON: {error.msg}") from error


def _json(path: Path) -> Iterable[object]:
    value = read_json(read_regular_text(path))
    if not isinstance(value, list):
        raise ValueError("must contain a list of objects")
    return cast(list[object], value)


def _csv(path: Path) -> Iterable[object]:
    with io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def _parquet(path: Path) -> Iterable[object]:
    reader = _optional("pyarrow.parquet", "pyarrow", str(path))
    fields = reader.read_schema(path).names
    if FIELD not in fields:
        raise _without_field(fields, str(path))
    return reader.read_table(path, columns=[FIELD]).to_pylist()


def _hub(name: str, split: str) -> Iterable[object]:
    package = _optional("datasets", "datasets", name)
    try:
        return package.load_dataset(name, split=split)
    except Exception as error:  # the package may raise anything, from network errors to unknown splits
        message = f"the dataset cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(message, where=name, hint="Check name, split and network, or give a local file.") from error


def _optional(module: str, package: str, where: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        endings = ", ".join(_READERS)
        raise UsageError(
            f"the package {package} is needed to read this dataset",
            where=where,
            hint=f"Give a local file ({endings}), or install it: {install_command('datasets')}",
        ) from error


_READERS: dict[str, Callable[[Path], Iterable[object]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
