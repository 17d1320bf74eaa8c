"""A headline that only some graded cases have says on how many it rests, ranks nothing, and is warned about."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.cli.exitcode import Exit
from tests.support.folder_suites import write_folder_suite

PYTHON = """
from console.authoring import Case, Chat, SimpleSuite, verdict


class Halves(SimpleSuite):
    headline = ("clarity", "passed")

    def cases(self, categories, setting):
        for number in range(6):
            yield Case(f"c{number}", "facts", {"number": number})

    async def play(self, case, stage, setting):
        chat = Chat(stage, script=["yes"], wrong=["no"])
        await chat.say("Is it clear?")
        return chat.output

    def score(self, case, output, setting):
        scores = {"clarity": 2.2} if case.data["number"] == 0 else {"other": 1.0}
        return verdict(True, scores=scores)
"""


def write_rows(home: Path, headline: str) -> None:
    """Five rows with a rubric in words, and one with criteria: only that one has the score `judge`."""
    folder = home / "data" / "polite"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text(f'format = "dialogue"\nheadline = {headline}\n')
    scripted = {"right": ["Hi, dear."], "wrong": ["What?"]}
    rows: list[dict[str, Any]] = [
        {"id": f"p{number}", "prompt": "Hello", "expect": [{"judge": "It is polite."}]} for number in range(5)
    ]
    criteria = [{"name": "kind"}, {"name": "short"}]
    rows.append({"id": "p5", "prompt": "Hello", "judge": {"criteria": criteria}, "expect": [{"judge": True}]})
    (folder / "cases.jsonl").write_text("".join(json.dumps(row | {"simulated": scripted}) + "\n" for row in rows))


@pytest.mark.parametrize("kind", ["rows", "python"])
def test_a_headline_of_one_case_of_six_says_so_and_ranks_nothing(console: Any, home: Path, kind: str) -> None:
    if kind == "rows":
        write_rows(home, '["judge", "passed"]')
        suite, name = "polite", "judge"
    else:
        write_folder_suite(home / "data", "halves", PYTHON)
        assert console("allow", "halves", "--data", home / "data").code == Exit.OK
        suite, name = "halves", "clarity"
    where = ("--data", home / "data")
    checked = console("suites", "check", suite, *where)
    assert f"headline: {'5 of 6 rows' if kind == 'rows' else '4 of 5 cases tried here'}" in checked.out
    assert f"have no score {name!r}, so runs are not ranked by it" in checked.out
    played = console("run", "-m", "sim/careful", "-s", suite, "--name", "one", "--json", "--fail-under", "1", *where)
    assert played.code == Exit.INCONCLUSIVE, "a headline of one case passes no gate"
    summary = played.data["summary"]
    assert summary["partial_scores"][name] == 1
    shown = f"mean {summary['scores'][name]:.1f}".removesuffix(".0") + " (1 of 6)"
    assert shown in console("runs").out
    board = console("leaderboard", *where)
    assert "only 1 of 6 graded rollouts have this score" in board.out
    (row,) = console("leaderboard", "--json", *where).data["boards"][0]["rows"]
    assert row["rank"] is None
    assert console("export", "one", "--format", "site", "--out", home / "site", *where).code == Exit.OK
    assert any(shown in path.read_text() for path in (home / "site").rglob("*.html"))


def test_a_headline_that_all_cases_have_ranks_as_before(console: Any, home: Path) -> None:
    write_rows(home, '"rubric"')
    rows = home / "data" / "polite" / "cases.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:5]))
    where = ("--data", home / "data")
    assert "headline" not in console("suites", "check", "polite", *where).out
    played = console("run", "-m", "sim/careful", "-s", "polite", "--json", "--fail-under", "1", *where)
    assert played.code == Exit.OK
    assert "partial_scores" not in played.data["summary"]
    (row,) = console("leaderboard", "--json", *where).data["boards"][0]["rows"]
    assert row["rank"] == 1
