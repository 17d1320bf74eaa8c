"""Layout of the official BFCL v4 result and score files.

    <root>/result/<model>/<group>/BFCL_v4_<category>_result.json
    <root>/score/<model>/<group>/BFCL_v4_<category>_score.json
    <root>/score/data_*.csv

`/` in a model name becomes `_`. Both kinds of files are JSON Lines. On a case-insensitive file system, the second of
two models whose names differ only in case gets a folder with a digest of its name.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.reply import json_safe
from console.benchmarks.bfcl.rules.categories import backend_of, group_of, is_memory
from console.core.fault import UsageError, os_errors_as
from console.core.json_text import read_json
from console.store.atomic import open_regular, read_regular, write_atomically
from console.store.file_names import distinct_name

PREFIX = "BFCL_v4"
MARK = "handler"
"""Field of a result line with its registry name or decode family."""
Line = dict[str, Any]
_LARGEST_LINE = 128 << 20
_LARGEST = 1e15
"""Maximum plausible latency or count."""


def project_root() -> Path:
    """Return the base of relative result and score folders: $BFCL_PROJECT_ROOT or the current folder."""
    return Path(os.environ.get("BFCL_PROJECT_ROOT") or ".")


def folder_name(model: str) -> str:
    """Return the folder name of a model.

    Raises:
        UsageError: the name would leave the tree.
    """
    name = model.replace("/", "_")
    if not name.strip(".") or "\0" in name or os.sep in name:
        raise UsageError(f"{model!r} cannot name a folder", where="--model")
    return name


def model_folder(root: Path, model: str) -> str:
    """Return the name of a model's folder below `root`.

    The name is `folder_name`, unless a case-insensitive file system would confuse it with another model's folder.
    """
    return distinct_name(folder_name(model), root)


def result_path(root: Path, model: str, category: str) -> Path:
    """Return the result file of a category, including those of memory prerequisites (`…_prereq`)."""
    return root / folder_name(model) / _group(category) / f"{PREFIX}_{category}_result.json"


def score_path(root: Path, model: str, category: str) -> Path:
    """Return the score file of a category."""
    return root / folder_name(model) / _group(category) / f"{PREFIX}_{category}_score.json"


def _group(category: str) -> str:
    group = group_of(category)
    return f"{group}/memory/{backend_of(category)}" if is_memory(category) else group


def is_plausible(number: float) -> bool:
    """Return whether a number can be a measurement; NaN, infinities and 10^400 cannot."""
    return -_LARGEST <= number <= _LARGEST


def folders_in(folder: Path) -> list[Path]:
    """Return the subfolders in directory order; none if the folder does not exist.

    Raises:
        UsageError: unreadable folder.
    """
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(error.filename or folder)) from None


def read_lines(path: Path) -> list[Line]:
    """Return the objects of a JSON Lines file.

    Raises:
        UsageError: unreadable file, or a line that is not a JSON object; names it.
    """
    with os_errors_as("cannot be read", where=path):
        data = read_regular(path)
    return [_line(line, f"{path}:{number}") for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]


def place_of(path: Path, number: int) -> str:
    """Return `file:line` of the object with a zero-based index in a JSON Lines file."""
    try:
        line_numbers = [line for line, text in enumerate(read_regular(path).split(b"\n"), 1) if text.strip()]
    except OSError:
        return str(path)
    return f"{path}:{line_numbers[number]}" if number < len(line_numbers) else str(path)


def read_first(path: Path) -> Line:
    """Return the first object of a JSON Lines file, or `{}` if it is empty.

    Raises:
        UsageError: unreadable file, or a line that is not a JSON object.
    """
    with os_errors_as("cannot be read", where=path), open_regular(path) as file:
        line = file.readline(_LARGEST_LINE)
    return _line(line, f"{path}:1") if line.strip() else {}


def _line(text: bytes, where: str) -> Line:
    try:
        value = read_json(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(
            "is not a JSON object", where=where, hint="A killed process may have truncated the last line; remove it."
        )
    line = cast(Line, value)
    if not isinstance(line.get(MARK), str | None):
        raise UsageError(f"`{MARK}` must be a string", where=where)
    return line


def write_lines(path: Path, lines: Iterable[Line], *, ascii_only: bool) -> None:
    """Replace a JSON Lines file; as in the official code, only result files are ASCII-escaped.

    Raises:
        UsageError: unwritable folder.
    """
    write_text(path, "".join(as_line(line, ascii_only=ascii_only) + "\n" for line in lines))


def as_line(line: Line, *, ascii_only: bool) -> str:
    """Encode a JSON object; other values become strings, as in the official code."""
    try:
        return json.dumps(line, ensure_ascii=ascii_only, default=str)
    except (TypeError, ValueError, RecursionError):  # non-string keys, numbers too long to print
        return json.dumps(json_safe(line), ensure_ascii=ascii_only)


def write_text(path: Path, text: str) -> None:
    """Replace a file, creating its folder and escaping lone surrogates.

    Raises:
        UsageError: unwritable folder.
    """
    with os_errors_as("cannot be written", where=path, hint="Choose another folder."):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
