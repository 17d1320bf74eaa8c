"""Suites of somebody's own in the app: made in Library, edited there, and their code allowed where they are chosen."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from support.folder_suites import write_folder_suite
from support.screen_text import assert_until, text_of, wait_until_unchanged

from console.suites.allowed import allowed_digest
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode
from console.tui.app import ConsoleApp
from console.tui.screens.launch.screen import LaunchScreen


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def open_library(app: Any, pilot: Any) -> None:
    await pilot.press("5")
    await assert_until(pilot, lambda: "SUITES" in text_of(app) and "computing" not in text_of(app))
    await wait_until_unchanged(app, pilot)


async def test_code_is_allowed_where_its_suite_is_chosen(opened: Any, workspace: Any) -> None:
    folder = write_folder_suite(workspace.root / "data", "cities")
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        assert "not allowed" in text_of(app)
        await pilot.press("g", "enter")
        await assert_until(pilot, lambda: "May the code of cities run?" in text_of(app))
        assert "suite.py" in text_of(app)
        await pilot.press("escape")
        await wait_until_unchanged(app, pilot)
        assert not allowed_digest(FolderCode(read_entry(folder)))
        await pilot.press("enter")
        await assert_until(pilot, lambda: "May the code of cities run?" in text_of(app))
        await pilot.press("y")
        await assert_until(pilot, lambda: "not allowed" not in text_of(app) and "large" in text_of(app))


async def test_code_that_cannot_be_loaded_is_not_allowed(opened: Any, workspace: Any) -> None:
    folder = write_folder_suite(workspace.root / "data", "cities", "1 / 0\n")
    async with opened((80, 24)) as (app, pilot):
        await open_library(app, pilot)
        await pilot.press("g", "enter")
        await assert_until(pilot, lambda: "May the code of cities run?" in text_of(app))
        await pilot.press("y")
        await assert_until(pilot, lambda: any("ZeroDivisionError" in text.plain for text in app.services.messages))
        assert not allowed_digest(FolderCode(read_entry(folder)))


async def test_the_form_asks_too(opened: Any, workspace: Any) -> None:
    write_folder_suite(workspace.root / "data", "cities")
    async with opened((80, 24)) as (app, pilot):
        await pilot.press("L")
        await assert_until(pilot, lambda: isinstance(app.screen, LaunchScreen) and "cities" in text_of(app))
        app.screen.query_one("#launch-suites").focus()
        await pilot.press("g", "space")
        await assert_until(pilot, lambda: "May the code of cities run?" in text_of(app))
        await pilot.press("y")
        await assert_until(pilot, lambda: "large" in text_of(app) or "[ ] ▸ cities" in text_of(app))
        await pilot.press("space")
        await assert_until(pilot, lambda: "[x] ▾ cities" in text_of(app))


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
        await pilot.press("n")
        await assert_until(pilot, lambda: "What kind of suite?" in text_of(app))
        assert "A suite in Python" in text_of(app)
        await pilot.press("pagedown", "enter")
        await assert_until(pilot, lambda: "New suite" in text_of(app))
        await pilot.press(*"small-talk")
        await assert_until(pilot, lambda: "a folder of that name exists" in text_of(app))
        await pilot.press("2", "enter")
        await assert_until(pilot, lambda: "small-talk2" in text_of(app) and "bakery" not in text_of(app))
        await assert_until(pilot, lambda: "one piece" in text_of(app))
        await pilot.press("e")
        await assert_until(pilot, lambda: "not allowed" in text_of(app))
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
        await assert_until(pilot, lambda: "LIBRARY  1 case" in text_of(app))
