"""Command lines run in this process, in an empty home of their own, with simulated models that answer at once."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.__main__ import main


@dataclass
class Ended:
    """How a command line ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON values on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def live_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder home and current folder, without any variable of this program's."""
    for name in ("EVAL_CONSOLE_MODELS", "EVAL_CONSOLE_DATA", "EVAL_CONSOLE_RUNS", "BFCL_PROJECT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    for kind in ("STATE", "DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(folder / kind.lower()))
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(folder)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder and home, without any variable of this program's."""
    live_in(tmp_path, monkeypatch)
    return tmp_path


@contextmanager
def signals_kept() -> Iterator[None]:
    """Put the handlers of signals back that a command line sets."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def console(home: Path, capsys: pytest.CaptureFixture[str]):
    """Run a command line and return how it ended."""

    def run(*argv: object) -> Ended:
        capsys.readouterr()
        code = main([str(part) for part in argv])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return Ended(code, captured.out, captured.err)

    with signals_kept():
        yield run


@pytest.fixture
def finished(console) -> str:
    """The name of a finished simulated run in the current folder."""
    ended = console("run", "-m", "sim/hasty", "-s", "aidan-starter", "-n", "3", "--json", "--quiet")
    assert ended.code == 0, ended.err
    return ended.data["run"]
