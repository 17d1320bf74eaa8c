"""A runs folder that cannot be written: nothing is asked, what is there can be read, nobody sees a traceback."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from reliability.conftest import COMMAND
from support.mounted_folders import on_read_only_disk

Start = Callable[..., "subprocess.Popen[str]"]


def test_a_read_only_runs_folder_is_for_reading(home: Path, console, start: Start) -> None:
    ended = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "6", "--json", "--quiet", "--max-tokens", "9")
    assert ended.code == 4
    run = ended.data["run"]
    (home / "runs" / run / "summary.json").unlink()
    lines = {
        "show": ["show", run, "--json"],
        "review": ["review", run, "--all", "--json"],
        "runs": ["runs", "--json"],
        "resume": ["resume", run, "--max-tokens", "999999"],
        "run": ["run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1"],
    }
    running = {
        name: start(on_read_only_disk(home / "runs", [*COMMAND, *line]), EVAL_CONSOLE_SIM_PACE="flat")
        for name, line in lines.items()
    }
    told = {name: (*process.communicate(timeout=110), process.returncode) for name, process in running.items()}
    assert all("Traceback" not in err and "internal error" not in err for _, err, _ in told.values()), told
    assert [told[name][2] for name in ("show", "review", "runs")] == [0, 0, 0], told
    assert json.loads(told["show"][0])["run"] == run
    out, err, code = told["resume"]
    assert (code, out) == (3, "")
    assert "Read-only file system" in err
    out, err, code = told["run"]
    assert (code, out) == (2, "")
    assert "cannot be written: Read-only file system" in err
    assert "--runs" in err
