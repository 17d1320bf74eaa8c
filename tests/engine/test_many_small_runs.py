"""Many small runs beside each other in one process, over one limiter: whatever fails and whoever steers, none hangs."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted, last_text
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared
from support.quick_rows import first_quick

from console.core.live import Command
from console.engine.engine import Engine
from console.store.runs import create_run

RUNS, CASES = 24, 8
PASSING = ("r500", "r529", "r429_ms", "cut_head", "soon503", "html502")


def soon503(exchange: Exchange) -> None:
    exchange.error("503 Service Unavailable", "in a moment", retry_after_ms="20")


@pytest.mark.parametrize("seed", first_quick([1, 2]))
async def test_many_small_runs_beside_each_other_all_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setitem(FAULTS, "soon503", soon503)
    random = Random(seed)

    def answer(request: dict[str, Any]) -> Scripted:
        text = last_text(request)
        if Random(text).random() < 0.25:
            return Scripted(fault="r500")
        if random.random() < 0.15:
            return Scripted(fault=random.choice(PASSING))
        return Scripted(f"answer {text[-3:]}", latency_s=random.choice([0.0, 0.002, 0.01]))

    with OpenAIServer(answer, keep=False) as server:
        engines = [_engine(tmp_path / f"r{number}", server.base_url, random) for number in range(RUNS)]
        steering = asyncio.create_task(_steer(engines, random))
        async with asyncio.timeout(100):
            closed = await asyncio.gather(*(engine.run() for engine in engines))
        steering.cancel()
    assert {ending.reason for ending in closed} <= {"completed", "halted"}
    assert sum(ending.reason == "completed" for ending in closed) > RUNS / 2
    for engine, ending in zip(engines, closed, strict=True):
        if ending.reason == "completed":
            assert engine.host.fold.tally.finished + engine.host.fold.tally.not_run == CASES


def _engine(folder: Path, base_url: str, random: Random) -> Engine:
    ready = prepared(folder, base_url, DialogueSuite(CASES, 2, judged=False), random.choice([1, 2, 4]))
    return Engine(create_run(folder.parent, ready.manifest), ready)


async def _steer(engines: list[Engine], random: Random) -> None:
    """Pause, go on, change the number at once, say now, and stop cases, all at random; what is paused goes on again."""
    while True:
        await asyncio.sleep(0.005)
        engine = random.choice(engines)
        activities = engine.control.status().activities
        key = random.choice(activities).key if activities else None
        do = random.choice(["pause", "resume", "resume", "concurrency", "retry_now", "stop_case"])
        engine.control.execute(Command(do, key=key if do == "stop_case" else None, value=random.randrange(1, 6)))
        if do == "pause":
            asyncio.get_running_loop().call_later(0.05, engine.control.execute, Command("resume"))
