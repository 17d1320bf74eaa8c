"""`+` and `t` on Home: a model is added without an editor, and the endpoint of one is checked."""

from threading import Event
from typing import Any

from server.openai_server import OpenAIServer, Scripted, last_text
from support.screen_text import assert_until, see, text_of
from textual.widgets import Input

from console.tui.data.models import Models
from console.tui.data.verb_output import verb_output
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.dialogs.small_dialogs import NameScreen, Question, Waiting
from console.tui.screens.launch.choices import SuiteChoices


async def test_a_model_of_a_server_is_added_and_chosen_in_the_form(opened: Any, workspace: Any) -> None:
    workspace.write_suite("with-a-demo")
    with (workspace.root / "data" / "with-a-demo" / "suite.toml").open("a") as file:
        file.write('\n[[demo]]\norder = 1\nmodel = "sim/hasty"\ncases = 2\n')
    with OpenAIServer(models=("small-[red]1", "large-2")) as server:
        async with opened((80, 24)) as (app, pilot):
            await see(pilot, lambda: isinstance(app.screen, FilterDialog) and "OpenAI" in text_of(app), "plus")
            await see(pilot, lambda: isinstance(app.screen, NameScreen), *"other", "enter")
            app.screen.query_one(Input).value = server.base_url
            await see(pilot, lambda: isinstance(app.screen, FilterDialog) and "small-[red]1" in text_of(app), "enter")
            await see(pilot, lambda: isinstance(app.screen, Question), *"large", "enter")
            await see(pilot, lambda: getattr(app.screen, "where", "") == "launch", "enter")
            await see(pilot, "large-2")
            assert isinstance(app.focused, SuiteChoices)
            assert app.focused.under_cursor is not None
            assert app.focused.under_cursor.suite == "with-a-demo", "it needs no other model"
    assert 'model_id = "large-2"' in workspace.paths.models.read_text()


async def test_the_only_model_of_a_server_is_not_asked_for(opened: Any, workspace: Any) -> None:
    with OpenAIServer(models=("the-one",)) as server:
        async with opened((80, 24)) as (app, pilot):
            await see(pilot, lambda: isinstance(app.screen, FilterDialog), "plus")
            await see(pilot, lambda: isinstance(app.screen, NameScreen), *"other", "enter")
            app.screen.query_one(Input).value = server.base_url
            await see(pilot, lambda: isinstance(app.screen, Question), "enter")
            assert "Add the-one to models.toml?" in text_of(app)
            assert str(workspace.paths.models)[:40] in text_of(app), "the path is shown before it is written"
            await see(pilot, lambda: getattr(app.screen, "where", "") == "launch", "a")
    assert 'model_id = "the-one"' in workspace.paths.models.read_text()


async def test_keys_typed_while_a_server_is_asked_reach_no_other_screen(opened: Any, monkeypatch: Any) -> None:
    answers = Event()

    def answer_late(*args: Any) -> Any:
        assert answers.wait(60)
        return verb_output(*args)

    monkeypatch.setattr("console.tui.screens.home.adding.verb_output", answer_late)
    with OpenAIServer(models=("m",), answer=lambda request: Scripted("ok", latency_s=0.2)) as server:
        async with opened((80, 24)) as (app, pilot):
            await see(pilot, lambda: isinstance(app.screen, Waiting), "plus", "enter", "L")
            await pilot.press("g")  # each would do something on Home
            assert isinstance(app.screen, Waiting)
            answers.set()
            await assert_until(pilot, lambda: isinstance(app.screen, FilterDialog))
            assert app.screen.query_one(Input).value == ""
            await see(pilot, lambda: isinstance(app.screen, NameScreen), *"other", "enter")
            app.screen.query_one(Input).value = server.base_url
            await see(pilot, lambda: isinstance(app.screen, Waiting), "enter")
            await see(pilot, lambda: getattr(app.screen, "where", "") == "home", "escape")


async def test_a_key_that_is_missing_is_named(opened: Any, workspace: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = workspace.paths.models.read_text()
    async with opened((80, 24), toasts=True) as (app, pilot):
        await see(pilot, lambda: isinstance(app.screen, FilterDialog) and "OpenAI" in text_of(app), "plus")
        await see(pilot, "OPENAI_API_KEY is not set", "enter")
    assert workspace.paths.models.read_text() == before


async def test_an_endpoint_is_checked_with_its_cost_said_before_the_first_call(opened: Any, workspace: Any) -> None:
    def written(request: dict[str, Any]) -> Scripted:
        is_asked = request.get("tools") and "Look up number 7" in last_text(request)
        return Scripted('<tool_call>{"name": "look_up", "arguments": {"number": 7}}</tool_call>' if is_asked else "ok")

    with OpenAIServer(written) as server:
        path = workspace.paths.models
        path.write_text(
            f'{path.read_text()}\n["vendor@east"]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n'
            "price = { in = 1.0, out = 2.0 }\n"
        )
        async with opened((80, 24)) as (app, pilot):
            app.services.workspace.read_models()
            await assert_until(pilot, lambda: (app.services.workspace.models or Models()).find("vendor@east"))
            await see(pilot, lambda: isinstance(app.screen, FilterDialog) and "vendor@east" in text_of(app), "t")
            await see(pilot, lambda: isinstance(app.screen, Question), *"east", "enter")
            assert "up to 20 requests with 15,000 tokens, about $0.024" in text_of(app)
            assert "was never checked" in " ".join(text_of(app).split())
            assert server.counts["chat"] == 0
            await see(pilot, lambda: isinstance(app.screen, FilterDialog) and "tool parser" in text_of(app), "enter")
            assert server.counts["chat"] > 12
            await see(pilot, "--tool-call-parser", *"a call")
            await pilot.press("escape", "t")
            await pilot.press(*"east", "enter")
            await assert_until(
                pilot, lambda: isinstance(app.screen, Question) and "the last check" in text_of(app).lower()
            )
