"""Whole memory runs over the loopback: order at 32 at once, what is carried on, and kill -9 within a chain."""

import json
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from server.openai_server import OpenAIServer, Scripted

from console.core.outcome import Outcome
from console.core.record import Asked, Finished, Started
from console.store.journal import JournalReader

ROOT = Path(__file__).resolve().parents[3]

HELD = re.compile(r"memory now:\n(.*)\nGive your final answer", re.DOTALL)
MIDDLE = "My study partner is called Tobias"
"""In the third turn of the second conversation of a chain of two."""


class Rememberer:
    """Notes every user message with one call; answers questions with nothing but the memory it is shown."""

    def __init__(self, kill_on: str = "") -> None:
        self.kill_on, self.reached = kill_on, threading.Event()
        self.asked: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Scripted:
        system, *talk = request["messages"]
        text, last = str(system["content"]), str(talk[-1]["content"])
        self.asked[last] += 1
        held = HELD.search(text)
        if held is not None:
            shown = " ".join(re.findall(r"\w[\w ]*", held[1]))
            return Scripted(f"{{'answer': {shown!r}}}")
        if last.startswith("[{'role': 'tool'"):
            return Scripted("Noted.")
        if self.kill_on and last.startswith(self.kill_on):
            self.reached.set()
            return Scripted(_note(text, last, len(talk)), itl_s=0.3, chunk=2)
        return Scripted(_note(text, last, len(talk)))


def _note(system: str, last: str, number: int) -> str:
    if '"core_memory_key_search"' in system:
        key = "_".join(re.findall("[a-z]+", last.lower())[:6])
        return f"[core_memory_add(key='{key}_{number}', value={last!r})]"
    if '"core_memory_add"' in system:
        return f"[core_memory_add(text={last!r})]"
    return f"[memory_append(text={last!r})]"


def console(*args: str) -> list[str]:
    return [sys.executable, "-m", "console", *args]


def run_arguments(models: Path, runs: Path) -> list[str]:
    places = ("--models", str(models), "--runs", str(runs), "--suite", "bfcl-starter", "--category", "memory")
    return console("run", "--model", "tested", *places, "--concurrency", "32", "--yes", "--quiet", "--json")


def write_models(path: Path, base_url: str) -> None:
    limits = "[tested.limits]\nconcurrency = 64\nbackoff_s = 0.01\n"
    path.write_text(f'[tested]\nmodel_id = "tested"\nbase_url = "{base_url}"\n{limits}')


def done(command: list[str]) -> dict[str, Any]:
    result = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def records(runs: Path) -> list[Any]:
    [folder] = [path for path in runs.iterdir() if path.is_dir()]
    return JournalReader(folder / "journal.jsonl").read_new()


def results(runs: Path) -> dict[str, Any]:
    finished = [record for record in records(runs) if isinstance(record, Finished)]
    assert len({record.key for record in finished}) == len(finished), "a conversation was finished twice"
    return {record.key.case: (record.verdict, record.output) for record in finished}


def assert_in_order(runs: Path) -> None:
    """Nothing began before everything it depends on had finished."""
    finished: set[str] = set()
    for record in records(runs):
        if isinstance(record, Started):
            assert set(record.case.depends_on) <= finished, record.case.id
        elif isinstance(record, Finished):
            finished.add(record.key.case)


def test_questions_are_asked_on_what_all_their_conversations_left_behind(tmp_path: Path) -> None:
    with OpenAIServer(Rememberer()) as server:
        write_models(tmp_path / "models.toml", server.base_url)
        told = done(run_arguments(tmp_path / "models.toml", tmp_path / "runs"))
    assert_in_order(tmp_path / "runs")
    tally = told["summary"]["tally"]
    assert (tally["passed"], tally["setup"], tally.get("failed", 0)) == (24, 12, 0)
    assert {metric["name"]: metric["value"] for metric in told["report"]["metrics"]}["memory"] == 1.0
    assert all(verdict.outcome is Outcome.PASSED for verdict, _ in results(tmp_path / "runs").values())


def test_kill_in_the_middle_of_a_chain_and_resume_change_nothing(tmp_path: Path) -> None:
    models = tmp_path / "models.toml"
    calm, killed = Rememberer(), Rememberer(kill_on=MIDDLE)
    with OpenAIServer(calm) as server:
        write_models(models, server.base_url)
        done(run_arguments(models, tmp_path / "calm"))
    with OpenAIServer(killed) as server:
        write_models(models, server.base_url)
        command = run_arguments(models, tmp_path / "killed")
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            assert killed.reached.wait(60)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        server.wait_until_left()
        before = records(tmp_path / "killed")
        ended = {record.key.case for record in before if isinstance(record, Finished)}
        begun = {record.key.case for record in before if isinstance(record, Asked)} - ended
        assert any(case.endswith("prereq_1-student-1") for case in begun)
        assert any(case.endswith("prereq_0-student-0") for case in ended)
        kept = sum(isinstance(record, Asked) for record in before)
        sent = sum(killed.asked.values())
        killed.kill_on = ""
        places = ("--models", str(models), "--runs", str(tmp_path / "killed"))
        done(console("resume", *places, "--yes", "--quiet", "--json"))
    assert_in_order(tmp_path / "killed")
    assert results(tmp_path / "killed") == results(tmp_path / "calm")
    assert sum(killed.asked.values()) - sum(calm.asked.values()) == sent - kept, "a kept reply was asked for again"
