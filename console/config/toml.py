"""TOML parsing with readable errors: each has a location, a caret and a hint; valid tables are kept.

Never raises for the contents of the file. A file with a syntax error is parsed table by table, so that one error does
not affect the other tables.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import tomli

_HEADER = re.compile(r"^[ \t]*\[(\[)?[ \t]*(.+?)[ \t]*\]?\][ \t]*(?:#.*)?$")
_NAME = r"(?:[\w\-]+|\"[^\"]*\"|'[^']*')"
_ASSIGNMENT = re.compile(rf"^[ \t]*({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=")
_KEY_PART = re.compile(r"\"[^\"]*\"|'[^']*'|[^.\s]+")
_SECRET = re.compile(
    r"(?i)api_?key(?!_env)|secret|passw|authoriz|headers|_token\b|\bkey\s*=|\bsk-|bearer|url.*[@?#]|://.*(?:@|sk-|key)"
)
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Mistake:
    """One error in a file, with a hint."""

    message: str
    where: str = ""
    """File and line, such as `models.toml:12`."""
    hint: str = ""
    excerpt: str = ""
    """The line, and below it a caret at the error; two lines of plain text."""

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.message}" if self.where else self.message, self.excerpt, self.hint]
        return "\n  ".join(part for part in parts if part)


@dataclass(slots=True)
class TomlFile:
    """Parsed contents of a file, with the position of every key."""

    path: Path
    lines: list[str] = field(default_factory=list[str])
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    mistakes: list[Mistake] = field(default_factory=list[Mistake])
    warnings: list[str] = field(default_factory=list[str])
    places: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict[tuple[str, ...], tuple[int, int]])
    """Line and column, from 1, of every table and key; array tables are numbered from 0."""

    def mistake(self, message: str, line: int, column: int = 0, hint: str = "") -> None:
        """Record an error at a line and column, both from 1; 0 means unknown."""
        where = f"{self.path.name}:{line}" if line else self.path.name
        self.mistakes.append(Mistake(message, where, hint, self._excerpt(line, column)))

    def place(self, *keys: str) -> tuple[int, int]:
        """Return the line and column of a key, or of the nearest enclosing table."""
        for end in range(len(keys), 0, -1):
            position = self.places.get(keys[:end])
            if position is None:
                continue
            return self._inside(position, keys[end]) if end < len(keys) else position
        return (0, 0)

    def _inside(self, position: tuple[int, int], key: str) -> tuple[int, int]:
        """Narrow a position down to a key of an inline table on the same line."""
        line, column = position
        match = re.compile(rf"[{{,]\s*[\"']?({re.escape(key)})[\"']?\s*=").search(self.lines[line - 1])
        return (line, match.start(1) + 1) if match else (line, column)

    def _excerpt(self, line: int, column: int) -> str:
        if not 0 < line <= len(self.lines):
            return ""
        text = self.lines[line - 1].replace("\t", " ")
        if _SECRET.search(text) and "=" in text:
            text = text[: text.index("=") + 1] + " …"  # an error message must not contain a key
        start = max(0, column - 60)
        return f"{text[start : start + 100]}\n  {' ' * (column - 1 - start)}^" if column else text[:100]


def read_toml(path: Path) -> TomlFile:
    """Read a file; errors are collected in `mistakes`."""
    file = TomlFile(path)
    text = _decode(file)
    if text is None:
        return file
    file.lines = text.splitlines()
    file.places = _locate(file.lines)
    try:
        file.data = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        _read_by_table(file, error)
    return file


def _decode(file: TomlFile) -> str | None:
    try:
        with file.path.open("rb") as opened:
            raw = opened.read(_LARGEST + 1)  # a device may never end
    except OSError as error:
        file.mistake(f"the file cannot be read: {error.strerror}", 0, hint="Check the path and its permissions.")
        return None
    if len(raw) > _LARGEST:
        file.mistake(
            "the file is larger than 1 MiB, so it cannot be a list of models",
            0,
            hint="Give the right file with --models.",
        )
        return None
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        file.mistake("the file is UTF-16, but TOML is UTF-8", 1, hint="Save it in UTF-8.")
        return None
    if raw.startswith(b"\xef\xbb\xbf"):
        file.warnings.append(f"{file.path.name}: begins with a byte order mark, ignored; save it as plain UTF-8")
        raw = raw[3:]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        file.lines = raw.decode("latin-1").splitlines()
        file.mistake(
            f"byte 0x{raw[error.start]:02x} is not UTF-8 (the file looks like Latin-1)",
            line,
            column,
            "Save the file in UTF-8.",
        )
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        file.mistake("the file contains a NUL byte, so it is not a text file", line, hint="Restore it from a copy.")
        return None
    return text


def _locate(lines: list[str]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Find the positions of tables and keys by pattern, accurate enough to point at a line."""
    places: dict[tuple[str, ...], tuple[int, int]] = {}
    table: tuple[str, ...] = ()
    arrays: dict[str, int] = {}
    fence = ""
    for number, text in enumerate(lines, 1):
        if fence:
            fence = "" if fence in text else fence
            continue
        header = _HEADER.match(text)
        if header and "=" not in text.split("]")[0]:
            table = keys_of(header[2])
            if header[1]:
                index = arrays[table[0]] = arrays.get(table[0], -1) + 1
                table = (*table, str(index))
            places.setdefault(table, (number, text.index("[") + 1))
            continue
        assignment = _ASSIGNMENT.match(text)
        if assignment:
            places.setdefault((*table, *keys_of(assignment[1])), (number, assignment.start(1) + 1))
        fence = next((mark for mark in ('"""', "'''") if text.count(mark) % 2), "")
    return places


def keys_of(dotted: str) -> tuple[str, ...]:
    """Split a dotted key into its parts, without quotes."""
    return tuple(part.strip("\"'") for part in _KEY_PART.findall(dotted))


def _read_by_table(file: TomlFile, error: Exception) -> None:
    """Parse each top-level table on its own; those that fail become errors."""
    starts = [n for n, text in enumerate(file.lines) if _HEADER.match(text)]
    groups: list[tuple[int, int]] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(file.lines)
        if groups and len(_table_keys(file.lines[start])) > 1:
            groups[-1] = (groups[-1][0], end)  # a sub-table stays with its table
        else:
            groups.append((start, end))
    before = len(file.mistakes)
    if not starts or starts[0] > 0:
        groups.insert(0, (0, starts[0] if starts else len(file.lines)))
    for start, end in groups:
        _read_group(file, start, end)
    if len(file.mistakes) == before:
        _report_syntax(file, error, 0)


def _table_keys(header: str) -> tuple[str, ...]:
    match = _HEADER.match(header)
    return keys_of(match[2]) if match else ()


def _read_group(file: TomlFile, start: int, end: int) -> None:
    try:
        read = tomli.loads("\n".join(file.lines[start:end]) + "\n")
    except (ValueError, RecursionError) as error:
        _report_syntax(file, error, start)
        return
    for name, value in read.items():
        earlier = file.data.get(name)
        if isinstance(earlier, list) and isinstance(value, list):
            cast(list[Any], earlier).extend(cast(list[Any], value))
        elif earlier is not None:
            first = file.place(name)[0]
            file.mistake(f"[{name}] is defined twice, first on line {first}", start + 1, 1, "Rename or delete one.")
        else:
            file.data[name] = value


def _report_syntax(file: TomlFile, error: Exception, start: int) -> None:
    """Convert a parser exception to an error that names the table."""
    name = ".".join(_table_keys(file.lines[start])) if start < len(file.lines) else ""
    inside = f" in [{name}]" if name else ""
    if isinstance(error, tomli.TOMLDecodeError):
        line, column = start + error.lineno, error.colno
        file.mistake(_plain(error.msg) + inside, line, column, _syntax_hint(error.msg, file.lines, line))
    elif isinstance(error, RecursionError):
        file.mistake(f"the file is nested too deeply{inside}", start + 1, hint="Remove nested brackets.")
    else:
        file.mistake(
            f"the file contains a number that is too long{inside}", start + 1, hint="Write it in quotes, or shorten it."
        )


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:]


def _syntax_hint(message: str, lines: list[str], line: int) -> str:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    if text.lstrip().startswith("[") and "]" in message:
        return 'Put names with characters other than letters, digits, - and _ in quotes: ["openrouter/qwen"].'
    if "overwrite" in message:
        return "A key may occur only once in a table; delete one of the two."
    if "Invalid value" in message or "Invalid character" in message:
        return 'Strings need quotes: key = "value". Booleans are true and false.'
    return "See https://toml.io for the syntax; a table is [name], a line is key = value."
