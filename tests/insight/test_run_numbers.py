"""The number of a run in lists, reports and pages is the one by which the leaderboard ranks it."""

import pytest

from console.benchmarks.bfcl.rules import categories as names
from console.core.case import Setting
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.insight.leaderboard import leaderboards
from console.insight.run_number import cell_number, headline, headline_gap
from console.insight.trends import ListedRun

OFFICIAL = dict.fromkeys(names.SCORING, 10)
SMALL = dict.fromkeys(names.SCORING[:2], 10)


def run_of(tallies: dict[str, Tally], cases: dict[str, int], category: str = "") -> Summary:
    total = Tally(
        passed=sum(each.passed for each in tallies.values()), failed=sum(each.failed for each in tallies.values())
    )
    return Summary(
        "r", 1.0, "s", "m", False, 9, total, "completed",
        categories=tallies, suite_cases=cases, format="bfcl", category=category,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("played", "cases", "shown", "gap"),
    [
        (dict.fromkeys(names.SCORING, (8, 2)), OFFICIAL, ".800 [", ""),
        (dict.fromkeys(names.SCORING, (4, 1)), OFFICIAL, ".800* [", "incomplete: 0 of 21 categories complete"),
        (
            dict.fromkeys(names.SCORING[:2], (8, 2)),
            OFFICIAL,
            "— (2 of 21)",
            "the official score needs 21 categories, the results have 2",
        ),
        (dict.fromkeys(SMALL, (8, 2)), SMALL, ".800 [", ""),
        (dict.fromkeys(SMALL, (4, 1)), SMALL, ".800* [", "incomplete: 10 of 20"),
    ],
)
def test_a_run_has_the_number_of_the_leaderboard(
    played: dict[str, tuple[int, int]], cases: dict[str, int], shown: str, gap: str
) -> None:
    tallies = {name: Tally(passed=passed, failed=failed) for name, (passed, failed) in played.items()}
    summary = run_of(tallies, cases)
    manifest = Manifest(id="r", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting(), format="bfcl")
    (board,) = leaderboards([ListedRun(summary, manifest)], {"s": cases})
    assert headline(summary) == cell_number(board.rows[0].headline(board))
    assert headline(summary).startswith(shown)
    assert headline_gap(summary) == gap


def test_the_number_of_official_groups_weighs_as_officially_and_not_by_case() -> None:
    tallies = dict.fromkeys(names.SCORING, Tally(passed=8, failed=2)) | {"memory_kv": Tally(passed=0, failed=10)}
    mean = sum(each.passed for each in tallies.values()) / (10 * len(tallies))
    assert not headline(run_of(tallies, OFFICIAL)).startswith(f"{mean:.3f}"[1:])


def test_a_run_of_one_category_has_the_number_of_that_category() -> None:
    name = names.SCORING[0]
    assert headline(run_of({name: Tally(passed=8, failed=2)}, OFFICIAL, name)).startswith(".800 [")
    assert headline(run_of({name: Tally(passed=4, failed=1)}, OFFICIAL, name)).startswith(".800* [")


def test_a_run_that_does_not_know_its_suite_is_marked_by_nothing() -> None:
    assert headline(run_of(dict.fromkeys(SMALL, Tally(passed=8, failed=2)), {})).startswith(".800 [")


def test_several_runs_together_are_marked_if_one_is_incomplete() -> None:
    whole = run_of(dict.fromkeys(SMALL, Tally(passed=8, failed=2)), SMALL)
    part = run_of(dict.fromkeys(SMALL, Tally(passed=4, failed=1)), SMALL)
    assert headline(whole, whole) == ".800"
    assert headline(whole, part) == ".800*"


def test_several_runs_together_follow_the_rules_of_one() -> None:
    part = run_of(dict.fromkeys(names.SCORING[:2], Tally(passed=8, failed=2)), OFFICIAL)
    assert headline(part, part) == headline(part) == "— (2 of 21)"
    tallies = dict.fromkeys(names.SCORING, Tally(passed=8, failed=2)) | {"memory_kv": Tally(passed=0, failed=10)}
    whole = run_of(tallies, OFFICIAL)
    assert headline(whole, whole) == headline(whole).partition(" [")[0], "weighted as officially"
