"""The panes of the form for a new run, each mounted alone."""

from support.pane_app import mounted
from support.sample_workspace import SampleWorkspace
from support.screen_text import text_of

from console.core.case import Case
from console.tui.data.models import Models, read_models
from console.tui.data.suites import read_suites
from console.tui.screens.launch.choices import CasePreview, ChoiceList, ModelChoices, SuiteChoices
from console.tui.screens.launch.field_list import FieldHelp, FieldList
from console.tui.screens.launch.fields import Field
from console.tui.screens.launch.form import Form
from console.tui.screens.launch.suite_tree import Part


async def test_models_are_ticked_narrowed_and_clicked(workspace: SampleWorkspace) -> None:
    pane = ModelChoices()
    async with mounted(pane) as (app, pilot):
        models = read_models(workspace.paths)
        pane.set_models(models, ["gpt-x"], "")
        await pilot.click(ModelChoices, offset=(5, 1))
        await pilot.pause()
        assert "[x]  gpt-x" in text_of(app)
        assert "needs a key" in text_of(app) or "DESK_KEY_THAT_IS_NOT_SET" in text_of(app)
        assert pane.cursor == "claude-y"
        assert len(app.posted_of(ChoiceList.RowClicked)) == 1
        pane.set_models(models, [], "zzz")
        await pilot.pause()
        assert "No matching model" in text_of(app)


async def test_a_ticked_suite_shows_its_categories(workspace: SampleWorkspace) -> None:
    pane = SuiteChoices()
    async with mounted(pane) as (app, pilot):
        suites = read_suites(workspace.paths)
        pane.set_suites(suites, {}, "small")
        assert list(pane.keys) == [Part("small-talk").key]
        pane.suite_tree.unfold(Part("small-talk"))
        pane.set_suites(suites, {"small-talk": ["why"]}, "small")
        await pilot.press("G")
        await pilot.pause()
        assert pane.under_cursor == Part("small-talk", category="why")
        assert "3 of 6" in text_of(app)


async def test_digits_are_typed_into_the_form_and_posted() -> None:
    form = Form()
    pane = FieldList(form)
    limit = next(field for field in form.fields(Models(), ()) if field.digits)
    async with mounted(pane) as (app, pilot):
        pane.set_fields([limit])
        await pilot.press("4", "2")
        assert pane.is_editing
        await pilot.press("enter")
        await pilot.pause()
        assert not pane.is_editing
        assert form.text(limit) == "42"
        assert app.posted_of(FieldList.FieldChanged) != []
        assert app.posted_of(FieldList.TypingChanged) != []


async def test_the_meaning_of_a_field_is_told() -> None:
    pane = FieldHelp()
    field: Field = next(field for field in Form().fields(Models(), ()) if field.digits)
    async with mounted(pane) as (app, pilot):
        pane.describe(field)
        await pilot.pause()
        assert field.flag in text_of(app)


async def test_the_preview_asks_once_for_a_case_and_shows_it_only_while_pointed_at() -> None:
    pane = CasePreview()
    async with mounted(pane) as (app, pilot):
        assert pane.point_at("small-talk", "why")
        pane.set_case("other", "", "It has no cases.")
        pane.set_case("small-talk", "why", Case("why-1", "why", {}, title="Why do people hum?"))
        await pilot.pause()
        assert "small-talk" in pane.border_title
        assert pane.point_at("other", "")  # its cases may be there meanwhile
        await pilot.pause()
        assert "It has no cases." in text_of(app)
