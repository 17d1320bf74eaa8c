"""Few files that may be open at once: what fits is done, and what does not is one sentence; nothing is lost."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.pseudo_terminal import PseudoTerminal

from console.cli.exitcode import Exit
from console.cli.open_files import LEAST, raise_limit
from console.store.runs import RunFolder

ROOT = Path(__file__).resolve().parents[2]
VERBS = (
    ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "4"),
    ("doctor", "--offline"),
    ("runs",),
    ("show",),
)


def limited(files: int, *arguments: str) -> list[str]:
    return ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", sys.executable, "-m", "console", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


@pytest.mark.parametrize("line", VERBS, ids=lambda line: line[0])
def test_too_few_for_anything_is_one_sentence(home: Path, line: tuple[str, ...]) -> None:
    done = subprocess.run(limited(LEAST - 8, *line), capture_output=True, text=True, env=environment(), timeout=60)
    assert done.returncode == Exit.USAGE
    assert done.stderr.splitlines() == [
        f"eval-console: this process may open only {LEAST - 8} files at once, but needs {LEAST}",
        "  Raise the limit, for example with `ulimit -n 1024`.",
    ]
    assert done.stdout == ""


def test_with_24_a_run_is_played_and_doctor_names_the_limit(home: Path) -> None:
    codes = {}
    for line in VERBS:
        done = subprocess.run(limited(24, *line), capture_output=True, text=True, env=environment(), timeout=100)
        assert "an internal error" not in done.stderr, done.stderr
        codes[line[0]] = done.returncode
        if line[0] == "doctor":
            assert "! open files: 24 at once" in done.stdout
            assert "ulimit -n 1024" in done.stdout
    assert (codes["run"], codes["runs"], codes["show"]) == (Exit.OK, Exit.OK, Exit.OK)


@pytest.mark.parametrize("files", [8, 24])
def test_the_app_opens_or_says_why_not(home: Path, files: int) -> None:
    terminal = PseudoTerminal(limited(files), (120, 40), environment())
    try:
        if files < LEAST:
            assert terminal.wait() == Exit.USAGE
            assert f"may open only {files} files".encode() in terminal.output
            return
        terminal.read_until(b"aidan-starter")
        terminal.send(b"q")
        assert terminal.wait() == Exit.OK
    finally:
        terminal.close()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_running_out_of_them_in_the_middle_is_said_and_resumed(
    console: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    line = ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "3", "-c", "1")
    with monkeypatch.context() as patch:

        def run_out(*_: object, **__: object) -> None:
            try:
                raise OSError(number, os.strerror(number))
            except OSError as error:
                raise ExceptionGroup("tasks", [RuntimeError("of a library")]) from error

        patch.setattr("console.cli.run_report.read_history", run_out)
        ended = console(*line)
    assert ended.code == Exit.USAGE
    assert "too many open files" in ended.err
    assert "`eval-console resume` continues" in ended.err
    assert "crash" not in ended.err
    [run] = [RunFolder(path.parent) for path in home.glob("runs/*/run.json")]
    assert run.summary().tally.finished == 3, "what was finished before is kept"


def test_few_by_custom_are_raised_to_what_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A low soft limit is a habit of shells; only the hard one is a wall."""
    limits: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (24, 200))
    assert raise_limit() == 200
    monkeypatch.setattr(resource, "getrlimit", lambda _: (24, resource.RLIM_INFINITY))
    assert raise_limit() == 256
    assert limits == [(200, 200), (256, resource.RLIM_INFINITY)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4096, 4096))
    assert raise_limit() == 4096
    assert len(limits) == 2
