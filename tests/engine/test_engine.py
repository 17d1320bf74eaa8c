"""Playing runs: limits, steering, refusals, broken cases, budgets, resuming; models are scripted, all else is real."""

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared

from console.core.case import Case, Key, Setting
from console.core.chat import ChatRequest, Reply, Usage
from console.core.fault import Fault, FaultKind
from console.core.live import Command, EndpointState
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Closed, Finished, Noted, Started, Steered, Tried
from console.core.run import Budget, ModelFacts
from console.engine import endpoints
from console.engine import journal_buffer as ledger_module
from console.engine.engine import Engine
from console.engine.queue import Job, RetryScope
from console.llm.endpoint import Watch
from console.store.journal import JournalReader, JournalWriter
from console.store.lock import RunLock, RunLocked
from console.store.runs import RunFolder, create_run

Answer = Callable[[str, ChatRequest, Watch], Awaitable[Reply]]


class Scripted:
    """An endpoint that answers by a function and counts what is asked at once."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.now = self.most = self.asked = 0
        self.closed = False

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        self.now += 1
        self.asked += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0)
            return await self.answer(str(request.messages[-1].get("content")), request, watch)
        finally:
            self.now -= 1

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        return [[0.0] for _ in texts]

    def states(self) -> list[EndpointState]:
        return [EndpointState("scripted", in_flight=self.now)]

    def retry_now(self) -> None:
        return

    async def aclose(self) -> None:
        self.closed = True


def right(text: str) -> Reply:
    return Reply(f"answer {text.split()[2]}", usage=Usage(input=10, output=5))


async def always_right(text: str, request: ChatRequest, watch: Watch) -> Reply:
    return right(text)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], Scripted]:
    def install(answer: Answer) -> Scripted:
        endpoint = Scripted(answer)
        monkeypatch.setattr(endpoints, "open_endpoint", lambda model: endpoint)
        return endpoint

    return install


Script = Callable[[Answer], Scripted]


def new_engine(
    folder: Path, suite: DialogueSuite, *, concurrency: int = 4, budget: Budget | None = None, **given: Any
) -> Engine:
    ready = prepared(folder, "http://127.0.0.1:9/v1", suite, concurrency)
    priced = ModelFacts("m", price_in=1e6, price_out=1e6, params={"max_tokens": 100})
    manifest = msgspec.structs.replace(ready.manifest, model=priced, budget=budget or Budget())
    ready = dataclasses.replace(ready, manifest=manifest)
    run = RunFolder(folder) if folder.exists() else create_run(folder.parent, manifest)
    return Engine(run, ready, **given)


def records(engine: Engine) -> list[AnyRecord]:
    return JournalReader(engine.host.folder.journal_path).read_new()


def ended(engine: Engine) -> dict[str, Outcome]:
    return {str(record.key): record.verdict.outcome for record in records(engine) if isinstance(record, Finished)}


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  the state has no event
            await asyncio.sleep(0.001)


async def test_all_cases_are_played_within_the_concurrency(tmp_path: Path, script: Script) -> None:
    model = script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(30, 2, judged=False), concurrency=5)
    closed = await engine.run()
    assert closed.reason == "completed"
    assert set(ended(engine).values()) == {Outcome.PASSED}
    assert model.most == 5
    assert model.asked == 60
    assert model.closed
    assert not engine.host.folder.socket_path.exists()
    finished = next(record for record in records(engine) if isinstance(record, Finished))
    assert (finished.calls, finished.input_tokens, finished.output_tokens) == (2, 20, 10)
    assert finished.cost_usd == pytest.approx(30.0)


async def test_dependants_start_after_what_they_depend_on(tmp_path: Path, script: Script) -> None:
    script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(6, 1, judged=False, depends=True), concurrency=6)
    await engine.run()
    order = [(type(r).__name__, r.key.case) for r in records(engine) if isinstance(r, Started | Finished)]
    assert order == [(kind, f"d{n}-1") for n in range(6) for kind in ("Started", "Finished")]


async def test_a_lost_case_takes_its_dependants_with_it_and_resume_mends_both(tmp_path: Path, script: Script) -> None:
    async def first_fails(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if text.startswith("d1-"):
            raise Fault(FaultKind.SERVER, "500")
        return right(text)

    suite = DialogueSuite(4, 1, judged=False, depends=True)
    script(first_fails)
    engine = new_engine(tmp_path / "r", suite)
    await engine.run()
    lost = [Outcome.PASSED, Outcome.BROKEN, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert list(ended(engine).values()) == lost
    script(always_right)
    engine = new_engine(tmp_path / "r", suite, retry=RetryScope.BROKEN)
    await engine.run()
    assert (engine.host.fold.tally.passed, engine.host.fold.tally.finished) == (4, 4)


@pytest.mark.parametrize("kind", [FaultKind.AUTH, FaultKind.QUOTA, FaultKind.NOT_FOUND])
async def test_a_wrong_key_costs_three_calls_and_no_case(tmp_path: Path, script: Script, kind: FaultKind) -> None:
    async def refused(text: str, request: ChatRequest, watch: Watch) -> Reply:
        raise Fault(kind, "refused", hint="Set KEY.")

    model = script(refused)
    engine = new_engine(tmp_path / "r", DialogueSuite(50, 1), concurrency=16)
    closed = await engine.run()
    assert (closed.reason, closed.message) == ("halted", "refused. Set KEY.")
    assert model.asked == 3
    assert ended(engine) == {}
    script(always_right)
    resumed = new_engine(tmp_path / "r", DialogueSuite(50, 1))
    assert (await resumed.run()).reason == "completed"
    assert len(ended(resumed)) == 50


async def test_one_refused_case_is_broken_and_the_run_goes_on(tmp_path: Path, script: Script) -> None:
    async def one_refused(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if text.startswith("d0-"):
            raise Fault(FaultKind.BAD_REQUEST, "this one is too odd")
        return right(text)

    script(one_refused)
    engine = new_engine(tmp_path / "r", DialogueSuite(9, 1, judged=False))
    assert (await engine.run()).reason == "completed"
    assert ended(engine)["d0-1"] is Outcome.BROKEN
    assert engine.host.fold.tally.passed == 8


async def test_a_judge_that_refuses_halts_although_the_model_answers(tmp_path: Path, script: Script) -> None:
    async def judge_refuses(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if text.startswith("judge"):
            raise Fault(FaultKind.NOT_FOUND, "no such judge")
        return right(text)

    model = script(judge_refuses)
    engine = new_engine(tmp_path / "r", DialogueSuite(40, 1), concurrency=16)
    assert (await engine.run()).message.startswith("no such judge")
    assert model.asked == 6


async def test_a_fault_in_the_suite_costs_one_case_and_names_file_and_line(tmp_path: Path, script: Script) -> None:
    class Buggy(DialogueSuite):
        async def play(self, case: Case, stage: Any, setting: Setting) -> Any:
            if case.id == "d1-1":
                secret = "sk-very-secret-value"
                raise ZeroDivisionError(f"with {secret}")
            return await super().play(case, stage, setting)

    script(always_right)
    engine = new_engine(tmp_path / "r", Buggy(3, 1, judged=False))
    assert (await engine.run()).reason == "completed"
    verdict = next(r.verdict for r in records(engine) if isinstance(r, Finished) and r.key.case == "d1-1")
    assert (verdict.outcome, verdict.reason) == (Outcome.BROKEN, "suite")
    assert "ZeroDivisionError" in verdict.messages[0]
    assert re.search(r"test_engine\.py:\d+ in play", verdict.messages[0])
    assert b"very-secret" not in engine.host.folder.journal_path.read_bytes()


async def test_pause_holds_new_conversations_and_concurrency_changes_at_once(tmp_path: Path, script: Script) -> None:
    gates: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def gated(text: str, request: ChatRequest, watch: Watch) -> Reply:
        watch.on_text("text", "…")
        before_call = asyncio.Event()
        gates.put_nowait(before_call)
        await before_call.wait()
        return right(text)

    script(gated)
    engine = new_engine(tmp_path / "r", DialogueSuite(6, 1, judged=False), concurrency=1)
    task = asyncio.create_task(engine.run())
    first = await asyncio.wait_for(gates.get(), 60)
    engine.control.execute(Command("pause"))
    assert engine.control.status().state == "pausing"
    first.set()
    await until(lambda: not engine.in_flight)
    assert engine.control.status().state == "paused"
    assert gates.empty()
    engine.control.execute(Command("concurrency", value=3))
    engine.control.execute(Command("resume"))
    opened = [await asyncio.wait_for(gates.get(), 60) for _ in range(3)]
    assert engine.in_flight == 3
    for before_call in opened:
        before_call.set()
    for _ in range(2):
        (await asyncio.wait_for(gates.get(), 60)).set()
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    steered = [record.what for record in records(engine) if isinstance(record, Steered)]
    assert steered == ["pause", "concurrency", "resume"]


async def test_pause_lets_the_call_in_flight_finish_and_starts_no_further_one_of_the_conversation(
    tmp_path: Path, script: Script
) -> None:
    gates: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def gated(text: str, request: ChatRequest, watch: Watch) -> Reply:
        before_call = asyncio.Event()
        gates.put_nowait(before_call)
        await before_call.wait()
        return right(text)

    script(gated)
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 3, judged=False))
    task = asyncio.create_task(engine.run())
    first = await asyncio.wait_for(gates.get(), 60)
    engine.control.execute(Command("pause"))
    assert engine.control.status().state == "pausing"
    first.set()
    await until(lambda: engine.control.status().state == "paused")
    assert [(activity.state, activity.why) for activity in engine.control.status().activities] == [
        ("waiting", "paused")
    ]
    assert gates.empty()
    engine.control.execute(Command("resume"))
    (await asyncio.wait_for(gates.get(), 60)).set()
    await asyncio.wait_for(gates.get(), 60)
    engine.control.execute(Command("pause"))
    engine.control.execute(Command("kill"))
    assert (await asyncio.wait_for(task, 60)).reason == "stopped"


async def test_stop_lets_calls_finish_and_kill_gives_them_up(tmp_path: Path, script: Script) -> None:
    started: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def gated(text: str, request: ChatRequest, watch: Watch) -> Reply:
        before_call = asyncio.Event()
        started.put_nowait(before_call)
        await before_call.wait()
        return right(text)

    script(gated)
    suite = DialogueSuite(5, 1, judged=False)
    engine = new_engine(tmp_path / "r", suite, concurrency=2)
    task = asyncio.create_task(engine.run())
    gates = [await asyncio.wait_for(started.get(), 60) for _ in range(2)]
    engine.control.execute(Command("stop"))
    for before_call in gates:
        before_call.set()
    assert (await asyncio.wait_for(task, 60)).reason == "stopped"
    assert len(ended(engine)) == 2

    engine = new_engine(tmp_path / "r", suite, concurrency=2)
    task = asyncio.create_task(engine.run())
    for _ in range(2):
        await asyncio.wait_for(started.get(), 60)
    engine.control.execute(Command("kill"))
    assert (await asyncio.wait_for(task, 60)).reason == "stopped"
    assert len(ended(engine)) == 2
    assert engine.host.folder.summary().state == "stopped"

    script(always_right)
    engine = new_engine(tmp_path / "r", suite)
    assert (await engine.run()).reason == "completed"
    assert len(ended(engine)) == 5


async def test_one_case_is_stopped_and_retried(tmp_path: Path, script: Script) -> None:
    hanging, others = asyncio.Event(), asyncio.Event()

    async def first_hangs(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if text.startswith("d0-") and not others.is_set():
            hanging.set()
            await asyncio.Event().wait()
        return right(text)

    script(first_hangs)
    engine = new_engine(tmp_path / "r", DialogueSuite(3, 1, judged=False), concurrency=1)
    task = asyncio.create_task(engine.run())
    await asyncio.wait_for(hanging.wait(), 60)
    engine.control.execute(Command("pause"))
    engine.control.execute(Command("stop_case", key=Key("d0-1")))
    await until(lambda: not engine.in_flight)
    assert ended(engine)["d0-1"] is Outcome.NOT_RUN
    others.set()
    engine.control.execute(Command("retry_case", key=Key("d0-1")))
    engine.control.execute(Command("resume"))
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    assert ended(engine)["d0-1 attempt 2"] is Outcome.PASSED


async def test_a_grade_is_never_replaced_whatever_a_watcher_asks_for(tmp_path: Path, script: Script) -> None:
    hanging, rest = asyncio.Event(), asyncio.Event()

    async def wrong_then_hangs(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if not text.startswith("d0-") and not rest.is_set():
            hanging.set()
            await rest.wait()
        return Reply("wrong")

    model = script(wrong_then_hangs)
    engine = new_engine(tmp_path / "r", DialogueSuite(3, 1, judged=False), concurrency=1)
    task = asyncio.create_task(engine.run())
    await asyncio.wait_for(hanging.wait(), 60)
    assert ended(engine) == {"d0-1": Outcome.FAILED}
    for key in (Key("d0-1"), Key("d0-1", 0, 7), Key("d1-1"), Key("d2-1"), Key("d2-1", 3), Key("other"), None):
        engine.control.execute(Command("retry_case", key=key))
    engine.queue.add(Job(Case("d0-1", "talk", {"turns": 1}), Key("d0-1", 0, 2)))  # however it came there
    rest.set()
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    assert ended(engine) == dict.fromkeys(("d0-1", "d1-1", "d2-1"), Outcome.FAILED)
    assert model.asked == 3
    assert not [record for record in records(engine) if isinstance(record, Steered)]


class _JudgedSuite(DialogueSuite):
    """Its grade is the judge's reply; `?` is none."""

    async def play(self, case: Case, stage: Any, setting: Setting) -> Any:
        reply = await stage.ask([{"role": "user", "content": f"{case.id} turn 0"}])
        if not self.judged:
            return reply.content
        judged = await stage.ask([{"role": "user", "content": f"judge {reply.content}"}], role="judge")
        return judged.content

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        return Verdict(Outcome.UNDECIDED if self.grade(output) == "?" else Outcome.PASSED)

    @staticmethod
    def grade(output: str) -> str:
        return output[-1]


@pytest.mark.parametrize("judged", [True, False])
async def test_an_undecided_case_keeps_its_answer_when_it_is_retried(
    tmp_path: Path, script: Script, judged: bool
) -> None:
    asked: list[str] = []

    async def unreadable_first(text: str, request: ChatRequest, watch: Watch) -> Reply:
        asked.append(text)
        return Reply("good" if "judge" in text and len(asked) > 2 else "?")

    script(unreadable_first)
    suite = _JudgedSuite(2, 1, judged=judged)

    def retry_the_first(record: AnyRecord) -> None:
        if isinstance(record, Started) and record.key.case == "d1-1":
            for _ in range(2):  # the second finds it in the queue
                engine.control.execute(Command("retry_case", key=Key("d0-1")))

    engine = new_engine(tmp_path / "r", suite, concurrency=1, on_record=retry_the_first)
    assert (await asyncio.wait_for(engine.run(), 60)).reason == "completed"
    outcomes = ended(engine)
    assert outcomes["d0-1"] is Outcome.UNDECIDED
    assert outcomes["d0-1 attempt 2"] is (Outcome.PASSED if judged else Outcome.UNDECIDED)
    assert [text for text in asked if text.startswith("d0-1")] == ["d0-1 turn 0"]
    resumed = new_engine(tmp_path / "r", suite, retry=RetryScope.BROKEN)
    await resumed.run()
    assert [text for text in asked if text.startswith("d0-1")] == ["d0-1 turn 0"], "nor with a new engine"


async def test_retried_calls_come_before_new_cases(tmp_path: Path, script: Script) -> None:
    order: list[str] = []
    late = range(10, 14)

    async def some_come_late(text: str, request: ChatRequest, watch: Watch) -> Reply:
        order.append(case := text.split("-")[0])
        if int(case[1:]) in late:
            await watch.wait_to_retry(0.0)
            order.append(f"{case} again")
        return right(text)

    script(some_come_late)
    engine = new_engine(tmp_path / "r", DialogueSuite(60, 1, judged=False), concurrency=2)
    await engine.run()
    waited = [order.index(f"d{number} again") - order.index(f"d{number}") for number in late]
    assert max(waited) <= 6, f"slots given to others before each retry: {waited}"


async def test_a_case_that_is_stopped_before_its_first_step_holds_nothing_up(tmp_path: Path, script: Script) -> None:
    """Python runs nothing of a task that is cancelled so early, not even what would clean up after it."""
    script(always_right)

    def stop_the_first(record: AnyRecord) -> None:
        if isinstance(record, Started) and record.key.case == "d1-1":
            engine.control.execute(Command("stop_case", key=Key("d0-1")))

    engine = new_engine(tmp_path / "r", DialogueSuite(3, 1, judged=False), on_record=stop_the_first)
    assert (await asyncio.wait_for(engine.run(), 60)).reason == "completed"
    assert ended(engine) == {"d0-1": Outcome.NOT_RUN, "d1-1": Outcome.PASSED, "d2-1": Outcome.PASSED}
    engine = new_engine(tmp_path / "s", DialogueSuite(3, 1, judged=False))
    engine._on_record = lambda record: engine.host.cancel() if str(getattr(record, "key", "")) == "d1-1" else None
    assert (await asyncio.wait_for(engine.run(), 60)).reason == "stopped"
    assert "d0-1" not in ended(engine)


async def test_the_budget_stops_the_run_and_a_higher_one_goes_on(tmp_path: Path, script: Script) -> None:
    model = script(always_right)
    suite = DialogueSuite(20, 1, judged=False)
    engine = new_engine(tmp_path / "r", suite, concurrency=8, budget=Budget(cost_usd=300.0))
    closed = await asyncio.wait_for(engine.run(), 60)
    assert closed.reason == "budget"
    assert engine.host.budget_meter.cost_usd <= 300.0
    assert engine.host.budget_meter.cost_usd + 150 > 300.0, "as much was played as certainly fits"
    assert 0 < len(ended(engine)) < 20
    before = model.asked
    engine = new_engine(tmp_path / "r", suite, budget=None)
    engine.host.budget_meter.budget = Budget()
    assert (await engine.run()).reason == "completed"
    assert model.asked - before == 20 - before
    assert len(ended(engine)) == 20


async def test_a_provider_that_asks_for_an_hour_holds_the_run_until_somebody_says_now(
    tmp_path: Path, script: Script
) -> None:
    refused = asyncio.Event()

    async def wait_an_hour(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if not refused.is_set():
            refused.set()
            await watch.pause_run(Fault(FaultKind.RATE_LIMIT, "come back in an hour", retry_after_s=3600.0))
        return right(text)

    model = script(wait_an_hour)
    engine = new_engine(tmp_path / "r", DialogueSuite(6, 1, judged=False), concurrency=1)
    task = asyncio.create_task(engine.run())
    await asyncio.wait_for(refused.wait(), 60)
    await until(
        lambda: "3600 s more" in engine.control.status().message or "3599 s more" in engine.control.status().message
    )
    assert [one.why for one in engine.control.status().activities] == ["come back in an hour"]
    assert model.asked == 1
    engine.control.execute(Command("retry_now"))
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    assert set(ended(engine).values()) == {Outcome.PASSED}


async def test_no_further_case_starts_while_the_provider_asks_to_wait(tmp_path: Path, script: Script) -> None:
    held, end_first = asyncio.Event(), asyncio.Event()

    async def hold_one(text: str, request: ChatRequest, watch: Watch) -> Reply:
        if text.startswith("d0"):
            await held.wait()
            await end_first.wait()
        elif text.startswith("d1"):
            held.set()
            await watch.pause_run(Fault(FaultKind.RATE_LIMIT, "come back in an hour", retry_after_s=3600.0))
        return right(text)

    model = script(hold_one)
    engine = new_engine(tmp_path / "r", DialogueSuite(4, 1, judged=False), concurrency=2)
    task = asyncio.create_task(engine.run())
    await asyncio.wait_for(held.wait(), 60)
    await until(lambda: "s more" in engine.control.status().message)
    end_first.set()
    await until(lambda: "d0-1" in ended(engine))
    for _ in range(10):  # a freed slot is given away within a few turns of the loop
        await asyncio.sleep(0)
    assert model.asked == 2
    engine.control.execute(Command("retry_now"))
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    assert set(ended(engine).values()) == {Outcome.PASSED}


async def test_a_held_run_can_be_stopped_and_goes_on_later(tmp_path: Path, script: Script) -> None:
    refused = asyncio.Event()

    async def wait_an_hour(text: str, request: ChatRequest, watch: Watch) -> Reply:
        refused.set()
        await watch.pause_run(Fault(FaultKind.RATE_LIMIT, "come back in an hour", retry_after_s=3600.0))
        return right(text)

    script(wait_an_hour)
    engine = new_engine(tmp_path / "r", DialogueSuite(2, 1, judged=False))
    task = asyncio.create_task(engine.run())
    await asyncio.wait_for(refused.wait(), 60)
    await until(lambda: len(engine.control.status().activities) == 2 and bool(engine.control.status().message))
    engine.control.execute(Command("kill"))
    assert (await asyncio.wait_for(task, 60)).reason == "stopped"
    assert ended(engine) == {}
    script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(2, 1, judged=False))
    assert (await engine.run()).reason == "completed"


async def test_failed_tries_are_journaled_with_their_partial_text(tmp_path: Path, script: Script) -> None:
    async def cut_once(text: str, request: ChatRequest, watch: Watch) -> Reply:
        watch.on_text("text", "half an")
        watch.on_failed_try(Fault(FaultKind.BROKEN_STREAM, "cut", partial="half an"), 0.5)
        return right(text)

    script(cut_once)
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 1, judged=False))
    await engine.run()
    tried = [record for record in records(engine) if isinstance(record, Tried)]
    assert [(one.kind, one.partial, one.wait_s) for one in tried] == [("broken_stream", "half an", 0.5)]


async def test_a_replay_that_asks_something_else_is_reported(tmp_path: Path, script: Script) -> None:
    """A journaled reply is only ever given to the very same request."""
    asked: list[str] = []

    async def stop_at_judge(text: str, request: ChatRequest, watch: Watch) -> Reply:
        asked.append(text)
        if text.startswith("judge"):
            engine.host.cancel()
            await asyncio.Event().wait()
        return right(text)

    class Reworded(DialogueSuite):
        async def play(self, case: Case, stage: Any, setting: Setting) -> Any:
            reply = await stage.ask([{"role": "user", "content": f"{case.id} turn 0!"}])
            return [reply.content]

    script(stop_at_judge)
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 1))
    assert (await engine.run()).reason == "stopped"
    engine = new_engine(tmp_path / "r", Reworded(1, 1, judged=False))
    await engine.run()
    assert asked[-1] == "d0-1 turn 0!"
    notes = [record.data for record in records(engine) if isinstance(record, Noted) and record.kind == "divergence"]
    assert notes == ["went another way at call 1; recorded effects not requested again: 1"]


async def test_equal_requests_of_a_conversation_are_replayed_in_their_order(tmp_path: Path, script: Script) -> None:
    asked: list[str] = []

    async def stop_at_third(text: str, request: ChatRequest, watch: Watch) -> Reply:
        asked.append(text)
        if len(asked) == 3:
            engine.host.cancel()
            await asyncio.Event().wait()
        return Reply(f"answer {len(asked)}")

    class Insistent(DialogueSuite):
        async def play(self, case: Case, stage: Any, setting: Setting) -> Any:
            return [(await stage.ask([{"role": "user", "content": "again"}])).content for _ in range(3)]

    script(stop_at_third)
    engine = new_engine(tmp_path / "r", Insistent(1, 1, judged=False))
    assert (await engine.run()).reason == "stopped"
    engine = new_engine(tmp_path / "r", Insistent(1, 1, judged=False))
    await engine.run()
    (finished,) = [record for record in records(engine) if isinstance(record, Finished)]
    assert finished.output == ["answer 1", "answer 2", "answer 4"]


async def test_a_disk_that_is_full_at_the_end_is_waited_for(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(always_right)
    full = [True]
    written = JournalWriter.append

    def append(self: JournalWriter, record: AnyRecord) -> int:
        if full[0] and isinstance(record, Finished):
            raise Fault(FaultKind.DISK, "cannot write journal.jsonl: No space left on device")
        return written(self, record)

    monkeypatch.setattr(JournalWriter, "append", append)
    monkeypatch.setattr(ledger_module, "RETRY_S", 0.01)
    said: list[str] = []
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 1, judged=False), notify=said.append)
    task = asyncio.create_task(engine.run())
    await until(lambda: bool(said) and "1 record waiting" in engine.control.status().message)
    assert (len(said), engine.in_flight, task.done()) == (1, 0, False)
    full[0] = False
    assert (await asyncio.wait_for(task, 60)).reason == "completed"
    assert [type(record) for record in records(engine)][-2:] == [Finished, Closed]

    full[0] = True
    engine = new_engine(tmp_path / "s", DialogueSuite(1, 1, judged=False), notify=said.append)
    task = asyncio.create_task(engine.run())
    await until(lambda: len(said) > 2 and engine.in_flight == 0 and "waiting" in engine.control.status().message)
    engine.control.execute(Command("kill"))
    with pytest.raises(Fault, match="No space left"):
        await asyncio.wait_for(task, 60)


async def test_growing_chats_are_stored_once(tmp_path: Path, script: Script) -> None:
    script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 5, judged=False))
    await engine.run()
    stored = [record for record in records(engine) if isinstance(record, Asked)]
    assert [record.prefix for record in stored] == [0, 1, 3, 5, 7]
    assert [len(record.messages) for record in stored] == [1, 2, 2, 2, 2]


async def test_a_second_engine_is_told_who_has_the_run(tmp_path: Path, script: Script) -> None:
    script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(1, 1))
    with RunLock(engine.host.folder.lock_path), pytest.raises(RunLocked, match="already open in process"):
        await engine.run()
    assert (await new_engine(tmp_path / "r", DialogueSuite(1, 1)).run()).reason == "completed"


async def test_the_record_of_the_end_is_the_last_one(tmp_path: Path, script: Script) -> None:
    script(always_right)
    engine = new_engine(tmp_path / "r", DialogueSuite(3, 1))
    seen: list[AnyRecord] = []
    engine._on_record = seen.append
    await engine.run()
    assert isinstance(seen[-1], Closed)
    assert records(engine)[1:] == seen
