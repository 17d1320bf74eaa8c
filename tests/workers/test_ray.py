"""Runs on a real Ray cluster: two nodes on this machine, workers, nodes, engines and clusters that die, and resumes.

All suites play side by side on one cluster. Losses come at moments that a seed draws; EVAL_CONSOLE_LOSSES=5 plays five
rounds of them instead of one.
"""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted, last_text, say_ok
from support.ray_runs import (
    LIMITS,
    ROOT,
    SUITES,
    Playing,
    RayNodes,
    calls,
    check_once,
    home_of,
    play_along,
    records,
    results,
    until,
    workers,
)

from console.core.looks import Look
from console.core.record import Asked, Closed, Looked, Lost, Opened
from console.engine.budget import cost_of
from console.store.runs import RunFolder

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROUNDS = int(os.environ.get("EVAL_CONSOLE_LOSSES", "1"))
CALLS = (
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
CONVERSATIONS = 4
"""At once, in each run."""
QUICK_S, SLOW_S = 0.2, 4.0
"""An answer's time while a moment is waited for, and while something is lost and started again."""
START_S = 240.0
"""Four engines and their eight workers, started at once beside other work, were seen to take 95 s to the first call."""
GONE_S = 55.0
"""An engine whose cluster is gone has ended: before a minute is over, after which Ray ends it without a word."""
CEILING, RPM, PAUSE_S = 8, 300, 4.0
REFUSALS = 6
"""Of one process, none of whose calls is answered between: the last ones are in a row."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    cluster = RayNodes()
    yield cluster
    cluster.close()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as answering:
        yield answering


def ask_to_pause(exchange: Exchange) -> None:
    exchange.error("429 Too Many Requests", "slow down", "rate_limit", retry_after=str(PAUSE_S))


def slow(seconds: float) -> Callable[[dict[str, object]], Scripted]:
    def answer(request: dict[str, object]) -> Scripted:
        scripted = say_ok(request)
        scripted.latency_s = seconds
        return scripted

    return answer


class SuiteRun:
    """One suite's run against a server of its own: started, lost and resumed as often as a test wants."""

    def __init__(self, suite: str, home: Path) -> None:
        self.suite, self.home = suite, home
        self.server = OpenAIServer(self._answer)
        self.quick: float = inf
        """So many requests more are answered soon."""
        self.lost = 0
        """Calls that may have been in flight where an engine or a cluster died: no record says which."""
        self.folder: RunFolder
        self.playing: Playing

    def _answer(self, request: dict[str, object]) -> Scripted:
        scripted = play_along(request)
        if self.quick != inf:
            scripted.latency_s = QUICK_S if self.quick > 0 else SLOW_S
        self.quick -= 1
        return scripted

    def start(self, *options: str, ray: str = "") -> None:
        """Begin the run."""
        number = str(CONVERSATIONS)
        argv = ("run", "-m", "served", "-s", self.suite, "-c", number, *SUITES[self.suite], "--quiet", *options)
        self.playing = Playing(self.home, *argv, ray=ray)
        self.folder = self.playing.folder

    def resume(self, *options: str, ray: str = "") -> None:
        """Go on with it."""
        self.playing = Playing(self.home, "resume", self.folder.name, "--quiet", *options, ray=ray)

    @property
    def asked(self) -> int:
        """How many requests the server has had."""
        return self.server.counts["chat"] + self.server.counts["embeddings"]

    def losses(self) -> int:
        return sum(isinstance(record, Lost) for record in records(self.folder))

    def kill_worker(self, rng: Random) -> None:
        """Kill one of its workers that plays something."""
        victim = rng.choice(until(lambda: [w for w in workers(self.folder) if w.conversations], "nobody plays"))
        os.kill(int(victim.name.rpartition("/")[2]), 9)


@pytest.fixture
def suite_runs(tmp_path: Path) -> Iterator[list[SuiteRun]]:
    with contextlib.ExitStack() as open_:
        runs = [SuiteRun(suite, tmp_path / suite) for suite in SUITES]
        for run in runs:
            open_.enter_context(run.server)
            open_.enter_context(home_of(run.home, run.server.base_url))
        yield runs


def undisturbed(runs: list[SuiteRun]) -> list[tuple[RunFolder, int, str]]:
    """Play every suite here, side by side; return folders, exit codes and reports."""
    for run in runs:
        run.start()
    return [(run.folder, *run.playing.wait()) for run in runs]


def test_every_suite_on_two_nodes_is_the_run_of_one_process(nodes: RayNodes, suite_runs: list[SuiteRun]) -> None:
    here = undisturbed(suite_runs)
    for run in suite_runs:
        run.start("--on", "ray", "--workers", "4", ray=nodes.address)
    for run, (local, code, report) in zip(suite_runs, here, strict=True):
        there = run.folder
        assert run.playing.wait() == (code, report.replace(local.name, there.name)), run.playing.said
        assert results(there) == results(local)
        assert [type(record) for record in records(there)].count(Opened) == 1
        assert run.playing.said == "", "nothing of Ray's own is said"


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_whatever_is_lost_costs_calls_in_flight_and_nothing_else(seed: int, suite_runs: list[SuiteRun]) -> None:
    rng = Random(seed)
    nodes = RayNodes()
    on_ray = ("--on", "ray", "--workers", "2")
    try:
        expected = [results(folder) for folder, _, _ in undisturbed(suite_runs)]
        for run in suite_runs:
            run.server.counts.clear()
            run.quick = 0
            run.start()
        after_some_calls(rng, suite_runs, lambda run: run.asked)
        for run in suite_runs:
            run.playing.kill()
            run.lost += CONVERSATIONS
            run.resume(*on_ray, ray=nodes.address)
        after_some_calls(rng, suite_runs, lambda run: calls(run.folder))
        for run in suite_runs:
            run.kill_worker(rng)
        until(lambda: all(run.losses() for run in suite_runs), "the losses were not recorded")
        after_some_calls(rng, suite_runs, lambda run: calls(run.folder))
        nodes.remove_second()
        after_some_calls(rng, suite_runs, lambda run: calls(run.folder))
        for run, address in zip(suite_runs, ("ray", "ray", "ray", nodes.client_address), strict=True):
            run.playing.kill()
            run.lost += CONVERSATIONS
            run.resume("--on", address, "--workers", "2", ray=nodes.address)
        after_some_calls(rng, suite_runs, lambda run: calls(run.folder))
    finally:
        nodes.close()
    for run in suite_runs:
        run.lost += CONVERSATIONS
        code, _ = run.playing.wait(GONE_S)
        assert code == 3, run.playing.said
        closed = records(run.folder)[-1]
        assert isinstance(closed, Closed), run.playing.said
        assert (closed.reason, closed.message[:19]) == ("halted", "the cluster is gone")
        run.quick = inf
        run.resume()
    for run, undisturbed_results in zip(suite_runs, expected, strict=True):
        assert run.playing.wait()[0] in (0, 1, 3), run.playing.said
        check_once(run.folder, len(undisturbed_results))
        assert results(run.folder) == undisturbed_results
        # Who takes over from a worker may be lost with the same node or cluster a moment later: each loss is recorded.
        assert run.asked <= calls(run.folder) + run.lost + run.losses()


def test_a_node_without_data_plays_with_those_of_the_engine(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node"
    shutil.copytree(ROOT / "console", node / "console", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(node)  # a program that is installed there, without any data
    folders = {f"XDG_{kind}_HOME": str(node / kind.lower()) for kind in ("STATE", "DATA", "CONFIG", "CACHE")}
    nodes = RayNodes(head_cpus=0, second={"PYTHONPATH": str(node), "HOME": str(node)} | folders)
    argv = ("run", "-m", "served", "-s", "bfcl-starter", "--category", "simple_python,multi_turn_base", "-c", "4")
    server.answer = play_along
    try:
        with home_of(tmp_path / "home", server.base_url) as home:
            here = Playing(home, *argv, "--quiet")
            local = here.folder
            assert here.wait()[0] in (0, 3), here.said
            for address in ("ray", nodes.client_address):
                run = Playing(home, *argv, "--on", address, "--workers", "2", ray=nodes.address)
                folder = run.folder
                run.wait()
                assert results(folder) == results(local) != {}, run.said
                times = 1 if address == "ray" else 0
                assert run.said.count("the data of bfcl-starter was sent to") == times, "once for two workers and runs"
    finally:
        nodes.close()
    copies = [path for path in (node / "cache").glob("**/data/*") if path.is_dir()]
    assert [sorted(path.name for path in copy.iterdir()) for copy in copies] == [["bfcl-starter"]]


def after_some_calls(rng: Random, runs: list[SuiteRun], count: Callable[[SuiteRun], int]) -> None:
    """Wait for a moment of the play of each run."""
    moments: list[tuple[SuiteRun, int]] = []
    for run in runs:
        run.quick = rng.randint(1, 8)
        moments.append((run, count(run) + int(run.quick)))
    try:
        until(lambda: all(count(run) >= moment for run, moment in moments), "the runs did not go on", START_S)
    except AssertionError as error:
        stuck = [(run.suite, count(run), moment, run.playing.said) for run, moment in moments if count(run) < moment]
        raise AssertionError(f"{error}: {stuck}") from None


def test_workers_and_detached_engines_share_one_endpoints_limits(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAULTS, "pause", ask_to_pause)
    arrived: list[float] = []
    refused: list[float] = []

    def answer(request: dict[str, Any]) -> Scripted:
        arrived.append(time.monotonic())
        is_of_refused = len(request["tools"]) > 1  # the category `multiple`
        if len(arrived) >= 50 and is_of_refused and len(refused) < REFUSALS:
            refused.append(time.monotonic())
            return Scripted(fault="pause")
        scripted = say_ok(request)
        scripted.latency_s = 2.4 if len(arrived) < 30 else 0.1  # first calls at once are the bound, then starts
        return scripted

    server.answer = answer
    argv = ("run", "-m", "served", "-s", "bfcl-starter", "-c", "8", "--category")
    with home_of(tmp_path, server.base_url, f"{LIMITS}, concurrency = {CEILING}, rpm = {RPM}") as home:
        playing = (*argv, "simple_python", "-r", "3", "--quiet", "--on", "ray", "--workers", "4")
        on_ray = Playing(home, *playing, ray=nodes.address)
        folders = {on_ray.folder: 30}
        for category, repeats, calls_in_all in (("multiple", "4", 32), ("simple_python", "3", 30)):
            detached = Playing(home, *argv, category, "-r", repeats, "--detach")
            folders[detached.folder] = calls_in_all
            assert detached.wait()[0] == 0, detached.said
        assert on_ray.wait()[0] in (0, 3), on_ray.said
        for folder, calls_in_all in folders.items():
            until(lambda folder=folder: isinstance(records(folder)[-1], Closed), "a run did not end")
            check_once(folder, calls_in_all)
    assert len(refused) == REFUSALS
    assert server.most_in_flight == CEILING
    window, gap = 60, 60 / RPM
    spans = [later - earlier for earlier, later in zip(arrived, arrived[window:], strict=False)]
    assert min(spans) >= window * gap * 0.9, "requests a minute are those of all together"
    during = [moment for moment in arrived if 0 < moment - refused[-1] < PAUSE_S / 2]
    assert len(during) < CEILING, "only what was allowed before comes while refusals of one hold all of them"


def test_a_cap_on_cost_is_not_overshot_behind_rays_client(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    server.answer = slow(0.05)
    cap = 0.05
    with home_of(tmp_path, server.base_url) as home:
        on_client = ("--on", nodes.client_address, "--workers", "4")
        run = Playing(home, *CALLS, "--quiet", "--max-cost", str(cap), *on_client)
        folder = run.folder
        assert run.wait()[0] == 4, run.said
    facts = folder.manifest().model
    spent = sum(cost_of(record.reply, facts) or 0.0 for record in records(folder) if isinstance(record, Asked))
    assert 0 < spent <= cap


def test_looks_decide_the_same_on_workers_in_the_background_and_here(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    """The engine looks, wherever conversations are played; failures are slow, so that what ends first is no sample."""

    def answer(is_broken: bool) -> Callable[[dict[str, Any]], Scripted]:
        def say(request: dict[str, Any]) -> Scripted:
            fails = is_broken and len(last_text(request)) % 3 == 0
            scripted = Scripted("I cannot say.") if fails else play_along(request)
            scripted.latency_s = 0.06 if fails else 0.02
            return scripted

        return say

    plan = ("run", "-m", "served", "-s", "bfcl-starter", "-c", "8", "--quiet", "--category", "single_turn")
    with home_of(tmp_path, server.base_url) as home:
        server.answer = answer(is_broken=False)
        baseline = Playing(home, *plan)
        name = baseline.folder.name
        assert baseline.wait()[0] in (0, 3), baseline.said
        server.answer = answer(is_broken=True)
        decided = (*plan, "--until", "decided", "--baseline", name, "--margin", "20pt")
        seen: list[list[Look]] = []
        for options in ((), ("--on", "ray", "--workers", "3"), ("--detach",)):
            playing = Playing(home, *decided, *options, ray=nodes.address)
            folder = playing.folder
            assert playing.wait()[0] == 0, playing.said
            until(lambda folder=folder: folder.journal_path.exists() and folder.is_closed, "a run did not end")
            seen.append([record.look for record in records(folder) if isinstance(record, Looked)])
    assert seen[0][-1].decision
    assert seen[0] == seen[1] == seen[2]


def test_a_race_whose_engines_were_killed_ends_the_same_on_workers(
    nodes: RayNodes, server: OpenAIServer, tmp_path: Path
) -> None:
    """The looks are in the manifest: who resumes the race, and where, changes nothing in its standings."""
    race = ("run", "-m", "served", "-m", "judging", "-s", "bfcl-starter", "--category", "single_turn")
    race += ("--until", "best", "-c", "4", "--quiet")
    latency_s = 0.0

    def answer(request: dict[str, Any]) -> Scripted:
        scripted = play_along(request) if request["model"] == "test-model" else Scripted("I cannot say.")
        scripted.latency_s = latency_s
        return scripted

    server.answer = answer
    with home_of(tmp_path, server.base_url) as home:
        whole = Playing(home, *race, "--runs", "whole")
        assert whole.wait()[0] == 3, whole.said  # all is played, and cannot tell
        latency_s = 0.5
        killed = Playing(home, *race)
        paths = until(lambda: len(found := sorted(home.glob("runs/*/journal.jsonl"))) == 2 and found, "no two runs")
        until(lambda: all(b'"finished"' in path.read_bytes() for path in paths), "nothing was played")
        folders = [RunFolder(path.parent) for path in paths]
        for folder in folders:
            os.kill(next(record.pid for record in records(folder) if isinstance(record, Opened)), signal.SIGKILL)
        killed.wait()
        latency_s = 0.0
        on_ray = ("--runs", "runs", "--on", "ray", "--workers", "2")
        resumed = Playing(home, "resume", folders[0].name, *on_ray, ray=nodes.address)
        assert resumed.wait()[0] == 3, resumed.said
    wholes = [RunFolder(path) for path in sorted((tmp_path / "whole").iterdir())]
    assert [standings(folder) for folder in folders] == [standings(folder) for folder in wholes]
    assert len(standings(folders[0])) > 10


def standings(folder: RunFolder) -> list[object]:
    return [record.look.standings for record in records(folder) if isinstance(record, Looked) and record.look.standings]
