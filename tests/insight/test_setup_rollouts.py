"""What is only played for others to build on is `setup`: never passed, never in a rate, in one word everywhere."""

import json
from pathlib import Path
from typing import Any

from cli.conftest import console, home

from console.core.case import Case, Key
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.core.run import Tally
from console.insight.filter import read_filter
from console.insight.overview import Overview
from console.insight.rollout import Rollout
from console.tui.render.progress import outcome_words
from console.tui.render.rollout_rows import state_mark
from console.tui.symbols import SYMBOLS

__all__ = ["console", "home"]


def ended(*, graded: bool) -> Rollout:
    overview, key = Overview(), Key("memory_kv_prereq_0-customer-0")
    overview.apply(Started(key=key, case=Case(key.case, "memory_kv", graded=graded), at=1.0))
    overview.apply(Finished(key=key, verdict=Verdict(Outcome.PASSED), at=2.0))
    return overview.rollouts[key.case, 0]


def test_it_is_setup_and_not_passed() -> None:
    prepared, passed = ended(graded=False), ended(graded=True)
    assert (prepared.ending, passed.ending) == ("setup", "passed")
    assert [read_filter("is:passed").matches(one) for one in (prepared, passed)] == [False, True]
    assert [read_filter("is:setup").matches(one) for one in (prepared, passed)] == [True, False]
    assert [state_mark(one).plain for one in (prepared, passed)] == [SYMBOLS.setup, SYMBOLS.passed]


def test_counts_name_it_apart_where_there_is_any() -> None:
    assert "setup" not in outcome_words(Tally(passed=3)).plain
    assert outcome_words(Tally(passed=3, setup=2)).plain.endswith(f"{SYMBOLS.setup} 2 setup (not graded)")


def test_the_command_line_says_so(console: Any, home: Path) -> None:
    def told(*args: str) -> str:
        ended = console(*args, "--runs", home / "runs")
        assert ended.code == 0, ended.err
        return ended.out

    chosen = ("--suite", "bfcl-starter", "--category", "memory_kv")
    tally = json.loads(told("run", "--model", "sim/careful", *chosen, "--yes", "--quiet", "--json"))["summary"]["tally"]
    assert tally["setup"] == 4
    assert tally["passed"] + tally.get("failed", 0) == 8
    rows = map(json.loads, told("review", "--all", "--json").splitlines())
    outcomes = {row["case"]: row["outcome"] for row in rows}
    assert {outcome for case, outcome in outcomes.items() if "prereq" in case} == {"setup"}
    lines = [line.split() for line in told("watch", "--text").splitlines()]
    assert {word for word, case, *_ in lines if "prereq" in case} == {"setup"}
    assert told("export", "--format", "csv").count(",setup,") == 4
    assert "prereq" not in told("export", "--format", "junit"), "nothing there to be tested"
