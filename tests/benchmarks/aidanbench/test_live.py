"""Whole runs over the loopback: what the server counts, with faults, and after kill -9 in the middle."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from server.faults import FAULTS as PLAYED
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted

from console.core.record import Asked, Embedded, Finished
from console.store.journal import JournalReader
from console.store.runs import RunFolder

ROOT = Path(__file__).resolve().parents[3]


def _apart() -> list[str]:
    """Return 16 words that the server's embedding puts at right angles."""
    found: dict[int, str] = {}
    for number in range(1000):
        found.setdefault(zlib.crc32(f"idea{number}".encode()) % 16, f"idea{number}")
    return list(found.values())


WORDS = _apart()
FAULTS = ("r500", "s_cut", "s_nodone", "s_errevent")
QUESTION = re.compile(r"<question>(.*?)</question>", re.DOTALL)


def length_of(question: str) -> int:
    """How many answers a question has before they repeat: 2 to 12."""
    return 2 + hashlib.sha256(question.encode()).digest()[0] % 11


class World:
    """Model, judge and embedding of the runs; counts, may fault, and can call for a kill."""

    def __init__(self, fault_every: int = 0) -> None:
        self.asked: Counter[str] = Counter()
        self.fault_every, self.requests, self.faults = fault_every, 0, 0
        self.faulted: set[str] = set()
        """Requests that were answered with a fault, each once, so that none runs out of tries."""
        self.kill_at, self.reached = 0, threading.Event()

    def __call__(self, request: dict[str, Any]) -> Scripted:
        text = request["messages"][-1]["content"]
        kind = "judge" if "<coherence_score>" in text else "model"
        self.requests += 1
        if self.kill_at and self.requests >= self.kill_at:
            self.reached.set()
        if self.fault_every and self.requests % self.fault_every == 0 and text not in self.faulted:
            self.faulted.add(text)
            self.faults += 1
            return Scripted("<answer>cut off before the end", fault=FAULTS[self.faults % len(FAULTS)])
        self.asked[kind] += 1
        if kind == "judge":
            return Scripted("<coherence_score>85</coherence_score>")
        question = QUESTION.findall(text)[0]
        given = text.count("<previous_answer id=")
        word = WORDS[given] if given < length_of(question) else WORDS[0]
        return Scripted(f"<answer>{word}</answer>", itl_s=0.002 if self.kill_at else 0.0, chunk=4)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models.toml"


def write_models(path: Path, base_url: str) -> None:
    tables = [
        f'[{name}]\nmodel_id = "{name}"\nbase_url = "{base_url}"\n[{name}.limits]\nconcurrency = 64\nbackoff_s = 0.01\n'
        for name in ("tested", "grader", "vectors")
    ]
    path.write_text("\n".join(tables))


def console(*args: str) -> list[str]:
    return [sys.executable, "-m", "console", *args]


def run_arguments(models: Path, runs: Path, *more: str) -> list[str]:
    roles = ("--model", "tested", "--judge", "grader", "--embedding", "vectors")
    places = ("--models", str(models), "--runs", str(runs), "--suite", "aidan-starter")
    return console("run", *roles, *places, "--concurrency", "32", "--yes", "--quiet", "--json", *more)


def done(command: list[str]) -> dict[str, Any]:
    result = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def verdicts(runs: Path) -> dict[str, Any]:
    [folder] = [path for path in runs.iterdir() if path.is_dir()]
    records = JournalReader(folder / "journal.jsonl").read_new()
    finished = [record for record in records if isinstance(record, Finished)]
    assert len({record.key for record in finished}) == len(finished), "a loop was finished twice"
    return {record.key.case: (record.verdict, record.output) for record in finished}


@pytest.mark.slow
def test_all_bundled_questions_cost_one_call_of_each_kind_per_answer(tmp_path: Path, models: Path) -> None:
    world = World()
    with OpenAIServer(world) as server:
        write_models(models, server.base_url)
        done(run_arguments(models, tmp_path / "runs"))
        counts = Counter(server.counts)
    found = verdicts(tmp_path / "runs")
    assert len(found) >= 60
    turns = [len(output) for _, output in found.values()]
    accepted = [verdict.scores["reward"] for verdict, _ in found.values()]
    assert turns == [count + 1 for count in accepted]
    assert {verdict.reason for verdict, _ in found.values()} == {"low_embedding_novelty"}
    assert world.asked == {"model": sum(turns), "judge": sum(turns)}
    assert (counts["chat"], counts["embeddings"]) == (2 * sum(turns), sum(turns))


def test_faults_change_no_metric(tmp_path: Path, models: Path) -> None:
    calm, stormy = World(), World(fault_every=7)
    for name, world in (("calm", calm), ("stormy", stormy)):
        with OpenAIServer(world) as server:
            write_models(models, server.base_url)
            done(run_arguments(models, tmp_path / name, "--limit", "24"))
    assert stormy.faults > 20
    assert stormy.asked == calm.asked
    assert verdicts(tmp_path / "stormy") == verdicts(tmp_path / "calm")


def test_kill_in_the_middle_and_resume_change_no_metric(tmp_path: Path, models: Path) -> None:
    calm, killed = World(), World()
    options = ("--limit", "16")
    with OpenAIServer(calm) as server:
        write_models(models, server.base_url)
        done(run_arguments(models, tmp_path / "calm", *options))
    killed.kill_at = sum(calm.asked.values()) // 2
    with OpenAIServer(killed) as server:
        write_models(models, server.base_url)
        with subprocess.Popen(
            run_arguments(models, tmp_path / "killed", *options), cwd=ROOT, stdout=subprocess.DEVNULL
        ) as process:
            assert killed.reached.wait(60)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        [folder] = (tmp_path / "killed").iterdir()
        before = JournalReader(folder / "journal.jsonl").read_new()
        kept = sum(isinstance(record, Asked) for record in before)
        assert 0 < kept < sum(calm.asked.values())
        assert any(isinstance(record, Embedded) for record in before)
        sent = sum(killed.asked.values())
        places = ("--models", str(models), "--runs", str(tmp_path / "killed"))
        done(console("resume", *places, "--yes", "--quiet", "--json"))
    assert verdicts(tmp_path / "killed") == verdicts(tmp_path / "calm")
    again = sum(killed.asked.values()) - sum(calm.asked.values())
    assert again == sent - kept, "a call whose reply was kept has been made again"


class Heard(World):
    """Knows how often models were asked for before the first paid call."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.listed_before = -1
        self.has_lost_its_voice = True

    def __call__(self, request: dict[str, Any]) -> Scripted:
        if not self.asked:
            self.listed_before = self.counts["models"]
        said = super().__call__(request)
        return Scripted("hm") if self.has_lost_its_voice and "coherence" in str(said.content) else said


def test_a_judge_that_is_not_served_is_said_before_the_first_call_however_a_run_starts(
    tmp_path: Path, models: Path
) -> None:
    world = Heard()
    warning = "the judge grader is not served by"
    with OpenAIServer(world, models=("tested", "vectors")) as server:
        world.counts = server.counts
        write_models(models, server.base_url)
        started = subprocess.run(
            run_arguments(models, tmp_path / "runs", "--limit", "1", "--detach"),
            capture_output=True, text=True, timeout=110, cwd=ROOT, check=True,
        )  # fmt: skip
        folder = RunFolder(Path(json.loads(started.stdout)["folder"]))
        followed = console("watch", folder.name, "--runs", str(tmp_path / "runs"), "--text", "--quiet")
        subprocess.run(followed, capture_output=True, timeout=110, cwd=ROOT, check=False)
        assert world.listed_before == 4, "both roles, by the command and by the engine"
        assert warning in folder.log_path.read_text()
        world.asked.clear()
        server.counts.clear()
        world.has_lost_its_voice = False
        places = ("--models", str(models), "--runs", str(tmp_path / "runs"))
        again = subprocess.run(
            console("retry", folder.name, *places, "--yes"),
            capture_output=True, text=True, timeout=110, cwd=ROOT, check=True,
        )  # fmt: skip
    assert world.listed_before == 2
    assert again.stderr.count(warning) == 1


class Stormy(OpenAIServer):
    """Its embeddings fail now and then, too."""

    def _handle(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/embeddings"):
            self.counts["embeddings asked"] += 1
            if self.counts["embeddings asked"] % 9 == 0:
                self.counts["embedding faults"] += 1
                PLAYED["r500"](exchange)
                return
        super()._handle(exchange)


@pytest.mark.slow
def test_a_storm_and_a_kill_in_it_change_no_metric_and_no_count(tmp_path: Path, models: Path) -> None:
    """With EVAL_CONSOLE_WHOLE=1 over all bundled questions, else over some of them."""
    options = () if os.environ.get("EVAL_CONSOLE_WHOLE") else ("--limit", "12")
    calm, stormy = World(), World(fault_every=7)
    with OpenAIServer(calm) as server:
        write_models(models, server.base_url)
        done(run_arguments(models, tmp_path / "calm", *options))
    turns = [len(output) for _, output in verdicts(tmp_path / "calm").values()]
    assert calm.asked == {"model": sum(turns), "judge": sum(turns)}
    stormy.kill_at = sum(calm.asked.values()) // 2
    with Stormy(stormy) as server:
        write_models(models, server.base_url)
        command = run_arguments(models, tmp_path / "stormy", *options)
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            assert stormy.reached.wait(60)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        [folder] = (tmp_path / "stormy").iterdir()
        before = JournalReader(folder / "journal.jsonl").read_new()
        sent = sum(stormy.asked.values())
        lost = sent - sum(isinstance(record, Asked) for record in before)
        embedded = server.counts["embeddings"] - sum(isinstance(record, Embedded) for record in before)
        places = ("--models", str(models), "--runs", str(tmp_path / "stormy"))
        done(console("resume", *places, "--yes", "--quiet", "--json"))
        counts = Counter(server.counts)
    assert stormy.faults > 10
    assert counts["embedding faults"] > 5
    assert verdicts(tmp_path / "stormy") == verdicts(tmp_path / "calm")
    assert sum(stormy.asked.values()) == 2 * sum(turns) + lost, "each answer once, and once more what was in flight"
    assert counts["embeddings"] == sum(turns) + embedded
    accepted = sum(verdict.scores["reward"] for verdict, _ in verdicts(tmp_path / "stormy").values())
    said = f"{len(turns)} loops, {accepted:.0f} accepted + {len(turns)} rejected, chat and judge {dict(stormy.asked)}"
    print(f"{said}, embeddings {counts['embeddings']}; in flight at the kill {lost} calls, {embedded} embeddings;",
          f"faults {stormy.faults} chat, {counts['embedding faults']} embeddings")  # fmt: skip
