"""From a preset to plans and forecasts: what each run gets, and what it is said to cost."""

from pathlib import Path

import pytest

from console.config.paths import WorkspacePaths
from console.config.preset import Preset
from console.core.fault import UsageError
from console.core.run import Budget, Selection
from console.engine import plan as plan_module
from console.engine.forecast import Forecast, RunForecast, forecast_runs
from console.engine.matrix import plans_of, read_ids
from console.engine.plan import Plan, prepare

MODELS = """\
[priced]
model_id = "p"
api_key_env = "MATRIX_KEY"
price = { in = 1.0, out = 10.0 }

[unpriced]
model_id = "u"
api_key_env = "MATRIX_KEY"

[own]
model_id = "o"
base_url = "http://127.0.0.1:1/v1"
price = { in = 0, out = 0 }
"""
BFCL, AIDAN = "bfcl-starter", "aidan-starter"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspacePaths:
    monkeypatch.setenv("MATRIX_KEY", "sk-matrix-0123456789")
    (tmp_path / "models.toml").write_text(MODELS)
    return WorkspacePaths(models=tmp_path / "models.toml", runs=tmp_path / "runs")


def test_one_plan_for_each_model_and_suite(where):
    preset = Preset(("priced", "own"), {BFCL: ("simple_python",), AIDAN: ()}, limit=3, seed=7, name="nightly")
    plans = plans_of(preset, where)
    assert [(plan.suite, plan.model) for plan in plans] == [
        (BFCL, "priced"), (BFCL, "own"), (AIDAN, "priced"), (AIDAN, "own"),
    ]  # fmt: skip
    assert plans[0].selection == Selection(("simple_python",), limit=3, seed=7)
    assert plans[2].selection == Selection(limit=3, seed=7)
    assert plans[3].name == f"nightly own {AIDAN}"


def test_options_and_roles_go_to_the_suites_that_have_a_use_for_them(where):
    preset = Preset(
        ("own",),
        {BFCL: (), AIDAN: ()},
        roles={"judge": "sim/judge"},
        options={f"{AIDAN}/protocol": "original", "max_turns": 3},
    )
    bfcl, aidan = plans_of(preset, where)
    assert (bfcl.roles, bfcl.options) == ({}, {})
    assert (aidan.roles, aidan.options) == ({"judge": "sim/judge"}, {"protocol": "original", "max_turns": 3})


@pytest.mark.parametrize(
    ("change", "flag", "words"),
    [
        ({"models": ()}, "", "-m MODEL is required"),
        ({"suites": {}}, "", "-s SUITE is required"),
        ({"options": {"cave/x": 1}}, "--option", "not selected"),
        ({"options": {"no_such": 1}}, "--option", "no chosen suite has an option"),
        ({"roles": {"critic": "x"}}, "--critic", "no chosen suite uses the role"),
        ({"ids": ("causes-1", "causes-x")}, "--ids", "bfcl-starter has none"),
        ({"ids": ("causes-1", "simple_python_0", "causes-x")}, "--ids", "Did you mean causes-"),
        ({"ids": ("@/no/such/file",)}, "--ids", "cannot be read"),
        ({"only_failed_of": "nothing"}, "", "no run is named"),
    ],
)
def test_what_does_not_fit_is_said_of_its_option(where, change, flag, words):
    import dataclasses

    preset = dataclasses.replace(Preset(("own",), {BFCL: (), AIDAN: ()}), **change)
    with pytest.raises(UsageError) as told:
        plans_of(preset, where)
    assert told.value.where == flag
    assert words in str(told.value)


def test_a_run_has_at_least_one_rollout_and_at_most_so_many(where, monkeypatch):
    def planned(rollouts: int) -> int:
        plan = Plan("own", BFCL, Selection(limit=4), rollouts=rollouts, paths=where)
        return prepare(plan).manifest.cases

    monkeypatch.setattr(plan_module, "MOST_ROLLOUTS", 12)
    assert planned(3) == 12
    with pytest.raises(UsageError, match="at least 1"):
        planned(0)
    with pytest.raises(UsageError, match="that one run may have"):
        planned(4)


def test_ids_are_shared_out_to_their_suites(where, tmp_path):
    (tmp_path / "ids.txt").write_text("causes-2\r\nsimple_python_1\n\n")
    preset = Preset(("own",), {BFCL: (), AIDAN: ()}, ids=(f"@{tmp_path}/ids.txt", "causes-1,causes-2"))
    assert [plan.selection.ids for plan in plans_of(preset, where)] == [("simple_python_1",), ("causes-2", "causes-1")]


def test_a_file_of_ids_must_hold_some(tmp_path):
    (tmp_path / "ids.txt").write_text(" ,\n")
    with pytest.raises(UsageError, match="contains no id"):
        read_ids([f"@{tmp_path}/ids.txt"])


def test_only_what_a_run_failed_is_asked_of_another_model(console_run, where):
    """The suite comes from that run; so do its model and options, where nothing else is said."""
    former, failed = console_run
    (plan,) = plans_of(Preset(("own",), only_failed_of=former), where)
    assert (plan.model, plan.suite, plan.parent, plan.mode) == ("own", BFCL, former, None)
    assert plan.selection.ids == failed
    (same,) = plans_of(Preset(only_failed_of=former[-12:]), where)
    assert (same.model, same.mode) == ("sim/hasty", "prompt")
    with pytest.raises(UsageError, match="belong to the suite bfcl-starter") as told:
        plans_of(Preset(("own",), {AIDAN: ()}, only_failed_of=former), where)
    assert told.value.where == "--only-failed-of"


@pytest.fixture
def console_run(where, tmp_path, monkeypatch) -> tuple[str, tuple[str, ...]]:
    """A finished simulated run with failures: its name, and the cases it failed."""
    from console.core.outcome import Outcome
    from console.engine.launch import run_in_foreground, start

    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    run, prepared = start(Plan("sim/hasty", BFCL, Selection(("simple_python",)), paths=WorkspacePaths(runs=where.runs)))
    run_in_foreground(run, prepared)
    latest = run.fold()[0].latest
    failed = [case for (case, _), one in latest.items() if one.verdict.outcome is Outcome.FAILED]
    assert 0 < len(failed) < len(latest)
    return run.name, tuple(failed)


def forecast(preset: Preset, where: WorkspacePaths) -> Forecast:
    found = forecast_runs(plans_of(preset, where))
    assert found is not None
    return found


def test_prices_known_and_unknown_stand_beside_each_other(where):
    preset = Preset(
        ("priced", "unpriced", "own", "sim/careful"),
        {BFCL: ("simple_python",), AIDAN: ()},
        limit=2,
        roles={"judge": "own", "embedding": "sim/embedding"},
        budget=Budget(cost_usd=5.0),
    )
    total = forecast(preset, where)
    assert total.refusals == []
    assert len(total.runs) == 8
    by_name = {(run.model, run.suite): run for run in total.runs}
    priced = by_name["priced", BFCL]
    assert priced.cost_usd == pytest.approx((priced.input_tokens + 10 * priced.output_tokens) / 1e6)
    assert by_name["unpriced", AIDAN].unpriced == ("unpriced",)
    assert by_name["own", AIDAN].cost_usd == 0.0
    assert by_name["sim/careful", BFCL].simulated
    assert not by_name["own", BFCL].simulated
    assert total.unpriced == ("unpriced",)
    assert total.cost_usd == pytest.approx(sum(run.cost_usd for run in total.runs))
    assert total.cases == 16


def test_refusals_are_each_said_once(where, monkeypatch):
    monkeypatch.delenv("MATRIX_KEY")
    total = forecast(Preset(("priced", "own"), {BFCL: ("simple_python", "memory_kv"), AIDAN: ()}, limit=1), where)
    assert len(total.refusals) == len({str(one) for one in total.refusals})
    assert any("has no key" in str(one) for one in total.refusals)


def one(cost: float = 0.0, *, unpriced: tuple[str, ...] = (), cap: float | None = 5.0) -> RunForecast:
    return RunForecast("m", "s", "prompt", 10, 0, 1, 10, 100, 10, cost, unpriced, simulated=False, cap_usd=cap)


def test_when_a_start_asks_once_more():
    assert Forecast([one(4.99)]).cost_warning == ""
    assert Forecast([one(5.01)]).cost_warning == "This will cost about $5.01; it stops at $5.00."
    assert Forecast([one(3.0), one(3.0)]).cost_warning == "This will cost about $6.00; it stops at $10.00."
    assert Forecast([one(0.01, cap=None)]).cost_warning == "This will cost about $0.010, and no limit stops it."
    assert (
        Forecast([one(unpriced=("x",), cap=None)]).cost_warning
        == "This will cost an unknown amount, and no limit stops it."
    )
    assert Forecast([one(unpriced=("x",))]).cost_warning == ""
    assert Forecast([one(unpriced=("x",)), one(unpriced=("x",))]).cost_warning == (
        "The price of x is unknown; the limit counts only the cost its provider reports."
    )
    assert (
        Forecast([one(6.0), one(unpriced=("x",))]).cost_warning == "This will cost at least $6.00; it stops at $10.00."
    )
    assert Forecast([one(0.0, cap=None)]).cost_warning == ""


@pytest.mark.parametrize(("name", "count"), [("rollouts", 0), ("rollouts", 2**53 + 1), ("concurrency", -1)])
def test_a_count_that_makes_no_sense_is_refused(where: WorkspacePaths, name: str, count: int) -> None:
    with pytest.raises(UsageError, match=f"{name} must be at least 1"):
        prepare(Plan("sim/careful", BFCL, paths=WorkspacePaths(runs=where.runs), **{name: count}))
