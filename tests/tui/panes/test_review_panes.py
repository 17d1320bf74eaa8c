"""The panes of Review, each mounted alone."""

from collections.abc import Sequence

from support.pane_app import mounted
from textual.content import Content

from console.core.annotation import Annotation, Label
from console.core.case import Key
from console.core.run import ModelFacts
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.screens.review.case_list import CaseList
from console.tui.screens.review.case_pane import CasePane, CaseText, Room, annotation_lines
from console.tui.screens.review.listing import Listing
from console.tui.screens.review.triage import Rows
from console.tui.screens.review.views import ShownCase
from console.tui.suite_views.registry import STANDARD
from console.tui.suite_views.suite_view import CaseView, ReviewedCase
from console.tui.widgets.row_list import RowList


def shown_case(texts: Sequence[str], view: int = 0) -> ShownCase:
    """Return a case with a view for each text, one of them in sight."""
    key = Key("live_simple_1-1-0")
    views = [
        CaseView(
            ("diff", "talk")[place],
            ("Diff", "Talk")[place],
            lambda case, context, text=text: [
                Block("turn 0", Content("turn 1"), text=text),
                Block("turn 1", text=text),
            ],
        )
        for place, text in enumerate(texts)
    ]
    return ShownCase(
        ReviewedCase(Rollout(key, 0), Conversation(key), None),
        annotation=Annotation(comment="odd"),
        model=ModelFacts("m"),
        simulated=True,
        alike=0,
        views=views,
        view=views[view],
        style=diff.Style(),
        suite_view=STANDARD,
        words="",
        rollouts=tuple,
        report=lambda: Report(()),
    )


async def test_the_list_says_where_the_cursor_is_and_what_was_opened() -> None:
    ends: list[int] = []
    pane = CaseList(ends.append)
    async with mounted(pane, (60, 10)) as (app, pilot):
        rows = Rows(["g", "0/a", "0/b"], (), (), {"g"}, Listing(), {})
        pane.show_rows(rows, lambda key, width: Content(f"{key} {width}"), cursor="0/a", empty=Content())
        pane.focus()
        await pilot.press("j", "enter")
        await pilot.pause()
        entered = [message.key for message in app.posted_of(RowList.RowHighlighted)]
        assert entered == ["0/a", "0/b"]
        assert len(app.posted_of(RowList.RowChosen)) == 1
        assert pane.cursor == "0/b"
        await pilot.press("g", "G")
        assert ends == [0, -1]


async def test_a_case_is_drawn_searched_and_taken_away() -> None:
    pane = CasePane()
    async with mounted(pane, (80, 24)) as (app, pilot):
        await pilot.pause()
        pane.show(shown_case(["a needle here", "hay"]), Room(80))
        await pilot.pause()
        assert app.posted_of(CaseText.WidthChanged) != []
        assert pane.has_class("-diff")
        assert pane.find("needle") == 2
        assert pane.find_step(1)
        assert pane.other_view_with("hay").id == "talk"  # type: ignore[union-attr]
        assert pane.find("nowhere") == 0
        pane.find("")
        assert not pane.find_step(1)
        pane.show(shown_case(["a needle here", "hay"], view=1), Room(80))
        assert not pane.has_class("-diff")
        pane.show(None, Room(80))
        assert not pane.text.blocks


async def test_turns_are_stepped_through_and_blocks_fold() -> None:
    pane = CasePane()
    async with mounted(pane, (80, 24)) as (_, pilot):
        await pilot.pause()
        pane.show(shown_case(["line\n" * 40]), Room(80))
        await pilot.pause()
        pane.step_turn(1)
        await pilot.pause()
        top = pane.text.block_at_top()
        assert top is not None
        assert top.key == "turn 1"
        pane.step_turn(-1)
        pane.toggle_block()
        assert pane.text.blocks[0].folded
        assert not pane.folds_same()


def test_a_label_says_who_gave_it_before_its_sentence_is_cut() -> None:
    label = Label("other", "\x1b[2J" + "word " * 100, model="sim/judge", simulated=True)
    (line,) = annotation_lines(Annotation(label=label), 76)
    assert line.plain.split("(")[1].startswith("sim/judge, simulated)")
    assert "\x1b" not in line.plain
    assert line.cell_length <= 76
