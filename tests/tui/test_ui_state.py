"""What outlives a start, what rings at the end of a run, what a reader's keys may not do, and finding things."""

from pathlib import Path
from typing import Any

import pytest
from support.recorded_runs import WeatherSuite, plain_run
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of, wait_until_unchanged

from console.tui.app import ConsoleApp, ring
from console.tui.data.runs import read_run
from console.tui.data.ui_state import UiState
from console.tui.keymap import load_key_map
from console.tui.themes import ANSI, LIGHT, choose_theme


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"theme": 7}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_memory_is_as_good_as_none(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    path.write_bytes(damage)
    memory = UiState(path)
    assert memory.text("theme", "x") == "x"
    memory.keep("theme", LIGHT)
    assert UiState(path).text("theme") == LIGHT


def test_a_memory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    memory = UiState(tmp_path / "file" / "app.json")
    memory.keep("theme", LIGHT)
    assert memory.text("theme") == LIGHT


def test_the_remembered_theme_counts_where_the_terminal_can_show_it() -> None:
    assert choose_theme({"TERM": "xterm"}, LIGHT) == LIGHT
    assert choose_theme({"TERM": "linux"}, LIGHT) == ANSI
    assert choose_theme({"TERM": "xterm"}, "of another version") != "of another version"


async def test_order_and_theme_come_back_and_the_filter_does_not(workspace: Any, settle: Any, tmp_path: Path) -> None:
    workspace.usual_runs()
    for start in (1, 2):
        memory = UiState(tmp_path / "state" / "app.json")
        app = ConsoleApp(workspace.paths, ui_state=memory)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(app, pilot)
            if start == 1:
                await pilot.press("s", "u", "slash", *"hasty", "enter")
                app.action_theme_next()
            await see(pilot, "suite ↑")
            assert ("1 of 4" in text_of(app)) == (start == 1)
    assert memory.text("theme") == LIGHT


def test_ringing_says_nothing_of_the_run() -> None:
    sent: list[str] = []
    ring(sent.append, {"TERM": "xterm-256color"})
    assert sent[0] == "\a"
    assert all(text.startswith(("\x1b]9;", "\x1b]777;")) and "A run has ended." in text for text in sent[1:])
    plain: list[str] = []
    ring(plain.append, {"TERM": "linux"})
    assert plain == ["\a"]


async def test_the_end_of_a_run_rings_unless_it_was_switched_off(opened: Any, workspace: Any) -> None:
    run = read_run(workspace.run("2025-01-17T1320-a\x1b]0;x\x07", passed=2))
    async with opened() as (app, pilot):
        written: list[str] = []
        app._driver.write = written.append
        app.announce_end_of_run(run)
        assert written[0] == "\a"
        assert not any("2025" in text for text in written)
        app.action_notice_toggle()
        written.clear()
        app.announce_end_of_run(run)
        assert "\a" not in written
        await pilot.pause()


def test_two_actions_on_one_key_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('"run.new" = "z"\n"run.nwe" = "x"\n', encoding="utf-8")
    mistakes = load_key_map(path).mistakes
    assert any("z is both run.new and view.zoom" in text for text in mistakes)
    assert any("did you mean run.new" in text for text in mistakes)


async def test_a_run_and_a_case_are_found_by_a_word(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_by(monkeypatch, WeatherSuite())
    plain_run(workspace.root / "runs")
    async with opened() as (app, pilot):
        await see(pilot, "live_multiple_131-52", "ctrl+t", *"131-52")
        await see(pilot, lambda: app.screen.where == "review", "enter")
        await assert_until(pilot, lambda: "> " in text_of(app) and "131-52" in text_of(app))
        rollout = app.screen.controller.cursor.rollout
        assert rollout is None or rollout.key.case == "live_multiple_131-52"


async def test_help_stays_beside_a_wide_place_while_keys_are_tried(opened: Any, workspace: Any) -> None:
    async with opened((160, 45)) as (app, pilot):
        await see(pilot, "? closes", "question_mark")
        await see(pilot, lambda: "SUITES" in text_of(app) and "? closes" in text_of(app), "5")
        await pilot.resize_terminal(100, 40)
        await assert_until(pilot, lambda: "? closes" not in text_of(app))
        await pilot.resize_terminal(160, 45)
        await see(pilot, "? closes")
        await see(pilot, lambda: "? closes" not in text_of(app), "question_mark")


async def test_the_key_line_can_be_clicked(opened: Any, workspace: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.click("KeyLine", offset=(15, 1))
        await assert_until(pilot, lambda: "SUITES" in text_of(app) and app.screen.where == "launch")
        await pilot.press("escape")
        await pilot.click("KeyLine", offset=(64, 1))
        await see(pilot, "Help: Home")
        await wait_until_unchanged(app, pilot)
