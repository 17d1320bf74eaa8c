"""Runs on a real Ray cluster of two nodes on this machine, in processes of their own, and what is known of them."""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from server.openai_server import Scripted, last_text

from console.core.live import Status, WorkerState
from console.core.record import AnyRecord, Asked, Closed, Embedded, Finished
from console.engine.attach import EngineLink
from console.store.journal import JournalReader
from console.store.runs import RunFolder

ROOT = Path(__file__).resolve().parents[2]
STORE_BYTES = 80_000_000
MODELS = """\
[served]
model_id = "test-model"
base_url = "{url}"
api_key_env = "SERVED_KEY"
mode = "fc"
price = {{ in = 1.0, out = 10.0 }}
limits = {{ {limits} }}

[judging]
model_id = "judge"
base_url = "{url}"
api_key_env = "SERVED_KEY"
limits = {{ {limits} }}
"""
SUITES = {
    "bfcl-starter": ("--category", "simple_python,multi_turn_base,memory_kv", "-r", "2"),
    "aidan-starter": ("-n", "6", "--judge", "judging", "--embedding", "judging", "--option", "max_turns=10"),
    "cave-starter": ("-r", "3"),
    "dialogue-starter": ("--judge", "judging", "--user", "judging", "-r", "2"),
}
"""Options of runs of 100 calls and more against a server that says what `play_along` says."""
WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper", "kettle")
LIMITS = "timeout_s = 600, first_token_s = 300, idle_s = 300, backoff_s = 0.05"


def play_along(request: dict[str, Any]) -> Scripted:
    """Answer what any suite asks, the same to the same request: calls, graded answers, and texts that are all new."""
    text, messages = last_text(request), request.get("messages") or [{}]
    for tag, percent in (("coherence_score", 80), ("similarity_score", 10)):
        if f"<{tag}>" in text:
            return Scripted(f"<{tag}>{percent}</{tag}>")
    if form := re.search(r'^{"grades": .*$', text, re.MULTILINE):
        return Scripted(form[0].replace('"grade": …', '"grade": 2'))
    if (tools := request.get("tools") or []) and messages[-1].get("role") == "user":
        function = tools[0]["function"]
        return Scripted(calls=[(function["name"], dict.fromkeys(function["parameters"].get("properties") or {}, "x"))])
    digest = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).digest()
    return Scripted(f"<answer>{' '.join(WORDS[byte % len(WORDS)] for byte in digest[:8])}</answer>")


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens at."""
    with socket.socket() as asking:
        asking.bind(("127.0.0.1", 0))
        return asking.getsockname()[1]


class RayNodes:
    """A cluster of two nodes, and a server of Ray's client on the first."""

    def __init__(self, *, head_cpus: int = 10, second: Mapping[str, str] | None = None, spills: bool = True) -> None:
        """Start it.

        Args:
            head_cpus: room for workers on the first node.
            second: variables of the second node's environment that differ.
            spills: whether a full object store puts on the disk what is too much.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["SERVED_KEY"] = "sk-served-0123456789"
        os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # else the client's server now and then fails to fork
        from ray.cluster_utils import Cluster

        self._node: dict[str, Any] = {"num_cpus": 10, "object_store_memory": STORE_BYTES}
        self._client_port = free_port()
        head = self._node | {"include_dashboard": False, "ray_client_server_port": self._client_port}
        head["num_cpus"] = head_cpus
        if not spills:
            head["_system_config"] = {"automatic_object_spilling_enabled": False}
        self._node["env_vars"] = dict(second or {})
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.second: Any = self.cluster.add_node(**self._node)

    @property
    def address(self) -> str:
        return self.cluster.address

    @property
    def client_address(self) -> str:
        return f"ray://127.0.0.1:{self._client_port}"

    def remove_second(self) -> None:
        """Take the second node away, as a machine that dies."""
        self.cluster.remove_node(self.second, allow_graceful=False)

    def add_second(self) -> None:
        self.second = self.cluster.add_node(**self._node)

    def close(self) -> None:
        self.cluster.shutdown()


class Playing:
    """A headless command in a process of its own, and the run it plays."""

    def __init__(self, home: Path, *argv: str, ray: str = "", **variables: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(home), "RAY_ADDRESS": ray} | variables
        environment["PYTHONFAULTHANDLER"] = "1"
        for kind in ("STATE", "DATA", "CONFIG", "CACHE"):
            environment[f"XDG_{kind}_HOME"] = str(home / kind.lower())
        self.home, self._before = home, {path.name for path in home.glob("runs/*")}
        self._log = (home / f"{len(list(home.glob('*.log')))}.log").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console", *argv],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    @property
    def folder(self) -> RunFolder:
        """The run that it made."""
        until(lambda: self._new() or self.process.poll() is not None, "no run was made")
        new = self._new()
        assert new, self.said
        return RunFolder(new[0])

    def _new(self) -> list[Path]:
        return [path for path in self.home.glob("runs/*") if path.name not in self._before and path.suffix != ".index"]

    def wait(self, timeout_s: float = 120) -> tuple[int, str]:
        """Wait for its end; return exit code and stdout. One that does not end is made to say where it is."""
        try:
            out, _ = self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(10)
            raise AssertionError(f"it did not end within {timeout_s:.0f} s: {self.said}") from None
        return self.process.returncode, out

    def kill(self) -> None:
        """SIGKILL, and be sure of it."""
        self.process.kill()
        self.process.wait(10)

    @property
    def said(self) -> str:
        self._log.flush()
        return Path(self._log.name).read_text()


def until(condition: Callable[[], Any], what: str, timeout_s: float = 90) -> Any:
    """Wait for something in other processes; return it."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.05)
    raise AssertionError(f"{what} within {timeout_s:.0f} s")


def records(folder: RunFolder) -> list[AnyRecord]:
    reader = JournalReader(folder.journal_path)
    listed = list(reader.iter_all())
    assert reader.damages == []
    return listed


def calls(folder: RunFolder) -> int:
    """How many requests have their answers journaled."""
    if not folder.journal_path.exists():
        return 0
    return sum(isinstance(record, Asked | Embedded) for record in records(folder))


def check_once(folder: RunFolder, planned: int) -> None:
    """Every case ended once, and no journaled call was asked again."""
    listed = records(folder)
    ended = Counter(record.key for record in listed if isinstance(record, Finished))
    assert len(ended) == planned
    assert set(ended.values()) == {1}
    asked = Counter((record.key, record.n) for record in listed if isinstance(record, Asked))
    assert set(asked.values()) == {1}
    closed = listed[-1]
    assert isinstance(closed, Closed)
    assert closed.reason == "completed", closed.message


def watched(folder: RunFolder) -> Status | None:
    """The state that the run's engine sends to who attaches."""

    async def first() -> Status | None:
        link = await EngineLink.connect(folder.path)
        if link is None:
            return None
        try:
            async for frame in link.frames():
                if isinstance(frame, Status):
                    return frame
        finally:
            link.close()
        return None

    return asyncio.run(first())


def workers(folder: RunFolder) -> list[WorkerState]:
    status = watched(folder)
    return [worker for worker in status.workers if worker.state == "playing"] if status else []


def results(folder: RunFolder) -> dict[str, Any]:
    """What a run came to, without times: verdict, scores, output and tokens of every rollout."""
    latest = {(r.key.case, r.key.rollout): r for r in records(folder) if isinstance(r, Finished)}
    return {
        f"{case}/{rollout}": json.dumps(
            [record.verdict.outcome, record.verdict.reason, record.verdict.messages, record.verdict.scores,
             record.output, record.input_tokens, record.output_tokens, record.calls, record.cost_usd],
            default=str, sort_keys=True,
        )
        for (case, rollout), record in sorted(latest.items())
    }  # fmt: skip


@contextlib.contextmanager
def home_of(path: Path, url: str, limits: str = LIMITS) -> Iterator[Path]:
    path.mkdir(parents=True, exist_ok=True)
    (path / "models.toml").write_text(MODELS.format(url=url, limits=limits))
    yield path
