"""System calls that a policy denies: the command does without, or says in one sentence what it cannot do without."""

import errno
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_quick

from console.cli import open_files, stack_size
from console.cli.exitcode import Exit
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, set_mode

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is one of Linux")
RUN = ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--runs", "runs")


def denied(home: Path, calls: str, *arguments: str, limits: str = ":") -> subprocess.CompletedProcess[str]:
    """Run a command line where calls are denied, with limits set before."""
    command = [sys.executable, "-m", "support.denied_calls", calls, sys.executable, "-m", "console", *arguments]
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": path, "EVAL_CONSOLE_SIM_PACE": "flat", "HOME": str(home)}
    script = ["sh", "-c", f'umask 0; {limits}; exec "$@"', "sh", *command]
    return subprocess.run(script, cwd=home, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.mark.parametrize("limits", first_quick(["ulimit -S -n 12", "ulimit -S -s 512", ":", "ulimit -S -n 64"], 2))
def test_limits_that_nobody_tells_are_left_as_they_are(home: Path, limits: str) -> None:
    ended = denied(home, "prlimit64,getrlimit,setrlimit", "suites", limits=limits)
    assert (ended.returncode, ended.stderr) == (Exit.OK, "")


def refused(*_: Any) -> None:
    raise ValueError("not allowed to raise maximum limit")  # what Python makes of EPERM


def test_a_limit_that_may_not_be_raised_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (64, 4096))
    monkeypatch.setattr(resource, "setrlimit", refused)
    assert open_files.raise_limit() == 64


def test_too_small_limits_that_may_not_be_raised_are_one_sentence(
    console: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "setrlimit", refused)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (12, 4096) if kind == resource.RLIMIT_NOFILE else (-1, -1))
    ended = console("suites")
    assert ended.code == Exit.USAGE
    assert "may open only 12 files at once" in ended.err
    small = 512 << 10
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (small, -1) if kind == resource.RLIMIT_STACK else (-1, -1))
    ended = console("suites")
    assert ended.code == Exit.USAGE
    assert "the stack is limited to 512 KB" in ended.err
    assert small < stack_size.NEEDED


def test_without_chmod_a_run_is_as_private_as_ever(home: Path) -> None:
    ended = denied(home, "chmod,fchmod,fchmodat,fchmodat2", *RUN)
    assert ended.returncode == Exit.OK, ended.stderr
    (run,) = [path.parent for path in (home / "runs").glob("*/run.json")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (run, *run.iterdir())}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
    ended = denied(
        home, "chmod,fchmod,fchmodat,fchmodat2", "export", "latest", "--format", "site", "-o", "site", "--runs", "runs"
    )
    assert ended.returncode == Exit.OK, ended.stderr


def test_where_every_file_is_open_to_all_the_sentence_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on file systems that know no modes."""
    path = home / "open"
    path.write_text("x")
    path.chmod(0o755)

    def chmod(*_: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "chmod", chmod)
    for mode in (PRIVATE, PRIVATE_FOLDER):
        with pytest.raises(PermissionError, match=r"chmod is refused.* other users could read them"):
            set_mode(path, mode)
    set_mode(path, 0o755)


def test_without_process_attributes_code_runs_only_with_leave(home: Path) -> None:
    run = ("run", "-m", "sim/careful", "-s", "cave-starter", "--mode", "cave", "-n", "1", "--runs", "runs")
    pytest.importorskip("cave_agent")
    ended = denied(home, "prctl,landlock_create_ruleset", *run)
    assert ended.returncode == Exit.USAGE, ended.stdout
    assert "the model's code can reach files" in ended.stderr
    assert "no new privileges (Operation not permitted)" in ended.stderr
    assert "Traceback" not in ended.stderr
