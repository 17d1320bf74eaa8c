"""Conversations are graded at every level of confinement: each forced, in the worker and by a machine that denies."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.conversation import play
from console.benchmarks.cavebench.conversation.trial import play_trial
from console.benchmarks.cavebench.doctor import check_sandbox
from console.core.fault import FaultKind
from console.sandbox.worker import Layers, Worker, WorkerLost

ROOT = Path(__file__).resolve().parents[2]
NEWEST = 1000
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="confinement is made of Linux features"),
    pytest.mark.skipif(importlib.util.find_spec("cave_agent") is None, reason="cave-agent is not installed"),
]
LADDER = [
    *(
        Layers(namespaces=False, landlock=version, seccomp=seccomp)
        for version in (0, NEWEST)
        for seccomp in (False, True)
    ),
    *(
        pytest.param(Layers(namespaces=False, landlock=version, seccomp=seccomp), marks=pytest.mark.slow)
        for version in (1, 2, 3, 5)
        for seccomp in (False, True)
    ),
    *(
        Layers(mounts=mounts, landlock=version, seccomp=seccomp)
        for mounts in (False, True)
        for version in (0, NEWEST)
        for seccomp in (False, True)
    ),
]


def force(monkeypatch: pytest.MonkeyPatch, layers: Layers) -> None:
    """Have every worker started with these layers."""
    start = Worker.start

    async def started(*arguments: Any, **options: Any) -> Worker:
        return await start(*arguments, **options, layers=layers)

    monkeypatch.setattr(play.Worker, "start", started)


@pytest.mark.parametrize("layers", LADDER, ids=str)
async def test_a_real_turn_at_every_level(monkeypatch: pytest.MonkeyPatch, layers: Layers) -> None:
    """Agent, IPython's profile, files with mode and times in the scratch folder, a tool, a grade."""
    force(monkeypatch, layers)
    trial = await play_trial()
    assert (trial.mode, trial.failure) == ("cave", "")
    assert trial.level is not None
    assert trial.level.mounts <= layers.mounts
    assert trial.level.landlock <= layers.landlock
    assert trial.level.syscalls <= layers.seccomp
    missing = {text.split(" (")[0] for text in trial.level.missing}
    in_force = {"namespaces": trial.level.namespaces, "mounts": trial.level.mounts}
    in_force |= {"landlock": trial.level.landlock > 0, "seccomp": trial.level.syscalls}
    assert missing == {name for name, is_in_force in in_force.items() if not is_in_force}


DENIED = {
    "nothing": "reboot",
    "user namespaces": "unshare",
    "mounts": "mount",
    "mount_setattr": "mount_setattr",
    "Landlock": "landlock_create_ruleset",
    "filters": "prctl:seccomp",
    "namespaces and mounts": "unshare,mount,mount_setattr",
    "namespaces and Landlock": "unshare,landlock_create_ruleset",
    "limits": "prlimit64,setrlimit",
    "process attributes": "prctl",
    "everything": "unshare,mount,mount_setattr,landlock_create_ruleset,prctl:seccomp",
}


def on_such_a_machine(denied: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command line where calls are denied."""
    command = [sys.executable, "-m", "support.denied_calls", denied, sys.executable, "-m", "console", *arguments]
    return run(command)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": path, "EVAL_CONSOLE_SIM_PACE": "flat"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.mark.parametrize(
    "denied",
    [
        pytest.param(
            calls,
            id=name,
            marks=() if name == "everything" else pytest.mark.slow,
        )
        for name, calls in DENIED.items()
    ],
)
def test_doctor_plays_a_turn_where_calls_are_denied(denied: str) -> None:
    ended = on_such_a_machine(denied, "doctor", "--offline")
    assert "✓ cave turn: run and graded" in ended.stdout, ended.stdout + ended.stderr
    layers = {"unshare": "namespaces", "mount": "mounts", "mount_setattr": "mounts", "prlimit64": "limits"}
    layers["prctl"] = "no new privileges (Operation not permitted), seccomp"
    for call, layer in layers.items():
        assert (call not in denied.split(",")) or f"{layer} (" in ended.stdout
    if "unshare" in denied:
        assert "namespaces (unshare: Operation not permitted)" in ended.stdout


@pytest.mark.parametrize(
    "denied", [DENIED["everything"], *(pytest.param(it, marks=pytest.mark.slow) for it in ("unshare", "mount_setattr"))]
)
def test_cases_are_graded_where_calls_are_denied(tmp_path: Path, denied: str) -> None:
    ended = on_such_a_machine(
        denied,
        *("run", "-m", "sim/careful", "-s", "cave-starter", "--category", "kitchen", "--mode", "cave", "--yes"),
        *("--runs", str(tmp_path), "--option", "i_trust_this_model=true"),
    )
    assert "completed, 2 passed" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 0


def test_a_machine_without_room_for_user_namespaces() -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs the command unshare")
    script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" -m console doctor --offline'
    ended = run(["unshare", "-Ur", "sh", "-c", script, sys.executable])
    if "sandbox" not in ended.stdout:
        pytest.skip("users may not make namespaces here")
    assert "namespaces (unshare: No space left on device)" in ended.stdout
    assert "✓ cave turn: run and graded" in ended.stdout


def test_where_the_agent_does_not_start_doctor_says_so() -> None:
    """IPython sets modes when it copies its profile; at the full level that is really done."""
    ended = on_such_a_machine("chmod,fchmodat,fchmodat2", "doctor", "--offline")
    assert ended.returncode == 2
    assert "✗ cave turn: " in ended.stdout
    assert "confinement: files ✔" in ended.stdout
    assert "Operation not permitted" in ended.stdout.rsplit("✗ cave turn: ", 1)[1]


async def test_a_worker_that_does_not_come_up_is_a_finding_and_a_fault_of_the_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start(*arguments: Any, **options: Any) -> Worker:
        raise WorkerLost("start", "a worker process could not be started: no memory")

    monkeypatch.setattr(play.Worker, "start", start)
    trial = await play_trial()
    assert (trial.level, trial.fault) == (None, FaultKind.SANDBOX)
    assert "no memory" in trial.failure


def test_doctor_says_what_is_missing_and_how_the_turn_went(monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, Layers(namespaces=False, landlock=0))
    confinement, turn = check_sandbox()
    assert (confinement.state, turn.state) == ("warning", "good")
    assert "files ✘" in confinement.text
    assert "landlock (not asked for)" in confinement.hint
    assert turn.name == "cave turn"
