"""Home through its keys: what is there, what stands in the way, and where Enter leads."""

import importlib.util
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_size
from support.recorded_runs import Recorder
from support.screen_text import assert_until, see, text_of
from textual.widgets import Static

from console.core.outcome import Outcome
from console.core.run import RECORDED
from console.tui.app import ConsoleApp
from console.tui.screens.home.lists import RunList
from console.tui.screens.home.screen import HomeScreen

Check = Callable[[ConsoleApp, str], None]
Frame = Callable[[ConsoleApp], str]
SIZES = {"80x24": (80, 24), "120x30": (120, 30), "160x45": (160, 45)}


async def test_first_day_on_a_terminal_of_middle_size(opened: Any, assert_frame: Check) -> None:
    async with opened((120, 30)) as (app, _):
        assert_frame(app, "home-first-day-120x30")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_usual_day(size: str, opened: Any, workspace: Any, assert_frame: Check) -> None:
    workspace.usual_runs()
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("tab")
        await pilot.pause()
        assert_frame(app, f"home-usual-{size}")


async def test_a_run_that_does_not_record_its_suite_is_incomplete_as_in_the_leaderboard(
    opened: Any, workspace: Any, frame: Frame
) -> None:
    workspace.run("2025-01-17T1300-part", passed=1, failed=1)
    workspace.run("2025-01-17T1301-gone", suite="gone", passed=1, failed=1)
    async with opened() as (app, pilot):
        await assert_until(pilot, lambda: ".500* [" in frame(app))
        assert frame(app).count(".500 [") == 1, "the size of a suite that is gone is not known"


async def test_the_cursor_starts_on_what_needs_no_key(opened: Any, frame: Frame) -> None:
    async with opened((160, 45)) as (app, _):
        assert app.focused.id == "start"
        assert app.focused.cursor == "demo"
        assert "set DESK_KEY_THAT" in frame(app)
        assert "simulated" in frame(app)


async def test_focus_flows_between_start_and_runs(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("G", "j")
        await pilot.pause()
        assert app.focused.id == "runs"
        first = app.focused.cursor
        await pilot.press("k")
        await pilot.pause()
        assert app.focused.id == "start"
        await pilot.press("tab", "G", "j")
        await pilot.pause()
        assert app.focused.id == "library-line"
        assert app.screen.query_one(RunList).keys[0] == first


async def test_filter_narrows_by_words_and_escape_clears(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("slash", *"sim hasty")
        await pilot.pause()
        runs = app.screen.query_one(RunList)
        assert len(runs.keys) == 1
        assert "RUNS  1 of 4" in frame(app)
        await pilot.press("enter")
        assert app.focused is runs
        assert len(runs.keys) == 1
        await pilot.press("F")
        assert len(runs.keys) == 4
        await pilot.press("slash", *"nothing such")
        await pilot.pause()
        assert "No run matches “nothing such”. F shows all." in frame(app)
        await pilot.press("escape")
        await pilot.pause()
        assert len(runs.keys) == 4
        assert app.screen.where == "home"


async def test_runs_are_sorted_by_a_marked_column(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        runs = app.screen.query_one(RunList)
        orders = [[key.rsplit("-", 1)[-1] for key in runs.keys]]
        for keys in ("sw", "sc", "ss", "so"):
            await pilot.press(*keys)
            await pilot.pause()
            orders.append([key.rsplit("-", 1)[-1] for key in runs.keys])
            if keys == "ss":
                assert "cost ↑" in next(row for row in frame(app).splitlines() if "model" in row and "when" in row)
        assert orders[0] == ["a", "b", "c", "z"]
        assert orders[1] == ["b", "a", "c", "z"]
        assert orders[2][0] == "a"
        assert orders[3][-1] == "a"
        assert orders[4] == orders[0]


@pytest.mark.parametrize("size", [(80, 24), (130, 36), (160, 45)], ids=str)
async def test_every_order_of_runs_has_its_marked_column(
    size: tuple[int, int], opened: Any, workspace: Any, frame: Frame
) -> None:
    workspace.usual_runs()
    orders = {"t": "time ↓", "c": "cost ↓", "k": "tokens ↓", "n": "calls ↓", "i": "id ↑", "r": "repeats ↓"}
    async with opened(size) as (app, pilot):
        for letter, heading in orders.items():
            await pilot.press("s", letter)
            await pilot.pause()
            rows = frame(app).splitlines()
            place = next(place for place, row in enumerate(rows) if "model" in row and "score" in row)
            assert heading in rows[place], letter
            assert ("when" in rows[place]) == (letter != "i" or size[0] > 80)  # an id begins with the time
            if letter == "k":
                end = rows[place].index(heading) + len(heading)
                numbers = [row[end - 8 : end] for row in rows[place + 1 : place + 3]]
                assert all(any(map(str.isdigit, number)) for number in numbers), numbers


async def test_the_run_under_the_cursor_is_described(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened((160, 45)) as (app, pilot):
        await pilot.press("tab", "j")
        await pilot.pause()
        about = app.screen.query_one("#about", Static).render().plain
        assert "2025-01-16T0900-b  finished" in about
        assert "wrong value 5, rate limited 1" in about
        await pilot.press("j", "j")
        await pilot.pause()
        assert "2025-01-01T0000-z" in app.screen.query_one("#about", Static).render().plain


async def test_a_run_is_renamed_annotated_pinned_and_archived(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened((160, 45)) as (app, pilot):
        runs = app.screen.query_one(RunList)
        await pilot.press("tab", "j")
        assert runs.line.name == "2025-01-16T0900-b"
        await see(pilot, lambda: runs.line.summary.name == "base", "o", "n", *"base", "enter")
        await pilot.press("o", "t", *"odd", "enter")
        await assert_until(pilot, lambda: "note  odd" in app.screen.query_one("#about", Static).render().plain)
        await see(pilot, lambda: runs.keys[0].endswith("-b"), "o", "p")
        assert "◆ base" in frame(app)
        await see(pilot, lambda: len(runs.keys) == 3, "o", "a")
        await see(pilot, lambda: len(runs.keys) == 1, "o", "s")
        assert runs.line.name == "2025-01-16T0900-b"
        assert "Runs  1 archived" in frame(app)
        await see(pilot, lambda: "No run is archived" in frame(app), "o", "a")


async def test_a_damaged_run_says_why_instead_of_opening(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("tab", "G", "enter")
        await pilot.pause()
        assert app.screen.where == "home"
        assert "cannot be read" in app.services.messages[-1].plain


async def test_enter_on_a_finished_run_opens_review_and_1_comes_back(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("tab", "j", "enter")
        await pilot.pause()
        assert app.screen.where == "review"
        await pilot.press("1")
        await pilot.pause()
        assert app.screen.where == "home"
        assert app.screen.query_one(RunList).line.name == "2025-01-16T0900-b"


async def test_resume_refuses_with_the_cure_when_the_suite_is_gone(opened: Any, workspace: Any, settle: Any) -> None:
    workspace.run("2025-01-17T1320-a", suite="gone", passed=1, planned=3, reason="stopped")
    async with opened() as (app, pilot):
        assert app.screen.controller.next_steps.resumable.name == "2025-01-17T1320-a"
        await pilot.press("r")
        await settle(app, pilot)
        assert "gone" in app.services.messages[-1].plain
        assert app.screen.where == "home"


async def test_resume_says_why_an_imported_run_cannot_be_played(opened: Any, workspace: Any, settle: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1, format=RECORDED)
    recorder.finish(recorder.start("a"), Outcome.BROKEN, "server")
    recorder.close()
    async with opened() as (app, pilot):
        await pilot.press("tab", "r")
        await settle(app, pilot)
        assert "recorded by another tool" in app.services.messages[-1].plain


async def test_resume_has_nothing_to_do_on_a_finished_run(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.run("2025-01-15T0900-c", passed=50)
    async with opened() as (app, pilot):
        await pilot.press("tab", "r")
        await pilot.pause()
        assert "nothing to resume" in app.services.messages[-1].plain


async def test_a_mistake_in_models_toml_leaves_the_sound_models_usable(
    opened: Any, workspace: Any, frame: Frame
) -> None:
    workspace.write_models('[good]\nmodel_id = "g"\nbase_url = "http://127.0.0.1:1/v1"\n\n[bad]\nmodel_idd = "x"\n')
    async with opened((160, 45)) as (app, _):
        shown = frame(app)
        assert "models.toml:6" in shown
        assert "good" in shown
        assert "key" in shown


async def test_without_models_toml_it_says_how_to_get_one(opened: Any, workspace: Any, frame: Frame) -> None:
    (workspace.root / "models.toml").unlink()
    async with opened((160, 45)) as (app, pilot):
        assert "sim/careful" in frame(app)
        app.screen.query_one("#models").focus()
        await pilot.press("enter")
        await pilot.pause()
        assert "models.toml does not exist" in app.services.messages[-1].plain


async def test_a_suite_that_cannot_be_read_says_why(opened: Any, workspace: Any, frame: Frame) -> None:
    (workspace.root / "data" / "small-talk" / "questions.jsonl").write_text("{", encoding="utf-8")
    async with opened((160, 45)) as (app, pilot):
        assert "! not usable" in frame(app)
        app.screen.query_one("#suites").focus()
        await pilot.press("enter")
        await pilot.pause()
        assert "questions.jsonl" in app.services.messages[-1].plain
        assert app.screen.where == "home"


async def test_runs_that_cannot_be_listed_are_said(opened: Any, workspace: Any, frame: Frame) -> None:
    """A link to itself cannot be read by anybody, the superuser included."""
    (workspace.root / "runs").rmdir()
    (workspace.root / "runs").symlink_to("runs")
    async with opened() as (app, _):
        assert "symbolic links" in frame(app)


async def test_a_runs_place_that_is_a_file_is_said(opened: Any, workspace: Any, frame: Frame) -> None:
    (workspace.root / "runs").rmdir()
    (workspace.root / "runs").write_text("", encoding="utf-8")
    async with opened((160, 45)) as (app, _):
        words = "".join(line.strip(" ┃│╭╮╰╯") for line in frame(app).split("\n") if "│" in line)
        assert "runs is not a folder" in app.services.workspace.runs_mistake
        assert "Give a folder" in words


async def test_new_runs_appear_without_moving_the_cursor(opened: Any, workspace: Any, settle: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        runs = app.screen.query_one(RunList)
        await pilot.press("tab", "j")
        workspace.run("2025-02-01T0000-new", passed=1)
        app.services.workspace.read_runs()
        await settle(app, pilot)
        assert len(runs.keys) == 5
        assert runs.line.name == "2025-01-16T0900-b"


@pytest.mark.slow
async def test_a_thousand_runs(opened: Any, workspace: Any, frame: Frame) -> None:
    model = workspace.run("2025-01-0000", passed=3, failed=2)
    model.summary()
    for number in range(1, 1000):  # links of one journal: what is tried here is the list
        folder = model.path.with_name(f"2025-01-{number:04}")
        folder.mkdir()
        os.link(model.journal_path, folder / model.journal_path.name)
        for path in (model.manifest_path, model.summary_path):
            text = path.read_text(encoding="utf-8").replace(model.name, folder.name)
            (folder / path.name).write_text(text, encoding="utf-8")
    async with opened() as (app, pilot):
        assert "RUNS  1,000" in frame(app)
        await pilot.press("tab", "G")
        await pilot.pause()
        assert app.screen.query_one(RunList).line.name == "2025-01-0000"


@pytest.mark.slow
async def test_hostile_names_everywhere(
    opened: Any, workspace: Any, frame: Frame, all_hostile: tuple[str, ...]
) -> None:
    for number, text in enumerate(all_hostile):
        safe_for_a_folder = text.replace("/", "_").replace("\x00", "").encode("utf-8", "replace").decode()
        workspace.run(f"r{number}-{safe_for_a_folder}", suite=text.encode("utf-8", "replace").decode(), failed=1,
                 model=text.encode("utf-8", "replace").decode(), category="[/x]")  # fmt: skip
        workspace.write_suite(f"s{number}[/x]{safe_for_a_folder}", "title [red]x[/red] [/x]")
    workspace.write_models('["[/x][@click=app.quit]"]\nmodel_id = "[/foo]"\nbase_url = "http://127.0.0.1:1/v1"\nx = 1\n'
                      '["a\\u001b]52;c;eA==\\u0007"]\nmodel_id = "m"\n')  # fmt: skip
    for size in SIZES.values():
        async with opened(size) as (app, pilot):
            for key in ("tab", "G", "y", "escape", "tab", "tab", "enter", "escape", "question_mark", "escape"):
                await pilot.press(key)
                await pilot.pause()
                shown = frame(app)
                assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in shown)
                assert "\u202e" not in shown
            assert isinstance(app.screen, HomeScreen) or app.screen.where in ("launch", "review")


async def test_the_demo_starts_engines_and_goes_to_live(opened: Any, workspace: Any, settle: Any) -> None:
    with (workspace.root / "data" / "small-talk" / "suite.toml").open("a", encoding="utf-8") as toml:
        for order, model in ((2, "sim/careful"), (1, "sim/hasty")):
            toml.write(f'[[demo]]\norder = {order}\nmodel = "{model}"\ncases = 1\n')
    async with opened() as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        assert app.screen.where == "live"
        await assert_until(pilot, lambda: len(app.navigator.launched) == 2)
        assert app.screen.run_folder.path == app.navigator.launched[0].path
        assert "small-talk" in app.navigator.launched[0].name
        manifest = app.navigator.launched[0].manifest()
        assert manifest.model.name == "sim/hasty"
        assert manifest.simulated
        assert manifest.cases == 1


async def test_the_demo_of_a_suite_without_its_extra_plays_the_other_mode(
    opened: Any, workspace: Any, settle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(Path(__file__).parents[2] / "data" / "cave-starter", workspace.root / "data" / "cave-starter")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: find_spec(name) if name != "cave_agent" else None)
    async with opened() as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        await assert_until(pilot, lambda: len(app.navigator.launched) == 1)
        manifest = app.navigator.launched[0].manifest()
        assert (manifest.suite, manifest.setting.mode, manifest.cases) == ("cave-starter", "json", 4)


def test_no_foreign_escape_reaches_a_real_terminal(
    workspace: Any, terminal: Callable[..., Any], all_hostile: tuple[str, ...]
) -> None:
    for number, text in enumerate(all_hostile):
        name = text.encode("utf-8", "replace").decode()
        workspace.run(f"r{number}-" + name.replace("/", "_").replace("\x00", ""), suite=name, model=name, failed=1)
    one = terminal(
        "import sys\nfrom console.cli.main import run\n"
        "sys.exit(run(['--models', 'models.toml', '--runs', 'runs', '--data', 'data']))\n",
        size=(160, 45),
    )
    one.read_until(b"r9-")
    for keys in (b"\t", b"G", b"\x15", b"g", b"?"):
        one.send(keys)
    one.read_until(b"Help")
    one.send(b"\x11")
    assert one.wait() == 0
    for sequence in (
        b"\x1b]52",
        b"\x1b]0;title",
        b"\x1b]8;",
        b"\x1bP+q",
        b"\x1b[31mred",
        b"\xc2\x9b",
        "\u202e".encode(),
    ):
        assert sequence not in one.output


def test_the_app_of_a_verb_draws_on_the_terminal_itself(workspace: Any, terminal: Callable[..., Any]) -> None:
    workspace.run("a", failed=1)
    one = terminal(
        "import sys\nfrom console.cli.main import run\n"
        "sys.exit(run(['review', 'a', '--models', 'models.toml', '--runs', 'runs', '--data', 'data']))\n"
    )
    one.read_until(b"0 rev")
    one.send(b"\x11")
    assert one.wait() == 0
    assert b"^[[" not in one.output, "no sanitized escapes"


@pytest.mark.parametrize("columns", [80, 130])
async def test_the_last_failures_keep_counts_and_time_and_both_ends_of_names(
    columns: int, opened: Any, workspace: Any
) -> None:
    suite = "a-suite-name-that-is-long"
    workspace.run("2025-01-16T0900-a", passed=1, failed=3, suite=suite)
    async with opened((columns, 36)) as (app, pilot):
        await see(pilot, "3 failed in ")
        row = next(row for row in text_of(app).splitlines() if "Last failures" in row)
        assert re.search(r", (16 Jan|Jan 2025) ", row)
        assert (suite in row) == (columns == 130)
        assert "long/what / gpt-x" in row
