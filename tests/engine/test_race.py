"""Races of several models: who is out and who is the best does not depend on speed, kills or who reads when."""

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from engine.test_looks import Model, looks
from support.dialogue_suite import DialogueSuite
from support.planned_runs import TalkSuite, passes, planned

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.looks import Look, Rule, Until
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Closed, Finished
from console.engine import endpoints, race
from console.engine.engine import Engine
from console.engine.plan import PreparedRun
from console.engine.race import line_up
from console.store.runs import RunFolder, create_run

GOOD, EVEN, POOR = passes(0.9, "good"), passes(0.85, "even"), passes(0.4, "poor")
RULES: dict[str, Callable[[str], bool]] = {"good": GOOD, "even": EVEN, "poor": POOR}
Start = Callable[..., list[PreparedRun]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race.Race, "poll_s", 0.005)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    def prepare(
        *names: str, cases: int = 300, slow: tuple[str, ...] = (), at_once: int = 16, to: str = "r"
    ) -> list[PreparedRun]:
        models = {name: Model(RULES[name.rstrip("2")], 0.002 if name in slow else 0.0) for name in names}
        monkeypatch.setattr(endpoints, "open_endpoint", lambda config: models[config.name])  # pyright: ignore
        until = Until(Rule.BEST, models=names)
        runs: list[PreparedRun] = []
        for name in names:
            ready = planned(tmp_path / to / name, TalkSuite(cases), until, at_once=at_once)
            facts = msgspec.structs.replace(ready.manifest.model, name=name)
            manifest = msgspec.structs.replace(ready.manifest, model=facts)
            config = msgspec.structs.replace(ready.models["model"], name=name)
            runs.append(dataclasses.replace(ready, manifest=manifest, models={"model": config}))
        return line_up(runs)

    return prepare


def open_run(ready: PreparedRun) -> RunFolder:
    path = ready.runs_root / ready.manifest.id
    return RunFolder(path) if path.exists() else create_run(ready.runs_root, ready.manifest)


async def play(runs: list[PreparedRun]) -> dict[str, tuple[Closed, Engine]]:
    folders = [open_run(ready) for ready in runs]
    engines = [Engine(folder, ready) for folder, ready in zip(folders, runs, strict=True)]
    ends = await asyncio.gather(*(engine.run() for engine in engines))
    return {ready.manifest.model.name: end for ready, end in zip(runs, zip(ends, engines, strict=True), strict=True)}


def judged(folder: RunFolder) -> list[Look]:
    return [look for look in looks(folder) if look.standings]


async def test_the_worse_stop_early_and_the_best_is_found(start: Start) -> None:
    ends = await play(start("good", "poor", "even"))
    assert ends["poor"][0].reason == "decided"
    assert ends["poor"][0].message.startswith("worse at look ")
    last = judged(ends["poor"][1].host.folder)[-1]
    assert last.decision == "worse"
    assert [one.model for one in last.standings][-1] == "poor"
    assert last.standings[-1].out_at == last.number
    played = len(ends["poor"][1].host.fold.latest)
    assert played <= last.rollouts + 2 * 15 + 16
    assert played < 150
    for name in ("good", "even"):
        closed, engine = ends[name]
        decision = judged(engine.host.folder)[-1].decision
        assert decision in {"best", "worse", "cannot tell"}
        assert (closed.reason == "completed") == (len(engine.host.fold.latest) == 300)
        assert engine.host.folder.fold()[1].decision == decision
    final = [judged(ends[name][1].host.folder)[-1] for name in ("good", "even")]
    assert final[0].standings == final[1].standings


async def test_speed_changes_nothing(start: Start) -> None:
    seen: list[list[Look]] = []
    for number, (slow, at_once) in enumerate([((), 1), (("good",), 16), (("poor", "even"), 64)]):
        ends = await play(start("good", "even", "poor", cases=120, slow=slow, at_once=at_once, to=f"r{number}"))
        seen.append(judged(ends["good"][1].host.folder))
    assert seen[0] == seen[1] == seen[2]
    assert seen[0]


async def test_equal_models_go_to_the_end_and_nothing_can_be_told(start: Start) -> None:
    ends = await play(start("good", "good2", cases=60))
    for closed, engine in ends.values():
        assert closed.reason == "completed"
        assert engine.host.folder.fold()[1].decision == "cannot tell"


async def test_a_model_that_was_hardly_graded_is_not_out(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def score(self: TalkSuite, case: Case, output: object, setting: Setting) -> Verdict:
        is_lost = output == ["answer 9"] and int(case.id[1:-2]) % 2
        return Verdict(Outcome.UNDECIDED) if is_lost else DialogueSuite.score(self, case, output, setting)

    monkeypatch.setattr(TalkSuite, "score", score)
    ends = await play(start("good", "poor", cases=120))
    for closed, engine in ends.values():
        assert closed.reason == "completed"
        assert {look.decision for look in judged(engine.host.folder)} == {"", "cannot tell"}


async def test_a_fast_model_waits_for_the_others(start: Start) -> None:
    runs = start("good", "poor", slow=("good",), at_once=2)
    ends = await play(runs)
    first = judged(ends["poor"][1].host.folder)[-1]
    assert len(ends["poor"][1].host.fold.latest) <= first.rollouts + 15


async def test_a_race_goes_on_where_it_was_stopped(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = await play(start("good", "poor", to="whole"))
    runs = start("good", "poor", to="stopped")
    monkeypatch.setattr(race, "STARTING_S", 0.0)
    finished: list[AnyRecord] = []

    def stop(record: AnyRecord) -> None:
        finished.extend([record] if isinstance(record, Finished) else [])
        if len(finished) == 20:
            engine.host.end("stopped")

    engine, other = Engine(open_run(runs[0]), runs[0], on_record=stop), Engine(open_run(runs[1]), runs[1])
    closed = await asyncio.gather(engine.run(), other.run())
    assert [one.reason for one in closed] == ["stopped", "halted"]
    assert "good (good) does not play" in closed[1].message
    assert "eval-console resume poor" in closed[1].message
    monkeypatch.setattr(race, "STARTING_S", 20.0)
    again = await play(runs)
    for name in ("good", "poor"):
        assert judged(again[name][1].host.folder) == judged(whole[name][1].host.folder)
        assert again[name][0].message == whole[name][0].message


def test_models_that_would_play_other_cases_are_refused(start: Start) -> None:
    good, poor = start("good", "poor")
    plan = good.manifest.looks
    assert plan is not None
    other = msgspec.structs.replace(plan, digest="other")
    changed = dataclasses.replace(good, manifest=msgspec.structs.replace(good.manifest, looks=other))
    with pytest.raises(UsageError, match="would play other cases"):
        line_up([changed, poor])
