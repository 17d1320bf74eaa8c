"""Ground-truth conversations, served by a local endpoint and played live, pass; also when the engine dies in between.

A sample unless EVAL_CONSOLE_TRAJECTORIES=all, which plays every official multi-turn entry in both modes.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bfcl.test_official_run import command, official
from server.openai_server import OpenAIServer, Scripted
from support.trajectory_model import TrajectoryModel

from console.benchmarks.bfcl.rules.categories import MULTI_TURN
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Case, Setting
from console.core.outcome import Outcome
from console.core.record import Finished
from console.core.run import Selection
from console.store.journal import JournalReader
from console.store.runs import RunFolder
from console.suites.selection import select_cases

WHOLE = os.environ.get("EVAL_CONSOLE_TRAJECTORIES") == "all"
IN_SHORT = {("multi_turn_base", "fc")}
"""What `make test` plays; `make test-all` plays every category in both modes."""
SAMPLE = range(0, 200, 1 if WHOLE else 19)


def chosen(suite: BfclSuite, category: str, mode: str) -> list[Case]:
    ids = tuple(f"{category}_{number}" for number in SAMPLE)
    return select_cases(suite, Selection(ids=ids), Setting(mode=mode))


def describe(folder: Path, server: OpenAIServer, mode: str) -> None:
    (folder / "models.toml").write_text(
        f'[local]\nmodel_id = "local"\nbase_url = "{server.base_url}"\nmode = "{mode}"\n'
        "[local.limits]\nconcurrency = 32\nbackoff_s = 0.01\n"
    )


def finished(folder: Path) -> list[Finished]:
    run = next(RunFolder(path) for path in (folder / "runs").iterdir())
    return [record for record in JournalReader(run.journal_path).read_new() if isinstance(record, Finished)]


@pytest.mark.timeout(1200 if WHOLE else 60)
@pytest.mark.parametrize(
    ("category", "mode"),
    [
        pytest.param(category, mode, marks=() if (category, mode) in IN_SHORT else pytest.mark.slow)
        for category in MULTI_TURN
        for mode in ("prompt", "fc")
    ],
)
def test_the_ground_truth_passes_when_a_model_plays_it(tmp_path: Path, category: str, mode: str) -> None:
    suite = official()
    cases = chosen(suite, category, mode)
    model = TrajectoryModel(cases, suite.dataset, mode)
    with OpenAIServer(model, keep=False) as server:
        describe(tmp_path, server, mode)
        done = subprocess.run(
            command(tmp_path, "--ids", ",".join(case.id for case in cases)),
            capture_output=True,
            text=True,
            timeout=1000,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert model.strangers == 0
    ended = finished(tmp_path)
    assert {one.key.case for one in ended} == {case.id for case in cases}
    assert [one.key.case for one in ended if one.verdict.outcome is not Outcome.PASSED] == []


class Killing:
    """Passes requests on, and kills a process when a number of them have come."""

    def __init__(self, model: TrajectoryModel, at: int) -> None:
        self.model, self.at, self.seen = model, at, 0
        self.victim: subprocess.Popen[Any] | None = None
        self.known = threading.Event()

    def __call__(self, request: dict[str, Any]) -> Scripted:
        self.seen += 1
        if self.seen == self.at and self.known.wait(60) and self.victim is not None:
            self.victim.send_signal(signal.SIGKILL)
        return self.model(request)


@pytest.mark.parametrize("mode", [pytest.param("prompt", marks=pytest.mark.slow), "fc"])
def test_killed_in_the_middle_of_conversations_and_resumed(tmp_path: Path, mode: str) -> None:
    suite = official()
    cases = select_cases(
        suite, Selection(ids=tuple(f"multi_turn_base_{number}" for number in range(6))), Setting(mode=mode)
    )
    undisturbed = TrajectoryModel(cases, suite.dataset, mode)
    model = TrajectoryModel(cases, suite.dataset, mode)
    killing = Killing(model, at=20)
    line = command(tmp_path, "--ids", ",".join(case.id for case in cases), "-c", "4")
    with OpenAIServer(killing, keep=False) as server:
        describe(tmp_path, server, mode)
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            killing.victim = first
            killing.known.set()
            assert first.wait(60) == -signal.SIGKILL
        before = {one.key.case for one in finished(tmp_path)}
        assert len(before) < len(cases)
        again = [sys.executable, "-m", "console", "resume", "--runs", str(tmp_path / "runs"), "--json"]
        again += ["--models", str(tmp_path / "models.toml")]
        done = subprocess.run(again, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["tally"]["passed"] == len(cases)
    assert model.strangers == 0
    # What was answered before the kill is not asked again: at most what was in flight, by each of four conversations.
    assert sum(count - 1 for count in model.asked.values()) <= 4
    outputs = {one.key.case: one.output for one in finished(tmp_path)}

    straight = tmp_path / "straight"
    straight.mkdir()
    with OpenAIServer(undisturbed, keep=False) as server:
        describe(straight, server, mode)
        calm = command(straight, "--ids", ",".join(outputs), "-c", "4")
        assert subprocess.run(calm, capture_output=True, timeout=60, check=False).returncode == 0
    assert {one.key.case: one.output for one in finished(straight)} == outputs
