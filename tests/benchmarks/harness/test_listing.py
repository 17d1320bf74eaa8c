"""The list of cases, as a harness gives it: stale after a change of packages, and with the repeats of the task."""

import sys
from pathlib import Path
from typing import Any

import pytest

HARNESS = """\
#!{python} -S
import json, sys
opening = json.loads(sys.stdin.readline())
cases = [{{"id": "one", "input": "1+1?", "target": "2"}}]
if opening["task"] == "missing":
    print(json.dumps({{"say": "failed", "message": "ImportError: install hydra"}}))
elif opening["do"] == "list":
    answer = {{"say": "cases", "name": "sums", "cases": cases, "versions": {{"inspect_ai": "1"}}, "repeats": 3}}
    print("a line of its own", json.dumps(answer), sep="\\n")
else:
    print(json.dumps({{"say": "versions", "versions": {{"inspect_ai": "{version}"}}}}))
"""


@pytest.fixture
def harness(home: Path) -> Path:
    return write_harness(home, "1")


def write_harness(home: Path, version: str) -> Path:
    """Write what answers in place of a Python with a harness."""
    place = home / "python"
    place.write_text(HARNESS.format(python=sys.executable, version=version))
    place.chmod(0o755)
    return place


def test_a_task_says_how_often_it_plays_each_case_itself(console: Any, harness: Path) -> None:
    written = console("new", "sums", "--from", "inspect:sums", "--python", str(harness))
    assert written.code == 0, written.err
    assert "1 cases, listed by inspect_ai 1" in written.out
    assert "The task plays each case 3 times; -r 3 does the same." in written.out


def test_a_list_of_other_packages_is_stale(console: Any, home: Path, harness: Path) -> None:
    console("new", "sums", "--from", "inspect:sums", "--python", str(harness))
    write_harness(home, "2")
    for refused in (console("run", "-m", "sim/careful", "-s", "sums"), console("doctor", "sums")):
        assert refused.code == 2
        assert "listed with inspect_ai 1, but the environment has 2" in refused.out + refused.err


def test_a_task_that_cannot_be_listed_leaves_nothing_and_says_why(console: Any, home: Path, harness: Path) -> None:
    refused = console("new", "sums", "--from", "inspect:missing", "--python", str(harness))
    assert (refused.code, "ImportError: install hydra" in refused.err) == (2, True)
    assert not (home / "data" / "sums").exists()
