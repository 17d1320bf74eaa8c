"""A suite of another package is selected from, checked and reported like our own, and its faults cost only itself."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
from support.sums_suite import SumsSuite

from console.cli.exitcode import Exit

GROUP = "eval_console.suites"


@pytest.fixture(autouse=True)
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer the format `sums` and a dataset `mine` of it in the current folder."""
    points = importlib.metadata.EntryPoints(
        [importlib.metadata.EntryPoint("sums", "support.sums_suite:SumsSuite", GROUP)]
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **named: points.select(**named))
    monkeypatch.setattr(SumsSuite, "broken", "")
    (home / "mine").mkdir()
    (home / "mine" / "suite.toml").write_text('format = "sums"\n')


@pytest.fixture
def play(console: Any, home: Path) -> Any:
    def run(*args: object) -> Any:
        return console("run", "-m", "sim/hasty", *args, "--data", home, "--quiet", "--json")

    return run


@pytest.fixture
def played(play: Any, home: Path) -> Any:
    """Play a selection and return the ids of what was played, in order."""

    def run(*args: object) -> list[str]:
        ended = play(*args)
        assert ended.code in (Exit.OK, Exit.BELOW), ended.err
        journal = home / "runs" / ended.data["run"] / "journal.jsonl"
        records = [json.loads(line) for line in journal.read_text().splitlines()]
        return sorted(record["case"]["id"] for record in records if record["t"] == "started")

    return run


def test_categories_groups_ids_limits_and_samples_are_selected(played: Any) -> None:
    everything = [*(f"easy-{n}" for n in range(6)), *(f"hard-{n}" for n in range(4))]
    assert played("-s", "mine") == played("-s", "mine/sums") == everything
    assert played("-s", "mine/easy") == everything[:6]
    assert played("-s", "mine", "-n", 2) == everything[:2]
    assert played("-s", "mine", "--ids", "hard-3,easy-2") == ["easy-0", "easy-2", "hard-3"]  # with what it builds on
    drawn = played("-s", "mine/easy", "--sample", 3, "--seed", 5)
    assert len(drawn) == 3
    assert drawn == played("-s", "mine/easy", "--sample", 3, "--seed", 5)
    assert any(drawn != played("-s", "mine/easy", "--sample", 3, "--seed", seed) for seed in range(6, 9))


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (("-s", "mine/esay"), "mine has no category 'esay'", "Did you mean easy?"),
        (("-s", "mine", "--ids", "hard-33"), "mine has no case 'hard-33'", "Did you mean hard-3?"),
        (("-s", "mine/easy", "--ids", "hard-3"), "mine has no case 'hard-3' in the chosen categories", ""),
        (("-s", "mine", "--mode", "promt"), "the suite mine has no mode 'promt'", "Did you mean prompt? Its modes: fc"),
        (("-s", "mine", "--mode", "cave"), "the suite mine has no mode 'cave'", "Its modes: fc, prompt."),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(play: Any, args: tuple[str, ...], message: str, hint: str) -> None:
    ended = play(*args)
    assert ended.code == Exit.USAGE
    assert message in ended.err
    assert hint in ended.err


def test_two_cases_of_one_id_are_refused(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = SumsSuite.cases
    monkeypatch.setattr(SumsSuite, "cases", lambda *args: [*cases(*args), *cases(*args)])
    ended = play("-s", "mine")
    assert ended.code == Exit.USAGE
    assert "mine has two cases with the id 'easy-0'" in ended.err


@pytest.mark.parametrize("part", ["categories", "cases"])
def test_a_fault_before_the_start_names_the_suites_file_and_line(
    play: Any, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(SumsSuite, "broken", part)
    ended = play("-s", "mine")
    assert ended.code == Exit.USAGE
    assert f"`{part}` of the suite mine failed: ZeroDivisionError: no {part} today" in ended.err
    assert "sums_suite.py:" in ended.err


def test_a_suite_that_cannot_be_listed_costs_no_other(
    console: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SumsSuite, "broken", "categories")
    listed = console("suites", "--data", home)
    assert listed.code == Exit.OK
    assert "bfcl-starter" in listed.out
    assert "no categories today" in listed.err
    assert console("suites", "mine", "--data", home).code == Exit.USAGE


@pytest.mark.parametrize("part", ["play", "score"])
def test_a_fault_while_playing_breaks_rollouts_and_not_the_run(
    play: Any, console: Any, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(SumsSuite, "broken", part)
    ended = play("-s", "mine/easy", "-n", 2)
    assert ended.code == Exit.INCONCLUSIVE
    assert ended.data["summary"]["tally"]["broken"] == 2
    (failure,) = console("failures", "latest", "--json").data["groups"]
    assert (failure["label"], failure["count"]) == ("fault in the suite's code", 2)
    shown = console("show", "latest#easy-0").out
    assert "sums_suite.py:" in shown
    assert f"in {part}" in shown or "in _fail" in shown


def test_faults_in_report_and_compare_are_shown_where_their_work_would_be(
    play: Any, console: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SumsSuite, "broken", "report")
    ended = play("-s", "mine/easy", "-n", 1)
    assert ended.code in (Exit.OK, Exit.BELOW)
    assert "no report today" in console("show", "latest", "--data", home).out
    monkeypatch.setattr(SumsSuite, "broken", "compare")
    shown = console("show", "latest#easy-0", "--data", home, "--json").data
    assert "no compare today" in shown["comparison"]["fault"]


def test_check_scores_outputs_of_cases_by_id(console: Any, home: Path) -> None:
    rows = [
        {"id": "easy-1", "output": "2"},
        {"id": "easy-1", "output": "3"},
        {"id": "easy-77", "output": ""},
        {"id": 7},
    ]
    (home / "in.jsonl").write_text("\n".join([*map(json.dumps, rows), "[]", json.dumps(rows[0])]))
    ended = console("check", "mine", "in.jsonl", "--data", home)
    right, wrong, unknown, damaged, other, last = ended.lines
    assert right == last == {"id": "easy-1", "valid": True, "outcome": "passed"}
    assert wrong == {"id": "easy-1", "valid": False, "outcome": "failed", "reason": "wrong_sum"}
    assert unknown == {"id": "easy-77", "line": 3, "error": "line 3: mine has no case 'easy-77'. Did you mean easy-5?"}
    assert [row["line"] for row in (damaged, other)] == [4, 5]
    assert ended.code == Exit.USAGE
    assert "3 of the lines" in ended.err


def test_a_fault_of_score_in_check_costs_its_line(console: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "in.jsonl").write_text('{"id": "easy-1", "output": "2"}\n')
    monkeypatch.setattr(SumsSuite, "broken", "score")
    ended = console("check", "mine", "in.jsonl", "--data", home)
    assert ended.code == Exit.USAGE
    assert "ZeroDivisionError: no score today" in ended.lines[0]["error"]


def test_a_suite_of_an_unknown_format_is_listed_without_a_number(console: Any, home: Path) -> None:
    (home / "odd").mkdir()
    (home / "odd" / "suite.toml").write_text('format = "nobodys"\n')
    ended = console("suites", "--data", home)
    (line,) = (line for line in ended.out.splitlines() if line.startswith("odd"))
    assert line.split() == ["odd", "—", "user", "odd"]
    assert "unknown format 'nobodys'" in ended.err
