"""Engines of one machine that ask one endpoint, with no limits set: what the provider asks of one holds for all."""

import time
from pathlib import Path

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.ray_runs import Playing, calls, check_once, home_of

from console.store.runs import RunFolder

CONVERSATIONS, REPEATS = 4, 16
"""At once in each run; rollouts of each of ten cases."""
SUITE = ("run", "-m", "served", "-s", "bfcl-starter", "--category", "simple_python", "-r", str(REPEATS),
         "-c", str(CONVERSATIONS), "--quiet")  # fmt: skip
ANSWER_S, PAUSE_S = 0.1, 2.0
REFUSALS = 5
"""In a row, of both engines together, so that one of them has three."""


def ask_to_pause(exchange: Exchange) -> None:
    exchange.error("429 Too Many Requests", "slow down", "rate_limit", retry_after=str(PAUSE_S))


def test_refusals_in_a_row_of_one_engine_pause_the_other_though_no_limit_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_KEY", "sk-served-0123456789")
    monkeypatch.setitem(FAULTS, "pause", ask_to_pause)
    refused_at: list[float] = []
    before: list[int] = []
    during = 0

    def answer(request: dict[str, object]) -> Scripted:
        nonlocal during
        if not before and len(folders) == 2 and min(map(calls, folders)) >= 4:
            before.extend(map(calls, folders))
        if before and len(refused_at) < REFUSALS:
            refused_at.append(time.monotonic())
            return Scripted(fault="pause")
        scripted = say_ok(request)
        if not refused_at or time.monotonic() < refused_at[-1] + PAUSE_S:
            during += bool(refused_at)
            scripted.latency_s = ANSWER_S
        return scripted

    folders: list[RunFolder] = []
    with OpenAIServer(answer) as server, home_of(tmp_path, server.base_url) as home:
        engines = [Playing(home, *SUITE)]
        folders.append(engines[0].folder)
        engines.append(Playing(home, *SUITE))
        folders.append(engines[1].folder)
        for engine in engines:
            assert engine.wait()[0] in (0, 3), engine.said
    assert refused_at
    for folder, calls_before in zip(folders, before, strict=True):
        check_once(folder, 10 * REPEATS)
        assert 0 < calls_before < calls(folder), "both were playing"
    # Allowed before the refusal was known, however late they were sent; an engine of its own would send 80.
    assert during <= 2 * CONVERSATIONS
