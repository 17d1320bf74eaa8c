"""The tree of suites, groups and categories in the form for a new run."""

from pathlib import Path

import pytest

from console.suites.suite import Category, SuiteEntry
from console.tui.data.suites import SuiteLine
from console.tui.screens.launch.suite_tree import Mark, Part, Row, SuiteTree

GROUPED = SuiteLine(
    SuiteEntry("calls", "f", Path(), "Calls"),
    (
        Category("simple", 400, group="single"),
        Category("parallel", 200, group="single"),
        Category("long_base", 150, group="long"),
    ),
)
FLAT = SuiteLine(SuiteEntry("talk", "f", Path(), "Talk"), (Category("what", 3), Category("why", 3)))
ONE = SuiteLine(SuiteEntry("one", "f", Path(), "One"), (Category("all", 5),))
TORN = SuiteLine(SuiteEntry("torn", "f", Path(), "Torn"), mistake="rows.jsonl:1: is not JSON")
CALLS, SINGLE = Part("calls"), Part("calls", "single")


@pytest.fixture
def tree() -> SuiteTree:
    return SuiteTree((GROUPED, FLAT, ONE, TORN))


def names(rows: list[Row]) -> list[tuple[int, str, str]]:
    return [(row.depth, row.part.name, row.mark.value) for row in rows]


def test_suites_are_folded_until_they_are_opened(tree: SuiteTree) -> None:
    assert names(tree.rows({})) == [(0, name, " ") for name in ("calls", "talk", "one", "torn")]
    tree.unfold(CALLS)
    tree.unfold(SINGLE)
    assert [row.part.name for row in tree.rows({})][:5] == ["calls", "single", "simple", "parallel", "long"]
    assert tree.toggle(Part("calls", "single", "simple")) == SINGLE
    assert [row.part.name for row in tree.rows({})][:4] == ["calls", "single", "long", "talk"]
    assert tree.toggle(CALLS) == CALLS
    assert len(tree.rows({})) == 4


def test_a_mark_says_how_much_of_a_part_is_chosen(tree: SuiteTree) -> None:
    tree.unfold(CALLS)
    tree.unfold(SINGLE)
    rows = tree.rows({"calls": {"simple"}})
    assert names(rows)[:5] == [
        (0, "calls", "~"),
        (1, "single", "~"),
        (2, "simple", "x"),
        (2, "parallel", " "),
        (1, "long", " "),
    ]
    assert [(row.chosen_cases, row.cases) for row in rows[:2]] == [(400, 750), (400, 600)]
    assert {row.mark for row in tree.rows({"calls": ()}) if row.part.suite == "calls"} == {Mark.ALL}


def test_a_filter_shows_folded_parts_and_what_is_chosen(tree: SuiteTree) -> None:
    assert names(tree.rows({"one": ()}, "long_")) == [
        (0, "calls", " "),
        (1, "long", " "),
        (2, "long_base", " "),
        (0, "one", "x"),
    ]
    assert [row.part.name for row in tree.rows({}, "SINGLE")] == ["calls", "single"]
    assert not tree.rows({}, "zzz")


def test_a_filter_hides_no_chosen_category(tree: SuiteTree) -> None:
    assert names(tree.rows({"calls": {"parallel"}}, "long_")) == [
        (0, "calls", "~"),
        (1, "single", "~"),
        (2, "parallel", "x"),
        (1, "long", " "),
        (2, "long_base", " "),
    ]


def test_a_part_knows_its_categories(tree: SuiteTree) -> None:
    assert tree.categories_of(SINGLE) == ["simple", "parallel"]
    assert tree.categories_of(Part("talk", category="why")) == ["why"]
    assert tree.categories_of(Part("nobody")) == []


def test_a_suite_that_cannot_be_used_says_why(tree: SuiteTree) -> None:
    assert tree.rows({})[-1].obstacle == "not usable"
