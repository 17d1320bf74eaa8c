"""Test import of a folder's code in a subprocess, which contains hangs and crashes.

`python -m console.suites.code_trial ENTRY RESULT` reads the entry from a JSON file and writes the result to another.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.suites import loading
from console.suites.folder_code import FolderCode, open_folder
from console.suites.guard import guard
from console.suites.loading import LoadError, run_limited
from console.suites.suite import SuiteEntry

_PROGRAM = Path(__file__).resolve().parents[2]
_GRACE_S = 10.0
"""Time allowed for starting the interpreter."""


class Trial(msgspec.Struct, omit_defaults=True):
    """Result of importing a folder's code: counts, or an error."""

    cases: int = 0
    categories: int = 0
    error: str = ""
    where: str = ""
    hint: str = ""
    printed: str = ""
    """Captured output. Untrusted text."""


def try_code(entry: SuiteEntry) -> Trial:
    """Import the code of a folder in a subprocess and count the suite's categories.

    Raises:
        UsageError: the code cannot be loaded; names file and line.
    """
    with tempfile.TemporaryDirectory(prefix="eval-console-") as folder:
        given, result = Path(folder) / "entry.json", Path(folder) / "result.json"
        given.write_bytes(msgspec.json.encode([entry.name, str(entry.folder), entry.module, loading.LOAD_S]))
        trial = _run(entry, given, result)
    if trial.error:
        raise UsageError(trial.error, where=trial.where, hint=trial.hint)
    return trial


def _run(entry: SuiteEntry, given: Path, result: Path) -> Trial:
    path = os.pathsep.join(filter(None, (str(_PROGRAM), os.environ.get("PYTHONPATH", ""))))
    command = [sys.executable, "-P", "-m", "console.suites.code_trial", str(given), str(result)]
    limit = 2 * loading.LOAD_S + _GRACE_S
    try:
        ended = subprocess.run(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(error=f"the code of the suite {entry.name} did not end within {limit:g} s", where=_file(entry))
    try:
        trial = msgspec.json.decode(result.read_bytes(), type=ready_type(Trial))
    except (OSError, msgspec.DecodeError):
        reason = f"the process that imported the code of the suite {entry.name} ended with code {ended.returncode}"
        return Trial(error=reason, where=_file(entry), hint="It may have crashed.")
    trial.printed = (ended.stdout + ended.stderr).decode("utf-8", "replace").strip()
    return trial


def _file(entry: SuiteEntry) -> str:
    return str(entry.folder / entry.module.partition(":")[0])


def _try(given: Path) -> Trial:
    name, folder, module, loading.LOAD_S = msgspec.json.decode(given.read_bytes())
    entry = SuiteEntry(name, "python", Path(folder), name, module)
    try:
        code = FolderCode(entry)
        suite = guard(open_folder(code, entry))
        categories = run_limited(lambda: list(suite.categories()), code.has_file)
        return Trial(cases=sum(category.cases for category in categories), categories=len(categories))
    except UsageError as error:
        return Trial(error=error.message, where=error.where, hint=error.hint)
    except LoadError as error:
        return Trial(error=f"`categories` or `cases` of the suite {name}: {error.message}", where=error.place)


def _main(given: str, result: str) -> None:
    Path(result).write_bytes(msgspec.json.encode(_try(Path(given))))
    os._exit(0)  # do not wait for hanging threads


if __name__ == "__main__":
    _main(*sys.argv[1:])
