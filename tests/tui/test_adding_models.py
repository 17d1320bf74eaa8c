"""`+` on Home: from a server's list to a table of models.toml and the form for a run, without an editor."""

from typing import Any

from server.openai_server import OpenAIServer
from support.screen_text import assert_until, text_of
from textual.widgets import Input

from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.dialogs.small_dialogs import NameScreen, Question


async def test_a_model_of_a_server_is_added_and_chosen_in_the_form(opened: Any, workspace: Any) -> None:
    with OpenAIServer(models=("small-[red]1", "large-2")) as server:
        async with opened((80, 24)) as (app, pilot):
            await pilot.press("plus")
            await assert_until(pilot, lambda: isinstance(app.screen, FilterDialog) and "OpenAI" in text_of(app))
            await pilot.press(*"other", "enter")
            await assert_until(pilot, lambda: isinstance(app.screen, NameScreen))
            app.screen.query_one(Input).value = server.base_url
            await pilot.press("enter")
            await assert_until(pilot, lambda: isinstance(app.screen, FilterDialog) and "small-[red]1" in text_of(app))
            await pilot.press(*"large", "enter")
            await assert_until(pilot, lambda: isinstance(app.screen, Question))
            await pilot.press("enter")
            await assert_until(pilot, lambda: getattr(app.screen, "where", "") == "launch")
            await assert_until(pilot, lambda: "large-2" in text_of(app))
    assert 'model_id = "large-2"' in workspace.paths.models.read_text()


async def test_a_key_that_is_missing_is_named(opened: Any, workspace: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = workspace.paths.models.read_text()
    async with opened((80, 24), toasts=True) as (app, pilot):
        await pilot.press("plus")
        await assert_until(pilot, lambda: isinstance(app.screen, FilterDialog) and "OpenAI" in text_of(app))
        await pilot.press("enter")
        await assert_until(pilot, lambda: "OPENAI_API_KEY is not set" in text_of(app))
    assert workspace.paths.models.read_text() == before
