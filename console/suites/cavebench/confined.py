"""What of a scenario enters the sandbox: its code and data files, and of a turn its query and two names.

What is expected of the model stays outside, in files as well as in messages: code that the model wrote runs in there.
The validators are code of the scenario and do go in, because they judge the live objects.
"""

import mmap
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_NAMED = ("validator", "pre_turn_hook")
_ENTERS = ("query", *_NAMED)
_MARKS = re.compile(
    rb"expected_function_calls|expected_variable_(?:reads|writes)|expected_calls|reference_response|\"cue\""
)
"""Words that stand in files which say what is expected: scenarios, results of runs, copies of either."""
_CODE = frozenset({".py", ".pyi", ".pyc", ".so"})


def confined_turn(turn: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker gets of a turn, when it begins."""
    return {key: turn[key] for key in _ENTERS if key in turn}


def named_functions(turn: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker gets of a turn beforehand: the names of what its module must have."""
    return {key: turn[key] for key in _NAMED if key in turn}


def withheld_files(folder: Path, scenario_files: Iterable[str]) -> list[Path]:
    """Return what of a dataset's folder a worker may not read: scenario files, results, and hidden folders.

    Args:
        folder: the dataset.
        scenario_files: its scenario files, relative to the folder.
    """
    withheld = {folder / name for name in scenario_files}
    return sorted(withheld | set(_telling_files(folder)))


def _telling_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        hidden = [name for name in folders if name.startswith(".")]
        yield from (Path(parent, name) for name in hidden)
        folders[:] = [name for name in folders if name not in hidden]
        yield from (path for name in names if _tells(path := Path(parent, name)))


def _tells(path: Path) -> bool:
    """Whether a file that is no code speaks of expectations; yes where it cannot be read."""
    if path.suffix in _CODE:
        return False
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _MARKS.search(content) is not None
    except OSError:
        return True
