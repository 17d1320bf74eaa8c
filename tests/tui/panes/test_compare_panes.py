"""The panes of Compare, each mounted alone over two runs that were read."""

from pathlib import Path

import pytest
from support.compared_runs import CallSuite, call_run
from support.pane_app import mounted
from support.run_suites import compare_by
from support.screen_text import text_of

from console.tui.render.comparison import fitting_checks, head_lines
from console.tui.screens.compare.controller import CompareController, RunPair, read_pair
from console.tui.screens.compare.panes import CasePane, ChangeList, comparison_blocks
from console.tui.widgets.row_list import RowList


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPair:
    """Two runs of the same cases, and a suite that can compare them."""
    compare_by(monkeypatch, CallSuite())
    return read_pair(call_run(tmp_path, "0116-0904", "gpt-w", 0), call_run(tmp_path, "0117-1420", "gpt-x", 1), None)


async def test_changes_are_listed_chosen_and_refused(pair: RunPair) -> None:
    pane = ChangeList()
    async with mounted(pane, (80, 12)) as (app, pilot):
        assert "reading both runs" in text_of(app)
        folders = pair.a.reader.folder, pair.b.reader.folder
        controller = CompareController(*folders, in_loop=lambda call: None, case_arrived=lambda: None)
        controller.use_runs(pair)
        controller.list_scope("all")
        pane.show_changes(controller)
        await pilot.press("j", "enter")
        await pilot.pause()
        assert [message.key for message in app.posted_of(RowList.RowChosen)] == [list(controller.changes)[1]]
        assert "live_multiple_140-58" in text_of(app)
        pane.refuse("no such run: [/x]\x1b")
        await pilot.pause()
        assert "no such run: [/x]^[" in text_of(app)


def test_both_runs_are_named_or_neither(pair: RunPair) -> None:
    heads = [head_lines(pair.comparison, width)[0].plain for width in range(60, 100)]
    shown = {tuple(name in head for name in ("0116-0904", "0117-1420")) for head in heads}
    assert shown >= {(True, True), (False, False)}
    halves = [head.partition("  B ") for head in heads]
    assert all(("01" in a) == ("01" in b) for a, _, b in halves), "cut or not"


def test_what_stands_elsewhere_gives_way_in_the_top_line(pair: RunPair) -> None:
    forms = [fitting_checks(pair.comparison, room, wide=True, live=(False, True)).plain for room in (90, 40, 20)]
    assert [form.partition("live")[2].split() for form in forms] == [
        ["same", "cases", "✓", "prompts", "not", "known"], ["same", "cases", "✓"], ["same", "cases", "✓"],
    ]  # fmt: skip


async def test_a_case_is_shown_in_both_runs_and_taken_away(pair: RunPair) -> None:
    pane = CasePane()
    async with mounted(pane, (100, 60)) as (app, pilot):
        case = pair.read_case(pair.comparison.pairs[0])
        pane.show_blocks(comparison_blocks(case, "no suite here", 90))
        await pilot.pause()
        assert "imperial" in text_of(app)
        assert "no suite here" in text_of(app)
        pane.show_fault("its journal cannot be read")
        await pilot.pause()
        assert "its journal cannot be read" in text_of(app)
        pane.clear()
        await pilot.pause()
        assert "its journal" not in text_of(app)
