"""Panes of the form, Home and Library, each mounted alone: what they show of values, and what they post."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.pane_app import ThemedApp
from support.screen_text import text_of
from textual.message import Message
from textual.widget import Widget

from console.core.case import Case
from console.engine.forecast import Forecast, RunForecast
from console.suites.suite import Category, SuiteEntry
from console.tui.data.models import ModelLine, Models
from console.tui.data.suites import SuiteLine, Suites
from console.tui.render.forecast_lines import Preflight
from console.tui.screens.home.controller import NextSteps, RunListing
from console.tui.screens.home.lists import RunList, StartList
from console.tui.screens.launch.choices import ChoiceList, ModelChoices, SuiteChoices
from console.tui.screens.launch.field_list import FieldList
from console.tui.screens.launch.forecast import ForecastPanel
from console.tui.screens.launch.form import Form
from console.tui.screens.launch.suite_tree import Part
from console.tui.screens.library.lists import CaseList


class OnePane(ThemedApp):
    """Shows one pane and keeps what it posts."""

    def __init__(self, pane: Widget) -> None:
        super().__init__(pane)
        self.posted: list[Message] = []

    def on_event_of_pane(self, message: Message) -> None:
        self.posted.append(message)

    on_choice_list_row_clicked = on_field_list_field_changed = on_field_list_typing_changed = on_event_of_pane

    def kinds(self) -> list[type[Message]]:
        return [type(message) for message in self.posted]


def model(name: str, state: str = "") -> ModelLine:
    return ModelLine(name, name, not state, state, False, "openai", "", "fc", 4, 1.0, 2.0, 1)


TALK = SuiteLine(SuiteEntry("talk", "own", Path("/x"), "Talk"), (Category("what", 3), Category("why", 4)))


async def shown(pane: Widget, fill: Callable[[], None]) -> str:
    app = OnePane(pane)
    async with app.run_test(size=(60, 12)) as pilot:
        fill()
        await pilot.pause()
        return text_of(app)


async def test_models_are_ticked_and_say_what_is_missing() -> None:
    pane = ModelChoices()
    models = Models([model("gpt"), model("locked", "THE_KEY is not set")])
    text = await shown(pane, lambda: pane.set_models(models, ["gpt"], ""))
    assert "[x]  gpt" in text
    assert "-   locked" in text
    text = await shown(other := ModelChoices(), lambda: other.set_models(models, ["gpt"], "lock"))
    assert "[x]  gpt" in text, "a filter hides nothing that is chosen"
    assert "-   locked" in text
    assert "No matching model." in await shown(empty := ModelChoices(), lambda: empty.set_models(models, [], "zzz"))


async def test_categories_stand_under_a_chosen_suite_and_a_click_is_posted() -> None:
    pane = SuiteChoices()
    app = OnePane(pane)
    async with app.run_test(size=(60, 12)) as pilot:
        pane.suite_tree.unfold(Part("talk"))
        pane.set_suites(Suites([TALK]), {"talk": {"why"}}, "")
        await pilot.pause()
        assert "[~]" in text_of(app).splitlines()[0]
        assert "4 of" in text_of(app).splitlines()[0]
        await pilot.click(pane, offset=(4, 2))
        assert pane.under_cursor == Part("talk", category="why")
        assert app.kinds() == [ChoiceList.RowClicked]


async def test_a_field_is_typed_into_and_each_key_is_posted() -> None:
    form = Form()
    pane = FieldList(form)
    app = OnePane(pane)
    async with app.run_test(size=(80, 24)) as pilot:
        pane.set_fields(form.fields(Models(), []))
        pane.focus()
        await pilot.press("2", "5")
        assert form.texts == {"cases": "25"}
        assert pane.is_editing
        assert "cases per suite       25▏" in text_of(app)
        await pilot.press("x")
        assert "a whole number, at least 1" in text_of(app)
        await pilot.press("escape")
        assert not pane.is_editing
        assert form.texts == {}
    assert app.kinds().count(FieldList.FieldChanged) == 4
    assert app.kinds().count(FieldList.TypingChanged) == 2


async def test_the_forecast_says_size_and_price_or_what_stands_in_the_way() -> None:
    run = RunForecast("gpt", "talk", "fc", 3, 0, 2, 6, 1000, 100, 0.5, (), False, 5.0)

    async def text_for(preflight: Preflight) -> str:
        pane = ForecastPanel()
        return await shown(pane, lambda: pane.set_preflight(preflight, None, screen_width=60, wide=False))

    assert "choose a model" in await text_for(Preflight(mistakes=["choose a model: space"]))
    assert "estimating" in await text_for(Preflight())
    refused = await text_for(Preflight(forecast=Forecast([run]), refusals=[("no key", "set it")]))
    assert "no key" in refused
    assert "set it" in refused
    assert "6 rollouts" in await text_for(Preflight(forecast=Forecast([run])))
    with_setup = dataclasses.replace(run, setup=4)
    assert "6 rollouts + 8 setup" in await text_for(Preflight(forecast=Forecast([with_setup])))
    assert "starting …" in await text_for(Preflight(forecast=Forecast([run]), is_starting=True))


async def test_the_start_list_shows_only_what_makes_sense_now() -> None:
    pane = StartList()
    text = await shown(pane, lambda: pane.set_steps(NextSteps(), wide=False, most=9))
    assert "Try the demo" in text
    assert "Resume" not in text
    assert "Queue" not in text
    stranded = StartList()
    text = await shown(stranded, lambda: stranded.set_steps(NextSteps(is_stranded=True), wide=True, most=9))
    assert "queue stopped" in text
    assert "function calls" in text


async def test_an_empty_list_of_runs_says_why() -> None:
    async def text_for(words: str, **state: Any) -> str:
        pane = RunList()
        listing = RunListing([], 0, words, "newest first", frozenset())
        return await shown(pane, lambda: pane.set_listing(listing, **state))

    assert "reading runs" in await text_for("", is_complete=False, mistake="")
    assert "Nothing has been run yet" in await text_for("", is_complete=True, mistake="")
    assert "No run matches “x”" in await text_for("x", is_complete=True, mistake="")
    assert "is not a folder" in await text_for("x", is_complete=True, mistake="runs is not a folder")


async def test_cases_are_narrowed_by_words() -> None:
    pane = CaseList()
    app = OnePane(pane)
    async with app.run_test(size=(60, 12)) as pilot:
        pane.expect("talk", "why")
        await pilot.pause()
        assert "reading cases" in text_of(app)
        pane.set_cases([Case("a-1", "why", title="Why hum?"), Case("a-2", "why", title="Why sing?")], "")
        pane.narrow("hum")
        await pilot.pause()
        assert "a-1" in text_of(app)
        assert "a-2" not in text_of(app)


async def test_the_cursor_goes_to_the_suite_whose_category_is_folded_away() -> None:
    other = SuiteLine(SuiteEntry("zoo", "own", Path("/y"), "Zoo"), (Category("what", 3), Category("why", 4)))
    pane = SuiteChoices()
    async with OnePane(pane).run_test(size=(60, 12)) as pilot:
        suites = Suites([TALK, other])
        pane.set_suites(suites, {}, "why")
        await pilot.pause()
        assert pane.move_to(Part("zoo", category="why").key)
        pane.set_suites(suites, {}, "")
        await pilot.pause()
        assert pane.under_cursor == Part("zoo")
