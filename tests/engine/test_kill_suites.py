"""Every suite, ended by every signal at named points of its run, then resumed: as if nothing had happened.

A covering part of the matrix; all of it (15 points and more, 4 signals, 4 suites) with EVAL_CONSOLE_KILLS=all.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.child_process import run_module
from support.quick_rows import first_quick

ALL = os.environ.get("EVAL_CONSOLE_KILLS") == "all"
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
POINTS: list[tuple[str, int]] = [
    ("locked", 1), ("opened", 1), ("half opened", 1), ("before started", 1), ("after started", 1), ("before send", 2),
    ("mid stream", 3), ("before asked", 2), ("half asked", 2), ("after asked", 3), ("before finished", 1),
    ("half finished", 1), ("after finished", 1), ("sync", 1), ("before closed", 1), ("half closed", 1),
]  # fmt: skip
MORE = {
    "bfcl-starter": [],
    "aidan-starter": [("before embedded", 1), ("half scored", 2), ("after noted", 1)],
    "dialogue-starter": [("half scored", 1), ("after noted", 1)],
    "cave-starter": [("before performed", 2), ("half performed", 2), ("after performed", 3), ("after noted", 1)],
}
"""Points that only some suites pass."""
PART = [
    ("SIGKILL", "half asked", 2), ("SIGTERM", "mid stream", 3), ("SIGHUP", "after started", 1),
]  # fmt: skip
COSTLY = {"cave-starter": 2}
"""Each of its runs starts sandboxes; the first of the part are enough beside its own points."""


def matrix(suite: str) -> list[tuple[str, str, int]]:
    """Signals and points; a line that is half written is a matter of SIGKILL, which alone can end a process there."""
    points = POINTS + MORE[suite]
    whole = [(name, *it) for name in SIGNALS for it in points if name == "SIGKILL" or not it[0].startswith("half")]
    return whole if ALL else PART[: COSTLY.get(suite)] + [("SIGKILL", *it) for it in MORE[suite][:2]]


@pytest.mark.timeout(3600 if ALL else 300)
@pytest.mark.parametrize("suite", first_quick(MORE))
def test_ended_anywhere_and_resumed_equals_undisturbed(
    suite: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    cases = matrix(suite)
    done = run_module("killed_suite_runs", tmp_path, suite, json.dumps(cases), timeout_s=3600)
    assert done.returncode == 0, done.stderr
    undisturbed, *told = [json.loads(line) for line in done.stdout.splitlines()]
    assert undisturbed["cases"] >= 1
    assert undisturbed["calls"] >= 4
    assert len(told) == len(cases)
    wrong: list[Any] = [it for it in told if not (it["sent"] and it["complete"] and it["equal"] and it["once"])]
    record_property("trials", len(told))
    record_property("wrong", len(wrong))
    assert wrong == []
    assert {it["killed"] for it in told if it["case"][0] == "SIGKILL"} == {True}
    assert not any(it["killed"] or it["stopped"] for it in told if it["case"][0] == "SIGHUP"), "it went on"
    asked_to_stop = [it for it in told if it["case"][0] in ("SIGTERM", "SIGINT")]
    assert all(it["stopped"] == (it["left"] > 0) for it in asked_to_stop), "it stops unless everything was played"
    assert {it["stopped"] for it in asked_to_stop if it["case"][:2] == ["SIGTERM", "mid stream"]} <= {True}
