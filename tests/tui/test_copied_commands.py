"""Every shell command that a screen copies runs as it stands; `RUN#CASE` is understood wherever a case is named."""

import asyncio
import shlex
from typing import Any

import pytest
from support.compared_runs import call_run
from support.screen_text import assert_until, see, settle

from console.cli.exitcode import Exit
from console.cli.main import run as run_command
from console.cli.parser import parse
from console.store.runs import RunFolder


@pytest.fixture
def two_runs(workspace: Any) -> list[RunFolder]:
    root = workspace.root / "runs"
    return [call_run(root, "0117-1420 a", "gpt-x", 0), call_run(root, "-0116-0904", "claude-y", 1)]


def play(command: str, *more: str) -> int:
    """Run a copied command as a shell would, without starting a process."""
    program, *words = shlex.split(command)
    assert program == "eval-console"
    return run_command([*words, *more])


async def test_commands_of_home_live_review_and_compare(
    opened: Any, two_runs: list[RunFolder], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = two_runs
    copied: dict[str, str] = {}
    async with opened() as (app, pilot):

        async def copy(where: str) -> None:
            await assert_until(pilot, lambda: getattr(app.screen, "where", "") == where)
            await settle(app, pilot)
            await pilot.press("y", "c")
            await settle(app, pilot)
            copied[where] = app.clipboard

        await pilot.press("tab")
        await copy("home")
        for open_screen, where in (
            (lambda: app.navigator.open_live(second), "live"),
            (lambda: app.navigator.open_review(first, ("live_simple_80-42-0", 0)), "review"),
            (lambda: app.navigator.open_compare(first, second), "compare"),
        ):
            open_screen()
            await copy(where)
    assert len(set(copied.values())) == 4
    for where, command in copied.items():
        capsys.readouterr()
        code = play(command)
        told = capsys.readouterr()
        assert code in (Exit.OK, Exit.INCONCLUSIVE), (where, command, told.err)
        assert told.out
        if where == "review":
            assert "live_simple_80-42-0" in told.out
            assert "live_simple_14-3-9" not in told.out


async def commands_of_the_library(opened: Any) -> dict[str, str]:
    """Return what is copied at each entry, by its kind and key."""
    async with opened() as (app, pilot):
        await pilot.press("5")
        await settle(app, pilot)
        entries = app.screen.controller.entries
        commands: dict[str, str] = {}
        for entry in entries:
            app.copy_to_clipboard("")
            app.screen._entry_list.move_to(entry.key)
            await settle(app, pilot)
            await pilot.press("y", "c")
            await settle(app, pilot)
            if app.clipboard:
                commands[entry.key] = app.clipboard
    return commands


def test_commands_of_the_library(
    opened: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    commands = asyncio.run(commands_of_the_library(opened))
    assert {"model", "suite"} <= {key.split("\x1f")[0] for key in commands}
    of_suites = [words for key, words in commands.items() if key.startswith("suite")]
    of_simulated = [words for words in commands.values() if "-m sim/" in words]
    assert play(of_suites[0], "-n", "1") in (Exit.OK, Exit.INCONCLUSIVE), capsys.readouterr().err
    assert parse(shlex.split(of_simulated[0])[1:]).verb == "run"
    for words in commands.values():
        assert "MODEL" not in words.split()
        assert "SUITE" not in words.split()


def test_a_case_is_named_alike_by_every_verb(
    workspace: Any, two_runs: list[RunFolder], capsys: pytest.CaptureFixture[str]
) -> None:
    case, places = "0117-1420 a#live_simple_80-42-0", ["--runs", str(workspace.root / "runs")]
    for verb in (
        ["show", case],
        ["review", case],
        ["dispute", case],
        ["tag", case],
        ["branch", case, "--show", "opening"],
    ):
        assert run_command([*verb, *places]) == Exit.OK, (verb, capsys.readouterr().err)
        told = capsys.readouterr()
        assert "live_simple_14-3-9" not in told.out
    for verb in ("show", "review", "dispute", "tag", "branch"):
        assert run_command([verb, "0117-1420 a#live_simple_80-42-9", *places]) == Exit.USAGE
        assert "live_simple_80-42-9" in capsys.readouterr().err


async def test_the_finder_jumps_to_a_case_of_a_run_that_is_named(opened: Any, two_runs: list[RunFolder]) -> None:
    async with opened() as (app, pilot):
        await pilot.press("ctrl+t", *"0904#simple_80")
        await see(pilot, "live_simple_80-42-0")
        await see(pilot, lambda: getattr(app.screen, "where", "") == "review", "enter")
        await assert_until(pilot, lambda: app.screen.controller.cursor.slot == ("live_simple_80-42-0", 0))
        assert app.screen.shown_run.name == "-0116-0904"


async def test_a_case_that_the_run_does_not_have_is_said(opened: Any, two_runs: list[RunFolder]) -> None:
    async with opened() as (app, pilot):
        app.navigator.open_review(two_runs[0], ("no such case", 0))
        await assert_until(pilot, lambda: any("no such case" in text.plain for text in app.services.messages))
