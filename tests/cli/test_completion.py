"""Completion: the script of each shell, and what is offered for a line, from what is there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from console.cli.parser import HIDDEN, own_verbs
from console.cli.verbs.completion import SHELLS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def offer(home: Path):
    """What bash is offered for a line, in the empty home."""
    script = subprocess.run(
        [sys.executable, "-m", "console", "completion", "bash"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    (home / "bin").mkdir()
    command = home / "bin" / "eval-console"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m console "$@"\n')
    command.chmod(0o755)
    ask = "\n_python_argcomplete eval-console\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"

    def run(line: str) -> list[str]:
        env = os.environ | {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "COMP_LINE": line, "COMP_TYPE": "9"}
        done = subprocess.run(
            ["bash", "-c", script + ask],
            env=env | {"COMP_POINT": str(len(line))},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return [word.strip() for word in done.stdout.splitlines() if word.strip()]

    return run


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_everything_is_offered(offer, console, home):
    (home / "models.toml").write_text('[mine]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    run = console("run", "-m", "sim/hasty", "-s", "bfcl-starter/multiple", "-n", "2", "--quiet", "--json").data["run"]
    assert set(offer("eval-console ")) == set(own_verbs())
    assert not set(HIDDEN) & set(offer("eval-console "))
    assert offer("eval-console run --fail-u") == ["--fail-under"]
    assert offer("eval-console bfcl eva") == ["evaluate"]
    assert offer("eval-console run -m mi") == ["mine"]
    assert "sim/hasty" in offer("eval-console run --model sim/")
    assert "bfcl-starter" in offer("eval-console run -s bfcl-s")
    assert {"bfcl-starter/live", "bfcl-starter/live_simple"} <= set(offer("eval-console run -s bfcl-starter/li"))
    assert "multi_turn_base" in offer("eval-console run -s bfcl-starter --category multi")
    assert offer("eval-console show ") == ["latest", run]
    assert all(word.startswith("latest#multiple_") for word in offer("eval-console show latest#"))
    assert len(offer("eval-console tag latest#")) == 2
    assert "repeats" in offer("eval-console failures --by ")
    assert offer("eval-console --runs nowhere show ") == []
    assert offer("eval-console help bfc") == ["bfcl"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_of_its_shell(console, shell):
    text = console("completion", shell).out
    assert "eval-console" in text
    assert console("completion", shell, "--json").data["text"] == text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True, timeout=30)


def test_an_unknown_shell_is_refused(console):
    assert console("completion", "tcsh").code == 2
