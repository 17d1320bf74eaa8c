"""Runs on a real Ray cluster: two nodes on this machine, workers and nodes and engines that die, all of it resumed."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.ray_runs import LIMITS, Playing, RayNodes, calls, check_once, home_of, records, results, until, workers

from console.core.record import Asked, Lost, Opened
from console.engine.budget import cost_of

pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]
SUITE = (
    "run",
    "-m",
    "served",
    "-s",
    "bfcl-starter",
    "--category",
    "simple_python,multi_turn_base,memory_kv",
    "-c",
    "6",
)
PLANNED = 26
SOON_S = 0.5
"""Within so long a refusal has reached everybody, on a machine that does other things too."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    cluster = RayNodes()
    yield cluster
    cluster.close()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as answering:
        yield answering


def slow(seconds: float):
    def answer(request: dict[str, object]) -> Scripted:
        scripted = say_ok(request)
        scripted.latency_s = seconds
        return scripted

    return answer


def test_a_run_on_two_nodes_is_the_run_of_one_process(nodes: RayNodes, server: OpenAIServer, tmp_path: Path) -> None:
    with home_of(tmp_path, server.base_url) as home:
        local = Playing(home, *SUITE, "--quiet")
        here = local.folder
        code, report = local.wait()
        assert code == 0, local.said
        remote = Playing(home, *SUITE, "--quiet", "--on", "ray", "--workers", "4", ray=nodes.address)
        there = remote.folder
        assert remote.wait() == (code, report.replace(here.name, there.name)), remote.said
    check_once(there, PLANNED)
    assert results(there) == results(here)
    assert [type(record) for record in records(there)].count(Opened) == 1


def test_dead_workers_nodes_and_engines_cost_calls_in_flight_and_nothing_else(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    server.answer = slow(0.3)
    with home_of(tmp_path, server.base_url) as home:
        first = Playing(home, *SUITE, "--on", "ray", "--workers", "3", ray=nodes.address)
        folder = first.folder
        until(lambda: calls(folder) >= 6, "no calls were made")
        victim = until(lambda: workers(folder), "nobody is watched")[0]
        os.kill(int(victim.name.rpartition("/")[2]), 9)
        until(lambda: any(isinstance(record, Lost) for record in records(folder)), "the loss was not recorded")
        seen = calls(folder)
        until(lambda: calls(folder) >= seen + 6, "the run did not go on")
        nodes.remove_second()
        seen = calls(folder)
        until(lambda: calls(folder) >= seen + 12, "the run did not go on without the node")
        nodes.add_second()
        first.kill()
        answered = calls(folder)
        again = Playing(home, "resume", folder.name, "--quiet")
        assert again.wait()[0] in (0, 1, 3), again.said
    check_once(folder, PLANNED)
    assert answered > 0
    lost = 6 * 3  # what each of the three deaths may have had in flight
    assert server.counts["chat"] <= calls(folder) + lost


def test_a_run_of_this_process_is_resumed_on_ray(nodes: RayNodes, server: OpenAIServer, tmp_path: Path) -> None:
    server.answer = slow(0.2)
    with home_of(tmp_path, server.base_url) as home:
        first = Playing(home, *SUITE)
        folder = first.folder
        until(lambda: calls(folder) >= 5, "no calls were made")
        first.kill()
        again = Playing(home, "resume", folder.name, "--quiet", "--on", "ray", "--workers", "2", ray=nodes.address)
        assert again.wait()[0] in (0, 1, 3), again.said
    check_once(folder, PLANNED)
    assert server.counts["chat"] <= calls(folder) + 6
    assert [record.epoch for record in records(folder) if isinstance(record, Opened)] == [1, 2]


def test_workers_and_engines_of_this_machine_share_one_endpoints_limits(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    arrived: list[float] = []
    refused: list[float] = []

    def answer(request: dict[str, object]) -> Scripted:
        arrived.append(time.monotonic())
        if len(arrived) == 60:
            refused.append(time.monotonic())
            return Scripted(fault="r429_after1")
        scripted = say_ok(request)
        scripted.latency_s = 0.2
        return scripted

    server.answer = answer
    gap = 0.05
    with home_of(tmp_path, server.base_url, f"{LIMITS}, concurrency = 4, rpm = {60 / gap:.0f}") as home:
        runs = [Playing(home, *SUITE, "--quiet", "--on", "ray", "--workers", "4", ray=nodes.address)]
        folders = [runs[0].folder]
        for _ in range(2):
            runs.append(Playing(home, *SUITE, "--quiet"))
            folders.append(runs[-1].folder)
        for run in runs:
            assert run.wait()[0] in (0, 3), run.said
    for folder in folders:
        check_once(folder, PLANNED)
    assert server.most_in_flight <= 4
    assert server.most_in_flight > 1
    window = 40
    spans = [later - earlier for earlier, later in zip(arrived, arrived[window:], strict=False)]
    assert min(spans) >= window * gap * 0.8, "requests a minute are those of all together"
    pause = refused[0], refused[0] + 1.0
    late = [moment - pause[0] for moment in arrived if pause[0] + SOON_S < moment < pause[1]]
    assert late == [], "one refusal holds all of them"


def test_a_cap_on_cost_is_not_overshot_by_workers(nodes: RayNodes, server: OpenAIServer, tmp_path: Path) -> None:
    server.answer = slow(0.05)
    cap = 0.05
    with home_of(tmp_path, server.base_url) as home:
        run = Playing(
            home, *SUITE, "--quiet", "--max-cost", str(cap), "--on", "ray", "--workers", "4", ray=nodes.address
        )
        folder = run.folder
        assert run.wait()[0] == 4, run.said
    facts = folder.manifest().model
    spent = sum(cost_of(record.reply, facts) or 0.0 for record in records(folder) if isinstance(record, Asked))
    assert 0 < spent <= cap
