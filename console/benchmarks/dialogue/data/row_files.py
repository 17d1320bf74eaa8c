"""Rows from a file: JSON lines, JSON, CSV or YAML. Each comes with its place; what cannot be read is taken down.

The strict reader of JSON is used, so a number is finite and a text is Unicode; rows are nested no deeper than
`core.json_text.DEEPEST` levels.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from console.benchmarks.dialogue.rules.mistakes import Mistakes, shown
from console.core.fault import UsageError
from console.core.json_text import DEEPEST, read_json

NAME = "cases"
_LONGEST_CELL = 64 * 1024 * 1024
"""Characters of a cell; the reader of CSV refuses more than 131,072 unless it is told."""
_MOST_EXPANDED = 5_000_000
"""Values that the aliases of a YAML file may stand for: a few lines can stand for billions."""


class RawRow(NamedTuple):
    """A row as it stands in its file."""

    place: str
    """File and line, or file and number of the row."""
    number: int
    """From 1 on."""
    fields: dict[str, Any]
    is_text: bool = False
    """Whether all values are texts of cells."""


def cases_file(folder: Path) -> Path:
    """Return the one file of rows in a folder.

    Raises:
        UsageError: there is none, or more than one.
    """
    files = [folder / f"{NAME}{suffix}" for suffix in _READERS if (folder / f"{NAME}{suffix}").is_file()]
    if len(files) == 1:
        return files[0]
    if not files:
        listed = ", ".join(f"{NAME}{suffix}" for suffix in _READERS)
        raise UsageError("has no file with cases", where=str(folder), hint=f"Put one of {listed} there.")
    names = " and ".join(path.name for path in files)
    raise UsageError(f"has more than one file with cases: {names}", where=str(folder), hint="Keep one of them.")


def read_rows(path: Path, data: bytes, mistakes: Mistakes) -> list[RawRow]:
    """Return the rows of a file that can be read, and take down the others.

    Args:
        path: where the bytes are from; its suffix says how to read them.
        data: the bytes of the file.
        mistakes: what is wrong.

    Raises:
        UsageError: the file as a whole cannot be read.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "Save the file as UTF-8."
        raise UsageError(f"is not UTF-8 text: {error.reason}", where=f"{path}:{line}", hint=hint) from None
    rows = list(_READERS[path.suffix](path, text, mistakes))
    if not rows and not mistakes.count:
        raise UsageError("holds no row", where=str(path))
    return rows


def _json_lines(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    number = 0
    for line_number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            number += 1
            row = _strict_object(line, f"{path.name}:{line_number}", mistakes)
            if row is not None:
                yield RawRow(f"{path.name}:{line_number}", number, row)


def _json_list(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    """Read the items of a list one by one, so that each has its line and one mistake hides no other."""
    try:
        items = read_json(text)
    except ValueError as error:
        raise UsageError(f"is not JSON: {error}", where=str(path)) from None
    if not isinstance(items, list):
        raise UsageError("must be a list of rows", where=str(path))
    decoder, at, line = json.JSONDecoder(), text.index("[") + 1, text.count("\n", 0, text.index("[") + 1) + 1
    for number in range(1, len(cast(list[Any], items)) + 1):
        begin = _next_value(text, at)
        line += text.count("\n", at, begin)
        _, end = decoder.raw_decode(text, begin)
        row = _strict_object(text[begin:end], f"{path.name}:{line}", mistakes)
        if row is not None:
            yield RawRow(f"{path.name}:{line}", number, row)
        line += text.count("\n", begin, end)
        at = end


def _next_value(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def _strict_object(text: str, place: str, mistakes: Mistakes) -> dict[str, Any] | None:
    try:
        value = read_json(text)
    except ValueError as error:
        mistakes.add(place, "", f"is not JSON: {error}")
        return None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        problem = "holds NaN, an infinity, half a character or a number too large, which are no JSON"
        mistakes.add(place, "", f"{problem}: {error}")
        return None
    if doubled := _doubled_field(text):
        mistakes.add(place, doubled, "stands there twice", "Only one of them would count: put what is meant into one.")
        return None
    return _checked_row(value, place, mistakes)


def _doubled_field(text: str) -> str:
    """Return the first name that stands twice in a table of a JSON text; empty when there is none."""
    doubled: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            doubled.extend(name for place, name in enumerate(names) if name in names[:place])

    json.loads(text, object_pairs_hook=look, parse_int=len, parse_float=len)  # numbers of any length
    return doubled[0] if doubled else ""


def _checked_row(value: Any, place: str, mistakes: Mistakes) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    mistakes.add(place, "", f"must be a table of fields, not {shown(value)}")
    return None


def _csv(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    names: list[str] | None = None
    number, begin = 0, 1
    try:
        for cells in reader:
            place, begin = f"{path.name}:{begin}", reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if names is None:
                names = _column_names(cells, path)
                continue
            number += 1
            if len(cells) > len(names):
                problem = f"has {len(cells)} cells, but there are {len(names)} columns"
                mistakes.add(place, "", problem, 'Put a text with a comma between quotes: "…, …".')
                continue
            filled = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip() and name}
            yield RawRow(place, number, cast(dict[str, Any], filled), is_text=True)
    except csv.Error as error:
        raise UsageError(f"is not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def _delimiter(text: str) -> str:
    """Return what separates the cells of the first line: a comma, or what spreadsheets write in its place."""
    first = text.partition("\n")[0]
    return max((",", ";", "\t"), key=first.count)


def _column_names(cells: list[str], path: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    doubled = next((name for place, name in enumerate(names) if name and name in names[:place]), "")
    if doubled:
        raise UsageError(f"has two columns named {shown(doubled)}", where=f"{path}:1", hint="Rename one of them.")
    return names


def _yaml(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    try:
        value = msgspec.yaml.decode(text)
    except ImportError:
        hint = "Install it with pip install 'eval-console[yaml]', or write the rows as JSON lines."
        raise UsageError("needs the package pyyaml, which is not installed", where=str(path), hint=hint) from None
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError) as error:
        raise UsageError(f"is not YAML: {' '.join(str(error).split())}", where=str(path)) from None
    if not isinstance(value, list):
        raise UsageError("must be a list of rows", where=str(path))
    items = cast(list[Any], value)
    if _expanded_size(items) > _MOST_EXPANDED:
        raise UsageError("stands for too many values by its aliases", where=str(path), hint="Write them out.")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("-")]
    for number, item in enumerate(items, 1):
        place = f"{path.name}:{lines[number - 1]}" if len(lines) == len(items) else f"{path.name}, row {number}"
        try:
            row = _strict_object(json.dumps(item, allow_nan=False, default=str), place, mistakes)
        except (TypeError, ValueError, RecursionError) as error:
            mistakes.add(place, "", f"cannot be written as JSON: {error}")
            continue
        if row is not None:
            yield RawRow(place, number, row)


def _expanded_size(value: Any) -> int:
    """Return how many values something holds when what is shared is counted wherever it stands."""
    sizes: dict[int, int] = {}

    def size(part: Any, depth: int) -> int:
        if not isinstance(part, dict | list) or depth > DEEPEST:
            return 1
        known_size = sizes.get(id(cast(object, part)))
        if known_size is None:
            sizes[id(cast(object, part))] = 1  # an alias may stand for what it is in
            inner = list(cast(dict[Any, Any], part).values()) if isinstance(part, dict) else cast(list[Any], part)
            known_size = sizes[id(cast(object, part))] = 1 + sum(size(item, depth + 1) for item in inner)
        return known_size

    return size(value, 0)


_READERS: dict[str, Callable[[Path, str, Mistakes], Iterator[RawRow]]] = {
    ".jsonl": _json_lines,
    ".csv": _csv,
    ".json": _json_list,
    ".yaml": _yaml,
    ".yml": _yaml,
}
"""By suffix."""
