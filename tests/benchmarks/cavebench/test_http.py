"""Runs of cave-bench against a server on this machine, in both modes; workers and engines killed at named points."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer
from support.cave_player import Player, write_suite
from support.child_process import run_module
from support.quick_rows import first_quick

from console.core.outcome import Outcome
from console.core.record import AnyRecord, Finished, Noted, Started
from console.store.journal import JournalReader

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined"),
    pytest.mark.skipif(importlib.util.find_spec("cave_agent") is None, reason="cave-agent is not installed"),
    pytest.mark.timeout(300),
]


def console(folder: Path, server: OpenAIServer, *arguments: str) -> list[AnyRecord]:
    """Play a run to its end and return its records."""
    models = folder / "models.toml"
    models.write_text(f'[tested]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nlimits = {{ timeout_s = 200 }}\n')
    places = ("--models", str(models), "--data", str(folder), "--runs", str(folder / "runs"))
    command = [sys.executable, "-m", "console", *places, "run", "-m", "tested", *arguments, "--yes", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return records(next((folder / "runs").iterdir()))


def records(run: Path) -> list[AnyRecord]:
    return JournalReader(run / "journal.jsonl").read_new()


def outcomes(found: list[AnyRecord]) -> dict[str, Outcome]:
    return {one.key.case.split("/")[1]: one.verdict.outcome for one in found if isinstance(one, Finished)}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cave", "json"])
def test_sixteen_conversations_at_once_are_apart(tmp_path: Path, mode: str) -> None:
    """Each defines the same names in its runtime and in the module; half are answered wrongly."""
    wrong = frozenset(f"c{number}" for number in range(16) if number % 2)
    player = Player(write_suite(tmp_path, 16, turns=2), mode, wrong)
    with OpenAIServer(player.answer) as server:
        found = console(tmp_path, server, "-s", "apart", "--mode", mode, "-c", "16")
    kinds = [type(one) for one in found if isinstance(one, (Started, Finished))]
    assert kinds[:16] == [Started] * 16, "they did not run at the same time"
    assert {name for name, outcome in outcomes(found).items() if outcome is Outcome.PASSED} == {
        f"c{number}" for number in range(16) if number % 2 == 0
    }
    assert set(outcomes(found).values()) == {Outcome.PASSED, Outcome.FAILED}
    said = [one.data for one in found if isinstance(one, Noted) and one.kind in ("cell", "tool")]
    assert len(said) >= 32
    assert len({json.dumps(one) for one in said}) == len(said)


@pytest.mark.parametrize("mode", ["cave", pytest.param("json", marks=pytest.mark.slow)])
def test_the_bundled_suite_tells_right_from_wrong(tmp_path: Path, mode: str) -> None:
    pytest.importorskip("pandas")
    wrong = frozenset({"until_bedtime", "family_trip", "dinner_for_six"})
    player = Player(ROOT / "data" / "cave-starter", mode, wrong)
    with OpenAIServer(player.answer) as server:
        found = console(tmp_path, server, "-s", "cave-starter", "--mode", mode, "-c", "16")
    failed = {name for name, outcome in outcomes(found).items() if outcome is not Outcome.PASSED}
    assert failed == wrong & outcomes(found).keys()
    assert len(outcomes(found)) == (12 if mode == "cave" else 6)


POINTS = {
    "cave": ["before cell", "in cell", "after cell", "kept cell", "before turn", "kept turn"],
    "json": ["before call", "after call"],
}
KILLS = [(mode, victim, point) for victim in ("worker", "engine") for mode in POINTS for point in POINTS[mode]]
KILLS += [("cave", "ctrl-c", "in cell"), ("json", "ctrl-c", "before call")]
TELLING = {
    ("cave", "worker", "in cell"),
    ("json", "worker", "before call"),
    ("cave", "engine", "after cell"),
    ("json", "engine", "after call"),
    ("cave", "ctrl-c", "in cell"),
}
"""What `make test` kills; `make test-all` kills at every point."""


def play(run: Path, server: OpenAIServer, suite: Path, mode: str, victim: str = "nobody", point: str = "") -> int:
    """Play, with a kill at the third passing of a point, and return the exit code."""
    arguments = (run, server.base_url, suite, mode, victim, point, 3)
    done = run_module("killable_cave_run", *arguments, timeout_s=200)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.count("killed") == (victim != "nobody"), "the point was never reached"
    return done.returncode


def results(run: Path) -> dict[str, Any]:
    return {one.key.case: (one.verdict.outcome, one.output) for one in records(run) if isinstance(one, Finished)}


@pytest.mark.parametrize(
    ("mode", "victim", "point"),
    first_quick(sorted(KILLS, key=lambda kill: kill not in TELLING), 2),
)
def test_no_finished_turn_is_lost(tmp_path: Path, mode: str, victim: str, point: str) -> None:
    """A killed worker is replaced within the run, a killed run is resumed, ctrl-c drains it; nothing is missing."""
    suite = write_suite(tmp_path, 2)
    player, run = Player(suite, mode), tmp_path / "runs" / "killed"
    run.parent.mkdir()
    with OpenAIServer(player.answer) as server:
        code = play(run, server, suite, mode, victim, point)
        # The second ctrl-c comes 50 ms after the first: it finds a run that is over, or ends what is in flight.
        assert code in {"engine": (-9,), "ctrl-c": (0, 1), "worker": (0,)}[victim]
        if code:
            turns = [one for one in records(run) if isinstance(one, Noted) and one.kind == "turn"]
            assert play(run, server, suite, mode) == 0
            assert all(turn in records(run) for turn in turns)
    ended = results(run)
    assert [outcome for outcome, _ in ended.values()] == [Outcome.PASSED] * 2
    assert [len(output["turns"]) for _, output in ended.values()] == [3, 3]
    paid_twice = player.asked - Counter(player.asked.keys())
    assert paid_twice.total() <= (2 if code else 0), paid_twice
