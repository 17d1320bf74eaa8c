"""Judging that takes long goes on beside the event loop: other conversations are held and judged meanwhile."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared

from console.core.case import Case, Setting
from console.core.chat import ChatRequest, Reply
from console.core.live import EndpointState
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.engine import endpoints
from console.engine.engine import Engine
from console.llm.endpoint import Watch
from console.store.journal import JournalReader
from console.store.runs import create_run


class Slow(DialogueSuite):
    """The first case to be judged waits until the last one has been asked for: inline that would never come."""

    def __init__(self) -> None:
        super().__init__(cases=4, turns=2, judged=False)
        self.all_asked = threading.Event()
        self.judged_in: set[int] = set()

    def scores_slowly(self, case: Case) -> bool:
        return case.id.startswith("d0")

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        if self.scores_slowly(case):
            self.judged_in.add(threading.get_ident())
            assert self.all_asked.wait(60), "the loop was blocked"
        return super().score(case, output, setting)


class JudgedIn(DialogueSuite):
    """Remembers the thread in which each case was judged."""

    def __init__(self, cases: int, turns: int, judged: bool) -> None:
        super().__init__(cases=cases, turns=turns, judged=judged)
        self.judged_in: dict[str, int] = {}

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        self.judged_in[case.id] = threading.get_ident()
        return super().score(case, output, setting)


async def test_the_loop_stays_free_while_a_case_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = Slow()

    class Model:
        async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
            text = str(request.messages[-1].get("content"))
            if text == "d3-2 turn 1":
                suite.all_asked.set()
            return Reply(f"answer {text.split()[2]}")

        def states(self) -> list[EndpointState]:
            return [EndpointState("model")]

        def retry_now(self) -> None: ...

        async def aclose(self) -> None: ...

    monkeypatch.setattr(endpoints, "open_endpoint", lambda model: Model())
    ready = prepared(tmp_path / "run", "http://127.0.0.1:1/v1", suite, concurrency=2)
    run = create_run(tmp_path, ready.manifest)
    async with asyncio.timeout(60):
        await Engine(run, ready).run()
    ended = [record for record in JournalReader(run.journal_path).read_new() if isinstance(record, Finished)]
    assert [one.verdict.outcome for one in ended] == [Outcome.PASSED] * 4
    assert ended[-1].key.case == "d0-2"
    assert suite.judged_in.isdisjoint({threading.get_ident()})


async def test_long_replies_are_judged_beside_the_loop_in_every_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decoding one may take a second; signals and watchers are answered meanwhile."""
    suite = JudgedIn(cases=2, turns=1, judged=False)

    class Model:
        async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
            is_first = "d0" in str(request.messages[-1].get("content"))
            return Reply("x" * 30_000 + " answer 0" if is_first else "answer 0")

        def states(self) -> list[EndpointState]:
            return [EndpointState("model")]

        def retry_now(self) -> None: ...

        async def aclose(self) -> None: ...

    monkeypatch.setattr(endpoints, "open_endpoint", lambda model: Model())
    ready = prepared(tmp_path / "run", "http://127.0.0.1:1/v1", suite, concurrency=1)
    run = create_run(tmp_path, ready.manifest)
    async with asyncio.timeout(60):
        await Engine(run, ready).run()
    assert suite.judged_in["d1-1"] == threading.get_ident() != suite.judged_in["d0-1"]
