"""The rules of the form for a new run, without an app, and the editing of one field."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.row_suite import write_folder

from console.config.model import ModelConfig
from console.config.preset import Preset
from console.core.fault import UsageError
from console.core.run import Tally
from console.engine.forecast import Forecast, RunForecast, forecast_runs
from console.engine.matrix import plans_of
from console.store.runs import RunFolder
from console.suites.suite import Category, Mode, SuiteEntry
from console.tui.data.draft import Draft
from console.tui.data.models import ModelLine, Models
from console.tui.data.sample_run import SampleRun
from console.tui.data.suites import SuiteLine, Suites, read_suites
from console.tui.screens.launch.controller import LaunchController
from console.tui.screens.launch.field_list import FieldEditor
from console.tui.screens.launch.suite_tree import Part

RUN = RunForecast("gpt-x", "small-talk", "fc", 3, 0, 1, 3, 100, 10, 0.1, (), False, 5.0)


def model_line(name: str, state: str = "") -> ModelLine:
    return ModelLine(name, name, not state, state, False, "openai", (), "fc", 4, 1.0, 2.0, 1)


def suite_line(name: str, *categories: Category, mistake: str = "") -> SuiteLine:
    return SuiteLine(SuiteEntry(name, "own", Path("/x"), name), categories, mistake)


MODELS = Models([model_line("gpt-x"), model_line("locked", "THE_KEY is not set")])
SUITES = Suites([
    suite_line("small-talk", Category("what", 3), Category("why", 3)),
    suite_line("torn", mistake="questions.jsonl: is not JSON"),
])  # fmt: skip


def form(**chosen: str) -> LaunchController:
    controller = LaunchController(**chosen)
    assert controller.use_workspace(MODELS, SUITES, []) == []
    return controller


def foreseen(controller: LaunchController, forecast: Forecast) -> bool:
    """Answer the forecast that the form asks for now."""
    request = controller.next_forecast()
    assert request is not None
    return controller.use_forecast(request, forecast)


def test_a_model_that_was_just_added_stays_chosen_beside_a_draft() -> None:
    controller = LaunchController(model="new")
    controller.add_draft(Draft(("gone", "gpt-x"), {"small-talk": frozenset({"why"})}, {}))
    controller.use_workspace(MODELS, SUITES, [])
    assert controller.form.models == ["gpt-x", "new"]
    assert controller.form.suites == {"small-talk": {"why"}}


@pytest.fixture
def filled() -> LaunchController:
    return form(model="gpt-x", suite="small-talk")


def test_an_empty_form_says_what_to_choose() -> None:
    controller = form()
    assert controller.mistakes == ["choose a model: space", "choose a suite: space"]
    assert controller.next_forecast() is None
    assert controller.request_start() == "refused"
    assert controller.why_not_start() == "choose a model: space"


def test_what_cannot_be_chosen_says_why() -> None:
    controller = form()
    assert controller.toggle_model("locked") == "THE_KEY is not set"
    assert controller.toggle_part(Part("torn")) == "questions.jsonl: is not JSON"
    assert controller.toggle_model("nobody") == controller.toggle_part(Part("nothing")) == ""
    assert controller.form.models == []
    assert controller.form.suites == {}


def test_models_suites_and_categories_are_ticked_and_unticked() -> None:
    controller = form(model="locked")
    assert controller.toggle_model("locked") == ""
    assert controller.form.models == []
    what, why = (Part("small-talk", category=name) for name in ("what", "why"))
    steps = ((what, {"what"}), (why, set()), (what, {"why"}), (Part("small-talk"), set()))
    for part, ticked in steps:
        assert controller.toggle_part(part) == ""
        assert controller.form.suites == {"small-talk": ticked}
    assert controller.toggle_part(Part("small-talk")) == ""
    assert controller.form.suites == {}
    controller.toggle_part(what)
    controller.toggle_part(what)
    assert controller.form.suites == {}


def test_the_preset_is_what_was_chosen(filled: LaunchController) -> None:
    filled.toggle_part(Part("small-talk", category="what"))
    filled.form.texts |= {"cases": "2", "start": "queued"}
    assert filled.preset.models == ("gpt-x",)
    assert filled.preset.suites == {"small-talk": ("why",)}
    assert (filled.preset.limit, filled.preset.seed, filled.preset.queue) == (2, 0, True)


def test_a_field_that_does_not_fit_is_a_mistake(filled: LaunchController) -> None:
    filled.form.texts["repeats"] = "0"
    assert filled.mistakes == ["repeats: a whole number, at least 1"]


def test_the_modes_are_those_of_the_chosen_suite(filled: LaunchController) -> None:
    assert mode_choices(filled) == ("from models.toml", "fc", "prompt")
    filled.form.modes["small-talk"] = (Mode("board", "moves on a board", "prompt"),)
    filled.changed()
    assert mode_choices(filled) == ("from models.toml", "board")


def mode_choices(controller: LaunchController) -> tuple[str, ...]:
    return next(field.choices for field in controller.fields if field.id == "mode")


def test_options_and_roles_of_a_chosen_suite_become_fields(workspace: Any) -> None:
    controller = LaunchController(suite="small-talk")
    assert controller.use_workspace(MODELS, read_suites(workspace.paths), []) == []
    ids = [field.id for field in controller.fields]
    assert {"role:judge", "role:embedding", "option:small-talk:protocol"} <= set(ids)


def test_a_role_that_no_selected_case_needs_is_marked_until_the_next_change(filled: LaunchController) -> None:
    filled.form.roles["small-talk"] = ("judge", "user")
    filled.changed()
    judge = ModelConfig(name="j", model_id="judge-1")
    assert foreseen(filled, Forecast([RUN], models=[{"judge": judge}]))
    assert filled.form.idle == {"role:user"}
    filled.changed()
    assert filled.form.idle == frozenset()


def test_a_suite_that_cannot_be_opened_is_said_once(workspace: Any) -> None:
    suites = read_suites(workspace.paths)
    controller = LaunchController(suite="gone")
    (problem,) = controller.use_workspace(MODELS, suites, [])
    assert "gone" in problem
    assert controller.changed() == []


# The forecast --------------------------------------------------------------------------------------------------------


def test_one_forecast_is_asked_for_at_a_time(filled: LaunchController) -> None:
    request = filled.next_forecast()
    assert request is not None
    assert filled.next_forecast() is None
    assert filled.use_forecast(request, Forecast([RUN]))
    assert filled.forecast == Forecast([RUN])


def test_a_forecast_of_an_earlier_form_is_not_taken(filled: LaunchController) -> None:
    request = filled.next_forecast()
    assert request is not None
    filled.changed()
    assert filled.is_outdated(request)
    assert not filled.use_forecast(request, Forecast([RUN]))
    assert filled.forecast is None
    assert filled.next_forecast() is not None, "the next one can be worked out"


def test_a_refusal_stands_at_its_field_until_the_next_change(filled: LaunchController) -> None:
    refusal = UsageError("no question has 'why-9' among its ids", where="--ids", hint="Did you mean why-3?")
    assert foreseen(filled, Forecast(refusals=[refusal]))
    ids = next(field for field in filled.fields if field.id == "ids")
    assert filled.form.mistake_in(ids) == "no question has 'why-9' among its ids. Did you mean why-3?"
    assert filled.refusals == [("only ids: no question has 'why-9' among its ids", "Did you mean why-3?")]
    assert filled.request_start() == "refused"
    filled.changed()
    assert filled.form.mistake_in(ids) == ""


def test_servers_of_other_roles_are_asked_once_until_forgotten(filled: LaunchController) -> None:
    judge = ModelConfig(name="j", model_id="judge-1", base_url="http://127.0.0.1:1/v1")
    forecast = Forecast([RUN], models=[{"judge": judge}])
    assert foreseen(filled, forecast)
    question = filled.next_role_question()
    assert question is not None
    assert filled.next_role_question() is None
    warnings = dict.fromkeys(question.models, "it is not served")
    filled.role_check.add_answers(question, warnings)
    assert filled.role_warnings == ["it is not served"]
    filled.role_check.forget()
    filled.role_check.add_answers(question, warnings)
    assert filled.role_warnings == [], "an answer from before counts no more"
    assert filled.next_role_question() is not None


# Starting ------------------------------------------------------------------------------------------------------------


def test_enter_before_the_forecast_waits_for_it(filled: LaunchController) -> None:
    assert filled.request_start() == "later"
    assert foreseen(filled, Forecast([RUN]))
    assert filled.pop_awaited_start()
    assert not filled.pop_awaited_start()
    assert filled.request_start() == "now"
    filled.is_starting = True
    assert filled.request_start() == "under way"


def test_a_role_is_demanded_only_where_the_ticked_categories_need_it(workspace: Any) -> None:
    rows = [{"category": "plain", "prompt": "?", "equals": "x"}, {"category": "judged", "prompt": "?", "judge": "?"}]
    write_folder(workspace.paths.data / "mine", rows)
    workspace.paths.models.write_text('[real]\nmodel_id = "r"\nbase_url = "http://127.0.0.1:9/v1"\n')
    controller = LaunchController(model="real", suite="mine")
    controller.use_workspace(Models([model_line("real")]), read_suites(workspace.paths), [])

    def refusals(category: str) -> list[tuple[str, str]]:
        controller.form.suites = {"mine": {category}}
        controller.changed()
        request = controller.next_forecast()
        assert request is not None
        assert controller.use_forecast(request, forecast_runs(plans_of(request.preset, workspace.paths)))
        return controller.refusals

    assert refusals("plain") == []
    assert controller.why_not_start() == ""
    refused = ("judge: the suite needs a model for the role judge", "`eval-console models` lists the models.")
    assert refusals("judged") == [refused]


def test_a_form_that_was_changed_is_not_started_by_an_earlier_enter(filled: LaunchController) -> None:
    assert filled.request_start() == "later"
    filled.changed()
    assert foreseen(filled, Forecast([RUN]))
    assert not filled.pop_awaited_start()


def test_a_run_that_may_cost_much_is_asked_about(filled: LaunchController) -> None:
    assert foreseen(filled, Forecast([RUN]))
    assert filled.start_warnings == []
    filled.changed()
    assert foreseen(filled, Forecast([replace(RUN, cost_usd=50.0, cap_usd=None)]))
    (warning,) = filled.start_warnings
    assert "$50" in warning


# Presets -------------------------------------------------------------------------------------------------------------


def test_a_preset_says_what_is_not_here() -> None:
    controller = form()
    preset = Preset(("gpt-x", "gone"), {"small-talk": ("why", "who"), "nowhere": ()}, options={"k": 1})
    missing, problems = controller.fill_in(preset)
    assert missing == ["gone", "nowhere", "small-talk/who", "k"]
    assert problems == []
    assert controller.form.models == ["gpt-x"]
    assert controller.form.suites == {"small-talk": {"why"}}


# Sample runs ---------------------------------------------------------------------------------------------------------


def test_sample_runs_belong_to_the_form_they_were_made_of(filled: LaunchController, tmp_path: Path) -> None:
    good = SampleRun(RunFolder(tmp_path / "a"), "gpt-x", "small-talk", is_over=True, tally=Tally(passed=3))
    bad = replace(good, folder=RunFolder(tmp_path / "b"), tally=Tally(passed=2, failed=1), is_over=False)
    assert filled.sample_run_to_review is None
    filled.sample_runs = [good]
    assert filled.sample_run_to_review == good
    assert not filled.is_sampling
    filled.sample_runs = [good, bad]
    assert filled.sample_run_to_review == bad
    assert filled.is_sampling
    filled.changed()
    assert filled.sample_runs == []


def test_sample_runs_ask_only_when_they_cost_much(filled: LaunchController) -> None:
    assert filled.sample_cost_to_confirm == 0.0
    assert foreseen(filled, Forecast([replace(RUN, cost_usd=60.0, cases=6)]))
    assert filled.sample_cost_to_confirm == 30.0


# One field -----------------------------------------------------------------------------------------------------------


def test_the_first_key_replaces_a_selected_text_and_escape_brings_it_back() -> None:
    editor = FieldEditor("cases", "all", "all", selected=True)
    assert editor.press("2", "2") == "typed"
    assert editor.press("4", "4") == "typed"
    assert editor.text == "24"
    assert editor.press("escape", None) == "taken back"
    assert editor.text == "all"


@pytest.mark.parametrize(("key", "text"), [("backspace", ""), ("ctrl+u", ""), ("end", "all"), ("right", "all")])
def test_editing_keys_on_a_selected_text(key: str, text: str) -> None:
    editor = FieldEditor("cases", "all", "all", selected=True)
    assert editor.press(key, None) == "typed"
    assert editor.text == text
    assert not editor.is_selected


@pytest.mark.parametrize(
    ("key", "use"), [("enter", "kept"), ("tab", "passed on"), ("up", "passed on"), ("f5", "unused")]
)
def test_other_keys_leave_the_text_as_it_is(key: str, use: str) -> None:
    editor = FieldEditor("cases", "all", "12")
    assert editor.press(key, None) == use
    assert editor.text == "12"


def test_pasted_text_comes_on_one_line() -> None:
    editor = FieldEditor("name", "", "a")
    editor.paste("b\nc\x1b")
    assert editor.text == "abc"
