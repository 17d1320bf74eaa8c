"""A branch goes on with a recorded conversation: what lies before costs nothing and is equal, the rest is live."""

import asyncio
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.folder_suites import CITIES, write_folder_suite
from support.tau2_edition import write_edition

from console.config.paths import WorkspacePaths
from console.core.case import Key
from console.core.experiment import OPENING, PARAMS, REPLY, SYSTEM, Beginning, Change
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Asked, Embedded, Finished, Performed, Started
from console.core.run import Selection
from console.engine.engine import Engine
from console.engine.experiment import experiment_plan, rehearse
from console.engine.experiment_use import branch_use, expected_use
from console.engine.launch import start
from console.engine.plan import Plan, PreparedRun, prepare, reopen
from console.engine.regrade import prepare_regrade
from console.exchange.run_reader import RunReader
from console.insight.as_sent import points_of
from console.store.journal import JournalReader
from console.store.runs import RunFolder, create_run
from console.suites.allowed import allow
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode


def played(folder: RunFolder, prepared: Any) -> list[Any]:
    asyncio.run(Engine(folder, prepared).run())
    return JournalReader(folder.journal_path).read_new()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)


def recorded(
    tmp_path: Path, suite: str, category: str = "", limit: int = 2, data: Path | None = None, **more: Any
) -> tuple[RunFolder, list[Any]]:
    """A finished run by a simulated model."""
    selection, paths = (
        Selection((category,) if category else (), limit=limit),
        WorkspacePaths(None, data, tmp_path / "runs"),
    )
    folder, prepared = start(Plan("sim/careful", suite, selection, paths=paths, **more))
    return folder, played(folder, prepared)


def requests(records: list[Any], case: str, role: str = "model") -> list[Asked]:
    own = [it for it in records if isinstance(it, Asked) and it.key.case == case and it.role == role]
    return sorted(own, key=lambda it: it.n)


def longest(records: list[Any]) -> str:
    """The case with most requests that is graded."""
    setup = {need for it in records if hasattr(it, "case") for need in it.case.depends_on}
    asked = [it.key.case for it in records if isinstance(it, Asked) and it.role == "model" and it.key.case not in setup]
    return max(dict.fromkeys(asked), key=asked.count)


SUITES = [
    ("bfcl-starter", "multi_turn_base", {"mode": "fc"}),
    ("bfcl-starter", "multi_turn_miss_func", {}),
    ("bfcl-starter", "memory_kv", {}),
    ("bfcl-starter", "web_search_base", {}),
    ("aidan-starter", "", {}),
    ("dialogue-starter", "bookings", {}),
    ("dialogue-starter", "visitors", {}),
    ("cave-starter", "", {"mode": "json"}),
    pytest.param("cave-starter", "", {"mode": "cave"}, marks=pytest.mark.slow),
]
OWN = [("cities", "", {"roles": {"user": "sim/user"}}), ("tau2", "airline", {"roles": {"user": "sim/user"}})]
"""Suites of other folders: one in Python as people write them, with a tool and a simulated user, and tau2's."""


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the suites of `OWN`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    allow(FolderCode(read_entry(write_folder_suite(tmp_path / "own"))))
    write_edition(tmp_path / "own" / "tau2" / "1.0.1")
    (tmp_path / "own" / "tau2" / "suite.toml").write_text('name = "tau2"\nformat = "tau2"\ntitle = "tau2"\n')
    return tmp_path / "own"


def assert_gone_on_from(run: RunFolder, records: list[Any], case: str, replies: int, data: Path | None) -> None:
    """Hold that all before a point is equal and free, and all after it live."""
    old = requests(records, case)
    effects = [it for it in records if isinstance(it, Asked | Performed) and it.key.case == case]
    beginning = Beginning(replies, old[replies].turn, old[replies].step)
    plan = experiment_plan(
        run, (case,), beginnings={case: beginning}, repeats=2, seed=1, paths=WorkspacePaths(data=data)
    )
    prepared = prepare(plan)
    assert rehearse(prepared) == []
    branch = create_run(prepared.runs_root, prepared.manifest)
    new = played(branch, prepared)
    ended = [it for it in new if isinstance(it, Finished)]
    assert {it.verdict.outcome for it in ended} <= {Outcome.PASSED, Outcome.FAILED}, ended
    live = [it for it in new if isinstance(it, Asked) and not it.kept]
    for rollout in range(2):
        asked = [it for it in requests(new, case) if it.key.rollout == rollout]
        assert [it.digest for it in asked[:replies]] == [it.digest for it in old[:replies]], "equal to the byte"
        assert [it.reply for it in asked[:replies]] == [it.reply for it in old[:replies]]
        assert all(it.kept for it in asked[:replies])
        assert not any(it.kept for it in asked[replies:])
        first = min((it.n for it in live if it.key == Key(case, rollout)), default=0)
        own = [it for it in new if isinstance(it, Asked | Performed) and it.key == Key(case, rollout)]
        again = [(it.digest, getattr(it, "result", None)) for it in own if it.n < first]
        assert again == [(it.digest, getattr(it, "result", None)) for it in effects if it.n < old[replies].n]
    assert all(it.key.case == case for it in live), "what it depends on is not asked again"
    assert sum(it.calls for it in ended if it.key.case == case) == len(live)
    assert round(expected_use(prepared).calls) >= 2
    assert reopen(branch, WorkspacePaths(data=data)).manifest == branch.manifest()


@pytest.mark.parametrize(("suite", "category", "more"), SUITES)
def test_before_the_point_all_is_equal_and_free_and_after_it_live(
    tmp_path: Path, suite: str, category: str, more: dict[str, Any]
) -> None:
    run, records = recorded(tmp_path, suite, category, 1, **more)
    case = longest(records)
    replies = random.Random(suite + category).randrange(len(requests(records, case)))
    assert_gone_on_from(run, records, case, replies, None)


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "category", "more"), [*SUITES, *OWN])
def test_from_random_points_of_any_conversation_the_beginning_is_equal(
    tmp_path: Path, own_data: Path, suite: str, category: str, more: dict[str, Any]
) -> None:
    data = own_data if suite in ("cities", "tau2") else None
    run, records = recorded(tmp_path, suite, category, 3, data, **more)
    setup = {need for it in records if isinstance(it, Started) for need in it.case.depends_on}
    cases = [it.case.id for it in records if isinstance(it, Started) and it.case.id not in setup]
    points = [(case, replies) for case in cases for replies in range(len(requests(records, case)))]
    rng = random.Random(f"{suite} {category}")
    for case, replies in rng.sample(points, min(6, len(points))):
        assert_gone_on_from(run, records, case, replies, data)


@pytest.mark.parametrize(("suite", "category", "more"), [*SUITES, *OWN])
def test_a_state_that_cannot_be_rebuilt_is_refused_before_anything_is_asked(
    tmp_path: Path, own_data: Path, suite: str, category: str, more: dict[str, Any]
) -> None:
    """The recorded conversation differs from what the suite would say today."""
    data = own_data if suite in ("cities", "tau2") else None
    run, records = recorded(tmp_path, suite, category, 1, data, **more)
    case = longest(records)
    old = requests(records, case)
    replies = len(old) - 1
    if not replies:
        pytest.skip("its longest conversation has a single step")
    path, changed = run.journal_path, old[replies - 1].digest
    path.write_text(path.read_text().replace(changed, "0" * len(changed)))
    beginnings = {case: Beginning(replies, old[replies].turn, old[replies].step)}
    prepared = prepare(experiment_plan(run, (case,), beginnings=beginnings, paths=WorkspacePaths(data=data)))
    with pytest.raises(UsageError, match="cannot be rebuilt") as refused:
        rehearse(prepared)
    assert refused.value.hint
    if suite == "bfcl-starter":  # also if it is played nonetheless
        ended = played(create_run(prepared.runs_root, prepared.manifest), prepared)
        assert not any(isinstance(it, Asked) and not it.kept for it in ended)
        own = [it.verdict.reason for it in ended if isinstance(it, Finished) and it.key.case == case]
        assert own == ["unanswered"]


@pytest.mark.parametrize(("suite", "category", "more"), [SUITES[0], SUITES[1], SUITES[7], SUITES[8]])
def test_the_state_behind_a_repeated_beginning_is_that_of_the_recording(
    tmp_path: Path, suite: str, category: str, more: dict[str, Any]
) -> None:
    """The recorded reply, given as a reader's, meets the state of before: its calls have the recorded results."""
    run, records = recorded(tmp_path, suite, category, 1, **more)
    case = longest(records)
    old = requests(records, case)
    results = {it.n: it for it in records if isinstance(it, Performed) and it.key.case == case}
    calling = [number for number, it in enumerate(old) if it.n + 1 in results and 0 < number < len(old) - 1]
    number = calling[len(calling) // 2]
    reply = old[number].reply
    calls = [{"id": it.id, "name": it.name, "arguments": it.arguments} for it in reply.tool_calls]
    change = Change(REPLY, {"content": reply.content, "tool_calls": calls})
    plan = experiment_plan(run, (case,), arms=((change,),), beginnings={case: Beginning(number)})
    new = played(*start(plan))
    written = requests(new, case)[number]
    assert (written.digest, written.reply.content, written.kept) == (old[number].digest, reply.content, True)
    live = [it for it in new if isinstance(it, Performed) and it.key.case == case and it.n == written.n + 1]
    assert [it.result for it in live] == [results[old[number].n + 1].result]


def test_a_change_is_sent_from_the_step_on_and_the_old_run_is_left_alone(tmp_path: Path) -> None:
    run, records = recorded(tmp_path, "bfcl-starter", "multi_turn_base", 1)
    case, before = longest(records), run.journal_path.read_bytes()
    old = requests(records, case)
    arm = (Change(SYSTEM, "Be kind.", "x"), Change(PARAMS, 0.2, None, "temperature"))
    folder, prepared = start(experiment_plan(run, (case,), arms=(arm,), beginnings={case: Beginning(2)}))
    asked = requests(played(folder, prepared), case)
    assert [it.digest for it in asked[:2]] == [it.digest for it in old[:2]]
    assert asked[2].prefix == 0
    assert asked[2].messages[0] == {"role": "system", "content": "Be kind."}
    assert all(it.params["temperature"] == 0.2 for it in asked[2:])
    assert run.journal_path.read_bytes() == before
    graded = prepare_regrade(folder)
    ended = played(create_run(graded.runs_root, graded.manifest), graded)
    assert not any(isinstance(it, Asked) and not it.kept for it in ended), "grading it again repeats the change"
    assert [it.verdict.outcome for it in ended if isinstance(it, Finished)] != [Outcome.BROKEN]
    with pytest.raises(UsageError, match="changed by an experiment"):
        experiment_plan(folder, (case,))


def test_another_opening_is_sent_journaled_and_kept_apart(tmp_path: Path) -> None:
    run, records = recorded(tmp_path, "bfcl-starter")
    first = next(it for it in records if isinstance(it, Asked))
    after = [*first.messages[:-1], {"role": "user", "content": "Something else, please."}]
    change, case = Change(OPENING, after, first.messages), first.key.case
    plan = experiment_plan(run, (case,), model="sim/hasty", arms=((change,),))
    branch, prepared = start(plan)
    asked = [it for it in played(branch, prepared) if isinstance(it, Asked)]
    assert asked[0].messages == after
    manifest = branch.manifest()
    assert (manifest.parent, manifest.model.name, manifest.selection.ids) == (run.name, "sim/hasty", (case,))
    assert reopen(branch, WorkspacePaths()).manifest == manifest


def test_an_opening_that_is_not_the_suites_breaks_the_case(tmp_path: Path) -> None:
    run, records = recorded(tmp_path, "bfcl-starter")
    case = next(it for it in records if isinstance(it, Asked)).key.case
    change = Change(OPENING, [{"role": "user", "content": "x"}], [{"role": "user", "content": "never said"}])
    branch, prepared = start(experiment_plan(run, (case,), arms=((change,),)))
    ended = next(it for it in played(branch, prepared) if isinstance(it, Finished))
    assert (ended.verdict.outcome, ended.verdict.reason) == (Outcome.BROKEN, "data")


def test_a_tool_outside_of_this_program_is_named_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it remembers itself cannot be rebuilt; its recorded results are used, and it is not called again."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code = CITIES.replace("def population", "async def population")
    allow(FolderCode(read_entry(write_folder_suite(tmp_path / "own", code=code))))
    run, records = recorded(tmp_path, "cities", "", 1, tmp_path / "own", roles={"user": "sim/user"})
    case = longest(records)
    old = requests(records, case)
    beginnings = {case: Beginning(len(old) - 1, old[-1].turn, old[-1].step)}
    prepared = prepare(
        experiment_plan(run, (case,), beginnings=beginnings, paths=WorkspacePaths(data=tmp_path / "own"))
    )
    (warning,) = rehearse(prepared)
    assert "population is not called again: its recorded results are used" in warning


def test_a_play_that_reads_a_clock_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code = "import time\n" + CITIES.replace("to know how many people live in {city}", "to know {time.time_ns()} {city}")
    allow(FolderCode(read_entry(write_folder_suite(tmp_path / "own", code=code))))
    run, records = recorded(tmp_path, "cities", "", 1, tmp_path / "own", roles={"user": "sim/user"})
    case = longest(records)
    old = requests(records, case)
    beginnings = {case: Beginning(len(old) - 1, old[-1].turn, old[-1].step)}
    prepared = prepare(
        experiment_plan(run, (case,), beginnings=beginnings, paths=WorkspacePaths(data=tmp_path / "own"))
    )
    with pytest.raises(UsageError, match="cannot be rebuilt"):
        rehearse(prepared)


BRANCHES_OF_A_SUITE = 6
OTHER_MODEL = "sim/hasty"


def branches(run: RunFolder, rng: random.Random, data: Path | None) -> Iterator[PreparedRun]:
    """Prepare branches of all kinds from random points of a run, also from last replies and where one was cut short."""
    refusal = (Change(REPLY, {"content": "I would rather not.", "tool_calls": []}),)
    for number in range(BRANCHES_OF_A_SUITE):
        reader = RunReader(run)
        rollout = rng.choice([it for it in reader.ordered if it.graded])
        points, seed = points_of(reader.conversation(rollout.key)), rng.randrange(1, 1 << 30)
        case, point = rollout.key.case, rng.choice([points[-1], rng.choice(points)])
        kind = ("unchanged", "model", "unchanged", "cut short", "reply", "start")[number]
        source, arm = run, refusal if kind == "reply" else ()
        if kind == "cut short":
            beginnings = {case: point.beginning}
            folder, prepared = start(
                experiment_plan(
                    run, (case,), arms=(refusal,), beginnings=beginnings, seed=seed, paths=WorkspacePaths(data=data)
                )
            )
            played(source := folder, prepared)
            reader = RunReader(folder)
            point = points_of(reader.conversation(reader.ordered[-1].key))[-1]
        yield prepare(
            experiment_plan(
                source,
                (case,),
                arms=(arm,),
                beginnings={case: point.beginning} if kind != "start" else None,
                model=OTHER_MODEL if kind == "model" else "",
                repeats=rng.choice((1, 4, 8)),
                seed=seed,
                paths=WorkspacePaths(data=data),
            )
        )


@pytest.mark.slow
def test_what_branches_are_said_to_take_is_within_a_factor_of_1_5_of_what_they_take(
    tmp_path: Path, own_data: Path, record_property
) -> None:
    """Over all suites together, and 80 of 100 branches alone; 90 of 100 are within the range that is said too."""
    paid, likely, lows, highs = list[int](), list[float](), list[float](), list[float]()
    for suite, category, more in [*(getattr(it, "values", it) for it in SUITES), *OWN]:
        data = own_data if suite in ("cities", "tau2") else None
        run, _ = recorded(tmp_path, suite, category, 4, data, **more)
        for prepared in branches(run, random.Random(f"{suite} {category}"), data):
            use = branch_use(prepared)
            new = played(create_run(prepared.runs_root, prepared.manifest), prepared)
            paid.append(sum(isinstance(it, Asked | Embedded) and not it.kept for it in new))
            likely.append(use.likely.calls)
            lows.append(math.floor(use.least.calls))
            highs.append(math.ceil(use.most.calls))
    assert len(paid) >= 60
    assert sum(paid) / 1.2 <= sum(likely) <= sum(paid) * 1.2
    ratios = sorted((about + 0.1) / (calls + 0.1) for about, calls in zip(likely, paid, strict=True))
    near = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios) / len(ratios)
    covered = sum(low <= calls <= high for low, calls, high in zip(lows, paid, highs, strict=True)) / len(paid)
    record_property("ratios", f"{len(paid)} branches, {near:.0%} near, {covered:.0%} covered, {ratios[::6]}")
    assert near >= 0.8, ratios
    assert covered >= 0.9
