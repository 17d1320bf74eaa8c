# ruff: noqa: ASYNC110, ASYNC240 - the test looks at the files of another process
"""A run of the real engine with simulated models, killed without warning and resumed."""

import asyncio
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined"),
    pytest.mark.skipif(importlib.util.find_spec("cave_agent") is None, reason="cave-agent is not installed"),
]


async def console(*arguments: str, **environment: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "console", *arguments, cwd=ROOT, env=os.environ | environment,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


def records(runs: Path) -> list[dict[str, Any]]:
    lines = [line for path in runs.glob("*/journal.jsonl") for line in path.read_bytes().splitlines()]
    found = []
    for line in lines:
        try:
            found.append(json.loads(line[line.index(b"{") :]))
        except ValueError:
            continue
    return found


def asked(runs: Path) -> list[tuple[str, int]]:
    return [(str(record["key"]), record["n"]) for record in records(runs) if record.get("t") == "asked"]


async def test_killed_in_the_middle_nothing_is_asked_twice(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    code, text = await console(
        "run", "-m", "sim/careful", "-s", "cave-starter", "--category", "winter_evening,greenhouse,kitchen",
        "--yes", "--detach", "--runs", str(runs),
    )  # fmt: skip
    assert code == 0, text
    while len(asked(runs)) < 6:
        await asyncio.sleep(0.05)
    opened = next(record for record in records(runs) if record.get("t") == "opened")
    os.kill(opened["pid"], signal.SIGKILL)
    while Path(f"/proc/{opened['pid']}").exists():
        await asyncio.sleep(0.01)
    before = asked(runs)
    code, text = await console("resume", "latest", "--runs", str(runs), EVAL_CONSOLE_SIM_PACE="flat")
    assert code == 0, text
    after = asked(runs)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    finished = [record for record in records(runs) if record.get("t") == "finished"]
    assert len(finished) == 5
    assert {record["verdict"]["outcome"] for record in finished} <= {"passed", "failed"}
    assert not [record for record in records(runs) if record.get("kind") == "divergence"]
