"""How a command ends when something unexpected or a signal ends it; in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.quick_rows import first_quick

from console.cli import main
from console.store.lock import read_holder

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "console"]


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Variables of a process in an empty home that finds this checkout."""
    return dict(os.environ) | {"PYTHONPATH": str(ROOT), "EVAL_CONSOLE_SIM_PACE": "human"}


def started(environment: dict[str, str], *argv: str) -> subprocess.Popen[str]:
    """Start a command and return it when a model has answered once."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([*COMMAND, *argv], env=environment, text=True, **pipes)
    while not any(b'"t":"asked"' in path.read_bytes() for path in Path("runs").glob("*/journal.jsonl")):
        assert process.poll() is None, "the command ended before it played"
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(("number", "code"), first_quick([(signal.SIGTERM, 143), (signal.SIGINT, 130)]))
def test_a_signal_leaves_a_run_that_can_be_resumed(environment, number, code):
    process = started(environment, "run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "4", "--json")
    process.send_signal(number)
    if number == signal.SIGINT:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("stopping"):
            assert process.poll() is None
        process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert json.loads(out)["summary"]["state"] == "stopped"
    again = subprocess.run(
        [*COMMAND, "resume", "--json", "--quiet"],
        env=environment | {"EVAL_CONSOLE_SIM_PACE": "flat"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["summary"]["state"] == "completed"


def test_a_detached_run_goes_on_and_a_second_engine_is_kept_out(environment):
    line = [*COMMAND, "run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "2", "--option", "max_turns=1"]
    line.append("--detach")
    name = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60).stdout.strip()
    assert name
    while (engine := read_holder(Path("runs") / name / "lock")) is None:
        time.sleep(0.02)
    os.kill(engine.pid, signal.SIGSTOP)  # however slowly the second engine starts, the first still has the run
    try:
        watched = subprocess.Popen([*COMMAND, "watch", name], env=environment, stdout=subprocess.PIPE, text=True)
        second = subprocess.run([*COMMAND, "resume", name], env=environment, capture_output=True, text=True, timeout=60)
    finally:
        os.kill(engine.pid, signal.SIGCONT)
    out, _ = watched.communicate(timeout=60)
    assert second.returncode == 5
    assert f"already open in process {engine.pid}" in second.stderr
    assert len(out.splitlines()) == 2
    assert watched.returncode == 0


def test_a_reader_that_leaves_is_no_error(environment):
    shell = f"{sys.executable} -m console suites aidan-starter | head -n 1"
    done = subprocess.run(["sh", "-c", shell], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_an_unexpected_error_is_one_sentence_and_a_file_without_values(home, monkeypatch, capsys):
    secret = "sk-canary-0123456789abcdef"

    def fail(args: object) -> int:
        held = secret
        raise KeyError(f"{held} in a message")

    monkeypatch.setattr(main, "_dispatch", fail)
    assert main.run(["runs"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "KeyError" in err
    assert "Traceback" not in err
    written = list((home / "state").rglob("crash-*.txt"))
    assert len(written) == 1
    text = written[0].read_text()
    assert "in fail" in text
    assert secret not in text + err


def test_a_missing_package_says_how_to_install(home, monkeypatch, capsys):
    def fail(args: object) -> int:
        raise ModuleNotFoundError("No module named 'msgspec'", name="msgspec")

    monkeypatch.setattr(main, "_dispatch", fail)
    assert main.run(["runs"]) == 2
    assert "make run" in capsys.readouterr().err
