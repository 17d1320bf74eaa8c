"""Which run the commands take when none is named."""

from pathlib import Path
from typing import Any

import pytest


def test_every_command_takes_the_same_run_for_the_newest(console, home: Path) -> None:
    made = [
        console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1", "--json", "--quiet").data["run"]
        for _ in range(4)
    ]
    assert console("show", "--json").data["run"] == made[-1]
    assert [one["id"] for one in console("runs", "--json").data["runs"]] == made[::-1]
    assert console("review", "--all", "--json").code == 0
    assert {one["run"] for one in console("export", "--format", "jsonl", "-o", "-").lines} <= {made[-1]}
    assert console("resume").err.strip().endswith(made[-1])


def cut_short(run: Path) -> None:
    """Leave the journal as a kill does just before the last rollout finishes."""
    journal = run / "journal.jsonl"
    before, finished, _ = journal.read_bytes().rpartition(b'"t":"finished"')
    assert finished
    journal.write_bytes(before[: before.rindex(b"\n") + 1])


@pytest.mark.parametrize("verb", ["branch", "try"])
def test_resume_continues_a_killed_branch_or_trial(console: Any, home: Path, verb: str) -> None:
    whole = console("run", "-m", "sim/hasty", "-s", "dialogue-starter", "--json", "--quiet").data["run"]
    case = console("failures", whole, "--json").data["groups"][0]["cases"][0]
    (home / "text.txt").write_text("Be careful.")
    words = (f"{whole}#{case}", "-r", "3") if verb == "branch" else (whole, "--set", "system=text.txt", "-n", "2")
    assert console(verb, *words, "--yes", "--quiet").code in (0, 3)
    [branch] = [one for one in (home / "runs").iterdir() if one.name not in (whole, ".index")]
    played = console("show", branch.name, "--json").data["summary"]["tally"].get("passed")
    cut_short(branch)
    resumed = console("resume")
    assert f"{branch.name}: 1 of" in resumed.err
    after = console("show", branch.name, "--json").data["summary"]
    assert (after["state"], after["tally"].get("passed")) == ("completed", played)
    assert whole in console("resume").err, "nothing is left anywhere: the newest run that is no branch"


def test_resume_takes_an_older_run_that_ended_early(console: Any, home: Path) -> None:
    play = ("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "3", "--json", "--quiet")
    older, newer = (console(*play).data["run"] for _ in range(2))
    assert newer in console("resume").err
    cut_short(home / "runs" / older)
    assert f"{older}: 1 of 3" in console("resume").err
