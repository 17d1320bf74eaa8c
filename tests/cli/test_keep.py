"""Keeping cases of a run as rows of a suite of one's own, which then passes and fails as the run did."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_quick

from console.cli.exitcode import Exit

ANY_ANSWER = '[{"regex": "."}]'


def rows_in(file: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


def ends(console: Any, run: str) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each case of a run."""
    listed = console("export", run, "--format", "json").data["rollouts"]
    return {item["case"]: (item["outcome"], item.get("reason") or "") for item in listed}


@pytest.mark.parametrize(
    ("suite", "more", "kept_by_itself"),
    first_quick(
        [
            ("dialogue-starter", (), {"facts", "choices", "forms", "calls", "bookings", "talks"}),
            (
                "bfcl-starter",
                ("--category", "simple_python,parallel,irrelevance,live_relevance,multi_turn"),
                {"simple_python", "parallel", "irrelevance", "multi_turn_base"},
            ),
            ("bfcl-starter/multiple", ("--mode", "fc"), {"multiple"}),
            ("aidan-starter", ("-n", "2"), {"causes"}),
        ]
    ),
)
def test_kept_cases_end_again_as_they_did(
    console: Any, home: Path, suite: str, more: tuple[str, ...], kept_by_itself: set[str]
) -> None:
    run = console("run", "-m", "sim/hasty", "-s", suite, *more, "--json", "--quiet").data["run"]
    for case in (before := ends(console, run)):
        kept = console("keep", f"{run}#{case}", "--to", "mine", "--json")
        refused = kept.code == Exit.USAGE and any(words in kept.err for words in ("cannot be kept", "has no checks"))
        assert refused or (kept.code == Exit.OK and kept.data["new"] and not kept.data["note"]), kept.err
    rows = rows_in(home / "data" / "mine" / "cases.jsonl")
    assert kept_by_itself <= {row["category"] for row in rows}
    assert all(row["kept"]["run"] == run and row["kept"]["simulated"] for row in rows)
    checked = console("suites", "check", "mine", "--json")
    assert checked.code == Exit.OK, checked.out
    for model in ("sim/careful", "sim/hasty"):
        again = ends(console, console("run", "-m", model, "-s", "mine", "--json", "--quiet").data["run"])
        wrong = {case: (before[case], end) for case, end in again.items() if before[case][0] != end[0]}
        assert not wrong
        if suite == "dialogue-starter":  # its rows are judged by the same checks, so the reasons are the same too
            assert again == {case: before[case] for case in again}


@pytest.fixture
def hasty(console: Any) -> str:
    """A run of the starter's facts with passed and failed cases."""
    return console("run", "-m", "sim/hasty", "-s", "dialogue-starter/facts", "--json", "--quiet").data["run"]


def test_the_same_case_is_kept_once_and_other_rows_stay_as_they_are(console: Any, home: Path, hasty: str) -> None:
    first = console("keep", f"{hasty}#knots", "--to", "mine", "--json").data
    file = Path(first["file"])
    file.write_bytes(b'{"prompt" :  "2+2?", "number": 4, "id": "fee"}\n\n' + file.read_bytes().rstrip(b"\n"))
    before = file.read_bytes()
    other = console("run", "-m", "sim/careful", "-s", "dialogue-starter", "--ids", "knots", "--json", "--quiet").data
    twice = console("keep", f"{other['run']}#knots", "--to", "mine")
    assert (twice.code, file.read_bytes()) == (Exit.OK, before)
    assert f"was kept before, as knots: {file}:3" in twice.out
    more = console("keep", f"{hasty}#fee", "--to", "mine", "--json").data
    assert (more["id"], more["line"], more["new"]) == ("fee-2", 4, True)
    assert file.read_bytes().startswith(before + b"\n")
    assert more["command"] == "eval-console run -m sim/hasty -s mine --ids fee-2"
    assert console(*more["command"].split()[1:], "--quiet").code == Exit.OK


def test_an_edited_expectation_is_judged_anew(console: Any, home: Path, hasty: str) -> None:
    case, _ = next(item for item in ends(console, hasty).items() if item[1][0] == "failed")
    text = console("keep", f"{hasty}#{case}", "--show-row").out
    assert "simulated" not in json.loads(text)
    edited = home / "row.json"
    edited.write_text(json.dumps(json.loads(text) | {"id": "eased", "expect": json.loads(ANY_ANSWER)}))
    kept = console("keep", f"{hasty}#{case}", "--row", edited, "--json").data
    assert (kept["id"], kept["outcome"]) == ("eased", "passed")
    assert console("keep", f"{hasty}#{case}", "--to", "other", "--expect", ANY_ANSWER, "--json").data["outcome"] == (
        "passed"
    )
    assert {row["expect"][0]["regex"] for row in rows_in(kept["file"])} == {"."}


def test_what_cannot_be_kept_says_why(console: Any, home: Path, hasty: str) -> None:
    def said(*words: object) -> str:
        refused = console("keep", *words)
        assert refused.code == Exit.USAGE
        return refused.err

    both = _written(home, '{"prompt": "x", "turns": ["y"], "contains": "y"}')
    assert "are mutually exclusive" in said(f"{hasty}#knots", "--row", both)
    assert "the checks are not JSON" in said(f"{hasty}#knots", "--expect", "contains Lisbon")
    assert "expect: has no check" in said(f"{hasty}#knots", "--expect", "[]")
    assert "cannot be the name of a new suite" in said(f"{hasty}#knots", "--to", "../x")
    console("new", "judged", "--from", _written(home, "question,answer\nWhat?,x\n", "t.csv"))
    assert "has its rows in cases.csv; cases are kept in cases.jsonl" in said(f"{hasty}#knots", "--to", "judged")
    console("new", "code", "--kind", "python")
    assert "is not a suite of rows" in said(f"{hasty}#knots", "--to", "code")
    strict = home / "data" / "strict"
    strict.mkdir()
    (strict / "suite.toml").write_text('format = "dialogue"\n[defaults]\nsystem = "Shout."\njudge = "It shouts."\n')
    (strict / "cases.jsonl").write_text('{"prompt": "x", "contains": "X"}\n')
    assert "the defaults of suite.toml would change the case" in said(f"{hasty}#knots", "--to", "strict")
    run = console("run", "-m", "sim/hasty", "-s", "bfcl-starter/memory_kv", "-n", "1", "--json", "--quiet")
    asked = next(case for case in ends(console, run.data["run"]) if "prereq" not in case)
    assert "needs the memory or the web of its benchmark" in said(f"{run.data['run']}#{asked}")
    assert not (home / "data" / "kept").exists()


def _written(home: Path, text: str, name: str = "row.json") -> Path:
    (home / name).write_text(text)
    return home / name


ROWS = "".join(
    f'{{"id": "c{n}", "category": "{"ab"[n % 2]}", "prompt": "Say {n}.", "contains": "{n}"}}\n' for n in range(6)
)


@pytest.fixture
def stopped(console: Any, home: Path) -> Callable[..., Path]:
    """Return a function that starts a run of a suite of rows, which stops at a cap, and returns the file of rows."""

    def stop(*selection: str) -> Path:
        folder = home / "data" / "mine"
        folder.mkdir(parents=True)
        (folder / "suite.toml").write_text('title = "Mine"\nformat = "dialogue"\n')
        (folder / "cases.jsonl").write_text(ROWS)
        (home / "why.txt").write_text("{prompt} Why?")
        console("run", "-m", "sim/careful", "-s", "dialogue-starter", "-n", "1", "--name", "other")
        ended = console("run", "-m", "sim/careful", "-s", "mine", *selection, "-c", "1", "--max-tokens", "60", "--yes")
        assert ended.code == Exit.BUDGET, ended.err
        return folder / "cases.jsonl"

    return stop


SELECTIONS = {
    "all": (),
    "the first": ("-n", "4"),
    "a sample": ("--sample", "4", "--seed", "7"),
    "a category": ("--category", "a"),
    "ids": ("--ids", "c1,c4,c5"),
    "looks": ("-r", "20", "--until", "10pt"),
    "variants": ("--vary", "prompt=why.txt"),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_a_case_kept_into_a_suite_whose_run_was_interrupted_leaves_the_run_resumable(
    console: Any, stopped: Callable[..., Path], selection: tuple[str, ...]
) -> None:
    rows = stopped(*selection)
    case = console("export", "other", "--format", "json").data["rollouts"][0]["case"]
    assert console("keep", f"other#{case}", "--to", "mine").code == Exit.OK
    assert rows.read_text().startswith(ROWS)
    assert rows.read_text() != ROWS
    resumed = console("resume", "latest", "--max-tokens", "1000000")
    assert resumed.code == Exit.OK, resumed.err
    assert case not in {rollout["case"] for rollout in console("export", "latest", "--format", "json").data["rollouts"]}


def test_a_changed_row_matters_only_to_the_runs_that_play_it(console: Any, stopped: Callable[..., Path]) -> None:
    rows = stopped("--ids", "c1,c4,c5")
    rows.write_text(ROWS.replace("Say 0.", "Say zero."))
    rows.write_text(ROWS.replace("Say 5.", "Say five."))
    refused = console("resume", "latest", "--max-tokens", "1000000")
    assert refused.code == Exit.USAGE
    assert "the data of suite mine has changed since the run started" in refused.err
    rows.write_text(ROWS.replace("Say 0.", "Say zero."))
    assert console("resume", "latest", "--max-tokens", "1000000").code == Exit.OK
