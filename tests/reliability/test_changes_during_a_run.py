"""What a person or a provider changes while a run is open: its folder, its data, its credit, the terminal's size."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import (
    only_run,
    records,
    results,
    right,
    until,
    write_models,
    write_rows,
    write_suite,
)
from support.tmux_terminal import TmuxTerminal

from console.core.outcome import Outcome
from console.core.record import Closed, Finished
from console.store.lock import read_holder
from console.store.run_list import list_runs

PLAY = ("run", "-m", "sim/hasty", "-s", "bfcl-starter", "--category", "simple_python", "--quiet")
Start = Callable[..., "subprocess.Popen[str]"]


def test_a_folder_that_is_moved_while_the_run_plays(home: Path, start: Start) -> None:
    """The engine holds on to the file, and the report follows the folder; nothing of the run is lost."""
    data = write_suite(home / "data", 20)
    with OpenAIServer(lambda request: right(request, latency_s=0.05)) as server:
        write_models(home, server)
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "2"])
        until(lambda: server.counts["chat"] > 5)
        moved = only_run(home / "runs").rename(home / "moved")
        out, err = process.communicate(timeout=110)
    assert process.returncode == 0, err
    assert f"the run's folder was moved while it played: it is now {moved}" in err
    assert "20 passed" in out
    assert "Traceback" not in err
    assert len(results(moved)) == 20
    assert isinstance(records(moved)[-1], Closed)


def test_a_folder_that_is_deleted_while_the_app_shows_it(console, home: Path) -> None:
    assert [console(*PLAY).code for _ in range(2)] == [0, 0]
    latest = list_runs(home / "runs")[0]
    app = TmuxTerminal(home, size=(160, 45))
    try:
        app.until("Try the demo", "Last failures")
        app.press("3")
        app.until("[3 Review]", "1 of ")
        shutil.rmtree(latest.path)
        app.press("n", "v", "v", "n", "N")
        app.until("Review")
        app.press("1")
        app.until("Runs  1")
        app.press("q")
        app.until("exit 0", "icanon")
    finally:
        app.close()
    assert not list((home / "state").rglob("crash-*"))


@pytest.mark.slow
def test_an_app_that_is_killed_takes_no_run_with_it(home: Path, environment: dict[str, str]) -> None:
    app = TmuxTerminal(home, size=(120, 40))
    try:
        app.until("Try the demo")
        app.press("Enter")
        app.until("Live", "running")
        runs = until(lambda: [run for run in list_runs(home / "runs") if run.is_live])
        children = ["ps", "-o", "pid=", "--ppid", str(app.pid())]
        shown = subprocess.run(children, capture_output=True, text=True, check=True).stdout
        os.kill(int(shown.split()[0]), signal.SIGKILL)
        app.until("exit 137")
        written = [run.journal_path.stat().st_size for run in runs]
        until(lambda: all(run.journal_path.stat().st_size > was for run, was in zip(runs, written, strict=True)))
    finally:
        app.close()
        for run in list_runs(home / "runs"):
            holder = read_holder(run.lock_path)
            if run.is_live and holder is not None:
                os.kill(holder.pid, signal.SIGTERM)
    until(lambda: not any(run.is_live for run in runs))
    assert {run.summary().state for run in runs} <= {"stopped", "completed"}


@pytest.mark.slow
def test_a_terminal_that_changes_its_size_all_the_time(console, home: Path) -> None:
    assert console(*PLAY).code == 0
    app = TmuxTerminal(home, size=(160, 45), env={"TERM": "screen"})
    try:
        app.until("Try the demo", "Last failures")
        app.press("3")
        app.until("[3 Review]", "1 of ")
        for width, height in ((40, 10), (200, 60), (1, 1), (61, 15), (80, 24), (300, 5), (160, 45)) * 3:
            app._tmux("resize-window", "-x", str(width), "-y", str(height))
        app.until("[3 Review]", "1 of ")
        app.press("1")
        app.until("Try the demo")
        app.press("q")
        app.until("exit 0", "icanon")
    finally:
        app.close()


def test_other_data_under_the_same_name_is_not_mixed_in(console, home: Path) -> None:
    data = write_suite(home / "data", 6)
    with OpenAIServer(right) as server:
        write_models(home, server)
        run = console("run", "-m", "m", "-s", "lookups", "--data", data, "--max-tokens", 1, "--json", "--quiet")
        assert run.code == 4
        toml = data / "lookups" / "suite.toml"
        toml.write_text(toml.read_text().replace('version = "1"', 'version = "2"'))
        before = (Path(run.data["folder"]) / "journal.jsonl").read_bytes()
        refused = console("resume", "--data", data, "--max-tokens", 99999)
        assert refused.code == 2
        assert "version: 1 → 2" in refused.err
        assert (Path(run.data["folder"]) / "journal.jsonl").read_bytes() == before
        assert server.counts["chat"] == 0


@pytest.mark.parametrize("twin", [" once more", ""])
def test_two_cases_of_one_name_are_refused(console, home: Path, twin: str) -> None:
    data = write_suite(home / "data", 0)
    write_rows(data / "lookups", [("simple_python_7", "Check up number 7.", 7), ("simple_python_7", f"Look{twin}", 7)])
    refused = console("run", "-m", "sim/hasty", "-s", "lookups", "--data", data)
    assert refused.code == 2
    assert "simple_python_7" in refused.err
    assert "BFCL_v4_simple_python.json:2" in refused.err
    assert not (home / "runs").exists()


def test_credit_that_runs_out_in_mid_run_costs_no_case(console, home: Path) -> None:
    used = 0

    def answer(request: dict[str, Any]) -> Scripted:
        nonlocal used
        used += 1
        return right(request, fault="r402" if used > 10 else "")

    data = write_suite(home / "data", 40)
    with OpenAIServer(answer) as server:
        write_models(home, server)
        flags = ("--data", data, "--json", "--quiet")
        ended = console("run", "-m", "m", "-s", "lookups", "-c", 4, *flags)
        assert ended.code == 3
        assert ended.data["summary"]["state"] == "halted"
        assert server.counts["r402"] <= 3 + 4, "it is not asked for in a loop"
        first = results(Path(ended.data["folder"]))
        assert len(first) == 10
        server.answer = right
        again = console("resume", *flags)
    assert again.code == 0
    after = results(Path(ended.data["folder"]))
    assert after | first == after
    assert {verdict.outcome for verdict, _, _ in after.values()} == {Outcome.PASSED}


def test_a_storm_of_rate_limits_takes_hardly_longer_than_it_must(console, home: Path) -> None:
    cases, rate = 300, 100.0
    data = write_suite(home / "data", cases)
    with OpenAIServer(lambda request: right(request, latency_s=0.3), limit_rps=rate) as server:
        write_models(home, server)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 100, "--json", "--quiet")
    assert ended.code == 0
    run = Path(ended.data["folder"])
    assert len(results(run)) == cases
    ended_at = [record.at for record in records(run) if isinstance(record, Finished)]
    assert max(ended_at) - min(ended_at) < 10 * cases / rate, "no standstill; test_storm has bounds in virtual time"
    assert server.counts["429"] <= cases / 4, "the learnt pace is kept"


def test_a_tenth_of_the_calls_refused_at_any_load_slows_nobody_else_down(console, home: Path) -> None:
    """Every tenth call gets `Retry-After: 1`: with a pause for all, or fewer calls at once, it would take minutes."""
    cases, at_once = 160, 16
    in_flight: list[int] = []

    def answer(request: dict[str, Any]) -> Scripted:
        in_flight.append(server.in_flight)
        if len(in_flight) % 10 == 3:
            return Scripted(fault="r429_after1")
        return right(request, latency_s=0.3)

    data = write_suite(home / "data", cases)
    with OpenAIServer(answer) as server:
        write_models(home, server)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", at_once, "--json", "--quiet")
    assert ended.code == 0
    summary = ended.data["summary"]
    assert summary["tally"]["passed"] == cases
    assert summary["tally"]["rate_limits"] == server.counts["r429_after1"]
    late = in_flight[cases // 2 :]
    assert max(late) > at_once / 2, "as many may be in flight as before"
    shown = console("show", "latest")
    assert f"slowed by {server.counts['r429_after1']} × 429" in shown.out
