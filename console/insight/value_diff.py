"""Structural comparison of large values given as source text: one row for each path at which they differ. Pure.

Values are JSON or Python source, possibly with alternatives (`'a' | 'b'`) and optional keys (`'unit'?:`) in the
notation of suites. Anything but a dictionary or list stays one row.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, cast

from msgspec.structs import replace

from console.core.comparison import Mark, Pair, Row
from console.insight import number_format

SHORT = 30
"""Maximum number of characters in a value that always stays one row."""
_LONGEST = 200_000
"""Maximum number of characters in a value that is parsed."""
_MOST_PATHS = 20_000
_MOST_ALIGNED = 400
"""Maximum items of a list in which insertions and removals are detected; longer lists are compared by index."""
_DEEPEST = 60
_OPTIONAL_KEY = re.compile(r"(?<=['\"])\?(?=: )")
_PLAIN_KEY = re.compile(r"[\w\-]+")
_NOT_A_WORD = re.compile(r"[\W_]+")
_QUIET = (Mark.SAME, Mark.OMITTED)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Alternatives, any one of which is expected."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Structured:
    """A pair whose large values are compared path by path."""

    pair: Pair
    equal: int = 0
    """Number of omitted equal paths."""


def equal_paths(count: int) -> str:
    """Return a note on the number of equal paths that are omitted."""
    return "1 other path is equal" if count == 1 else f"{number_format.count(count)} other paths are equal"


class _TooMuch(Exception):
    """The values have too many paths, or are nested too deeply."""


def structured(pair: Pair, *, with_equal: bool = False) -> Structured:
    """Replace values of a pair that are large and differ by one row for each path; equal ones are counted or kept."""
    is_lenient = pair.kind == "call"  # checkers of calls ignore case and punctuation
    if not pair.rows:
        return _structured_whole(pair, with_equal=with_equal)
    rows: list[Row] = []
    equal = 0
    for row in pair.rows:
        paths = _row_paths(row, is_lenient=is_lenient)
        if paths is None:
            rows.append(row)
            continue
        kept = [path for path in paths if with_equal or path.mark not in _QUIET]
        equal += len(paths) - len(kept)
        named = [
            replace(path, name=_joined(row.name, path.name), decisive=row.decisive and path.mark not in _QUIET)
            for path in kept
        ]
        rows += [replace(named[0], note=row.note), *named[1:]]
    return Structured(replace(pair, rows=tuple(rows)), equal) if len(rows) or equal else Structured(pair)


def _structured_whole(pair: Pair, *, with_equal: bool) -> Structured:
    """Compare a pair that consists of two values only."""
    if pair.mark is not Mark.DIFFERS:
        return Structured(pair)
    paths = value_rows(pair.expected, pair.actual)
    if paths is None:
        return Structured(pair)
    kept = [path for path in paths if with_equal or path.mark not in _QUIET]
    count = sum(path.mark not in _QUIET for path in paths)
    whole, differing = number_format.plural(len(paths), "path"), f"{count} differ{'s' * (count == 1)}"
    return Structured(replace(pair, expected=whole, actual=differing, rows=tuple(kept)), len(paths) - len(kept))


def _row_paths(row: Row, *, is_lenient: bool) -> Sequence[Row] | None:
    if row.mark not in (Mark.DIFFERS, Mark.WRONG_TYPE) or row.actual is None:
        return None
    compared = [paths for text in row.expected if (paths := value_rows(text, row.actual, is_lenient=is_lenient))]
    return min(compared, key=lambda paths: sum(path.mark not in _QUIET for path in paths), default=None)


def structured_together(pairs: Sequence[Pair | None]) -> list[Pair | None]:
    """Replace large values, in pairs with a common expectation, by a row for each path in which any pair differs."""
    if not any(pair is not None and pair.rows for pair in pairs):
        wholes = [None if pair is None else Row(pair.mark, "", (pair.expected,), pair.actual) for pair in pairs]
        by_path = _paths_together(wholes, is_lenient=False)
        made = pairs if by_path is None else map(_with_paths, pairs, by_path)
        return list(made)
    is_lenient = any(pair is not None and pair.kind == "call" for pair in pairs)
    by_name = [{row.name: row for row in pair.rows} if pair is not None else {} for pair in pairs]
    rows: list[list[Row]] = [[] for _ in pairs]
    for name in dict.fromkeys(name for side in by_name for name in side):
        aligned = [side.get(name) for side in by_name]
        by_path = _paths_together(aligned, is_lenient=is_lenient) or [[row] if row else [] for row in aligned]
        for side, more in zip(rows, by_path, strict=True):
            side += more
    return [pair and replace(pair, rows=tuple(side)) for pair, side in zip(pairs, rows, strict=True)]


def _with_paths(pair: Pair | None, rows: Sequence[Row]) -> Pair | None:
    differing = sum(row.mark not in _QUIET for row in rows)
    words = f"{number_format.plural(differing, 'path')} differ{'s' * (differing == 1)}"
    return pair and replace(pair, expected=pair.kind, actual=words if differing else pair.kind, rows=tuple(rows))


def _paths_together(rows: Sequence[Row | None], *, is_lenient: bool) -> list[list[Row]] | None:
    """Return the rows of each side, one for each path in which any of them differs, or None if a value has no paths."""
    paths = [_row_paths(row, is_lenient=is_lenient) if row is not None else None for row in rows]
    sides = list(zip(rows, paths, strict=True))
    if not any(paths) or any(row is not None and side is None and row.mark not in _QUIET for row, side in sides):
        return None
    every = {path.name: path for side in paths for path in reversed(side or ())}
    differing = dict.fromkeys(path.name for side in paths for path in side or () if path.mark not in _QUIET)
    equal = len(every) - len(differing)
    made: list[list[Row]] = []
    for row, side in sides:
        own = {path.name: path for path in side or ()}
        shown: list[Row] = []
        for name in differing if row is not None else ():
            expected = every[name].expected
            path = own.get(name) or Row(Mark.SAME, name, expected, expected[0] if expected else None)
            is_decisive = row is not None and row.decisive and path.mark not in _QUIET
            shown.append(
                replace(path, name=_joined(row.name, name) if row and row.name else name, decisive=is_decisive)
            )
        if equal and row is not None:
            shown.append(Row(Mark.SAME, number_format.plural(equal, "other path"), (), None))
        made.append(shown)
    return made


def value_rows(expected: str, actual: str, *, is_lenient: bool = False) -> tuple[Row, ...] | None:
    """Return one row for each path of two dictionaries or lists, or None if they are something else, short, or equal.

    Args:
        expected: source of the expected value.
        actual: source of the actual value.
        is_lenient: treat strings as equal that differ in case and punctuation only, unless nothing else differs.
    """
    if max(len(expected), len(actual)) <= SHORT:
        return None
    left, right = read_value(expected), read_value(actual)
    if not (isinstance(left, dict) and isinstance(right, dict)) and not (
        isinstance(left, list) and isinstance(right, list)
    ):
        return None
    for lenient in dict.fromkeys((is_lenient, False)):
        try:
            compared = _Comparer(is_lenient=lenient).rows("", left, right, 0)
            rows = tuple(replace(row, name=row.name.removeprefix(".")) for row in compared)
        except (_TooMuch, RecursionError):
            return None
        if any(row.mark not in _QUIET for row in rows):
            return rows
    return None


def read_value(text: str) -> Any:
    """Return a value from its source; `None` if it cannot be parsed."""
    if len(text) > _LONGEST or not text.lstrip().startswith(("{", "[", "(")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        node = ast.parse(_OPTIONAL_KEY.sub(" | ...", text).strip(), mode="eval").body
        return _value(node)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Dict():
            if None in node.keys:
                raise ValueError("unpacking is no value")
            pairs = zip(cast("list[ast.expr]", node.keys), node.values, strict=True)
            return {_value(key): _value(value) for key, value in pairs}
        case ast.List() | ast.Tuple():
            return [_value(item) for item in node.elts]
        case ast.BinOp(op=ast.BitOr()):
            left, right = _value(node.left), _value(node.right)
            return AnyOf((*(left.values if isinstance(left, AnyOf) else (left,)), right))
        case ast.Name(id="nan" | "inf"):
            return float(node.id)
        case _:
            return ast.literal_eval(node)


class _Comparer:
    """Compares two values, and counts the paths."""

    def __init__(self, *, is_lenient: bool) -> None:
        self._is_lenient = is_lenient
        self._left = _MOST_PATHS

    def rows(self, path: str, left: Any, right: Any, depth: int) -> Iterator[Row]:
        """Yield the rows of a value in order."""
        if depth > _DEEPEST:
            raise _TooMuch
        if isinstance(left, AnyOf) and isinstance(right, dict | list) and not self._equal(left, right):
            alike = [value for value in left.values if type(value) is type(cast("Any", right))]
            left = cast("Any", alike[0] if len(alike) == 1 else left)
        if isinstance(left, dict) and isinstance(right, dict) and (left or right):
            yield from self._members(path, cast("dict[Any, Any]", left), cast("dict[Any, Any]", right), depth)
        elif isinstance(left, list) and isinstance(right, list) and (left or right):
            yield from self._items(path, cast("list[Any]", left), cast("list[Any]", right), depth)
        elif self._equal(left, right):
            yield self._row(Mark.SAME, path, left, right)
        else:
            yield self._row(Mark.WRONG_TYPE if _differ_in_type(left, right) else Mark.DIFFERS, path, left, right)

    def _row(self, mark: Mark, path: str, *values: Any) -> Row:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch
        expected = () if mark is Mark.EXTRA else _texts(values[0])
        return Row(mark, path, expected, None if mark in (Mark.MISSING, Mark.OMITTED) else _text(values[-1]))

    def _members(self, path: str, left: Mapping[Any, Any], right: Mapping[Any, Any], depth: int) -> Iterator[Row]:
        names = {_name(key): (key, is_optional) for key, is_optional in map(_key, left)}
        for name, (key, is_optional) in names.items():
            member = left[AnyOf((key, ...)) if is_optional else key]
            if key in right:
                yield from self.rows(path + name, member, right[key], depth + 1)
            else:
                yield self._row(Mark.OMITTED if is_optional else Mark.MISSING, path + name, member)
        for key, member in right.items():
            if _name(key) not in names:
                yield self._row(Mark.EXTRA, path + _name(key), member)

    def _items(self, path: str, left: Sequence[Any], right: Sequence[Any], depth: int) -> Iterator[Row]:
        for _, first, last, start, end in _aligned(left, right):
            both = min(last - first, end - start)
            for one, other in zip(range(first, first + both), range(start, start + both), strict=True):
                yield from self.rows(f"{path}[{other}]", left[one], right[other], depth + 1)
            for place in range(first + both, last):
                yield self._row(Mark.MISSING, f"{path}[{place}]", left[place])
            for place in range(start + both, end):
                yield self._row(Mark.EXTRA, f"{path}[{place}]", right[place])

    def _equal(self, left: Any, right: Any) -> bool:
        if isinstance(left, AnyOf):
            return any(self._equal(value, right) for value in left.values)
        if self._is_lenient and isinstance(left, str) and isinstance(right, str):
            return _NOT_A_WORD.sub("", left).casefold() == _NOT_A_WORD.sub("", right).casefold()
        return _text(left) == _text(right) or (left == right and isinstance(left, bool) == isinstance(right, bool))


def _differ_in_type(left: Any, right: Any) -> bool:
    """Return whether two values differ in type but have the same notation."""
    return type(left) is not type(right) and str(left) == str(right)


def _aligned(left: Sequence[Any], right: Sequence[Any]) -> Sequence[tuple[str, int, int, int, int]]:
    if max(len(left), len(right)) > _MOST_ALIGNED or len(left) == len(right):
        return [("replace", 0, len(left), 0, len(right))]
    texts = [_text(value) for value in left], [_text(value) for value in right]
    return SequenceMatcher(None, *texts, autojunk=False).get_opcodes()


def _key(key: Any) -> tuple[Any, bool]:
    """Return a key, and whether it is optional."""
    return (key.values[0], True) if isinstance(key, AnyOf) else (key, False)


def _name(key: Any) -> str:
    text = str(key)
    return f".{text}" if _PLAIN_KEY.fullmatch(text) else f"[{key!r}]"


def _joined(name: str, path: str) -> str:
    return f"{name}{path}" if path.startswith("[") else f"{name}.{path}"


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, value.values)) if isinstance(value, AnyOf) else (_text(value),)


def _text(value: Any) -> str:
    match value:
        case AnyOf():
            return " | ".join(map(_text, value.values))
        case dict():
            members = cast("dict[Any, Any]", value).items()
            return "{" + ", ".join(f"{_name(_key(key)[0]).lstrip('.')}: {_text(item)}" for key, item in members) + "}"
        case list():
            return "[" + ", ".join(map(_text, cast("list[Any]", value))) + "]"
        case _:
            return repr(value)
