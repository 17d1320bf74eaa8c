"""What a suite of another package hands over: a case that cannot be kept is broken, and no other case is touched."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.dialogue_suite import DialogueSuite
from support.fuzz_budget import made_up
from support.killable_run import prepared

from console.config.redaction import Redactor
from console.core.case import Case, Key, Setting
from console.core.chat import ChatRequest, Reply
from console.core.live import EndpointState
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Noted, Performed, Scored
from console.engine import endpoints
from console.engine.engine import Engine
from console.engine.journal_door import JournalDoor
from console.llm.endpoint import Watch
from console.store.journal import JournalReader
from console.store.journal_line import decode, encode, encode_foreign, scrub
from console.store.runs import create_run
from console.suites.guard import SuiteError
from console.suites.stage import Stage


def test_what_a_suite_decodes_holds_no_key_and_cases_keep_their_names() -> None:
    key = "vk-0123456789abcdefghij"
    door, place = JournalDoor(Redactor([key])), Key(f"asks-{key}")
    verdict = Verdict(Outcome.FAILED, "wrong", f"it said {key}", (key,), detail={"found": [key]})
    for record in (
        Finished(at=1.0, key=place, verdict=verdict, output={"decoded": {"deep": key}}),
        Noted(at=1.0, key=place, kind="seen", data=[key]),
        Performed(at=1.0, key=place, n=1, digest="", kind="look", result=key),
    ):
        admitted = door.admit(record)
        assert admitted.key == place
        text = encode(msgspec.structs.replace(admitted, key=Key("a"))).decode()
        assert "[redacted]" in text
        assert key not in text


class Model:
    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        return Reply(f"answer {str(request.messages[-1].get('content')).split()[2]}")

    def states(self) -> list[EndpointState]:
        return [EndpointState("model")]

    def retry_now(self) -> None: ...

    async def aclose(self) -> None: ...


class Faulty(DialogueSuite):
    """The second of three cases hands something over that a journal cannot give back."""

    def __init__(self, act: Callable[[Stage], Any] | None = None, **values: Any) -> None:
        super().__init__(cases=3, turns=1, judged=False)
        self.act, self.values = act, values

    def cases(self, categories: Sequence[str], setting: Setting) -> list[Case]:
        first, second, *others = super().cases(categories, setting)
        return [first, msgspec.structs.replace(second, data=self.values.get("data", second.data)), *others]

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        output = await super().play(case, stage, setting)
        if not case.id.startswith("d1"):
            return output
        if self.act is not None and isinstance(waiting := self.act(stage), Awaitable):
            await cast(Awaitable[Any], waiting)
        return self.values.get("output", output)

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        if case.id.startswith("d1") and self.values:
            return self.values.get("verdict", Verdict(Outcome.FAILED))
        return super().score(case, output, setting)


async def finished_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: Faulty) -> tuple[list[Any], list[Any]]:
    monkeypatch.setattr(endpoints, "open_endpoint", lambda model: Model())
    ready = prepared(tmp_path / "run", "http://127.0.0.1:1/v1", suite, concurrency=1)
    run = create_run(tmp_path, ready.manifest)
    async with asyncio.timeout(60):
        closed = await Engine(run, ready).run()
    assert closed is not None
    assert closed.reason == "completed"
    journal = JournalReader(run.journal_path)
    records = journal.read_new()
    assert journal.damages == []
    return [record for record in records if isinstance(record, Finished)], records


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


async def no_json() -> object:
    return object()


async def not_a_number() -> float:
    return math.nan


async def three() -> int:
    return 3


ASK: Any = [{"role": "user", "content": "d1-1 turn 0"}]
ACTS: dict[str, Callable[[Any], Any]] = {
    "score beyond its range": lambda stage: stage.score("x", 1e16),
    "threshold beyond its range": lambda stage: stage.score("x", 1.0, threshold=-1e300),
    "score that is a text": lambda stage: stage.score("x", "1"),
    "turn beyond its range": lambda stage: stage.score("x", 1.0, turn=10**40),
    "note that is no JSON": lambda stage: stage.note("x", object()),
    "note that is too deep": lambda stage: stage.note("x", deep()),
    "note of a kind that is no text": lambda stage: stage.note(5, 1),
    "score that is NaN": lambda stage: stage.score("x", math.nan),
    "threshold that is infinite": lambda stage: stage.score("x", 1.0, threshold=math.inf),
    "note with NaN": lambda stage: stage.note("x", [{"deep": math.nan}]),
    "effect whose request holds NaN": lambda stage: stage.perform("x", math.nan, three),
    "effect that is NaN": lambda stage: stage.perform("x", 1, not_a_number),
    "call with NaN in its parameters": lambda stage: stage.ask(ASK, params={"temperature": math.nan}),
    "call with a key that is no text": lambda stage: stage.ask([{"role": "user", "content": {5: "d1-1 turn 0"}}]),
    "tool with an infinity": lambda stage: stage.ask(ASK, tools=[{"type": "function", "minimum": -math.inf}]),
    "effect that is no JSON": lambda stage: stage.perform("x", 1, no_json),
    "call at a turn that is a text": lambda stage: stage.ask(ASK, turn="1"),
    "call at a step beyond its range": lambda stage: stage.ask(ASK, step=2**60),
}
VALUES: dict[str, Any] = {
    "scores beyond their range": {"verdict": Verdict(Outcome.PASSED, scores={"r": -1e16})},
    "scores that are no numbers": {"verdict": Verdict(Outcome.PASSED, scores={"r": math.nan})},
    "unknown outcome": {"verdict": Verdict(cast(Any, "great"))},
    "reason that is no text": {"verdict": Verdict(Outcome.FAILED, reason=cast(Any, 5))},
    "detail that is no JSON": {"verdict": Verdict(Outcome.FAILED, detail={"a": object()})},
    "no verdict": {"verdict": None},
    "output that is no JSON": {"output": object()},
    "output that is too deep": {"output": deep()},
    "data of a case with an infinity": {"data": {"limit": math.inf}},
    "output with NaN": {"output": {"deep": [math.nan]}},
    "output with an infinity": {"output": -math.inf},
    "output with a key that is no text": {"output": {1: "x"}},
    "output with bytes": {"output": [b"x"]},
    "output with a set": {"output": {"x"}},
    "output with a date": {"output": datetime(2026, 1, 2, tzinfo=UTC)},
    "detail with NaN": {"verdict": Verdict(Outcome.PASSED, detail={"a": math.nan})},
}


@pytest.mark.parametrize(
    "make",
    [pytest.param(lambda act=act: Faulty(act), id=name) for name, act in ACTS.items()]
    + [pytest.param(lambda values=values: Faulty(**values), id=name) for name, values in VALUES.items()],
)
async def test_what_cannot_be_kept_breaks_its_case_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], Faulty]
) -> None:
    ended, _ = await finished_of(tmp_path, monkeypatch, make())
    assert [record.verdict.outcome for record in ended] == [Outcome.PASSED, Outcome.BROKEN, Outcome.PASSED]
    assert ended[1].verdict.reason == "suite"
    assert "could not be read back" in ended[1].verdict.messages[0]


async def test_a_score_that_could_not_be_determined_is_kept_as_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, records = await finished_of(tmp_path, monkeypatch, Faulty(lambda stage: stage.score("x", None)))
    assert {record.verdict.outcome for record in ended} == {Outcome.PASSED}
    assert [record.value for record in records if isinstance(record, Scored)] == [None]


def standard(value: Any) -> Any:
    """What comes back: lists in place of tuples, U+FFFD in place of lone surrogates."""
    if isinstance(value, dict):
        return {standard(key): standard(item) for key, item in cast(dict[Any, Any], value).items()}
    return [standard(item) for item in value] if isinstance(value, list | tuple) else scrub(value)


ODD = st.sampled_from(
    [math.nan, math.inf, -0.0, 2**63, 2**64, -(2**64), 10**400, b"x", {1}, {2: 3}, (1, "x"), "\ud800"]
)
ODD_KEYS = st.sampled_from([1, None, True, "\ud800", "\ud801"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text() | ODD_KEYS, inner),
    max_leaves=8,
)


@made_up(400)
@given(output=ANYTHING)
def test_what_is_kept_comes_back_as_it_was_or_is_refused(output: Any) -> None:
    record = Finished(at=1.0, key=Key("a"), verdict=Verdict(Outcome.PASSED), output=output)
    try:
        admitted = JournalDoor(Redactor()).admit(record)
    except SuiteError:
        assert not is_json(output)
        return
    back = decode(encode(admitted)[:-1])
    assert isinstance(back, Finished)
    assert back.output == standard(output)
    assert repr(back.output).replace("-0.0", "0.0") == repr(standard(output)).replace("-0.0", "0.0"), "no other type"
    foreign = decode(encode_foreign(record)[:-1])
    assert foreign == back


@made_up(200)
@given(output=ANYTHING)
def test_what_no_journal_holds_is_broken_in_an_import(output: Any) -> None:
    record = Finished(at=1.0, key=Key("a"), verdict=Verdict(Outcome.PASSED), output=output)
    back = decode(encode_foreign(record)[:-1])
    assert isinstance(back, Finished)
    if back.verdict.outcome is Outcome.PASSED:
        assert back.output == standard(output)
    else:
        assert back.verdict.outcome is Outcome.BROKEN
        assert not is_json(output)


def is_json(value: Any) -> bool:
    """Whether Python writes it as strict JSON with numbers that others read, and reads the same."""
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value and "\\ud" not in json.dumps(value)
    except (TypeError, ValueError):
        return False


async def test_a_mistake_of_ours_after_a_case_is_a_broken_case_and_no_completed_run_without_it(tmp_path, monkeypatch):
    settle = Engine._finish_or_set_aside

    def stumble(self: Engine, job: Any, finished: Finished, fault: Any) -> None:
        if job.key.case.startswith("d1"):
            raise ZeroDivisionError("ours")
        settle(self, job, finished, fault)

    monkeypatch.setattr(Engine, "_finish_or_set_aside", stumble)
    finished, _ = await finished_of(tmp_path, monkeypatch, Faulty())
    by_case = {record.key.case: record.verdict for record in finished}
    assert len(by_case) == 3
    (broken,) = [verdict for verdict in by_case.values() if verdict.outcome is Outcome.BROKEN]
    assert broken.reason == "internal"
    assert "ours" in broken.messages[0]
