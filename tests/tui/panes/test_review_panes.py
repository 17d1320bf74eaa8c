"""The panes of Review, each mounted alone."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.pane_app import mounted
from support.screen_text import text_of
from textual.content import Content

from console.core.annotation import Annotation, Label
from console.core.case import Key
from console.core.chat import Reply, TokenLogprob
from console.core.record import Asked
from console.core.run import ModelFacts
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.screens.review.case_list import CaseList
from console.tui.screens.review.case_pane import CasePane, Room, annotation_lines
from console.tui.screens.review.listing import Listing
from console.tui.screens.review.tokens import token_blocks
from console.tui.screens.review.triage import Rows
from console.tui.screens.review.views import STANDARD_VIEWS, ShownCase
from console.tui.suite_views.registry import STANDARD
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript


def shown_case(texts: Sequence[str], view: int = 0, id: str = "live_simple_1-1-0") -> ShownCase:
    """Return a case with a view for each text, one of them in sight."""
    key = Key(id)
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
        assert app.posted_of(Transcript.WidthChanged) != []
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


@pytest.mark.parametrize("room", [Room(80), Room(100, is_wide=True)])
async def test_a_long_id_keeps_both_of_its_ends_in_the_title(room: Room) -> None:
    pane = CasePane()
    async with mounted(pane, (room.width, 24)) as (app, pilot):
        await pilot.pause()
        pane.show(shown_case(["text"], id=f"first_{'x' * 150}_last"), room)
        await pilot.pause()
        title = str(pane.query_one("#head").border_title) if room.is_wide else text_of(app)
        assert "first_x" in title
        assert "x_last" in title


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


def token_case(replies: Sequence[Sequence[TokenLogprob]]) -> ReviewedCase:
    key = Key("mmlu-1")
    conversation = Conversation(key)
    for n, tokens in enumerate(replies, 1):
        reply = Reply("".join(token.token for token in tokens), logprobs=tuple(tokens))
        conversation.apply(Asked(at=0.0, key=key, n=n, digest=str(n), reply=reply))
    return ReviewedCase(Rollout(key, 0), conversation, None)


def token(text: str, probability: float, **others: float) -> TokenLogprob:
    top = [(name, math.log(share)) for name, share in {text: probability, **others}.items()]
    return TokenLogprob(text, math.log(probability), tuple(top))


def lines_of(case: ReviewedCase, at: int | None = None, width: int = 40) -> list[str]:
    blocks = token_blocks(case, DrawContext(width, diff.Style(), STANDARD, token=at))
    return [line.plain for block in blocks for line in block.logical]


def test_the_cursor_begins_at_the_least_probable_token_with_its_alternatives() -> None:
    case = token_case([[token("Paris", 0.95, Rome=0.03), token(",", 0.4, and_=0.5), token("\n", 1.0)]])
    answer, first, second, _ = lines_of(case, width=80)
    assert answer == "Paris,\\n"
    assert first.split() == ['"and_"', "50.0%", "██████████"]
    assert second.split() == ['","', "40.0%", "████████"]


def test_doubtful_tokens_are_told_apart_without_colors() -> None:
    case = token_case([[token("a", 0.99), token("b", 0.7), token("c", 0.3), token("d", 0.05), token("e", 0.04)]])
    blocks = token_blocks(case, DrawContext(40, diff.Style(), STANDARD, token=4))
    spans = {blocks[1].body[0].plain[span.start : span.end]: str(span.style) for span in blocks[1].body[0].spans}
    assert "underline" not in spans["b"]
    assert (spans["c"], spans["d"], spans["e"]) == ("$fail underline", "$fail bold underline", "reverse")
    assert "a" not in spans


def test_hostile_tokens_stay_text() -> None:
    case = token_case([[token("\x1b[2J", 0.5), token("[red]x", 0.4, **{"\u202e\x07": 0.2})]])
    text = "\n".join(lines_of(case))
    assert not set("\x1b\u202e\x07") & set(text)
    assert "[red]x" in text


def test_tokens_wrap_within_the_width_and_all_are_shown() -> None:
    case = token_case([[token(f" word{number}", 0.9) for number in range(60)], [token("B", 0.8)]])
    for at in (0, 30, 59, 60, 99):
        drawn = lines_of(case, at)
        assert all(len(line) <= 38 for line in drawn[:-1])
        assert "".join(drawn).count(" word") >= 60
        assert '"B"' in "".join(drawn) if at >= 60 else '"B"' not in "".join(drawn)


async def test_keys_move_through_the_tokens_and_keep_the_alternatives_in_view() -> None:
    pane = CasePane()
    case = token_case([[token(f" word{number}", 0.99 if number else 0.5, other=0.01) for number in range(400)]])
    view = CaseView("tokens", "Tokens", token_blocks)
    async with mounted(pane, (80, 24)) as (_, pilot):
        await pilot.pause()
        shown = replace(shown_case(["x"]), case=case, views=[view], view=view)
        pane.show(shown, Room(80))
        await pilot.pause()
        assert "word0" in pane.text.blocks[1].logical[1].plain
        pane.step_turn(399)
        await pilot.pause()
        assert '" word399"' in pane.text.blocks[1].logical[1].plain
        drawn = "\n".join(pane.text.render_line(y).text for y in range(pane.text.size.height))
        assert '" word399"' in drawn
        pane.step_turn(-1)
        pane.show(shown, Room(80))
        assert '" word398"' in pane.text.blocks[1].logical[1].plain


def test_the_view_exists_only_for_cases_with_log_probabilities() -> None:
    (view,) = (view for view in STANDARD_VIEWS if view.id == "tokens")
    assert view.exists_for(token_case([[token("B", 0.9)]]))
    assert not view.exists_for(token_case([[]]))
