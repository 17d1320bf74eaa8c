"""An empty home, command lines in this process and in processes of their own, and the suite of look-ups."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.conftest import console, home

__all__ = ["console", "home"]

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "console"]


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Variables of a process in an empty home that finds this checkout."""
    return dict(os.environ) | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process with its output in pipes; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(command: list[str], **more: str) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, env=environment | more, text=True, **pipes))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
