"""Files with hidden tests: located and hashed when rows are read, and read again when the code runs."""

import hashlib
from pathlib import Path
from typing import Any

from console.benchmarks.dialogue.data.attached_files import file_within
from console.benchmarks.dialogue.rules.mistakes import FieldError, shown
from console.benchmarks.dialogue.rules.row import PythonTests
from console.core.fault import Fault, FaultKind, UsageError
from console.store.atomic import read_regular_text
from console.suites.code_run import parse_tests


def with_digests(checks: list[Any], folder: Path, case_id: str) -> list[Any]:
    """Return checks with the path and digest of their tests; others are unchanged.

    Raises:
        FieldError: no such file, or it has no tests.
    """
    return [_with_digest(check, f"expect[{number}]", folder, case_id) for number, check in enumerate(checks)]


def _with_digest(check: Any, where: str, folder: Path, case_id: str) -> Any:
    if isinstance(check.get("any"), list):
        return {**check, "any": [_with_digest(part, where, folder, case_id) for part in check["any"]]}
    if "python_tests" not in check:
        return check
    path = str(check["python_tests"]).replace("{id}", case_id)
    source = _source(folder, path, f"{where}.python_tests")
    try:
        parse_tests(source)
    except UsageError as error:
        raise FieldError(f"{where}.python_tests", f"{shown(path)}: {error.message}") from None
    packages = check.get("packages")
    if packages and not (folder / packages).is_dir():
        raise FieldError(f"{where}.packages", f"there is no folder {shown(packages)} in the suite's folder")
    return {**check, "python_tests": path, "digest": hashlib.sha256(source.encode()).hexdigest()}


def _source(folder: Path, path: str, where: str) -> str:
    try:
        return read_regular_text(file_within(folder, path, where), "utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FieldError(where, f"{shown(path)} cannot be read: {error}") from None


def read_tests(folder: Path, check: PythonTests) -> str:
    """Read the tests of a check.

    Raises:
        Fault: they cannot be read, or have changed since the row was read.
    """
    try:
        source = _source(folder, check.python_tests, "python_tests")
    except FieldError as error:
        raise Fault(FaultKind.DATA, str(error)) from None
    if hashlib.sha256(source.encode()).hexdigest() != check.digest:
        raise Fault(FaultKind.DATA, f"{check.python_tests} has changed since the cases were read")
    return source
