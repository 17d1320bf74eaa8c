"""Looks at runs while they play: the same at any concurrency, after any kill, and whatever is slow."""

import asyncio
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from server.openai_server import OpenAIServer, Scripted, last_text
from support.child_process import run_module, start_module
from support.planned_runs import DECIDED, TalkSuite, passes, planned, results
from support.quick_rows import first_quick

from console.core.case import Case, Setting
from console.core.chat import ChatRequest, Reply, Usage
from console.core.live import EndpointState
from console.core.looks import Look, Rule, Until
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Closed, Finished, Looked
from console.core.run import Summary
from console.core.statistics.power import Detectable
from console.core.statistics.sample import Observation, sample_of
from console.engine import endpoints
from console.engine.engine import Engine
from console.engine.looks import boundary_of, forecast_ends, plan_looks
from console.engine.plan import PreparedRun
from console.exchange.run_reader import RunReader
from console.insight.comparison import compare
from console.insight.comparison_report import statistics
from console.insight.run_number import headline
from console.llm.endpoint import Watch
from console.store.journal import JournalReader
from console.store.runs import RunFolder, create_run
from console.suites.planned_order import planned_order
from console.suites.suite import Metric, Report


class Model:
    """Answers by a rule; failures take three times as long as successes."""

    def __init__(self, passed: Callable[[str], bool], slow_s: float = 0.0) -> None:
        self.passed, self.slow_s = passed, slow_s
        self.asked: list[str] = []

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        case = str(request.messages[-1].get("content")).split()[0]
        self.asked.append(case)
        is_right = self.passed(case)
        await asyncio.sleep(self.slow_s * (1 if is_right else 3))
        return Reply("answer 0" if is_right else "answer 9", usage=Usage(input=10, output=5))

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        return [[0.0] for _ in texts]

    def states(self) -> list[EndpointState]:
        return [EndpointState("m")]

    def retry_now(self) -> None:
        return

    async def aclose(self) -> None:
        return


Install = Callable[..., Model]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Install:
    def install(passed: Callable[[str], bool], slow_s: float = 0.0) -> Model:
        model = Model(passed, slow_s)
        monkeypatch.setattr(endpoints, "open_endpoint", lambda config: model)
        return model

    return install


async def play(ready: PreparedRun, *, to_the_end: bool = False) -> tuple[Closed, Engine]:
    path = ready.runs_root / ready.manifest.id
    folder = RunFolder(path) if path.exists() else create_run(ready.runs_root, ready.manifest)
    engine = Engine(folder, ready, to_the_end=to_the_end)
    return await engine.run(), engine


def records(folder: RunFolder) -> list[AnyRecord]:
    return JournalReader(folder.journal_path).read_new()


def looks(folder: RunFolder) -> list[Look]:
    return [record.look for record in records(folder) if isinstance(record, Looked)]


def summary(engine: Engine) -> Summary:
    return engine.host.folder.fold()[1]


async def test_looks_do_not_depend_on_what_finishes_first(tmp_path: Path, model: Install) -> None:
    seen: list[list[Look]] = []
    for at_once in (1, 16, 64):
        model(passes(0.7, "b"), slow_s=0.0005)
        ready = planned(tmp_path / f"r{at_once}", TalkSuite(300), at_once=at_once)
        closed, engine = await play(ready)
        assert closed.reason == "completed"
        seen.append(looks(engine.host.folder))
    assert [look.rollouts for look in seen[0]] == list(range(15, 301, 15))
    assert seen[0] == seen[1] == seen[2]
    passed = passes(0.7, "b")
    for look in seen[0]:
        first = [passed(f"d{n}-1") for n in range(look.rollouts)]
        assert look.value == pytest.approx(sum(first) / len(first), abs=1e-12)
    assert seen[0][3].only == ("short",)
    assert seen[0][-1].only == ()


async def test_looks_over_http_do_not_depend_on_what_finishes_first(tmp_path: Path) -> None:
    """The server's failures take three times as long, so that at 64 at once nearly all first answers are right."""
    passed, seen = passes(0.7, "b"), dict[int, list[Look]]()

    def answer(request: dict[str, object]) -> Scripted:
        is_right = passed(last_text(request).split()[0])
        return Scripted("answer 0" if is_right else "answer 9", latency_s=0.002 if is_right else 0.006)

    with OpenAIServer(answer) as server:
        for at_once in (1, 16, 64):
            ready = planned(tmp_path / f"r{at_once}", TalkSuite(90), at_once=at_once, base_url=server.base_url)
            closed, engine = await play(ready)
            assert closed.reason == "completed"
            seen[at_once] = looks(engine.host.folder)
    assert seen[1] == seen[16] == seen[64]
    assert [look.value for look in seen[1]] == [
        sum(passed(f"d{n}-1") for n in range(look.rollouts)) / look.rollouts for look in seen[1]
    ]


async def test_a_regression_of_ten_points_ends_early(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(1000), passes(0.75, "a")
    worse, better = passes(0.17, "worse"), passes(0.1, "better")
    model(lambda case: not worse(case) if a(case) else better(case))
    closed, engine = await play(planned(tmp_path / "r", suite, DECIDED, results(suite, a), at_once=8))
    last = looks(engine.host.folder)[-1]
    assert (closed.reason, last.decision) == ("decided", "worse")
    assert last.rollouts <= 300
    assert last.above is not None
    assert last.above < -0.01
    assert closed.message == f"worse at look {last.number} of 20, after {last.rollouts} of 1,000"
    assert len(engine.host.fold.latest) <= last.rollouts + 8
    assert summary(engine).state == "decided"
    assert summary(engine).decision == "worse"


async def test_equal_models_go_to_the_end(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(200), passes(0.75, "a")
    one, other = passes(0.1, "one"), passes(0.3, "other")
    model(lambda case: not one(case) if a(case) else other(case))
    closed, engine = await play(planned(tmp_path / "r", suite, DECIDED, results(suite, a)))
    last = looks(engine.host.folder)[-1]
    assert (closed.reason, last.decision, last.number) == ("completed", "cannot tell", last.of)
    assert summary(engine).decision == "cannot tell"


async def test_a_wide_margin_shows_that_nothing_is_worse(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(400), passes(0.75, "a")
    model(a)
    until = msgspec.structs.replace(DECIDED, margin=0.2)
    closed, engine = await play(planned(tmp_path / "r", suite, until, results(suite, a)))
    assert (closed.reason, looks(engine.host.folder)[-1].decision) == ("decided", "not worse")


async def test_a_decided_run_can_be_played_to_the_end(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(200), passes(0.9, "a")
    model(lambda case: False)
    ready = planned(tmp_path / "r", suite, DECIDED, results(suite, a))
    closed, _ = await play(ready)
    assert closed.reason == "decided"
    again, engine = await play(ready)
    assert again.reason == "decided"
    assert len(engine.host.fold.latest) < 200
    whole, engine = await play(ready, to_the_end=True)
    assert whole.reason == "completed"
    assert len(engine.host.fold.latest) == 200
    decisions = [look.decision for look in looks(engine.host.folder) if look.decision]
    assert decisions == ["worse"]


async def test_a_width_ends_a_run(tmp_path: Path, model: Install) -> None:
    model(passes(0.9, "b"))
    until = Until(Rule.WIDTH, half_width=0.05)
    closed, engine = await play(planned(tmp_path / "r", TalkSuite(600), until))
    last = looks(engine.host.folder)[-1]
    assert (closed.reason, last.decision) == ("decided", "narrow enough")
    assert last.low is not None
    assert last.high is not None
    assert (last.high - last.low) / 2 <= 0.05
    before = looks(engine.host.folder)[-2]
    assert (before.high or 0) - (before.low or 0) > 0.1


async def test_a_narrow_interval_of_too_few_graded_cases_ends_nothing(tmp_path: Path, model: Install) -> None:
    class UngradedTenth(TalkSuite):
        def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
            is_lost = int(case.id[1:-2]) % 10 == 0
            return Verdict(Outcome.UNDECIDED) if is_lost else super().score(case, output, setting)

    model(passes(0.9, "b"))
    closed, engine = await play(planned(tmp_path / "r", UngradedTenth(200), Until(Rule.WIDTH, half_width=0.2)))
    last = looks(engine.host.folder)[-1]
    assert (last.high or 0) - (last.low or 1) < 0.4
    assert (closed.reason, last.decision, last.left_out) == ("completed", "cannot tell", 20)


@pytest.mark.parametrize(("unit", "low_and_high"), [("rate", (0.2, 0.3)), ("points", None)])
async def test_a_width_is_that_of_the_suites_own_rate(
    tmp_path: Path, model: Install, unit: str, low_and_high: tuple[float, float] | None
) -> None:
    class WeightedSuite(TalkSuite):
        def report(self, results: object, setting: Setting) -> Report:
            return Report((Metric("overall", 0.25, 0.2, 0.3, count=60, unit=unit),))

    model(passes(0.9, "b"))
    _, engine = await play(planned(tmp_path / "r", WeightedSuite(60), Until(Rule.WIDTH, half_width=0.001)))
    last = looks(engine.host.folder)[-1]
    if low_and_high:
        assert (last.low, last.high) == low_and_high
    else:
        assert (last.low or 0) > 0.7, "that of the pass rate"


async def test_a_run_stopped_by_hand_is_not_decided(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(200), passes(0.9, "a")
    ready = planned(tmp_path / "r", suite, DECIDED, results(suite, a), at_once=4)
    folder = create_run(ready.runs_root, ready.manifest)
    model(lambda case: False)
    finished = Counter[str]()

    def stop(record: AnyRecord) -> None:
        finished["all"] += isinstance(record, Finished)
        if finished["all"] == 20:
            engine.host.end("stopped")

    engine = Engine(folder, ready, on_record=stop)
    closed = await engine.run()
    assert closed.reason == "stopped"
    stopped = summary(engine)
    assert stopped.decision == ""
    assert stopped.is_shown_by_look
    first = stopped.look.rollouts if stopped.look is not None else 0
    assert headline(stopped) == (f".000 (first {first} of 200)" if first else "–")
    closed, engine = await play(ready)
    assert (closed.reason, summary(engine).decision) == ("decided", "worse")


async def test_broken_cases_are_left_out_and_too_many_decide_nothing(tmp_path: Path, model: Install) -> None:
    suite, a = TalkSuite(100), passes(1.0, "a")
    baseline = {slot: verdict for slot, verdict in results(suite, a).items() if int(slot[0][1:-2]) % 4}
    model(lambda case: False)
    closed, engine = await play(planned(tmp_path / "r", suite, DECIDED, baseline))
    assert closed.reason == "completed"
    seen = looks(engine.host.folder)
    assert {look.decision for look in seen[:-1]} == {""}
    assert seen[-1].decision == "cannot tell"
    assert seen[-1].left_out == 25


@pytest.mark.parametrize("at_once", [1, 32])
async def test_categories_are_questions_of_their_own(tmp_path: Path, model: Install, at_once: int) -> None:
    suite, a = TalkSuite(600), passes(0.9, "a")
    model(lambda case: a(case) and int(case[1:-2]) >= 200, slow_s=0.0001)
    until = msgspec.structs.replace(DECIDED, margin=0.1, by_category=True)
    closed, engine = await play(planned(tmp_path / "r", suite, until, results(suite, a), at_once=at_once))
    assert closed.reason == "decided"
    decided = {look.category: look for look in looks(engine.host.folder) if look.decision}
    assert {name: look.decision for name, look in decided.items()} == {
        "short": "worse",
        "middle": "not worse",
        "long": "not worse",
    }
    assert decided["short"].number < decided["middle"].number
    assert summary(engine).decision == "worse"
    assert [decided[name].rollouts for name in ("short", "middle", "long")] == [30, 50, 40]


@pytest.mark.parametrize(
    ("point", "count"),
    first_quick([("half looked", 3), ("after finished", 37), ("after looked", 2), ("before closed", 1)]),
)
def test_a_killed_run_decides_the_same_at_the_same_look(tmp_path: Path, point: str, count: int) -> None:
    passed = passes(0.6, "b")

    def answer(request: dict[str, object]) -> Scripted:
        return Scripted("answer 0" if passed(last_text(request).split()[0]) else "answer 9")

    with OpenAIServer(answer) as server:
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        assert _child(whole, server.base_url) == 0
        assert _child(killed, server.base_url, point, count) == -9
        assert _child(killed, server.base_url) == 0
    assert looks(RunFolder(killed)) == looks(RunFolder(whole))
    assert looks(RunFolder(whole))[-1].decision == "worse"
    ends = [
        [record for record in records(RunFolder(folder)) if isinstance(record, Closed)] for folder in (whole, killed)
    ]
    assert ends[0][-1].message == ends[1][-1].message


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_moment_change_no_decision(tmp_path: Path, seed: int) -> None:
    """The engine dies while its server answers the n-th request, n drawn by the seed, four times in a row."""
    source, passed = random.Random(seed), passes(0.6, "b")
    doomed: list[subprocess.Popen[bytes]] = []
    left = [0]

    def answer(request: dict[str, object]) -> Scripted:
        left[0] -= 1
        if not left[0] and doomed:
            time.sleep(source.random() * 0.01)
            doomed[-1].kill()
        return Scripted("answer 0" if passed(last_text(request).split()[0]) else "answer 9")

    with OpenAIServer(answer) as server:
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        assert _child(whole, server.base_url) == 0
        for _ in range(4):
            left[0] = source.randint(1, 25)
            doomed.append(start_module("killable_planned_run", killed, server.base_url, "nowhere", 1))
            assert doomed[-1].wait(600) in (-9, 0, 1)
        left[0] = 0
        again = RunFolder(killed)
        assert again.fold()[1].decision == "worse" or _child(killed, server.base_url) == 0
    assert [process.returncode for process in doomed[:2]] == [-9, -9]
    assert looks(again) == looks(RunFolder(whole))
    assert again.fold()[1].message == RunFolder(whole).fold()[1].message


async def test_a_category_that_is_answered_passes_its_share_on(tmp_path: Path, model: Install) -> None:
    """Three look at a third of .05 each; when one is decided the others are looked at again where they are, at half."""
    suite, a = TalkSuite(300), passes(1.0, "a")
    ordered = planned_order(suite.cases((), Setting()), 0)
    of = {name: [case.id for case in ordered if case.category == name] for name in ("short", "middle")}
    wrong = {*of["middle"][:9], *of["short"][38:]}
    model(lambda case: case not in wrong)
    until = msgspec.structs.replace(DECIDED, margin=0.0, by_category=True)
    ready = planned(tmp_path / "r", suite, until, results(suite, a), at_once=1)
    plan = ready.manifest.looks
    assert plan is not None
    _, engine = await play(ready)
    decided: list[str] = []
    middle: list[Look] = []
    for look in looks(engine.host.folder):
        if look.difference is None or look.below is None or not look.category:
            continue
        lost = round(-look.difference * look.rollouts)
        sample = sample_of(Observation(str(n), -float(n < lost)) for n in range(look.rollouts))
        question = next(item for item in plan.questions if item.category == look.category)
        low, _ = boundary_of(plan, question, 1 / (3 - len(decided))).interval(sample, look.number)
        assert look.below == pytest.approx(low)
        decided += [look.category] if look.decision in ("worse", "not worse") else []
        middle += [look] if look.category == "middle" else []
    assert decided == ["short", "middle"]
    assert [(look.number, look.decision) for look in middle[-2:]] == [(5, ""), (5, "worse")]
    assert middle[-1].difference == middle[-2].difference


class SetupSuite(TalkSuite):
    """A third of the cases start when a setup case has ended."""

    def cases(self, categories: object, setting: Setting) -> list[Case]:
        cases = super().cases(categories, setting)
        waiting = [msgspec.structs.replace(case, depends_on=("s0-1",)) for case in cases if case.category == "long"]
        return [Case("s0-1", "long", {"turns": 1}, graded=False), *cases[: -len(waiting)], *waiting]


@pytest.mark.parametrize("suite", [TalkSuite(300), SetupSuite(300)], ids=["", "setup"])
async def test_a_comparison_counts_what_the_deciding_look_has_seen(
    tmp_path: Path, model: Install, suite: TalkSuite
) -> None:
    a = passes(0.9, "a")
    model(a)
    _, baseline = await play(planned(tmp_path / "a", suite))
    model(lambda case: False, slow_s=0.0005)
    _, engine = await play(planned(tmp_path / "b", suite, DECIDED, results(suite, a), at_once=32))
    last = looks(engine.host.folder)[-1]
    comparison = compare(RunReader(baseline.host.folder).side, RunReader(engine.host.folder).side)
    assert len(engine.host.fold.latest) > last.rollouts
    assert comparison.counts.cases == last.rollouts
    assert sum(part.cases for part in comparison.categories.values()) == last.rollouts
    assert comparison.counts.difference.value == pytest.approx(last.difference)
    assert {pair.b.slot for pair in comparison.pairs}.isdisjoint(engine.host.fold.beyond)
    assert comparison.beyond == len(engine.host.fold.latest) - len(engine.host.fold.ungraded) - last.rollouts
    assert comparison.only_b == 0
    assert comparison.beyond <= 2 * 32 + 15, "setup holds a look up, but the rest is not played meanwhile"
    words = [line for section in statistics(comparison) for line in section.lines]
    assert any("of B after the deciding look" in line for line in words)


def _child(folder: Path, base_url: str, point: str = "nowhere", count: int = 1) -> int:
    done = run_module("killable_planned_run", folder, base_url, point, count, timeout_s=600)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def test_every_prefix_holds_the_categories_in_proportion() -> None:
    suite = TalkSuite(900, cluster=3)
    ordered = planned_order(suite.cases((), Setting()), 7)
    assert sorted(case.id for case in ordered) == sorted(case.id for case in suite.cases((), Setting()))
    for count in (90, 300, 600):
        held = Counter(case.category for case in ordered[:count])
        assert max(held.values()) - min(held.values()) <= 9
    for place in range(0, 900, 3):
        assert len({case.cluster for case in ordered[place : place + 3]}) == 1
    assert ordered != planned_order(suite.cases((), Setting()), 8)


def test_categories_are_forecast_together() -> None:
    ordered, alike = planned_order(TalkSuite(900).cases((), Setting()), 0), Detectable(900, 1)
    plans = [plan_looks(ordered, 1, 0, msgspec.structs.replace(DECIDED, by_category=apart)) for apart in (True, False)]
    (worse_apart, equal), (worse, _) = (forecast_ends(plan, alike, None).expected for plan in plans if plan)
    assert 2 * worse.cases < worse_apart.cases < 900
    assert 850 < equal.cases <= 900


def test_setup_comes_first_and_counts_nowhere() -> None:
    graded = [Case(f"g{n}", "c", depends_on=("s",)) for n in range(40)]
    ordered = planned_order([*graded[:5], Case("s", "c", graded=False), *graded[5:]], 0)
    plan = plan_looks(ordered, 2, 0, DECIDED)
    assert ordered[0].id == "s"
    assert plan is not None
    assert plan.questions[0].at[-1] == 80
    assert plan.questions[0].at[0] == 60
    assert Outcome.PASSED.is_graded
