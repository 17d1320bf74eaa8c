"""Runs of versions that played graded rollouts again: every number is that of the first grade, and says so."""

from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest

from console.cli.history import read_overview
from console.core.chat import Reply
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.core.run import ModelFacts, Tally
from console.exchange.run_reader import RunReader
from console.insight.run_number import headline
from console.store.journal_line import as_json
from console.store.runs import RunFolder
from tests.support.recorded_runs import Recorder

pytestmark = pytest.mark.usefixtures("home")
WORDS = "1 graded rollout was played again; the first grade counts"


def rerolled_run(root: Path, name: str = "rerolled", attempts: int = 2) -> RunFolder:
    """A run of one passed, one failed, and one broken case that passed when it was retried; `b` was rolled again."""
    model = ModelFacts("m", simulated=True)
    recorder = Recorder(root, cases=3, name=name, suite="recorded", format="recorded", model=model)
    for case, attempt, outcome in (
        ("a", 1, Outcome.PASSED),
        ("b", 1, Outcome.FAILED),
        ("c", 1, Outcome.BROKEN),
        ("c", 2, Outcome.PASSED),
        *(("b", attempt, Outcome.PASSED) for attempt in range(2, attempts + 1)),
    ):
        key = recorder.start(case, "x", attempt=attempt)
        recorder.ask(key, "Which?", Reply(f"answer {attempt}"))
        recorder.finish(key, outcome, "value_error:string" if outcome is Outcome.FAILED else "")
    return recorder.close()


def test_the_first_grade_counts_in_every_reader(home: Path) -> None:
    run = rerolled_run(home / "runs")
    fold, summary = run.fold()
    overview = read_overview(run)
    assert (summary.tally.passed, summary.tally.failed, summary.tally.broken, summary.rerolled) == (2, 1, 0, 1)
    assert headline(summary).startswith(".667†")
    assert (overview.fold.tally.failed, overview.rollouts["b", 0].outcome) == (1, Outcome.FAILED)
    assert [str(key) for key in overview.rollouts["b", 0].attempts] == ["b", "b attempt 2"]
    assert [str(rollout.key) for rollout in RunReader(run).ordered] == ["a", "b", "c attempt 2"]
    assert summary.tally.cost_usd == pytest.approx(5 * 0.004), "what was paid is paid"
    assert fold.state(live=False) == "completed"


def test_every_place_with_a_number_says_so(console: Any, home: Path) -> None:
    run, other = rerolled_run(home / "runs"), rerolled_run(home / "runs", "other", attempts=1)
    assert WORDS in console("show", run.name).out
    assert WORDS not in console("show", other.name).out
    listed = console("runs").out
    assert listed.count(".667†") == 1
    assert "† graded rollouts were played again" in listed
    assert {one["id"]: one.get("rerolled", 0) for one in console("runs", "--json").data["runs"]} == {
        run.name: 1,
        other.name: 0,
    }
    assert f"A: {WORDS}" in console("compare", run.name, other.name).out
    assert f"B: {WORDS}" in console("compare", other.name, run.name, "--format", "markdown").out
    assert console("compare", run.name, other.name, "--json").data["a"]["rerolled"] == 1
    for form in ("markdown", "html", "json"):
        text = console("export", run.name, "--format", form, "--out", home / f"run.{form}")
        assert text.code == 0, text.err
        assert ('"rerolled": 1' if form == "json" else WORDS) in (home / f"run.{form}").read_text()
    assert console("export", run.name, "--format", "every-eval-ever", "--out", home / "eee").code == 0
    (whole,) = (home / "eee").rglob("*.json")
    assert WORDS in whole.read_text()
    assert {one["case"]: one["outcome"] for one in console("review", run.name, "--all", "--json").lines} == {
        "a": "passed",
        "b": "failed",
        "c": "passed",
    }


def test_search_finds_the_attempts_that_count(console: Any, home: Path) -> None:
    rerolled_run(home / "runs")
    found: dict[str, set[tuple[str, int]]] = {}
    for outcome in ("passed", "failed"):
        (run,) = console("search", "answer", "--filter", f"is:{outcome}", "--json").data["runs"]
        found[outcome] = {(hit["case"], hit["attempt"]) for hit in run["hits"]}
        assert run["count"] == len(found[outcome])
    assert found == {"passed": {("a", 1), ("c", 2)}, "failed": {("b", 1)}}


def test_a_leaderboard_says_so(console: Any, home: Path) -> None:
    rerolled_run(home / "runs")
    board = console("leaderboard")
    assert ".667~" in board.out
    assert WORDS in board.out
    assert WORDS in console("trends").out


def test_what_older_versions_derived_is_derived_again(console: Any, home: Path) -> None:
    """They saved the score of the last attempts; its file is whole and newer than the journal."""
    run = rerolled_run(home / "runs")
    before = run.summary()
    old = msgspec.structs.replace(before, rerolled=0, tally=Tally(passed=3))
    old.checksum = crc32(as_json(old))
    run.summary_path.write_bytes(as_json(old) + b"\n")
    assert RunFolder(run.path).summary().tally == before.tally
    run.summary_path.write_bytes(as_json(old) + b"\n")
    (listed,) = console("runs", "--json").data["runs"]
    assert (listed["tally"]["passed"], listed["tally"]["failed"], listed["rerolled"]) == (2, 1, 1)


def test_a_rollout_graded_twice_under_one_key_has_its_first_grade(home: Path) -> None:
    recorder = Recorder(home / "runs", cases=1)
    key = recorder.start("a")
    recorder.finish(key, Outcome.FAILED)
    recorder.write(Finished(at=recorder.tick(), key=key, verdict=Verdict(Outcome.PASSED)))
    summary = recorder.close().summary()
    assert (summary.tally.passed, summary.tally.failed, summary.rerolled) == (0, 1, 1)
