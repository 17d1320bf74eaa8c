"""The form for a new run: choosing, setting, foreseeing, asking, starting."""

from collections.abc import Callable
from typing import Any

import pytest

from console.core.run import Budget, Selection
from console.engine.plan import Plan
from console.suites.suite import Option
from console.tui.app import ConsoleApp
from console.tui.launch.field import money, option_field, run_name, whole
from console.tui.launch.form import command_of, must_ask
from console.tui.stock import ModelLine

Check = Callable[[ConsoleApp, str], None]
Frame = Callable[[ConsoleApp], str]
SIZES = {"80x24": (80, 24), "160x45": (160, 45)}


async def rest(app: ConsoleApp, pilot: Any, settle: Any) -> None:
    """Wait until the forecast has been worked out."""
    for _ in range(100):
        await pilot.pause(0.05)
        await settle(app, pilot)
        if app.screen._forecast is not None:
            return
    raise AssertionError("no forecast")


@pytest.mark.parametrize("size", SIZES)
async def test_the_empty_form(size: str, opened: Any, assert_frame: Check) -> None:
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("L")
        await pilot.pause()
        assert_frame(app, f"launch-empty-{size}")


@pytest.mark.parametrize("size", SIZES)
async def test_a_filled_form(size: str, opened: Any, assert_frame: Check, settle: Any) -> None:
    async with opened(SIZES[size]) as (app, pilot):
        await pilot.press("L", "j", "j", "space", "tab", "space", "j", "space", "tab", "2", "enter")
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
        assert app.screen._form.models == ["gpt-x"]
        assert "DESK_KEY_THAT_IS_NOT_SET is not set" in app.messages[-1].plain
        await pilot.press("tab", "space", "j", "space", "j", "space")
        assert app.screen._form.suites == {"small-talk": {"what", "why"}}
        await pilot.press("space")
        assert app.screen._form.suites == {"small-talk": {"what"}}
        await pilot.press("g", "space")
        assert app.screen._form.suites == {}


async def test_a_model_chosen_at_home_is_ticked(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        app.screen.query_one("#models").focus()
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert app.screen._form.models == ["gpt-x"]


async def test_filter_narrows_both_lists(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "slash", *"rambl", "enter")
        await pilot.pause()
        shown = frame(app)
        assert "sim/rambling" in shown
        assert "sim/hasty" not in shown
        assert "No suite has these letters." in shown
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert "sim/hasty" in frame(app)


async def test_a_field_is_edited_in_place_and_says_what_does_not_fit(opened: Any, frame: Frame) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "j", "j", "0")
        await pilot.pause()
        assert "✗ a whole number from 1 on" in frame(app)
        await pilot.press("backspace", "3", "enter")
        await pilot.pause()
        assert app.screen._form.texts["repeats"] == "3"
        await pilot.press("9", "escape")
        assert app.screen._form.texts["repeats"] == "3"
        await pilot.press("j", "j", "space", "space")
        assert app.screen._form.texts["mode"] == "prompt"
        await pilot.press("G", "space")
        assert app.screen.query_one("#launch-fields").is_editing or app.screen._form.texts


async def test_suite_options_and_roles_become_fields(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "space")
        await pilot.pause()
        ids = [one.id for one in app.screen._fields]
        assert {"role:judge", "role:embedding", "option:small-talk:protocol", "name"} <= set(ids)


async def test_letters_go_into_a_text_field_and_not_to_their_actions(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "G", "space", *"jqL:?1", "enter")
        assert app.screen.where == "launch"
        assert app.screen._form.texts["name"] == "jqL:?1"


async def test_enter_without_choices_says_what_is_missing(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert "choose a model" in app.messages[-1].plain


async def test_what_cannot_start_is_refused_with_its_cure(opened: Any, settle: Any, frame: Frame) -> None:
    """The suite's own judge has no key here; the same check that a start goes through says so."""
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        await rest(app, pilot, settle)
        assert "OPENAI_API_KEY" in app.screen._forecast.refusals[0]
        assert "✗" in frame(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.where == "launch"
        assert "OPENAI_API_KEY" in app.messages[-1].plain


async def test_money_at_stake_is_asked_about_once(opened: Any, settle: Any, frame: Frame, desk: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "space", "tab", "space")
        app.screen._form.texts |= {"role:judge": "sim/judge", "role:embedding": "sim/embedding", "stop_when": "never"}
        app.screen._changed()
        await rest(app, pilot, settle)
        assert app.screen._forecast.refusals == []
        await pilot.press("enter")
        await pilot.pause()
        assert "There is no stop limit" in frame(app)
        await pilot.press("escape")
        await settle(app, pilot)
        assert app.screen.where == "launch"
        assert list((desk.root / "runs").iterdir()) == []


async def test_one_run_starts_for_each_model_and_live_opens(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "j", "j", "space", "j", "space", "tab", "space", "tab", "1", "enter")
        await rest(app, pilot, settle)
        await pilot.press("enter")
        await settle(app, pilot)
        assert app.screen.where == "live"
        assert sorted(run.manifest().model.name for run in app.launched) == ["sim/careful", "sim/hasty"]
        assert {run.manifest().selection for run in app.launched} == {Selection(limit=1, seed=0)}


async def test_the_same_command_for_the_shell(opened: Any, settle: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "j", "j", "space", "tab", "space", "j", "space", "tab", "2", "enter", "y", "c")
        await pilot.pause()
        assert app.clipboard.startswith(
            "eval-console run -m sim/careful -s small-talk --category what --sample 2 --seed 0 --max-cost 5"
        )


def test_the_command_line_reads_what_is_copied() -> None:
    from console.cli.parser import parse
    from console.cli.selection import preset_of
    from console.engine.matrix import Where, plans_of

    plan = Plan("gpt [/x]", "s p", Selection(("a", "b"), limit=5, seed=3), {"k": [1, "x"], "t": "plain"}, "fc",
                {"judge": "j"}, 2, 4, Budget(cost_usd=1.5), "na me")  # fmt: skip
    import shlex

    read = preset_of(parse(shlex.split(command_of(plan))[1:]))  # pyright: ignore[reportArgumentType]
    assert plans_of(read, Where()) == [plan]


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


def line(price: float | None, *, simulated: bool = False) -> ModelLine:
    return ModelLine("m", "m", True, "", simulated, "openai", "", "prompt", 8, price, price, 1)


def test_when_enter_asks_once_more() -> None:
    capped, open_ended = Plan("m", "s", budget=Budget(cost_usd=5.0)), Plan("m", "s")
    assert must_ask([capped], [line(1.0)], 4.99) == ""
    assert "$5.01" in must_ask([capped], [line(1.0)], 5.01)
    assert "no stop limit" in must_ask([open_ended], [line(1.0)], 0.01)
    assert must_ask([capped], [line(None)], None) == ""
    assert "up to $10.00" in must_ask([capped, capped], [line(None)], None)
    assert must_ask([open_ended], [line(0.0)], 0.0) == ""
    assert must_ask([open_ended], [line(None, simulated=True)], 0.0) == ""


async def test_typing_replaces_a_default_that_is_edited(opened: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("L", "tab", "tab", "space", "2", "4")
        assert app.screen._form.texts["cases"] == "24"
        await pilot.press("enter", "space", "end", "0")
        assert app.screen._form.texts["cases"] == "240"
        await pilot.press("enter", "space", "backspace")
        assert app.screen._form.texts["cases"] == ""
