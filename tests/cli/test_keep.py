"""Keeping cases of a run as rows of a suite of one's own, which then passes and fails as the run did."""

import json
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
