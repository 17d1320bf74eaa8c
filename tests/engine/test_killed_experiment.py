"""An experiment that is killed again and again ends with the result of one that nothing happened to."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-m", "console")
CONVERSATIONS, KILLS = 200, 5


def ended(folder: Path, *argv: str, pace: str = "flat") -> Any:
    """Run a command to its end and return what it has written as JSON."""
    environment = os.environ | {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "EVAL_CONSOLE_SIM_PACE": pace}
    done = subprocess.run(
        [*COMMAND, *argv, "--json"], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def killed(folder: Path, runs: Path, least: int, *argv: str) -> str:
    """Start a command, kill it when so many conversations have ended, and return the name of its run."""
    environment = os.environ | {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "EVAL_CONSOLE_SIM_PACE": "model"}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*COMMAND, *argv], env=environment, cwd=folder, **quiet)
    journal = None
    while process.poll() is None:
        journal = next(iter(runs.glob("*-try-*/journal.jsonl")), None)
        if journal is not None and journal.read_bytes().count(b'"t":"finished"') >= least:
            break
        time.sleep(0.01)
    assert process.poll() is None, "it was over before it was killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert journal is not None
    return journal.parent.name


@pytest.mark.slow
def test_an_experiment_killed_five_times_at_random_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    run = ended(tmp_path, "run", "-s", "bfcl-starter", "--category", "non_live,live", "-m", "sim/hasty", "--yes")["run"]
    (tmp_path / "a.txt").write_text("Be exact.")
    trial = ("--set", "system=a.txt", "--control", "-r", "2", "-n", "25", "--guard", "25", "--seed", "7")
    whole = ended(tmp_path, "try", run, *trial)
    assert whole["calls"] == CONVERSATIONS
    undisturbed = tmp_path / "runs" / whole["run"]
    undisturbed.rename(tmp_path / "undisturbed")
    rng = random.Random(33)
    points = sorted(rng.sample(range(5, CONVERSATIONS - 30), KILLS))
    name = killed(tmp_path, tmp_path / "runs", points[0], "try", run, *trial)
    for least in points[1:]:
        assert killed(tmp_path, tmp_path / "runs", least, "resume", name) == name
    ended(tmp_path, "resume", name)
    told = ended(tmp_path, "try", "--report", name)
    assert told["calls"] >= CONVERSATIONS
    same = ("effect", "chosen", "guard", "cases", "control", "changes", "parent")
    assert {part: told[part] for part in same} == {part: whole[part] for part in same}
