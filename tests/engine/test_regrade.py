"""Grading again: the old answers, a new verdict, and nothing asked behind the reader's back."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import killable_run
from support.tau2_edition import write_edition

from console.config.paths import WorkspacePaths
from console.core.fault import Fault, FaultKind, UsageError
from console.core.grading import grading_words
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Embedded, Finished, Performed
from console.core.run import Selection
from console.core.statistics.decision import Decision
from console.engine.engine import Engine
from console.engine.launch import run_in_foreground, start
from console.engine.plan import Plan, PreparedRun, prepare, reopen
from console.engine.queue import RetryScope
from console.engine.regrade import MOST_REPEATS, prepare_regrade
from console.exchange.run_reader import RunReader
from console.insight.comparison import compare
from console.insight.gate import judge
from console.insight.judging import judging_lines, judging_of
from console.llm.simulated import endpoint as simulated
from console.store.journal import JournalReader
from console.store.runs import RunFolder, create_run

MODELS = WorkspacePaths(models=Path("models.toml"))
SELECTED = {
    "bfcl-starter": Selection(),
    "aidan-starter": Selection(limit=8),
    "cave-starter": Selection(limit=2),
    "dialogue-starter": Selection(),
    "tau2": Selection(),
}


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)


def play(folder: RunFolder, prepared: PreparedRun, **options: Any) -> list[Any]:
    asyncio.run(Engine(folder, prepared, **options).run())
    return JournalReader(folder.journal_path).read_new()


def played(suite: str, model: str = "sim/hasty", **options: Any) -> RunFolder:
    mode = "json" if suite == "cave-starter" else None
    if suite == "tau2":
        write_edition(Path("data/tau2/1.0.1"))
        Path("data/tau2/suite.toml").write_text('name = "tau2"\nformat = "tau2"\ntitle = "τ²"\n')
        options |= {"roles": {"user": "sim/user"}, "paths": WorkspacePaths(data=Path("data"))}
    paths = msgspec.structs.replace(options.pop("paths", WorkspacePaths()), runs=Path("runs"))
    plan = Plan(model, suite, SELECTED[suite], mode=mode, paths=paths, **options)
    folder, prepared = start(plan)
    play(folder, prepared)
    return folder


def regraded(folder: RunFolder, **options: Any) -> tuple[RunFolder, list[Any]]:
    prepared = prepare_regrade(folder, **options)
    again = create_run(prepared.runs_root, prepared.manifest)
    return again, play(again, prepared)


def verdicts(records: list[Any]) -> dict[Any, bytes]:
    """By slot, the last verdict and output, to the byte."""
    return {
        (record.key.case, record.key.rollout): msgspec.json.encode((record.verdict, record.output))
        for record in records
        if isinstance(record, Finished)
    }


def asked_now(records: list[Any], *roles: str) -> list[Asked | Embedded]:
    return [it for it in records if isinstance(it, Asked | Embedded) and not it.kept and it.role in roles]


@pytest.mark.parametrize("suite", sorted(SELECTED))
def test_the_same_grader_gives_the_same_verdicts_to_the_byte_for_nothing(
    suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = played(suite)

    async def never(*args: Any, **options: Any) -> Any:
        raise AssertionError("a model was asked")

    monkeypatch.setattr(simulated.SimulatedEndpoint, "ask", never)
    new, records = regraded(old, paths=WorkspacePaths(data=Path("data") if suite == "tau2" else None))
    before = verdicts(JournalReader(old.journal_path).read_new())
    assert verdicts(records) == before
    assert len(before) >= 2
    old_manifest, manifest, summary = old.manifest(), new.manifest(), new.summary()
    assert manifest.grader == old_manifest.grader == summary.grader is not None
    assert (manifest.regraded, summary.regraded, summary.state) == (old.name, old.name, "completed")
    assert grading_words(old_manifest, manifest) == ""
    assert (summary.tally.calls, summary.tally.input_tokens, summary.tally.cost_usd) == (0, 0, 0.0)


def test_another_judge_is_asked_about_forty_loops_and_the_model_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SELECTED, "aidan-starter", Selection(limit=40))
    old = played("aidan-starter")
    entry = '["my/judge"]\nmodel_id = "judge"\nprovider = "simulated"\nparams = { top_p = 0.5 }\n'
    Path("models.toml").write_text(entry)
    new, records = regraded(old, judge="my/judge", paths=MODELS)
    assert asked_now(records, "judge")
    assert asked_now(records, "model", "embedding") == []
    assert new.summary().tally.calls == len(asked_now(records, "judge"))
    assert new.summary().tally.finished == 40
    assert new.manifest().asked_anew == ("judge", "second_judge")
    words = grading_words(old.manifest(), new.manifest())
    assert words.startswith("B is A graded again: judge sim/judge → my/judge")


def test_a_changed_option_flips_exactly_what_it_decides() -> None:
    old = played("aidan-starter")
    thresholds = {"coherence_score": 101}
    new, records = regraded(old, options={"thresholds": thresholds})
    assert asked_now(records, "model", "judge", "embedding") == []
    ended = [record.verdict for record in records if isinstance(record, Finished)]
    assert {verdict.scores["aidanbench_score"] for verdict in ended} == {0.0}
    assert "coherence_score 15 → 101" in grading_words(old.manifest(), new.manifest())


def test_a_planted_change_of_a_checker_flips_the_planted_cases_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from console.benchmarks.bfcl.suite import BfclSuite

    old = played("bfcl-starter", "sim/careful")
    right = BfclSuite.score

    def strict(self: Any, case: Any, output: Any, setting: Any) -> Verdict:
        verdict = right(self, case, output, setting)
        return Verdict(Outcome.FAILED, "planted") if case.category == "multiple" else verdict

    monkeypatch.setattr(BfclSuite, "score", strict)
    _, records = regraded(old)
    before = {
        (it.key.case, it.key.rollout): it.verdict.outcome
        for it in JournalReader(old.journal_path).read_new()
        if isinstance(it, Finished)
    }
    flipped = {it.key.case for it in records if isinstance(it, Finished)
               and it.verdict.outcome is not before[it.key.case, it.key.rollout]}  # fmt: skip
    planted = {
        case for (case, _), outcome in before.items() if case.startswith("multiple_") and outcome is Outcome.PASSED
    }
    assert flipped == planted != set()


def test_what_was_never_answered_breaks_the_case_with_both_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    from console.benchmarks.dialogue.conversation import play as dialogue_play

    old = played("dialogue-starter")
    ask = dialogue_play.Player._ask

    async def other(self: Any, number: int, step: int) -> Any:
        self._messages[-1] = {"role": "user", "content": "Something else."}
        return await ask(self, number, step)

    monkeypatch.setattr(dialogue_play.Player, "_ask", other)
    new, records = regraded(old)
    assert asked_now(records, "model", "judge", "user") == []
    ended = [record for record in records if isinstance(record, Finished)]
    assert {(it.verdict.outcome, it.verdict.reason) for it in ended} == {(Outcome.BROKEN, "unanswered")}
    assert all(
        "cannot be graded again: it makes a request that was never answered" in it.verdict.messages[0] for it in ended
    )
    reader = RunReader(new)
    suite = prepare(Plan("sim/hasty", "dialogue-starter", paths=WorkspacePaths(runs=Path("runs")))).suite
    from console.suites.run_suite import RunSuite

    shown = RunSuite(reader.manifest.setting, suite).compare(prepare_case(records), ended[0])
    assert shown is not None
    assert "Something else." in shown.pairs[0].actual
    assert "Something else." not in shown.pairs[0].expected


def prepare_case(records: list[Any]) -> Any:
    return next(record.case for record in records if type(record).__name__ == "Started")


def test_a_gate_cannot_tell_between_different_graders() -> None:
    old = played("aidan-starter")
    new, _ = regraded(old, options={"thresholds": {"coherence_score": 50}})
    comparison = compare(RunReader(old).side, RunReader(new).side)
    gate = judge(comparison, old.summary(), new.summary())
    assert gate.verdict is Decision.CANNOT_TELL
    assert f"`eval-console regrade {old.name} {new.name}` grades both alike" in gate.sentence


def test_repeats_ask_the_judge_anew_each_time() -> None:
    old = played("dialogue-starter")
    new, records = regraded(old, repeats=3)
    calls = asked_now(records, "judge")
    before = [it for it in JournalReader(old.journal_path).read_new() if isinstance(it, Asked) and it.role == "judge"]
    assert len(calls) == 3 * len(before)
    assert asked_now(records, "model", "user") == []
    assert new.summary().tally.finished == 3 * old.summary().tally.finished


@pytest.mark.parametrize("suite", ["aidan-starter", "dialogue-starter"])
def test_a_judge_asked_several_times_while_playing_shows_its_noise_and_decides_once(suite: str) -> None:
    entry = '["rash"]\nmodel_id = "hasty"\nprovider = "simulated"\n'
    Path("models.toml").write_text(entry)
    rash: dict[str, Any] = {"roles": {"judge": "rash"}, "paths": MODELS}
    once = JournalReader(played(suite, **rash).journal_path).read_new()
    folder = played(suite, options={"judge_repeats": 3}, **rash)
    records = JournalReader(folder.journal_path).read_new()
    judging = judging_of(folder.manifest(), RunReader(folder).side.rollouts.values(), {})
    assert judging is not None
    assert judging.noise is not None
    assert judging.noise.repeats == pytest.approx(3, rel=0.05)
    assert (judging.noise.judge > 0) is (suite == "dialogue-starter")  # of the simulated judges, only its err
    assert any("variance of a judgment" in line for line in judging_lines(judging))
    assert len(asked_now(records, "judge")) > 2 * len(asked_now(once, "judge"))
    new, again = regraded(folder, paths=MODELS)
    assert asked_now(again, "judge", "model") == []
    assert verdicts(again) == verdicts(records)
    assert new.manifest().grader == folder.manifest().grader


def test_code_alone_is_not_graded_several_times() -> None:
    with pytest.raises(UsageError, match="has no judge"):
        prepare_regrade(played("bfcl-starter"), repeats=2)


@pytest.mark.parametrize("repeats", [0, MOST_REPEATS + 1])
def test_so_often_that_it_makes_no_sense_is_refused(repeats: int) -> None:
    with pytest.raises(UsageError, match="must be from 1 to"):
        prepare_regrade(played("bfcl-starter"), repeats=repeats)


def test_killed_and_resumed_as_if_nothing_had_happened() -> None:
    old = played("aidan-starter")
    _, records = regraded(old, judge="sim/judge")
    prepared = prepare_regrade(old, judge="sim/judge")
    again = create_run(prepared.runs_root, prepared.manifest)
    child = os.fork()
    if not child:
        try:
            killable_run.arm("after asked", 17)
            run_in_foreground(again, prepared)
        finally:
            os._exit(70)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    resumed = play(again, reopen(again, WorkspacePaths()))
    assert verdicts(resumed) == verdicts(records)
    calls = [sorted(it.digest for it in asked_now(each, "judge")) for each in (records, resumed)]
    assert calls[0] == calls[1]
    kept = [
        sorted((it.key.case, it.digest) for it in each if isinstance(it, Asked | Embedded | Performed))
        for each in (records, resumed)
    ]
    assert kept[0] == kept[1]


def test_a_retry_of_what_a_judge_broke_asks_only_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = simulated.SimulatedEndpoint.ask

    async def failing(self: Any, request: Any, watch: Any) -> Any:
        if "judge" in repr(vars(self)):
            fault = Fault(FaultKind.BAD_ANSWER, "the judge is ill")
            watch.on_failed_try(fault, None)
            raise fault
        return await ask(self, request, watch)

    with monkeypatch.context() as ill:
        ill.setattr(simulated.SimulatedEndpoint, "ask", failing)
        folder = played("aidan-starter")
    assert folder.summary().tally.broken == 8
    before = JournalReader(folder.journal_path).read_new()
    records = play(folder, reopen(folder, WorkspacePaths()), retry=RetryScope.BROKEN)
    first = sorted((it.key.case, it.digest) for it in before if isinstance(it, Asked | Embedded))
    retried = [it for it in records[len(before) :] if isinstance(it, Asked | Embedded)]
    assert sorted((it.key.case, it.digest) for it in retried if it.kept) == first
    assert folder.summary().tally.broken == 0


def test_a_run_whose_source_is_gone_says_so() -> None:
    old = played("bfcl-starter")
    new, _ = regraded(old)
    old.path.rename(old.path.with_name("elsewhere"))
    with pytest.raises(UsageError, match="graded again is gone"):
        reopen(new, WorkspacePaths())


def model_graded(sample: dict[str, Any]) -> dict[str, Any]:
    """Add the call of a model grader, as `model_graded_qa` makes it."""
    (asked,) = (event for event in sample["events"] if event["event"] == "model")
    message = {"role": "assistant", "content": "GRADE: C", "model": "mock/grader"}
    output = {**asked["output"], "model": "mock/grader", "choices": [{"message": message, "stop_reason": "stop"}]}
    question = [{"role": "user", "content": f"the grader of the log reads {sample['output']['completion']}"}]
    grading = {**asked, "model": "mock/grader", "role": "grader", "input": question, "output": output}
    return {**sample, "events": [*sample["events"], grading]}


def test_an_imported_log_with_a_model_grader_is_graded_by_a_judge_of_ours(tmp_path: Path) -> None:
    from support.inspect_logs import sample, write_json_log

    from console.exchange.imports.formats import ImportSettings, find_items

    samples = [model_graded(sample(n, "CI"[n % 2], answer=f"it is {n}")) for n in range(6)]
    path = write_json_log(tmp_path / "log.json", samples)
    (item,) = find_items(path)
    (report,) = item.form.load(path, ImportSettings(tmp_path / "runs"))
    old = RunFolder(tmp_path / "runs" / report.run)
    before = JournalReader(old.journal_path).read_new()
    assert sum(it.role == "judge" for it in before if isinstance(it, Asked)) == 6
    with pytest.raises(UsageError, match="only a judge can grade"):
        prepare_regrade(old)
    new, records = regraded(old, judge="sim/judge", options={"rubric": "It is a number."})
    judged = asked_now(records, "judge")
    assert asked_now(records, "model") == []
    assert len(judged) == 6
    assert all("It is a number." in str(it.messages) for it in judged if isinstance(it, Asked))
    assert any("it is 3" in str(it.messages) for it in judged if isinstance(it, Asked))
    assert (new.summary().tally.passed, new.summary().tally.failed) == (3, 3)
    assert not any("the grader of the log" in str(it.messages) for it in judged if isinstance(it, Asked))
    kept = [it for it in records if isinstance(it, Asked) and it.kept]
    assert len(kept) == 6
    assert {it.role for it in kept} == {"model"}
    assert len(play(new, reopen(new, WorkspacePaths()))) == len(records) + 2  # nothing is left but opening and closing
