"""The virtual list: any length, a cursor held by key, only dirty lines drawn."""

import time
from typing import Any

from support.pane_app import ThemedApp
from textual.content import Content

from console.tui.render.columns import Column
from console.tui.sanitize import ControlCharacterFilter, one_line
from console.tui.widgets.row_list import RowList

COLUMNS = (Column("id", 8), Column("text", 10, 1), Column("n", 4, right=True))


class ListApp(ThemedApp):
    CSS = "RowList { height: 8; }"

    def __init__(self, **options: Any) -> None:
        super().__init__(RowList(COLUMNS, draw=self.draw, **options))
        self.heard: list[tuple[str, str]] = []
        self.drawn: list[str] = []

    def draw(self, key: str) -> tuple[Content, ...]:
        self.drawn.append(key)
        return one_line(key), Content("text"), Content("1")

    def on_row_list_row_highlighted(self, event: RowList.RowHighlighted) -> None:
        self.heard.append((type(event).__name__, event.key))

    on_row_list_row_chosen = on_row_list_row_highlighted
    on_row_list_row_marked = on_row_list_row_highlighted

    def text(self, line: int) -> str:
        return self.screen._compositor.render_strips()[line].text.rstrip()


def keys(count: int) -> list[str]:
    return [f"k{number}" for number in range(count)]


async def test_a_hundred_thousand_rows_open_at_once_and_only_visible_ones_are_drawn() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        began = time.process_time()
        rows.show(keys(100_000))
        await pilot.pause()
        assert time.process_time() - began < 1.0
        assert len(set(app.drawn)) <= 10
        await pilot.press("G")
        assert rows.cursor == "k99999"
        assert app.text(7) == "> k99999    text                     1"
        assert len(set(app.drawn)) <= 20


async def test_too_long_ids_are_told_apart_from_those_near_them_and_others_are_not_drawn() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.set_columns((Column("id", 16, is_name=True), *COLUMNS[1:]))
        rows.show([f"task_[kind_of_issue]{number}_broken[WHO:None]" for number in range(1000, 6000)])
        await pilot.pause()
        assert [app.text(line)[2:18] for line in range(3)] == [f"…{n}_br…O:None]" for n in range(1000, 1003)]
        assert len(set(app.drawn)) <= 64
        await pilot.press("j", "j")
        assert app.text(2).startswith("> …1002_br…O:None]")


async def test_every_moving_key() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(50))
        seen: list[str | None] = []
        for key in ("j", "down", "k", "up", "up", "ctrl+d", "ctrl+u", "pagedown", "pageup", "G", "g", "end", "home"):
            await pilot.press(key)
            seen.append(rows.cursor)
        assert seen == ["k1", "k2", "k1", "k0", "k0", "k4", "k0", "k7", "k0", "k49", "k0", "k49", "k0"]


async def test_new_rows_never_move_the_cursor_or_its_line() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(50))
        for _ in range(20):
            await pilot.press("j")
        line = next(y for y in range(8) if app.text(y).startswith(">"))
        app.heard.clear()
        rows.show([f"new{number}" for number in range(30)] + keys(50))
        await pilot.pause()
        assert rows.cursor == "k20"
        assert app.text(line).startswith("> k20")
        assert app.heard == []


async def test_when_the_row_is_gone_the_cursor_stays_near_and_says_so() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(5))
        await pilot.press("j", "j")
        rows.show(["k0", "k1", "k3", "k4"])
        await pilot.pause()
        assert rows.cursor == "k3"
        assert app.heard[-1] == ("RowHighlighted", "k3")
        rows.show([])
        assert rows.cursor is None
        await pilot.press("j", "enter", "G")


async def test_headings_are_passed_over() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(["h1", "a", "h2", "b", "h3"], fixed={"h1", "h2", "h3"})
        assert rows.cursor == "a"
        await pilot.press("j")
        assert rows.cursor == "b"
        await pilot.press("G", "j")
        assert rows.cursor == "b"
        await pilot.press("g", "k")
        assert rows.cursor == "a"
        assert not rows.move_to("h2")


async def test_enter_chooses_and_space_marks_only_where_rows_can_be_marked() -> None:
    app = ListApp(selectable=True, names=True)
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(3))
        await pilot.press("space", "j", "enter")
        await pilot.pause()
        assert rows.marked == {"k0"}
        assert ("RowMarked", "k0") in app.heard
        assert app.heard[-1] == ("RowChosen", "k1")
        assert app.text(0).split() == ["id", "text", "n"]
        assert app.text(1).startswith("  [x] k0")
        assert app.text(2).startswith("> [ ] k1")


async def test_the_mouse_moves_and_then_chooses() -> None:
    app = ListApp(names=True)
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(20))
        await pilot.click(RowList, offset=(5, 3))
        assert rows.cursor == "k2"
        await pilot.click(RowList, offset=(5, 3))
        await pilot.pause()
        assert app.heard[-1] == ("RowChosen", "k2")
        await pilot.click(RowList, offset=(5, 0))
        assert rows.cursor == "k2"


async def test_touching_ten_thousand_rows_draws_what_is_visible_and_what_is_scrolled_to() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(10_000))
        await pilot.press("G", "g")
        await pilot.pause()
        app.drawn.clear()
        rows.touch(*keys(10_000))
        await pilot.pause()
        assert app.drawn == keys(8)
        await pilot.press("G")
        await pilot.pause()
        assert set(app.drawn) - set(keys(8)) == {f"k{number}" for number in range(9_992, 10_000)}


async def test_touching_a_row_draws_that_row_alone() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(100))
        await pilot.pause()
        app.drawn.clear()
        rows.touch("k3")
        rows.touch("k90")
        await pilot.pause()
        assert app.drawn == ["k3"]


async def test_an_empty_list_says_why() -> None:
    app = ListApp(empty=Content("Nothing yet.\nPress L to begin."))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert (app.text(0), app.text(1)) == ("  Nothing yet.", "  Press L to begin.")


async def test_hostile_keys_and_cells(all_hostile: tuple[str, ...]) -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        rows = app.query_one(RowList)
        rows.styles.height = 20
        rows.show(list(all_hostile), draw=lambda key: (one_line(key), one_line(key * 400), Content("")))
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            segments = list(strip)
            assert strip.cell_length == 40
            assert ControlCharacterFilter().apply(segments, app.screen.background_colors[1]) == segments


async def test_only_the_list_with_the_focus_has_the_cursor_sign() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(keys(2))
        await pilot.pause()
        assert app.text(0).startswith("> k0")
        app.set_focus(None)
        await pilot.pause()
        assert app.text(0).startswith("· k0")


async def test_a_list_that_typing_steers_keeps_its_cursor_sign() -> None:
    app = ListApp(steered=True)
    async with app.run_test(size=(40, 10)) as pilot:
        app.query_one(RowList).show(keys(2))
        app.set_focus(None)
        await pilot.pause()
        assert app.text(0).startswith("> k0")


async def test_the_heading_above_the_first_visible_row_is_shown() -> None:
    """When the row under the cursor gets a heading above it, and when the cursor comes back to a row below one."""
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.query_one(RowList)
        rows.show(["a", *keys(20)])
        await pilot.press("j", "k")
        rows.show(["h", "a", *keys(20)], fixed={"h"})
        await pilot.pause()
        assert (rows.cursor, rows.scroll_offset.y) == ("a", 0)
        rows.scroll_to(y=1, animate=False, immediate=True)
        await pilot.press("j", "k")
        assert (rows.cursor, rows.scroll_offset.y) == ("a", 0)
