"""CPU of the cheap ways in, beside `import asyncio` in the same interpreter: the target is at most 2.5 times that."""

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 11
COMMANDS = {
    "import asyncio": ["-c", "import asyncio"],
    "--help": ["-m", "console", "--help"],
    "run --help": ["-m", "console", "run", "--help"],
    "runs --json": ["-m", "console", "runs", "--json"],
    "models": ["-m", "console", "models"],
    "suites": ["-m", "console", "suites"],
    "show example": ["-m", "console", "show", "example"],
}


def cpu_s(command: list[str]) -> float:
    """Return user and system seconds of one process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command], cwd=Path(__file__).parents[1], env=environment, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    found = {name: statistics.median(cpu_s(command) for _ in range(ROUNDS)) for name, command in COMMANDS.items()}
    floor = found["import asyncio"]
    for name, seconds in found.items():
        print(f"{name:<16} {seconds * 1000:6.1f} ms CPU  {seconds / floor:5.2f} ×")


if __name__ == "__main__":
    main()
