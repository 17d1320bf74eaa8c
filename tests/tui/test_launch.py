"""The form for a new run: choosing, setting, foreseeing, asking, starting."""

import dataclasses
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_size
from support.recorded_runs import plain_run
from support.sample_workspace import TWO_MODELS
from support.screen_text import assert_until, see, text_of

from console.config.paths import WorkspacePaths
from console.config.preset import Preset
from console.core.case import Case
from console.core.run import Budget, Selection
from console.engine.compute_target import LOCAL, ComputeTarget
from console.suites.suite import Option
from console.tui.app import ConsoleApp
from console.tui.data.models import Models
from console.tui.data.suites import Suites
from console.tui.screens.home.lists import RunList
from console.tui.screens.launch import fields as launch_fields
from console.tui.screens.launch.choices import CasePreview
from console.tui.screens.launch.field_list import FieldList
from console.tui.screens.launch.fields import Field, money, option_field, run_name, time_limit, whole
from console.tui.screens.launch.form import Form, command_of
from console.tui.screens.launch.screen import LaunchScreen

Check = Callable[[ConsoleApp, str], None]
Frame = Callable[[ConsoleApp], str]
SIZES = {"80x24": (80, 24), "160x45": (160, 45)}


async def rest(app: ConsoleApp, pilot: Any, settle: Any) -> None:
    """Wait until the forecast has been worked out and drawn."""
    screen = app.screen
    assert isinstance(screen, LaunchScreen)
    await assert_until(pilot, lambda: screen.controller.forecast is not None)
    await settle(app, pilot)


async def fill(pilot: Any) -> None:
    """Choose sim/careful and the category `what` of the suite, and two cases of it."""
    await pilot.press("L", "j", "j", "space", "tab", "x", "j", "space", "tab", "2", "enter")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_the_empty_form(size: str, opened: Any, assert_frame: Check) -> None:
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("L")
        await pilot.pause()
        assert_frame(app, f"launch-empty-{size}")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_a_filled_form(size: str, opened: Any, assert_frame: Check, settle: Any) -> None:
    async with opened(SIZES[size]) as (app, pilot):
        await fill(pilot)
        await rest(app, pilot, settle)
        assert_frame(app, f"launch-filled-{size}")


async def test_a_refused_form(opened: Any, assert_frame: Check, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        await rest(app, pilot, settle)
        assert_frame(app, "launch-refused-80x24")


async def test_selecting_models_suites_and_categories(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "j", "space")
        await pilot.pause()
        assert app.screen.controller.form.models == ["gpt-x"]
        assert "DESK_KEY_THAT_IS_NOT_SET is not set" in app.services.messages[-1].plain
        form = app.screen.controller.form
        for keys, ticked in (
            (("tab", "x", "j", "space"), {"what"}),
            (("j", "space"), set[str]()),  # both, which is all
            (("space",), {"what"}),
            (("g", "space"), set[str]()),
        ):
            await pilot.press(*keys)
            assert form.suites == {"small-talk": ticked}
        await pilot.press("space")
        assert form.suites == {}
        await pilot.press("x")
        await pilot.pause()
        assert "[ ]   what" not in frame(app)


async def test_a_click_hits_the_row_that_was_shown_under_the_pointer(opened: Any, settle: Any) -> None:
    """Although the lists give way to the settings when these get the focus, which moves them."""
    async with opened((80, 24)) as (app, pilot):
        await pilot.press("L")
        await settle(app, pilot)
        fields = app.screen.query_one(FieldList)
        before = fields.region.y
        await pilot.click(FieldList, offset=(4, 2))
        await settle(app, pilot)
        assert fields.region.y < before
        assert fields.cursor == fields.keys[2]


async def test_a_model_chosen_at_home_is_ticked(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        app.screen.query_one("#models").focus()
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert app.screen.controller.form.models == ["gpt-x"]


async def test_filter_narrows_both_lists(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "slash", *"rambl", "enter")
        await pilot.pause()
        shown = frame(app)
        assert "sim/rambling" in shown
        assert "sim/hasty" not in shown
        assert "No matching suite." in shown
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert "sim/hasty" in frame(app)


async def test_a_field_is_edited_in_place_and_says_what_does_not_fit(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "j", "0")
        await pilot.pause()
        shown = frame(app).split("\n")
        place = next(number for number, text in enumerate(shown) if text.startswith("> repeats"))
        assert shown[place + 1].startswith("  ✗ a whole number, at least 1")
        await pilot.press("backspace", "3", "enter")
        await pilot.pause()
        assert app.screen.controller.form.texts["repeats"] == "3"
        await pilot.press("9", "escape")
        assert app.screen.controller.form.texts["repeats"] == "3"
        await pilot.press("x", *"jjjjjjj", "space", "space")
        assert app.screen.controller.form.texts["mode"] == "prompt"
        await pilot.press("G", "space")
        assert app.screen.query_one("#launch-fields").is_editing or app.screen.controller.form.texts


async def test_suite_options_and_roles_become_fields(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "space")
        await pilot.pause()
        ids = [field.id for field in app.screen.controller.fields]
        assert {"role:judge", "role:embedding", "option:small-talk:protocol", "name"} <= set(ids)


async def test_letters_go_into_a_text_field_and_not_to_their_actions(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "x")
        app.screen.query_one(FieldList).move_to("name")
        await pilot.press("space", *"jqL:?1", "enter")
        assert app.screen.where == "launch"
        assert app.screen.controller.form.texts["name"] == "jqL:?1"


async def test_enter_without_choices_says_what_is_missing(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert "choose a model" in app.services.messages[-1].plain


async def test_what_cannot_start_is_refused_with_its_cure(opened: Any, settle: Any, frame: Frame) -> None:
    """The suite's own judge has no key here; the same check that a start goes through says so."""
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        await rest(app, pilot, settle)
        assert "OPENAI_API_KEY" in app.screen.controller.refusals[0][0]
        assert "✗" in frame(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert "OPENAI_API_KEY" in app.services.messages[-1].plain


async def test_money_at_stake_is_asked_about_once(opened: Any, settle: Any, frame: Frame, workspace: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        app.screen.controller.form.texts |= {
            "role:judge": "sim/judge",
            "role:embedding": "sim/embedding",
            "stop_when": "never",
        }
        app.screen.apply_change()
        await rest(app, pilot, settle)
        assert app.screen.controller.forecast.refusals == []
        await pilot.press("enter")
        await pilot.pause()
        assert "no limit stops it" in frame(app)
        await pilot.press("escape")
        await settle(app, pilot)
        assert app.screen.where == "launch"
        assert list((workspace.root / "runs").iterdir()) == []


async def test_one_run_starts_for_each_model_and_live_opens(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "j", "j", "space", "j", "space", "tab", "space", "tab", "1", "enter")
        await rest(app, pilot, settle)
        await pilot.press("enter")
        await settle(app, pilot)
        assert app.screen.where == "live"
        assert sorted(run.manifest().model.name for run in app.navigator.launched) == ["sim/careful", "sim/hasty"]
        assert {run.manifest().selection for run in app.navigator.launched} == {Selection(limit=1, seed=0)}


async def test_the_same_command_for_the_shell(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await fill(pilot)
        await pilot.press("y", "c")
        await pilot.pause()
        assert app.clipboard.startswith(
            "eval-console run -m sim/careful -s small-talk/what --sample 2 --seed 0 --max-cost 5 --models"
        )


WHOLE = Preset(
    ("gpt [/x]", "other"), {"s p": ("a", "b"), "t": ()}, 5, 3, ("@ids.txt", "x-1"), "former", 2, 4, "fc",
    {"judge": "j", "embedding": "e"}, {"t/k": [1, "x"], "s p/t": "plain", "u": "1"}, Budget(1.5, 7, 600.0, 2),
    "decided", "a run", "1pt", "category", True, True, "na me",
)  # fmt: skip


@pytest.mark.parametrize("preset", [WHOLE, Preset(("m",), {"s": ()}, limit=5), Preset(("m",), {"s": ()})])
def test_the_command_line_reads_what_is_copied(preset: Preset) -> None:
    import shlex

    from console.cli.parser import parse
    from console.cli.selection import preset_of

    read = preset_of(parse(shlex.split(command_of(preset, WorkspacePaths()))[1:]))  # pyright: ignore[reportArgumentType]
    assert {**asdict(read), "ids": set(read.ids)} == {**asdict(preset), "ids": set(preset.ids)}


def test_a_preset_goes_into_the_form_and_comes_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.txt").write_text("x-1")
    form = Form(options={"t": (Option("k", "json", None, ""),), "s p": (Option("t", "text", "d", ""),)},
                roles={"t": ("judge", "embedding")})  # fmt: skip
    preset = dataclasses.replace(WHOLE, only_failed_of="", options={"t/k": [1, "x"], "s p/t": "plain"}, roles={})
    form.fill_in(preset)
    found = form.preset(form.fields(Models(), []), Suites())
    assert dataclasses.replace(found, ids=preset.ids) == preset
    assert form.texts["ids"] == "@ids.txt, x-1"


def test_where_a_run_is_played_is_chosen_where_ray_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    form = Form(["m"], {"s": set()})
    monkeypatch.setattr(launch_fields, "has_ray", lambda: False)
    assert not {"where", "workers"} & {field.id for field in form.fields(Models(), [])}
    monkeypatch.setattr(launch_fields, "has_ray", lambda: True)
    fields = {field.id: field for field in form.fields(Models(), [])}
    form.set_text(fields["workers"], "3")
    assert form.target(list(fields.values())) == LOCAL, "workers are of a cluster"
    form.set_text(fields["where"], fields["where"].next_choice(form.text(fields["where"])))
    assert form.target(list(fields.values())) == ComputeTarget("ray", 3)
    assert command_of(Preset(("m",), {"s": ()}), WorkspacePaths(), ComputeTarget("ray", 3)).endswith(
        "--on ray --workers 3"
    )
    form.set_text(fields["workers"], "0")
    assert form.mistakes(list(fields.values())) == ["workers: a whole number, at least 1, or auto"]


async def test_a_run_starts_on_the_cluster_that_was_chosen(
    opened: Any, settle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[ComputeTarget] = []
    monkeypatch.setattr(launch_fields, "has_ray", lambda: True)
    monkeypatch.setattr("console.engine.launch.spawn_engine", lambda run, target, **_: places.append(target))
    async with opened() as (app, pilot):
        await fill(pilot)
        form, fields = app.screen.controller.form, {field.id: field for field in app.screen.controller.fields}
        form.set_text(fields["where"], "ray")
        form.set_text(fields["workers"], "2")
        await rest(app, pilot, settle)
        await see(pilot, lambda: bool(places), "enter")
    assert places == [ComputeTarget("ray", 2)]


@pytest.mark.parametrize(("text", "value"), [("10m", 600.0), ("90", 90.0), ("never", None), ("", None)])
def test_time_limits_are_read(text: str, value: float | None) -> None:
    assert time_limit(text) == value
    with pytest.raises(ValueError, match="or never"):
        time_limit("soon")


@pytest.mark.parametrize(
    ("text", "value"), [("5", 5.0), ("$5.00", 5.0), (" $ 1.25", 1.25), ("never", None), ("", None), ("0.01", 0.01)]
)
def test_money_is_read(text: str, value: float | None) -> None:
    assert money(text.strip()) == value


@pytest.mark.parametrize("text", ["-1", "0", "5,00", "1e3", "NaN", "five", "$", "5.", "99999999999"])
def test_other_money_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="US dollars"):
        money(text)


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("2 251", 2251), ("1,000", 1000), ("all", None), ("", None)])
def test_whole_numbers_are_read(text: str, value: int | None) -> None:
    assert whole(none=("all",))(text) == value


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "x", "٣x", "1e9", "9" * 40])
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        whole(none=("all",))(text)


def test_names_are_short_and_printable() -> None:
    assert run_name("a b") == "a b"
    for text in ("x" * 61, "a\x1b", "a\nb"):
        with pytest.raises(ValueError, match="printable"):
            run_name(text)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option("n", "int", 3, ""), "", 3),
        (Option("n", "int", None, ""), "", None),
        (Option("n", "int", None, ""), "7", 7),
        (Option("f", "float", 0.5, ""), "0.25", 0.25),
        (Option("b", "bool", False, ""), "true", True),
        (Option("j", "json", {"a": 1}, ""), '{"a": [2]}', {"a": [2]}),
        (Option("j", "json", None, ""), "", None),
        (Option("c", "choice", "x", "", ("x", "y")), "y", "y"),
        (Option("t", "text", "d", ""), "anything", "anything"),
    ],
)
def test_suite_options_are_read_by_their_kind(option: Option, text: str, value: Any) -> None:
    assert option_field("s", option, named=False).value_of(text) == value


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (Option("n", "int", 3, ""), "x"),
        (Option("f", "float", 0.5, ""), "1,5"),
        (Option("b", "bool", False, ""), "yes"),
        (Option("j", "json", None, ""), "{"),
        (Option("j", "json", None, ""), "[" * 100_000),
        (Option("c", "choice", "x", "", ("x", "y")), "z"),
    ],
)
def test_suite_options_that_do_not_fit_are_refused(option: Option, text: str) -> None:
    assert option_field("s", option, named=False).mistake_in(text)


async def test_typing_replaces_a_default_that_is_edited(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "space", "2", "4")
        assert app.screen.controller.form.texts["cases"] == "24"
        await pilot.press("enter", "space", "end", "0")
        assert app.screen.controller.form.texts["cases"] == "240"
        await pilot.press("enter", "space", "backspace")
        assert app.screen.controller.form.texts["cases"] == ""


async def test_a_mistake_stands_under_its_field_while_it_is_typed(opened: Any, settle: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await fill(pilot)
        await rest(app, pilot, settle)
        await pilot.press("x", "j", "j", "space", *"why-99")
        await rest(app, pilot, settle)
        lines = frame(app).split("\n")
        place = next(number for number, text in enumerate(lines) if text.startswith("> only ids"))
        assert lines[place + 1] == "  ✗ small-talk has no case 'why-99'. Did you mean why-3?"
        assert lines[-2] == " enter keep  esc revert"


async def test_changed_settings_do_not_push_the_others_out_of_sight(opened: Any, settle: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await fill(pilot)
        await rest(app, pilot, settle)
        roles = {"role:judge": "sim/judge", "role:embedding": "sim/embedding"}
        app.screen.controller.form.texts |= roles | {"seed": "7", "max_tokens": "900"}
        app.screen.apply_change()
        await rest(app, pilot, settle)
        shown = frame(app)
        labels = ("repeats", "stop when", "judge", "seed", "token limit", "more")
        assert all(f"\n  {label} " in shown for label in labels)
        assert shown.index("\n  stop when ") < shown.index("\n  more ") < shown.index("\n  seed ")


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_a_matrix_is_foreseen_run_by_run(
    size: str, opened: Any, assert_frame: Check, settle: Any, workspace: Any
) -> None:
    workspace.write_suite("more-talk")
    workspace.write_models(TWO_MODELS)
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("L", "space", "j", "space", "tab", "space", "j", "j", "j", "space", "tab", "3", "enter")
        app.screen.controller.form.texts |= {"role:judge": "sim/judge", "role:embedding": "sim/embedding"}
        app.screen.apply_change()
        await rest(app, pilot, settle)
        assert_frame(app, f"launch-matrix-{size}")
        assert [run.unpriced for run in app.screen.controller.forecast.runs] == [(), ("free-z",), (), ("free-z",)]


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_a_judge_that_is_not_served_is_said_before_the_start(
    size: str, opened: Any, assert_frame: Check, settle: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def served(model: Any) -> list[str]:
        asked.append(model.name)
        return ["o4-mini", "vectors", "\x1b[31m"]

    monkeypatch.setattr("console.llm.servers.model_list.served_models", served)
    workspace.write_models('[old]\nmodel_id = "o1"\nbase_url = "http://127.0.0.1:1/v1"\n'
                      '[vectors]\nmodel_id = "vectors"\nbase_url = "http://127.0.0.1:1/v1"\n')  # fmt: skip
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("L", "j", "j", "space", "tab", "space")
        app.screen.controller.form.texts |= {"role:judge": "old", "role:embedding": "vectors", "cases": "2"}
        app.screen.apply_change()
        await rest(app, pilot, settle)
        await assert_until(pilot, lambda: bool(app.screen.controller.role_warnings))
        await settle(app, pilot)
        assert_frame(app, f"launch-warning-{size}")
        app.screen.apply_change()
        await rest(app, pilot, settle)
        assert sorted(asked) == ["old", "vectors"]
        await see(pilot, "Start 1 run?", "enter")
        assert "the judge o1 is not served by" in text_of(app)
        await pilot.press("escape")


async def test_three_cases_are_tried_for_real_and_shown_in_place(
    opened: Any, settle: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setattr("console.store.sample_runs.KEPT", 1)
    earlier = plain_run(workspace.root / "runs" / ".try").folder
    os.utime(earlier.journal_path, (0, 0))
    os.utime(earlier.manifest_path, (0, 0))
    async with opened((160, 45)) as (app, pilot):
        await pilot.press("L", "j", "j", "space", "tab", "space")
        await rest(app, pilot, settle)
        await see(pilot, lambda: bool(app.screen.controller.sample_runs) and not app.screen.controller.is_sampling, "t")
        (sample_run,) = app.screen.controller.sample_runs
        assert sample_run.tally.finished == 3
        assert not earlier.path.exists(), "what was tried long ago goes"
        assert "TRIED FOR REAL" in text_of(app)
        assert sample_run.folder.path.parent == workspace.root / "runs" / ".try"
        assert app.services.workspace.runs == []
        await see(pilot, lambda: app.screen.where == "review", "v")
        assert app.screen.run_folder.path == sample_run.folder.path


async def test_a_preset_is_saved_and_fills_the_form_in_again(opened: Any, settle: Any, tmp_path: Path) -> None:
    async with opened() as (app, pilot):
        await fill(pilot)
        await rest(app, pilot, settle)
        await pilot.press("w", *"small", "enter")
        await settle(app, pilot)
        path = tmp_path / "eval-console" / "presets.toml"
        assert 'suites = ["small-talk/what"]' in path.read_text()
        await pilot.press("escape", "L", "ctrl+l")
        assert app.screen.controller.form.models == []
        await pilot.press("p", "enter")
        await assert_until(
            pilot, lambda: app.screen.where == "launch" and app.screen.controller.form.models == ["sim/careful"]
        )
        assert app.screen.controller.form.suites == {"small-talk": {"what"}}
        assert app.screen.controller.form.texts["cases"] == "2"


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_presets_and_their_mistakes_are_listed(
    size: str, opened: Any, assert_frame: Check, workspace: Any
) -> None:
    (workspace.root / "presets.toml").write_text(
        '[nightly]\nmodels = ["gpt-x", "sim/careful"]\nsuites = ["small-talk/what"]\nsample = 2\n\n'
        '[gone]\nmodels = ["[/x]"]\nsuites = ["nowhere"]\n\n[bad]\nlimit = "many"\n'
    )
    async with opened(SIZES[size]) as (app, pilot):
        await see(pilot, "presets.toml:11", "L", "p", "pagedown")
        assert_frame(app, f"launch-presets-{size}")
        await see(pilot, lambda: app.screen.where == "launch", "up", "up", *"where", "enter")
        await assert_until(pilot, lambda: bool(app.services.messages))
        assert "refers to missing names: [/x], nowhere" in app.services.messages[-1].plain
        assert app.screen.controller.form.models == []


async def test_the_name_of_a_preset_is_judged_while_it_is_typed(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await fill(pilot)
        await see(pilot, "at most 60 printable characters", "w", *("x" * 61))
        await pilot.press("enter")
        assert "Save as preset" in text_of(app)
        await see(pilot, lambda: app.screen.where == "launch", "escape")


async def test_queued_runs_wait_on_home_and_can_be_moved_and_taken_out(
    opened: Any, settle: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.engine import runner

    monkeypatch.setattr(runner, "detach", lambda *_: None)
    async with opened() as (app, pilot):
        for _ in range(3):
            await fill(pilot)
            await rest(app, pilot, settle)
            app.screen.controller.form.texts["start"] = "queued"
            app.screen.apply_change()
            await rest(app, pilot, settle)
            await see(pilot, lambda: app.screen.where != "launch", "enter")
            await see(pilot, lambda: app.screen.where == "home", "1")
        first, second, third = [line.name for line in app.services.workspace.queued]
        await see(pilot, "queued, place 3", "tab", "g")
        assert app.screen.query_one(RunList).line.name == third
        await see(pilot, lambda: [line.name for line in app.services.workspace.queued] == [first, third, second], "[")
        await see(pilot, lambda: [line.name for line in app.services.workspace.queued] == [first, second], "D", "y")
        assert (workspace.root / "runs" / ".trash" / third).is_dir()


async def test_only_the_failed_cases_of_a_run_from_home(opened: Any, workspace: Any, settle: Any) -> None:
    workspace.run("2025-01-17T1320-a", model="sim/hasty", passed=1, failed=2, simulated=True)
    async with opened() as (app, pilot):
        await pilot.press("tab", "a")
        await rest(app, pilot, settle)
        assert app.screen.controller.form.texts["failed_of"] == "2025-01-17T1320-a"
        assert app.screen.controller.form.models == ["sim/hasty"]
        assert app.screen.controller.forecast.cases == 2


async def test_a_click_ticks_and_edits_and_never_starts(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L")
        await pilot.click("#launch-models", offset=(4, 2))
        await assert_until(pilot, lambda: app.screen.controller.form.models == ["sim/careful"])
        await pilot.click("#launch-models", offset=(4, 2))
        await assert_until(pilot, lambda: app.screen.controller.form.models == [])
        await pilot.click("#launch-suites", offset=(4, 0))
        await assert_until(pilot, lambda: list(app.screen.controller.form.suites) == ["small-talk"])
        await pilot.click("#launch-fields", offset=(4, 1))
        await assert_until(pilot, lambda: app.screen.query_one(FieldList).is_editing)
        assert app.screen.where == "launch"


async def test_enter_waits_for_what_it_will_cost(opened: Any, settle: Any, workspace: Any) -> None:
    """Enter right after the last choice asks by the real amount, not by an unknown one."""
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        app.screen.controller.form.texts |= {
            "role:judge": "sim/judge",
            "role:embedding": "sim/embedding",
            "stop_when": "never",
        }
        app.screen.apply_change()
        assert app.screen.controller.forecast is None
        await see(pilot, "no limit stops it", "enter")
        assert "about $" in text_of(app)


async def test_many_choices_of_a_setting_are_listed_and_filter_while_typing(opened: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        await see(pilot, "shell    --sample", "L", "tab", "tab")
        choices = ("", "sim/careful", "sim/broken", "sim/hasty")
        app.screen.query_one(FieldList).set_fields([Field("role:judge", "judge", "", "a model", "", choices=choices)])
        form = app.screen.controller.form
        await see(pilot, "> judge", "g")
        await see(pilot, "type to filter", "space")
        await pilot.press(*"hasty", "enter")
        await assert_until(pilot, lambda: form.texts == {"role:judge": "sim/hasty"})


async def test_the_settings_that_are_folded_are_named(opened: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        await see(pilot, "shell    --sample", "L", "tab", "tab")
        await see(pilot, "seed, ids, ", "G")
        assert "shell    --sample" not in text_of(app)


async def test_a_first_case_that_was_refused_is_read_again(opened: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        await see(pilot, "First case", "L")
        preview = app.screen.query_one(CasePreview)
        preview.set_case("mine", "", "its code has not been allowed")
        assert preview.point_at("mine", "")
        preview.set_case("mine", "", Case("a", "mine"))
        assert not preview.point_at("mine", "")
