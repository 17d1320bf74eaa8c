"""Engines of one machine that ask one endpoint, with no limits set: what the provider asks of one holds for all."""

import time
from pathlib import Path

import pytest
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.ray_runs import Playing, calls, check_once, home_of

from console.store.runs import RunFolder

SUITE = ("run", "-m", "served", "-s", "bfcl-starter", "--category", "simple_python,memory_kv", "-c", "4")
PAUSE_S, SOON_S = 1.0, 0.25


def test_a_refusal_of_one_engine_pauses_the_other_though_no_limit_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_KEY", "sk-served-0123456789")
    arrived: list[float] = []
    refused: list[float] = []
    before: list[int] = []

    def answer(request: dict[str, object]) -> Scripted:
        arrived.append(time.monotonic())
        if not refused and len(folders) == 2 and min(map(calls, folders)) >= 4:
            before.extend(map(calls, folders))
            refused.append(time.monotonic())
            return Scripted(fault="r429_after1")
        scripted = say_ok(request)
        scripted.latency_s = 0.2
        return scripted

    folders: list[RunFolder] = []
    with OpenAIServer(answer) as server, home_of(tmp_path, server.base_url) as home:
        engines = [Playing(home, *SUITE, "--quiet")]
        folders.append(engines[0].folder)
        engines.append(Playing(home, *SUITE, "--quiet"))
        folders.append(engines[1].folder)
        for engine in engines:
            assert engine.wait()[0] in (0, 3), engine.said
    assert refused
    for folder, calls_before in zip(folders, before, strict=True):
        check_once(folder, 22)
        assert 0 < calls_before < calls(folder), "both were playing"
    late = [moment - refused[0] for moment in arrived if SOON_S < moment - refused[0] < PAUSE_S]
    assert late == []
