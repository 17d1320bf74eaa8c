"""Reading of rows from JSON Lines, JSON, CSV or YAML, with their places and errors.

Values must be strict JSON (finite numbers, valid Unicode), nested at most `core.json_text.DEEPEST` levels.
"""

import csv
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from console.benchmarks.dialogue.rules.mistakes import Mistakes, shown
from console.config.extras import install_command
from console.core.fault import UsageError, reason_of
from console.core.json_text import DEEPEST, read_json

NAME = "cases"
_LONGEST_CELL = 4 * 1024 * 1024
"""Maximum number of characters in a cell, as Python's CSV reader makes several copies; its default is 131,072."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MOST_EXPANDED = 5_000_000
"""Maximum number of values of a YAML file after expanding its aliases."""


class RawRow(NamedTuple):
    """A row as read from its file."""

    place: str
    """File and line, or file and row number."""
    number: int
    """Row number from 1."""
    fields: dict[str, Any]
    is_text: bool = False
    """True if all values are unparsed cells."""


def cases_file(folder: Path) -> Path:
    """Return the row file of a folder.

    Raises:
        UsageError: no row file, or more than one.
    """
    files = [folder / f"{NAME}{suffix}" for suffix in _READERS if (folder / f"{NAME}{suffix}").is_file()]
    if len(files) == 1:
        return files[0]
    if not files:
        listed = ", ".join(f"{NAME}{suffix}" for suffix in _READERS)
        raise UsageError("has no case file", where=str(folder), hint=f"Add one of {listed}.")
    names = " and ".join(path.name for path in files)
    raise UsageError(f"has more than one case file: {names}", where=str(folder), hint="Keep one of them.")


def read_rows(path: Path, data: bytes, mistakes: Mistakes) -> Iterator[RawRow]:
    """Yield the readable rows of a file, and record errors in the others.

    Args:
        path: path of the file; its suffix determines the format.
        data: content of the file.
        mistakes: collects the errors.

    Raises:
        UsageError: the whole file is unreadable.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "Save the file as UTF-8."
        raise UsageError(f"is not UTF-8 text: {error.reason}", where=f"{path}:{line}", hint=hint) from None
    rows = _READERS[path.suffix](path, text, mistakes)
    first = next(rows, None)
    if first is not None:
        yield first
        yield from rows
    elif not mistakes.count:
        raise UsageError("has no rows", where=str(path))


def _json_lines(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    number = 0
    for line_number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            number += 1
            row = _strict_object(line, f"{path.name}:{line_number}", mistakes)
            if row is not None:
                yield RawRow(f"{path.name}:{line_number}", number, row)


def _json_list(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    """Read the items of a list separately, to report the line of each error."""
    try:
        items = read_json(text)
    except ValueError as error:
        raise UsageError(f"is not JSON: {reason_of(error)}", where=str(path)) from None
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
        mistakes.add(place, "", f"is not JSON: {reason_of(error)}")
        return None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        problem = "has NaN, an infinity, a lone surrogate or a number out of range, which are not valid JSON"
        mistakes.add(place, "", f"{problem}: {error}")
        return None
    if doubled := _doubled_field(text):
        mistakes.add(place, doubled, "occurs twice", "Remove one of them.")
        return None
    return _checked_row(value, place, mistakes)


def _doubled_field(text: str) -> str:
    """Return the first duplicate key in any object of a JSON document, or an empty string."""
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
    lines = (line.group() for line in _LINE.finditer(text))
    reader = csv.reader(lines, delimiter=_delimiter(text), strict=True)
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
                mistakes.add(place, "", problem, 'Quote a cell that contains a comma: "…, …".')
                continue
            filled = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip() and name}
            yield RawRow(place, number, cast(dict[str, Any], filled), is_text=True)
    except csv.Error as error:
        raise UsageError(f"is not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def _delimiter(text: str) -> str:
    """Return the most frequent separator in the first line: comma, semicolon or tab."""
    first = text.partition("\n")[0]
    return max((",", ";", "\t"), key=first.count)


def _column_names(cells: list[str], path: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    times = Counter(names)
    doubled = next((name for name in names if name and times[name] > 1), "")
    if doubled:
        raise UsageError(f"has two columns named {shown(doubled)}", where=f"{path}:1", hint="Rename one of them.")
    return names


def _yaml(path: Path, text: str, mistakes: Mistakes) -> Iterator[RawRow]:
    try:
        value = msgspec.yaml.decode(text)
    except ImportError:
        hint = f"Write the rows as JSON lines, or install it: {install_command('yaml')}"
        raise UsageError("needs the package pyyaml, which is not installed", where=str(path), hint=hint) from None
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError) as error:
        raise UsageError(f"is not YAML: {' '.join(str(error).split())}", where=str(path)) from None
    if not isinstance(value, list):
        raise UsageError("must be a list of rows", where=str(path))
    items = cast(list[Any], value)
    if _expanded_size(items) > _MOST_EXPANDED:
        raise UsageError("has too many values after expanding aliases", where=str(path), hint="Avoid aliases.")
    for line, name in _doubled_keys(text):
        mistakes.add(f"{path.name}:{line}", name, "occurs twice", "Remove one of them.")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("-")]
    for number, item in enumerate(items, 1):
        place = f"{path.name}:{lines[number - 1]}" if len(lines) == len(items) else f"{path.name}, row {number}"
        try:
            row = _strict_object(json.dumps(item, allow_nan=False, default=str), place, mistakes)
        except (TypeError, ValueError, RecursionError) as error:
            mistakes.add(place, "", f"cannot be converted to JSON: {error}")
            continue
        if row is not None:
            yield RawRow(place, number, row)


def _doubled_keys(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each key that occurs twice in one table of a YAML document; the reader keeps the last."""
    yaml: Any = importlib.import_module("yaml")  # an extra, which msgspec has used for this text already
    nodes: list[Any] = [yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
    seen = set[int]()
    while nodes:
        node = nodes.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(names)) < len(names):
                yield node.start_mark.line + 1, next(name for name in names if names.count(name) > 1)
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value


def _expanded_size(value: Any) -> int:
    """Return the number of values in a structure, counting shared parts at each occurrence."""
    sizes: dict[int, int] = {}

    def size(part: Any, depth: int) -> int:
        if not isinstance(part, dict | list) or depth > DEEPEST:
            return 1
        known_size = sizes.get(id(cast(object, part)))
        if known_size is None:
            sizes[id(cast(object, part))] = 1  # an alias may refer to its own parent
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
"""Reader by file suffix."""
