"""Modules of this folder that run in processes of their own, because they end by a signal."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def run_module(name: str, *arguments: object, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a module of this folder with these arguments and return how it ended and what it printed."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH", ""))))
    return subprocess.run(
        [sys.executable, "-m", f"support.{name}", *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout_s, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
