"""Every kind of suite of docs/cookbook.md, and rows with pictures: killed at random points, then resumed.

Results and calls are those of a run that nothing happened to, and only the calls in flight were made again.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from docs.test_cookbook import NAMES, opened
from support.child_process import run_module
from support.row_suite import write_folder

from console.suites.allowed import allow
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode

TRIALS = int(os.environ.get("EVAL_CONSOLE_KILLS_OF_A_KIND", "4"))
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SEVERAL = {"facts": 6, "nurse": 6, "duel": 4}
"""Most calls in flight with two conversations where a judge is asked several times at once; of others, one each."""


def written(folder: Path, name: str) -> None:
    if name in NAMES:
        opened(folder, name)
        entry = read_entry(folder / name)
        if entry.module:
            allow(FolderCode(entry))
        return
    row = {"prompt": "Which color?", "images": ["dot.png"], "equals": "red", "simulated": {"right": ["red"]}}
    write_folder(folder / name, [row | {"id": "first"}, row | {"id": "second"}])
    (folder / name / "dot.png").write_bytes(PIXEL)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [*NAMES, "dots"])
def test_killed_at_random_points_and_resumed_equals_undisturbed(name: str, tmp_path: Path) -> None:
    written(tmp_path / "data", name)
    (tmp_path / "runs").mkdir()
    done = run_module("killed_suite_runs", tmp_path / "runs", name, TRIALS, tmp_path / "data", timeout_s=500)
    assert done.returncode == 0, done.stderr
    undisturbed, *trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert undisturbed["calls"] >= undisturbed["cases"] >= 1
    assert len(trials) == TRIALS
    wrong: list[Any] = [
        trial
        for trial in trials
        if not (trial["killed"] and trial["complete"] and trial["equal"] and trial["once"])
        or not 0 <= trial["again"] <= trial["in flight"] <= SEVERAL.get(name, 2)
    ]
    assert wrong == []
