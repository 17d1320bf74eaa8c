"""Library: what is in the box, read only: suites with their files' state, categories, cases; models with their keys."""

from typing import Any

import pytest
from support.quick_rows import first_size
from support.screen_text import see, text_of, wait_until_unchanged

from console.tui.data.entry_checks import Ping
from console.tui.screens.launch.screen import LaunchScreen
from console.tui.screens.library import actions

SIZES = [(80, 24), (160, 45)]


async def open_library(app: Any, pilot: Any) -> None:
    await see(pilot, lambda: "SUITES" in text_of(app) and "computing" not in text_of(app), "5")
    await wait_until_unchanged(app, pilot)


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_suites_and_models(size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any) -> None:
    workspace.usual_runs()
    async with opened(size) as (app, pilot):
        await open_library(app, pilot)
        name = f"{size[0]}x{size[1]}"
        app.screen.query_one("#details").show([])  # the folder of a test is called differently every time
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"library-suites-{name}")
        await pilot.press("G", *["k"] * 4)
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"library-model-{name}")


async def test_the_results_of_a_model_stand_whole_at_80_columns(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened((80, 30)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, ".643 [.39 .84]   simulated", "slash", *"hasty", "enter")
        [heading] = [line for line in text_of(app).split("\n") if "score" in line]
        assert heading.split() == ["suite", "runs", "graded", "score", "cost"], "rollouts are no cases"


async def test_cases_are_read_narrowed_and_left_again(opened: Any, workspace: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, "what-1", "x", "j", "enter")
        await wait_until_unchanged(app, pilot)
        await see(pilot, "1 of 3", "slash", *"bench", "enter")
        assert "What makes a good bench?" in text_of(app)
        await see(pilot, "SUITES", "escape")


async def test_a_changed_suite_is_marked(opened: Any, workspace: Any) -> None:
    toml = workspace.root / "data" / "small-talk" / "suite.toml"
    toml.write_text('origin = "pulled"\n' + toml.read_text(encoding="utf-8"), encoding="utf-8")
    async with opened((80, 24)) as (app, pilot):
        await see(pilot, "≠ changed since it was pulled", "5")
        assert "≠  small-talk" in text_of(app)
        assert "eval-console pull aidanbench" in text_of(app)


async def test_a_ping_shows_its_answer(opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "ping_model", lambda name, models: Ping(0.0, 0.41, True, f"{name} answers", ""))
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, "gpt-x answers", "G", *["k"] * 5, "p")
        assert "0.41 s" in text_of(app)
        assert "sk-desk" not in text_of(app)


async def test_a_new_run_starts_with_what_is_under_the_cursor(opened: Any, workspace: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, lambda: isinstance(app.screen, LaunchScreen), "L")
        await see(pilot, "[x] ▸ small-talk")
        assert "[x]  gpt-x" not in text_of(app)


async def test_what_is_missing_says_which_command_brings_it(opened: Any, workspace: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, "not installed", "j")
        assert "eval-console pull bfcl" in text_of(app)
