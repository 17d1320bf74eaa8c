"""Bookkeeping of runs from the shell: names, notes, pins, and archived runs that open as before."""

from pathlib import Path
from typing import Any

import pytest

from console.cli.exitcode import Exit


@pytest.fixture
def two(console: Any) -> tuple[str, str]:
    """An older finished run and a newer one that was stopped by its cap."""
    words = ("run", "-m", "sim/hasty", "-s", "bfcl-starter/multiple", "--json", "--quiet")
    console(*words, "-n", "3")
    first = listed(console)[0]["id"]
    console(*words, "--name", "second", "-n", "4", "--max-tokens", "1")
    return first, listed(console)[0]["id"]


def listed(console: Any, *words: str) -> list[dict[str, Any]]:
    return console("runs", "--json", *words).data["runs"]


def test_a_run_is_named_noted_and_pinned(console: Any, two: tuple[str, str]) -> None:
    first, second = two
    assert [run["id"] for run in listed(console)] == [second, first]
    console("organize", first, "--name", "Base line", "--note", "before the prompt", "--pin")
    old, new = listed(console)
    assert (old["id"], old["name"], old["note"], old["pinned"]) == (first, "Base line", "before the prompt", True)
    assert new["id"] == second
    assert console("show", "Base line", "--json").data["run"] == first
    assert "Base line, pinned" in console("runs").out
    assert "note: before the prompt" in console("show", first).out
    console("organize", "Base line", "--name", "", "--note", "", "--no-pin")
    assert [run["id"] for run in listed(console)] == [second, first]
    assert listed(console)[1].get("name", "") == ""
    console("organize", second, "--name", "x")
    console("organize", second, "--name", "")
    assert listed(console)[0]["name"] == "second"


def test_an_archived_run_opens_as_before_and_resume_unpacks_it(console: Any, home: Path, two: tuple[str, str]) -> None:
    def seen(run: str) -> list[str]:
        case = console("export", run, "--format", "json").data["rollouts"][0]["case"]
        commands = (("show", run), ("show", f"{run}#{case}"), ("failures", run), ("export", run, "--format", "csv"))
        return [console(*words, "--json").out for words in commands] + [console("search", "the").out]

    first, second = two
    before = seen(first)
    done = console("organize", first, second, "--archive", "--json")
    assert [line["archived"] for line in done.lines] == [True, True]
    assert not list((home / "runs").glob("*/journal.jsonl"))
    assert listed(console) == []
    assert "2 archived runs not listed; --archived lists them" in console("runs").err
    assert {run["id"] for run in listed(console, "--archived")} == {first, second}
    assert "organize RUN --no-archive" in console("runs", "--archived").err
    after = seen(first)
    assert [text.replace(', "archived": true', "") for text in after] == before
    assert console("resume", second, "--json", "--quiet").code in (Exit.OK, Exit.BUDGET)
    assert (home / "runs" / second / "journal.jsonl").exists()
    assert [run["id"] for run in listed(console)] == [second]
    console("organize", first, "--no-archive")
    assert seen(first)[:-1] == before[:-1]
