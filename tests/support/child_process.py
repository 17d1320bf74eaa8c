"""Modules of this folder that run in processes of their own, because they end by a signal."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def run_module(name: str, *arguments: object, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a module of this folder with these arguments and return how it ended and what it printed."""
    command, environment = _command(name, arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=environment)


def start_module(name: str, *arguments: object) -> "subprocess.Popen[bytes]":
    """Start a module of this folder with these arguments."""
    command, environment = _command(name, arguments)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


def _command(name: str, arguments: tuple[object, ...]) -> tuple[list[str], dict[str, str]]:
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH", ""))))
    return [sys.executable, "-m", f"support.{name}", *map(str, arguments)], {**os.environ, "PYTHONPATH": path}
