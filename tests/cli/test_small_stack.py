"""A stack too small for texts of models: raised where the system allows it, one sentence where it does not."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")
DEEP = """
import ast, sys, threading
from console.cli.stack_size import ensure_stack_size
ensure_stack_size()
def parse():
    try:
        ast.parse("-" * 90_000 + "1")
    except MemoryError:
        print("parsed")
parse()
thread = threading.Thread(target=parse)
thread.start()
thread.join()
"""


def limited(limit: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a limit on its stack in KB; `-S` leaves the hard limit as it is."""
    script = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", sys.executable, *command]
    return subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("size", [512, 1024, 2047])
def test_a_small_stack_is_one_sentence(size: int) -> None:
    ended = limited(f"-s {size}", "-m", "console", "runs")
    assert ended.returncode == 2
    assert f"the stack is limited to {size} KB, and 2048 KB are needed" in ended.stderr
    assert "ulimit -s 8192" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("verb", [("--version",), ("--help",)])
def test_what_reads_nothing_still_works(verb: tuple[str, ...]) -> None:
    assert limited("-s 512", "-m", "console", *verb).returncode == 0


@pytest.mark.parametrize("size", ["-s 2048", "-s 8192", "-S -s 512"])
def test_enough_of_it_or_a_limit_that_can_be_raised(size: str) -> None:
    ended = limited(size, "-m", "console", "suites")
    assert ended.returncode == 0, ended.stderr
    ended = limited(size, "-c", DEEP)
    assert (ended.stdout, ended.returncode) == ("parsed\nparsed\n", 0)
