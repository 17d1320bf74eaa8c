"""Comparing, ranking and following runs by command line."""

import json
import re

import pytest

from console.cli.exitcode import Exit


@pytest.fixture
def pair(console) -> tuple[str, str]:
    """Two finished simulated BFCL runs over the same cases."""
    line = ["run", "-s", "bfcl-starter", "--category", "simple_python,multiple,irrelevance", "--json", "--quiet"]
    first, second = (console(*line, "-m", model).data["run"] for model in ("sim/hasty", "sim/careful"))
    return first, second


def test_two_runs_in_text(console, pair):
    ended = console("compare", *pair)
    assert ended.code == Exit.OK, ended.err
    assert "(simulated)" in ended.out
    assert "same cases, same prompts" in ended.out
    assert "B − A: " in ended.out
    assert "p = " in ended.out


def test_two_runs_as_json_add_up(console, pair):
    found = console("compare", *pair, "--json").data
    table = found["table"]
    outcomes = [(it["a"]["outcome"], it["b"]["outcome"]) for it in found["pairs"]]
    assert table["lost"] == outcomes.count(("passed", "failed"))
    assert table["gained"] == outcomes.count(("failed", "passed"))
    assert sum(part["lost"] for part in found["categories"].values()) == table["lost"]
    assert found["simulated"] is True
    assert (found["same_data"], found["same_prompts"]) == (True, True)
    swapped = console("compare", *reversed(pair), "--json").data
    assert swapped["table"]["difference"]["value"] == -table["difference"]["value"]
    assert swapped["table"]["difference"]["p"] == table["difference"]["p"]


def test_two_runs_for_a_pull_request_and_a_spreadsheet(console, home, pair):
    text = console("compare", *pair, "--format", "markdown").out
    assert text.startswith("### A sim/hasty against B sim/careful on bfcl-starter (simulated)")
    assert "| A passed |" in text
    ended = console("compare", *pair, "--format", "csv", "-o", "pairs.csv")
    assert (ended.code, ended.out) == (Exit.OK, "")
    assert (home / "pairs.csv").read_text().startswith("case,rollout,category,change")


def test_of_a_branch_the_prompt_comes_first_and_nothing_is_reckoned(console, home, pair):
    case = "simple_python_1"
    opening = console("branch", f"{pair[0]}#{case}", "--show", "opening").out
    (home / "prompt.txt").write_text(opening.replace("── user ──\n", "── user ──\nIn Kelvin, please. ", 1))
    assert console("branch", f"{pair[0]}#{case}", "--set", "opening=prompt.txt", "--yes").code == Exit.OK
    branch = console("runs", "--json").data["runs"][0]["id"]
    ended = console("compare", pair[0], branch)
    assert ended.code == Exit.OK, ended.err
    shown = ended.out
    assert "+ user: In Kelvin, please. " in shown
    assert shown.index("the prompt differs") < shown.index("one case: it shows what changed, not how often")
    for word in ("95 %", "p = ", "A passed", "passed  "):
        assert word not in shown, word
    text = console("compare", pair[0], branch, "--format", "markdown").out
    assert "1 case in both" in text
    assert "| A passed |" not in text
    assert "95 %" not in text


def test_three_runs_are_a_grid(console, pair):
    line = ["run", "-s", "bfcl-starter", "--category", "multiple", "-m", "sim/careful", "--json", "--quiet"]
    third = console(*line).data["run"]
    found = console("compare", *pair, third, "--json").data
    assert found["runs"] == [*pair, third]
    assert {len(row["outcomes"]) for row in found["rows"]} == {3}
    assert all(row["differs"] for row in found["rows"][: sum(it["differs"] for it in found["rows"])])
    assert "graded in all" in console("compare", *pair, third).out
    often = console(*line, "-r", "2").data["run"]
    lines = console("compare", *pair, often).out.splitlines()
    assert "(repeat 1 only) graded in all" in lines[0]
    (case,) = (line for line in lines if line.startswith("multiple_0 "))
    assert re.search(r" [01]/1 +[01]/1 +[012]/2", case), "one row a case"
    assert console("compare", *pair, third, "--format", "csv").code == Exit.USAGE


def test_what_cannot_be_compared_is_said(console, pair, finished):
    for line, words in (
        (("compare", pair[0]), "two runs are needed"),
        (("compare", pair[0], pair[0]), "given twice"),
        (("compare", pair[0], finished), "no case in common"),
        (("compare", pair[0], "nobody"), "no run is named"),
    ):
        ended = console(*line)
        assert (ended.code, ended.out) == (Exit.USAGE, "")
        assert words in ended.err


def test_the_leaderboard_ranks_every_suite(console, pair, finished):
    boards = {board["suite"]: board for board in console("leaderboard", "--json").data["boards"]}
    assert set(boards) == {"bfcl-starter", "aidan-starter"}
    rows = boards["bfcl-starter"]["rows"]
    assert [row["rank"] for row in rows] == [None, None]
    values = [row["cells"]["passed"]["value"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert all(row["cells"]["passed"]["note"].startswith("incomplete") and row["simulated"] for row in rows)
    report = console("show", rows[0]["runs"][0], "--json").data["report"]
    for name, (accuracy, *_) in report["categories"].items():
        cell = rows[0]["cells"][name]
        assert (cell["value"], cell["low"], cell["high"]) == pytest.approx(
            (accuracy["value"], accuracy["low"], accuracy["high"])
        )
    ranking = boards["aidan-starter"]["rows"][0]["cells"]["aidanbench_score"]
    assert ranking["low"] <= ranking["value"] <= ranking["high"]
    text = console("leaderboard", "-s", "bfcl-starter")
    assert "ranked by pass rate: the official score needs 21 categories, this suite has 18" in text.out
    assert "simulated" in text.out
    assert "* incomplete: fewer cases than the suite has; such rows are not ranked" in text.out
    assert console("leaderboard", "-s", "bfcl-startr").code == Exit.USAGE


def test_trends_follow_a_model(console, pair):
    line = ["run", "-s", "bfcl-starter", "--category", "simple_python,multiple,irrelevance", "--json", "--quiet"]
    again = console(*line, "-m", "sim/hasty").data["run"]
    (trend,) = console("trends", "-m", "sim/hasty", "--json").data["trends"]
    assert [point["run"] for point in trend["points"]] == [pair[0], again]
    assert trend["points"][1]["change"] == 0.0
    assert "sim/hasty on bfcl-starter, 24 cases, simple_python, multiple, …  (simulated)" in console("trends").out
    assert "last step: B − A: .000 passed" in console("trends", "-m", "sim/hasty").out
    assert console("trends", "-m", "nobody").code == Exit.USAGE


def test_nothing_yet_is_no_mistake(console):
    for verb in ("leaderboard", "trends"):
        ended = console(verb)
        assert (ended.code, ended.out) == (Exit.OK, "")
        assert "start with" in ended.err
        assert json.loads(console(verb, "--json").out)["schema"] == 2
