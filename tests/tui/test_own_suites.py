"""Suites of somebody's own in the app: made in Library, edited there, and their code allowed where they are chosen."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from support.folder_suites import write_folder_suite
from support.screen_text import assert_until, see, text_of, wait_until_unchanged

from console.suites.allowed import allowed_digest
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode
from console.tui.app import ConsoleApp
from console.tui.screens.launch.screen import LaunchScreen


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def open_library(app: Any, pilot: Any) -> None:
    await see(pilot, lambda: "SUITES" in text_of(app) and "computing" not in text_of(app), "5")
    await wait_until_unchanged(app, pilot)


async def test_code_is_allowed_where_its_suite_is_chosen(opened: Any, workspace: Any) -> None:
    folder = write_folder_suite(workspace.root / "data", "cities")
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        assert "not allowed" in text_of(app)
        await see(pilot, "May the code of cities run?", "g", "enter")
        assert "suite.py" in text_of(app)
        await pilot.press("escape")
        await wait_until_unchanged(app, pilot)
        assert not allowed_digest(FolderCode(read_entry(folder)))
        await see(pilot, "May the code of cities run?", "enter")
        await see(pilot, lambda: "not allowed" not in text_of(app) and "large" in text_of(app), "y")


async def test_code_that_cannot_be_loaded_is_not_allowed(opened: Any, workspace: Any) -> None:
    folder = write_folder_suite(workspace.root / "data", "cities", "1 / 0\n")
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, "May the code of cities run?", "g", "enter")
        await see(pilot, lambda: any("ZeroDivisionError" in text.plain for text in app.services.messages), "y")
        assert not allowed_digest(FolderCode(read_entry(folder)))


async def test_the_form_asks_too(opened: Any, workspace: Any) -> None:
    write_folder_suite(workspace.root / "data", "cities")
    async with opened((80, 24)) as (app, pilot):
        await see(pilot, lambda: isinstance(app.screen, LaunchScreen) and "cities" in text_of(app), "L")
        app.screen.query_one("#launch-suites").focus()
        await see(pilot, "May the code of cities run?", "g", "space")
        await see(pilot, lambda: "large" in text_of(app) or "[ ] ▸ cities" in text_of(app), "y")
        await see(pilot, "[x] ▾ cities", "space")


async def test_a_new_suite_is_written_listed_and_edited(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "%s" "$1" > "$0.opened"\necho "# changed" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    monkeypatch.setattr(ConsoleApp, "suspend", lambda self: contextlib.nullcontext())
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await see(pilot, "What kind of suite?", "n")
        assert "A suite in Python" in text_of(app)
        await see(pilot, "New suite", "pagedown", "enter")
        await see(pilot, "a folder of that name exists", *"small-talk")
        await see(pilot, lambda: "small-talk2" in text_of(app) and "bakery" not in text_of(app), "2", "enter")
        await see(pilot, "one piece")
        await see(pilot, "not allowed", "e")
        suite = workspace.root / "data" / "small-talk2" / "suite.py"
    assert Path(f"{editor}.opened").read_text() == str(suite)  # noqa: ASYNC240 - the app is closed
    assert suite.read_text().endswith("# changed\n")


async def test_a_file_saved_in_another_window_is_read_again(opened: Any, workspace: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await assert_until(pilot, lambda: app.screen.files_seen is not None)
        rows = workspace.root / "data" / "small-talk"
        [questions] = rows.glob("*.jsonl")
        questions.write_text(questions.read_text().splitlines()[0] + "\n")
        await see(pilot, "LIBRARY  1 case")
