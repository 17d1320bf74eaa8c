"""`doctor --sandbox-attacks`: what is shown, and the exit code where the sandbox does not hold."""

import sys
from functools import partial
from typing import Any

import pytest

from console.benchmarks.cavebench.conversation import trial
from console.benchmarks.cavebench.doctor import check_sandbox
from console.cli.exitcode import Exit
from console.core.fault import FaultKind
from console.sandbox import attack_scene
from console.sandbox.attacks import ATTACKS
from console.sandbox.level import UNSEEN, Level
from console.sandbox.worker import Layers, Worker, WorkerLost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the expectations are those of Linux")
OPEN = Layers(namespaces=False, mounts=False, landlock=0, seccomp=False)
TRIED = [
    attack for attack in ATTACKS if attack.name in ("read a file", "delete a file", "TCP", "4 GiB of memory", "exit")
]


@pytest.fixture
def without_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    played = partial(attack_scene.play_attacks, TRIED, layers=OPEN)
    monkeypatch.setattr(attack_scene, "play_attacks", played)


def test_what_succeeded_is_shown_and_ends_with_1(console: Any, without_layers: None) -> None:
    ended = console("doctor", "--sandbox-attacks")
    assert ended.code == Exit.BELOW
    assert "✗ read a file: it read the secret" in ended.out
    assert "✗ delete a file: the file changed" in ended.out
    assert "✗ TCP: a connection arrived" in ended.out
    assert "✓ 4 GiB of memory: MemoryError" in ended.out
    assert "✓ exit: the worker exited with code 3" in ended.out
    assert "sandbox: files ✘ net ✘ processes ✘ syscalls ✘ (limits only)" in ended.out
    assert ended.out.endswith("2 of 5 attacks held\n")


def test_json_has_every_attack_and_the_level(console: Any, without_layers: None) -> None:
    ended = console("doctor", "--sandbox-attacks", "--json")
    assert ended.code == Exit.BELOW
    assert (ended.data["kind"], ended.data["held"], ended.data["level"]["files"]) == ("sandbox_attacks", 2, False)
    assert [each["held"] for each in ended.data["attacks"]] == [False, False, False, True, True]


def test_a_sandbox_that_does_not_start_is_one_sentence(console: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(*arguments: Any, **options: Any) -> Worker:
        raise WorkerLost("start", "a worker process could not be started: no memory")

    monkeypatch.setattr(attack_scene.Worker, "start", start)
    ended = console("doctor", "--sandbox-attacks")
    assert ended.code == Exit.USAGE
    assert "the sandbox cannot be started: a worker process could not be started: no memory" in ended.err


def test_doctor_says_that_no_mac_has_been_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(fault: FaultKind | None = None) -> trial.Trial:
        level = Level(files=True, network=True, processes=True, seatbelt=True)
        return trial.Trial("json", level, 0.1, "", fault)

    monkeypatch.setattr(trial, "play_trial", played)
    confinement, _ = check_sandbox()
    assert confinement.text == "files ✔ net ✔ processes ✔ syscalls ✘ (seatbelt)"
    assert confinement.hint == UNSEEN
