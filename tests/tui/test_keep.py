"""Keeping the case shown in Review: one key, a question, and the row is in a suite of one's own."""

import contextlib
import json
from typing import Any

import pytest
from support.quick_rows import first_size
from support.recorded_runs import QUESTION, WeatherSuite, plain_run
from support.review_opening import reviewing
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of
from tui.test_review_branch import editor

from console.suites.own_row import OwnRow, RecordedCase, conversation_row
from console.tui.app import ConsoleApp

TOOL = {"name": "get_current_weather", "parameters": {"type": "object", "properties": {"unit": {"type": "string"}}}}


class KeptWeather(WeatherSuite):
    """Its cases become rows that expect one call, or rows without checks."""

    why_unchecked = ""

    def own_row(self, recorded: RecordedCase) -> OwnRow:
        checks = [] if self.why_unchecked else [{"calls": [{"get_current_weather": {"unit": ["fahrenheit"]}}]}]
        return OwnRow(conversation_row(recorded) | {"tools": [TOOL], "expect": checks}, self.why_unchecked)


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> KeptWeather:
    weather = KeptWeather()
    compare_by(monkeypatch, weather)
    monkeypatch.setattr(ConsoleApp, "suspend", lambda self: contextlib.nullcontext())
    return weather


def rows(workspace: Any, name: str) -> list[dict[str, Any]]:
    file = workspace.root / "data" / name / "cases.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("size", first_size([(80, 24), (130, 36), (160, 45)]))
async def test_one_key_asks_and_keeps(
    size: tuple[int, int], opened: Any, workspace: Any, suite: KeptWeather, assert_frame: Any
) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with reviewing(opened, folder, size=size) as (app, pilot, _):
        await see(pilot, "Keep live_multiple_118-41", "b")
        assert_frame(app, f"review-keep-{size[0]}x{size[1]}")
        await see(pilot, lambda: any("Kept as" in it.plain for it in app.services.messages), "enter")
        said = app.services.messages[-1].plain
        assert "Kept as live_multiple_118-41 in data/kept/cases.jsonl:1" in said
        assert "eval-console run -m gpt-x -s kept" in said
        (row,) = rows(workspace, "kept")
        assert (row["prompt"], row["kept"]["run"]) == (QUESTION, folder.name)
        assert (row["kept"]["outcome"], row["kept"]["simulated"]) == ("failed", False)
        await see(pilot, "in kept?", "b")
        await see(pilot, lambda: any("Kept before" in it.plain for it in app.services.messages), "y")
        assert len(rows(workspace, "kept")) == 1
        suites = app.services.workspace
        await assert_until(pilot, lambda: suites.suites is not None and suites.suites.find("kept") is not None)


async def test_a_row_is_edited_and_kept_in_a_suite_of_another_name(
    opened: Any, workspace: Any, suite: KeptWeather, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(workspace, monkeypatch, 'sed -i s/fahrenheit/kelvin/ "$1"')
    async with reviewing(opened, plain_run(workspace.root / "runs", rollouts=2).folder) as (app, pilot, _):
        await see(pilot, "live_multiple_118-41 · repeat 1 in kept, a new suite?", "b")
        await see(pilot, "Name of the new suite", "s")
        await see(pilot, "in mine, a new suite?", *"mine", "enter")
        await see(pilot, "in mine, a new suite?", "e")
        await see(pilot, lambda: any("Kept as" in it.plain for it in app.services.messages), "y")
    (row,) = rows(workspace, "mine")
    assert row["expect"] == [{"calls": [{"get_current_weather": {"unit": ["kelvin"]}}]}]
    assert row["simulated"]["recorded"][0][0]["calls"][0]["get_current_weather"]["unit"] == "imperial"


async def test_without_checks_it_is_kept_only_after_editing(
    opened: Any, workspace: Any, suite: KeptWeather, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.why_unchecked = "weather is judged by a look out of the window"
    editor(workspace, monkeypatch, 'sed -i \'s/"expect": \\[\\]/"expect": [{"not_called": true}]/\' "$1"')
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, _):
        await see(pilot, "a look out of the window", "b")
        assert "keep  enter" not in text_of(app)
        await see(pilot, "keep  enter", "e")
        await see(pilot, lambda: any("Kept as" in it.plain for it in app.services.messages), "y")
    assert rows(workspace, "kept")[0]["expect"] == [{"not_called": True}]
