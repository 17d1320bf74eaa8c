"""Engines of one machine that ask one endpoint, with no limits set: what the provider asks of one holds for all."""

import time
from pathlib import Path
from typing import Any

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.ray_runs import Playing, calls, check_once, home_of

from console.store.runs import RunFolder

CONVERSATIONS, REPEATS = 4, 16
"""At once in each run; rollouts of each case."""
REFUSED, OTHER = ("simple_python", 10), ("multiple", 8)
"""Category and cases of the engine that is refused, whose requests have one tool, and of the other."""
ANSWER_S, PAUSE_S = 0.1, 2.0
REFUSALS = CONVERSATIONS + 2
"""Of one engine, none of whose calls is answered between: the last ones are in a row."""


def ask_to_pause(exchange: Exchange) -> None:
    exchange.error("429 Too Many Requests", "slow down", "rate_limit", retry_after=str(PAUSE_S))


@pytest.mark.slow
def test_refusals_in_a_row_of_one_engine_pause_the_other_though_no_limit_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_KEY", "sk-served-0123456789")
    monkeypatch.setitem(FAULTS, "pause", ask_to_pause)
    refused_at: list[float] = []
    before: list[int] = []
    during = 0

    def answer(request: dict[str, Any]) -> Scripted:
        nonlocal during
        if not before and len(folders) == 2 and min(map(calls, folders)) >= 4:
            before.extend(map(calls, folders))
        if before and len(refused_at) < REFUSALS and len(request["tools"]) == 1:
            refused_at.append(time.monotonic())
            during = 0
            return Scripted(fault="pause")
        scripted = say_ok(request)
        if not refused_at or time.monotonic() < refused_at[-1] + PAUSE_S:
            during += bool(refused_at)
            scripted.latency_s = ANSWER_S
        return scripted

    folders: list[RunFolder] = []
    with OpenAIServer(answer) as server, home_of(tmp_path, server.base_url) as home:
        engines: list[Playing] = []
        for category, _ in (REFUSED, OTHER):
            engines.append(Playing(home, "run", "-m", "served", "-s", "bfcl-starter", "--category", category,
                                   "-r", str(REPEATS), "-c", str(CONVERSATIONS), "--quiet"))  # fmt: skip
            folders.append(engines[-1].folder)
        for engine in engines:
            assert engine.wait()[0] in (0, 3), engine.said
    assert len(refused_at) == REFUSALS
    for folder, calls_before, (_, cases) in zip(folders, before, (REFUSED, OTHER), strict=True):
        check_once(folder, cases * REPEATS)
        assert 0 < calls_before < calls(folder), "both were playing"
    # Those on their way at the last refusal, and until the other hears of it; unpaused it is sent 50 and more.
    assert during <= 24
