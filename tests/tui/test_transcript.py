"""The virtual text: follows, freezes, finds, folds, and wraps only what it must."""

import time
from typing import Any

from support.pane_app import ThemedApp
from textual.content import Content

from console.insight.passage import Passage, PassageKind
from console.tui.render.block import Block
from console.tui.suite_views.conversation_blocks import LONG_PROMPT, passage_block, score_line
from console.tui.widgets.transcript import Hit, Hits, Transcript


class TextApp(ThemedApp):
    def __init__(self, **options: Any) -> None:
        super().__init__(Transcript(**options))
        self.heard: list[bool] = []

    def on_transcript_follow_changed(self, event: Transcript.FollowChanged) -> None:
        self.heard.append(event.following)

    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.screen._compositor.render_strips()]


def blocks(count: int, text: str = "some words of a message\nand a second line") -> list[Block]:
    return [Block(f"b{n}", Content(f"speaker {n}"), Content("1 s"), text=text) for n in range(count)]


async def test_blocks_are_drawn_with_title_and_aside() -> None:
    app = TextApp()
    async with app.run_test(size=(30, 8)) as pilot:
        app.query_one(Transcript).show(blocks(1))
        await pilot.pause()
        assert app.lines()[:4] == [
            "speaker 0                 1 s",
            "  some words of a message",
            "  and a second line",
            "",
        ]


async def test_a_wrapped_fact_hangs_below_its_value_and_is_copied_without_the_indent() -> None:
    app = TextApp()
    async with app.run_test(size=(24, 8)) as pilot:
        view = app.query_one(Transcript)
        view.show([Block("a", body=[Content("from  a folder that the reader made")], hang=6)])
        await pilot.pause()
        assert app.lines()[:3] == ["  from  a folder that", "        the reader made", ""]
        view.text_select_all()
        await pilot.pause()
        assert app.screen.get_selected_text() == "from  a folder that the reader made"


async def test_a_stream_is_followed_until_the_reader_scrolls_up_and_again_at_the_end() -> None:
    app = TextApp(follow=True)
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.query_one(Transcript)
        view.show([Block("a", Content("model"))])
        for number in range(30):
            view.append("a", f"line {number}\n")
        await pilot.pause()
        assert "  line 29" in app.lines()
        await pilot.press("k")
        top = view.scroll_offset.y
        for number in range(30, 50):
            view.append("a", f"line {number}\n")
        await pilot.pause()
        assert (view.follow, view.unseen, view.scroll_offset.y) == (False, 20, top)
        assert app.lines()[-1].endswith("frozen, +20 lines  G follows")
        await pilot.press("G")
        await pilot.pause()
        assert view.follow
        assert "  line 49" in app.lines()
        assert app.heard == [False, True]


async def test_a_text_that_does_not_follow_never_shows_the_badge() -> None:
    app = TextApp()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(Transcript)
        view.show(blocks(10))
        await pilot.press("ctrl+d", "k", "pagedown", "g")
        await pilot.pause()
        assert view.scroll_offset.y == 0
        assert not any("frozen" in line for line in app.lines())


async def test_streaming_stays_flat_however_long_the_text_is() -> None:
    app = TextApp(follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Transcript)
        view.show([Block("a", text="word word word\n" * 60_000)])
        await pilot.pause()
        began = time.process_time()
        for _ in range(200):
            view.append("a", "and some more ")
        assert time.process_time() - began < 2.0


async def test_find_goes_round_and_unfolds() -> None:
    app = TextApp()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.query_one(Transcript)
        some = blocks(20)
        some[7] = Block("b7", Content("speaker"), text="here is the Needle", folded=True)
        some[15] = Block("b15", Content("speaker"), text="another needle")
        view.show(some)
        assert view.find("needle") == 2
        await pilot.pause()
        assert not view.blocks[7].folded
        assert any("Needle" in line for line in app.lines())
        assert view.find_step(1) == (2, 2)
        assert view.find_step(1) == (1, 2)
        assert view.find("nothing like it") == 0
        assert view.find_step(1) == (0, 0)
        assert view.find("") == 0


async def test_folding_moves_what_is_below() -> None:
    app = TextApp()
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.query_one(Transcript)
        view.show(blocks(2))
        view.toggle_fold("b0")
        await pilot.pause()
        assert app.lines()[0].startswith("speaker 0  2 lines  ")
        assert app.lines()[2].startswith("speaker 1")


async def test_a_message_without_lines_below_it_does_not_fold() -> None:
    app = TextApp()
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.query_one(Transcript)
        message = Block("none", Content("No tools were sent."))
        view.show([message])
        await pilot.pause()
        assert view.fold_target() is None
        view.show([message, *blocks(1)])
        await pilot.pause()
        target = view.fold_target()
        assert target is not None
        assert target.key == "b0"


async def test_a_long_message_shows_its_end_until_it_is_opened() -> None:
    app = TextApp()
    async with app.run_test(size=(40, 12)) as pilot:
        view = app.query_one(Transcript)
        report = "\n".join(f"line {number} of the report" for number in range(LONG_PROMPT))
        asked = Passage(PassageKind.USER, f"{report}\n\nWhich ferry is late?")
        short = Passage(PassageKind.USER, report)
        view.show([passage_block(asked, "long"), passage_block(short, "short")])
        await pilot.pause()
        assert app.lines()[0].startswith("user  42 lines, only the end shown")
        assert app.lines()[1].strip() == "line 36 of the report"
        assert [line.strip() for line in app.lines()[4:9]] == [
            "line 39 of the report",
            "",
            "Which ferry is late?",
            "",
            "user",
        ]
        view.toggle_fold("long")
        await pilot.pause()
        assert app.lines()[1].startswith("  line 0 of the report")
        view.toggle_fold("long")
        assert view.find("line 7 of") == 2, "what is hidden is found, and opened"
        await pilot.pause()
        assert not view.blocks[0].folded
        assert any("line 7 of" in line for line in app.lines())


async def test_resizing_keeps_the_place() -> None:
    app = TextApp()
    async with app.run_test(size=(60, 8)) as pilot:
        view = app.query_one(Transcript)
        view.show(blocks(40, "word " * 40))
        view.scroll_to_block("b20")
        await pilot.resize_terminal(30, 8)
        await pilot.pause()
        assert app.lines()[0].startswith("speaker 20")


async def test_opening_three_hundred_messages_is_quick() -> None:
    app = TextApp()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(Transcript)
        began = time.process_time()
        view.show(blocks(300, "a sentence of some words, then another. " * 25))
        await pilot.pause()
        assert time.process_time() - began < 1.0


async def test_hostile_text_is_shown_whole_and_harmless(hostile: str) -> None:
    app = TextApp()
    async with app.run_test(size=(60, 12)) as pilot:
        app.query_one(Transcript).show([Block("a", Content("model"), text=hostile)])
        await pilot.pause()
        shown = "".join(app.lines())
        assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in shown)
        assert not any(0xD800 <= ord(character) < 0xE000 for character in shown)


async def test_ten_megabytes_open_and_scroll() -> None:
    app = TextApp()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Transcript)
        view.show([Block("a", Content("model"), text="\x1b[2J0123456789 " * 700_000)])
        await pilot.press("G", "g")
        assert app.lines()[1].startswith("  ^[[2J0123456789")


async def test_selected_text_joins_what_only_wrapping_split() -> None:
    app = TextApp()
    async with app.run_test(size=(16, 10)) as pilot:
        view = app.query_one(Transcript)
        view.show([Block("a", Content("model"), text="one two three four\nnext")])
        await pilot.pause()
        view.text_select_all()
        await pilot.pause()
        assert app.screen.get_selected_text() == "model\none two three four\nnext"


async def test_the_scroll_bar_tells_where_the_reader_is_however_the_text_came() -> None:
    app = TextApp(follow=True)
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.query_one(Transcript)
        view.show(blocks(2), follow=True)
        view.show(blocks(20), follow=True)  # the bar is only about to appear
        assert_bar_agrees(view)
        await pilot.pause()
        assert_bar_agrees(view)
        view.append("b19", "\n more" * 50)
        assert_bar_agrees(view)
        await pilot.press("g")
        assert_bar_agrees(view)
        await pilot.resize_terminal(20, 20)
        await pilot.pause()
        assert_bar_agrees(view)


def assert_bar_agrees(view: Transcript) -> None:
    bar = view.vertical_scrollbar
    assert (bar.position, bar.window_virtual_size) == (view.scroll_y, view.virtual_size.height)
    assert bar.window_size == view.container_size.height


class CountedHits(list[Hit]):
    """Counts how many of them are looked at."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return super().__getitem__(place)


def test_places_on_a_line_are_marked_without_looking_at_all_others() -> None:
    """A search for one letter has a hundred thousand hits; each visible line is painted with every frame."""
    hits = Hits()
    every = [(block, line, 10 * n, 10 * n + 4) for block in range(4) for line in range(50) for n in range(500)]
    hits.hits = places = CountedHits(every)
    for part, marked in (((7, 20, 40), [(20, 24), (30, 34)]), ((7, 22, 31), [(22, 24), (30, 31)]), ((7, 4, 10), [])):
        line = hits.painted(Content("x" * (part[2] - part[1])), 2, part, indent=0)
        assert [(span.start + part[1], span.end + part[1]) for span in line.spans] == marked
    assert places.looks < 100


def test_a_verdict_has_its_code_only_if_that_says_more() -> None:
    def aside(code: str) -> str:
        return passage_block(Passage(PassageKind.VERDICT, head=code), "v").aside.plain

    assert aside("passed") == aside("wrong_number") == ""
    assert aside("value_error:string") == "value_error:string"


def test_a_score_that_is_too_low_is_below_its_threshold() -> None:
    """The threshold itself may pass."""
    assert score_line("rubric", 2.2, 4).plain.endswith("  below 4")
    assert score_line("rubric", 4, 4).plain.endswith("  exactly 4")
