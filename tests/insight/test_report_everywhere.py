"""A statistic that is written once, as a section, is shown by the command line, Markdown, web pages and the app."""

from pathlib import Path

import pytest
from support.graded_runs import graded_run
from textual.content import Content

from console.__main__ import main
from console.core.case import Key
from console.insight.conversation import Conversation
from console.insight.report import Row, Section
from console.insight.rollout import Rollout
from console.tui.render import diff
from console.tui.screens.review.views import score_blocks
from console.tui.suite_views.suite_view import DrawContext, ReviewedCase, SuiteView

WORDS = ("planet", "Jupiter", "95 or so", "a note", "all of them were counted")


def test_a_new_statistic_is_in_all_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row(("Jupiter", "95 or so"), note="a note")
    moons = Section("Moons", ("planet", "moons"), (row,), lines=("all of them were counted",))
    monkeypatch.setattr("console.insight.report._judge", lambda judging: [moons])
    monkeypatch.chdir(tmp_path)
    run = str(graded_run(tmp_path / "runs", "0101-0000-run", {"a": "f", "b": "p"}).path)
    reports: dict[str, str] = {}
    for name in ("show", "markdown", "html"):
        line = ("show", run) if name == "show" else ("export", run, "--format", name)
        assert main([*line]) == 0
        reports[name] = capsys.readouterr().out
    assert main(["export", run, "--format", "site", "-o", "pages"]) == 0
    reports["site"] = (tmp_path / "pages" / "index.html").read_text()
    key = Key("a")
    case = ReviewedCase(Rollout(key, 0), Conversation(key), None)
    blocks = score_blocks(case, DrawContext(90, diff.Style(), SuiteView()))
    assert [block.title.plain for block in blocks] == ["moons, over the whole run"]
    reports["app"] = Content("\n").join(line for block in blocks for line in block.logical).plain
    for name, text in reports.items():
        assert [word for word in WORDS if word not in text] == [], name


def test_a_screen_shows_the_first_rows_and_says_how_many_more() -> None:
    long = Section("Moons", ("planet",), tuple(Row((str(number),)) for number in range(25)), most=20)
    assert (len(long.shown()), long.left_out()) == (20, "… and 5 more")
    assert Section("Moons", ("planet",), long.rows).left_out() == ""
