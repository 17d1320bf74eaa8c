"""The words of an error that a library raised, without those of the library."""

import ast
import json
import socket
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from console.core.fault import Fault, FaultKind, UsageError, reason_of


def raised(action: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        action()
    return caught.value


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: ast.parse("\n" * 6 + "def f(:"), "invalid syntax, line 7"),
        (lambda: json.loads('{"a" 1}'), "Expecting ':' delimiter, line 1, column 6"),
        (lambda: b"\xff".decode(), "it is not UTF-8"),
        (lambda: Path("/nowhere/at/all").read_bytes(), "No such file or directory"),
        (lambda: zlib.decompress(b"no"), "its data is damaged"),
        (lambda: zipfile.ZipFile(__file__), "its data is damaged"),
        (lambda: tarfile.open(__file__), "its data is damaged"),  # noqa: SIM115
        (lambda: {}["name"], "name is missing"),
        (lambda: subprocess.run(["sleep", "9"], timeout=0.01), "it takes longer than 0.0"),
    ],
)
def test_errors_of_libraries(action: Callable[[], object], words: str) -> None:
    assert reason_of(raised(action)).startswith(words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(), "the system gives no reason"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (EOFError(), "it ends too early"),
        (UsageError("no such suite", where="a.toml"), "a.toml: no such suite"),
        (Fault(FaultKind.DATA, "no data"), "no data"),
        (ValueError("our own words"), "our own words"),
    ],
)  # fmt: skip
def test_errors_with_words(error: BaseException, words: str) -> None:
    assert reason_of(error) == words


def test_no_text_begins_with_a_number_of_the_system() -> None:
    assert not reason_of(FileNotFoundError(2, "No such file or directory", "a")).startswith("[Errno")
