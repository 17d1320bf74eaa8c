"""What is wrong with a place, a worker or what it says ends in one sentence that names it; no case pays for it."""

import asyncio
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.escaping_suite import write_escaping_suite

from console.config.model import ModelConfig, Secret
from console.config.paths import WorkspacePaths, find_data_roots
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Closed, Finished, Lost
from console.core.run import Selection
from console.engine.compute_target import read_compute_target
from console.engine.engine import Engine
from console.engine.plan import Plan, prepare
from console.engine.workers import messages, remote_player, session
from console.engine.workers.messages import LineReader, LineWriter, NotUnderstood, Piece, WorkerFacts
from console.engine.workers.preflight import check_models, compare
from console.engine.workers.remote_player import RemotePlayer, WorkerGone
from console.engine.workers.session import WorkerSession
from console.engine.workers.session_thread import SessionThread
from console.llm.limits.limiter import LIMITERS
from console.store.journal import JournalReader
from console.store.runs import create_run
from console.suites.allowed import allow
from console.suites.catalog import Catalog
from console.suites.folder_code import FolderCode

OURS = WorkerFacts("engine", "here", {"eval-console": "1"}, {"name": "s"}, "cases", "closed")


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ({"versions": {"eval-console": "2"}}, ["version of eval-console", "2, not 1", "Install eval-console 1"]),
        ({"dataset": {"name": "t"}}, ["data differs", "--data"]),
        ({"cases": "others"}, ["data differs", "copy them from this machine"]),
        ({"sandbox": "open"}, ["sandbox differs", "open, not closed"]),
        ({"missing": "has no key for the model m: M_KEY is not set\n  Set it."}, ["M_KEY is not set", "Set it."]),
    ],
)
def test_a_worker_that_differs_is_named_with_the_cure(theirs: dict[str, object], said: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        compare(OURS, msgspec.structs.replace(OURS, name="node-b/7", **theirs))
    assert all(words in str(refused.value) for words in ["worker node-b/7", *said])


def test_the_same_worker_passes_and_the_engines_own_machine_has_its_sandbox() -> None:
    compare(OURS, msgspec.structs.replace(OURS, name="node-b/7"))
    compare(OURS, msgspec.structs.replace(OURS, name="node-b/7", sandbox=""))


def test_keys_that_would_travel_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sk-0123456789abcdef")
    check_models({"model": ModelConfig(name="m", model_id="m", api_key_env="THE_KEY")})
    for model in (
        ModelConfig(name="m", model_id="m", api_key=Secret("sk-0123456789abcdef")),
        ModelConfig(name="m", model_id="m", api_key_env="THE_KEY", headers={"x-token": "abcdef0123456789"}),
    ):
        with pytest.raises(UsageError, match="would be sent through the cluster") as refused:
            check_models({"model": model})
        assert "api_key_env" in str(refused.value)
        assert "abcdef" not in str(refused.value)


@pytest.mark.parametrize(
    ("on", "workers", "said"),
    [
        ("slurm", None, "is not a compute target"),
        ("ray://head", None, "HOST:PORT"),
        (None, 3, "--workers"),
        ("ray", 0, "from 1"),
    ],
)
def test_places_that_are_none_are_refused(on: str | None, workers: int | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_compute_target(on, workers)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "console.engine.workers.ray_cluster", raising=False)
    with pytest.raises(UsageError, match=r"Install the extra: .*pip install .*\[ray\]'"):
        __import__("console.engine.workers.ray_cluster")
    monkeypatch.delitem(sys.modules, "console.engine.workers.ray_cluster", raising=False)


def test_another_version_of_the_cluster_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    from console.engine.workers.ray_cluster import RayCluster

    def refuse(**options: object) -> None:
        raise RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1")

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(UsageError, match=r"another version of Ray or Python.*Ray: 2\.9\.0 Python: 3\.10\.1"):
        RayCluster("ray", 2)


@pytest.mark.parametrize("address", ["ray://127.0.0.1:1", "127.0.0.1:1"])
def test_a_cluster_that_nobody_serves_is_named_at_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    pytest.importorskip("ray")
    from console.engine.workers.ray_cluster import RayCluster

    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(UsageError, match=f"no cluster answers at {address}.*refused"):
        RayCluster(address if address.startswith("ray://") else "ray", 2)


@pytest.mark.parametrize(("failures", "ends_with"), [(1, ""), (2, "GRPC_ENABLE_FORK_SUPPORT=0")])
def test_a_client_server_that_starts_no_session_is_asked_once_more(
    monkeypatch: pytest.MonkeyPatch, failures: int, ends_with: str
) -> None:
    ray_cluster = pytest.importorskip("console.engine.workers.ray_cluster")
    tries: list[str] = []

    def connect(address: str, **more: object) -> None:
        tries.append(address)
        if len(tries) <= failures:
            raise ConnectionAbortedError("Starting Ray client server failed. See ray_client_server_23000.err.")

    monkeypatch.setattr(ray_cluster.ray, "init", connect)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"ray://127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setattr(ray_cluster, "_check_token", lambda address: None)
        if ends_with:
            with pytest.raises(UsageError) as refused:
                ray_cluster.RayCluster(address, 1)
            assert ends_with in refused.value.hint
        else:
            assert ray_cluster.RayCluster(address, 1).size == 1
    assert tries == [address, address]


@pytest.mark.parametrize("said", ["object store is full", "Client is not connected"])
def test_a_store_that_takes_or_gives_no_data_is_named(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    ray = pytest.importorskip("ray")
    from console.engine.workers.ray_cluster import RayCluster, fetch

    def refuse(*_: object, **__: object) -> None:
        raise (ConnectionError(said) if "Client" in said else ray.exceptions.ObjectStoreFullError(said))

    monkeypatch.setattr(ray, "put", refuse)
    monkeypatch.setattr(ray, "get", refuse)
    with pytest.raises(UsageError, match=f"to the cluster's object store: .*{said}"):
        RayCluster.put(object.__new__(RayCluster), b"part")
    with pytest.raises(UsageError, match=f"cannot be fetched .*{said}") as refused:
        list(map(fetch, ["part"]))
    assert "on every node" in str(refused.value)


@pytest.mark.parametrize("way", ["ray://", ""])
@pytest.mark.parametrize(("token", "said"), [("", "requires a token"), ("aa" * 16, "requires a token other")])
def test_a_cluster_that_asks_for_a_token_says_so_at_once(
    way: str, token: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("ray")
    grpc = pytest.importorskip("grpc")
    from console.engine.workers.ray_cluster import RayCluster

    sent: list[str] = []

    class Refusing(grpc.GenericRpcHandler):
        def service(self, call):
            sent.append(dict(call.invocation_metadata).get("authorization", ""))
            refuse = lambda request, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")  # noqa: E731
            return grpc.unary_unary_rpc_method_handler(refuse)

    server = grpc.server(ThreadPoolExecutor(1), handlers=(Refusing(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN", token)
    monkeypatch.setenv("RAY_ADDRESS", address)
    try:
        with pytest.raises(UsageError, match=said) as refused:
            RayCluster(f"{way}{address}" if way else "ray", 2)
    finally:
        server.stop(None)
    assert sent == [f"Bearer {token}" if token else ""]
    assert "ray get-auth-token" in str(refused.value)
    assert not token or token not in str(refused.value)


class Link:
    """A worker in this process."""

    def __init__(self, number: int) -> None:
        self.session, self.number = WorkerSession(), number

    async def prepare(self, setup: bytes, parts: Sequence[bytes]) -> bytes:
        facts = msgspec.json.decode(self.session.prepare(setup, parts), type=WorkerFacts)
        return msgspec.json.encode(msgspec.structs.replace(facts, name=f"node/{self.number}"))

    def deliver(self, piece: Piece) -> None:
        self.session.deliver(piece)

    async def poll(self) -> Piece:
        return await self.session.poll()

    def kill(self) -> None:
        pass


class BabblingLink(Link):
    """Says what is no message once it has been given something to play."""

    given = False

    def deliver(self, piece: Piece) -> None:
        self.given = True

    async def poll(self) -> Piece:
        piece = await self.session.poll()
        return msgspec.structs.replace(piece, data=b'{"m":"shout"}\n') if self.given else piece


class DyingLink(Link):
    """Is gone as soon as it has something to play."""

    def deliver(self, piece: Piece) -> None:
        self.given = True

    async def poll(self) -> Piece:
        piece = await self.session.poll()
        if getattr(self, "given", False):
            raise WorkerGone("its process ended")
        return piece


class Workers:
    """A fleet in this process: links of these kinds, one after another, the last kind for ever."""

    def __init__(self, *kinds: type[Link], size: int = 1) -> None:
        self.kinds, self.size, self.made = list(kinds), size, 0

    async def spawn(self) -> Link:
        self.made += 1
        kind = self.kinds.pop(0) if len(self.kinds) > 1 else self.kinds[0]
        return kind(self.made)

    def put(self, part: bytes) -> bytes:
        return part

    async def until_gone(self) -> str:
        await asyncio.Event().wait()
        return ""

    def close(self) -> None:
        pass


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setattr(remote_player, "RESPAWN_S", 0.01)
    monkeypatch.setattr(session, "POLL_S", 0.01)
    monkeypatch.setattr(LIMITERS, "share_with_others", None, raising=False)

    async def played(fleet: Workers, limit: int = 3, suite: str = "bfcl-starter", **more: Any):
        paths, notify = WorkspacePaths(data=more.get("data"), runs=tmp_path / "runs"), more.get("notify")
        plan = Plan("sim/careful", suite, Selection(limit=limit), concurrency=2, paths=paths)
        ready = prepare(plan)
        run = create_run(ready.runs_root, ready.manifest)
        closed = await Engine(run, ready, player=partial(RemotePlayer, fleet=fleet), notify=notify).run()
        return closed, list(JournalReader(run.journal_path).iter_all())

    return played


async def test_a_run_played_by_workers_in_this_process_ends_as_any(play) -> None:
    closed, records = await play(Workers(Link, size=2))
    assert closed.reason == "completed"
    ended = [record for record in records if isinstance(record, Finished)]
    assert len(ended) == 3
    assert all(record.verdict.outcome.is_graded for record in ended)


@pytest.mark.parametrize("kind", [BabblingLink, DyingLink])
async def test_a_case_that_three_workers_are_lost_with_is_broken_and_never_judged(play, kind: type[Link]) -> None:
    closed, records = await play(Workers(kind, kind, kind, Link), limit=1)
    ended = [record for record in records if isinstance(record, Finished)]
    assert [(record.verdict.outcome, record.verdict.reason) for record in ended] == [(Outcome.BROKEN, "worker")]
    assert len({record.worker for record in records if isinstance(record, Lost)}) == 3
    assert closed.reason == "completed"


async def test_a_worker_that_says_nonsense_costs_no_case(play) -> None:
    closed, records = await play(Workers(BabblingLink, Link))
    assert closed.reason == "completed"
    assert all(record.verdict.outcome.is_graded for record in records if isinstance(record, Finished))
    assert "sent an invalid message" in next(record.why for record in records if isinstance(record, Lost))


async def test_workers_that_are_started_on_a_node_that_is_gone_are_started_again(play) -> None:
    class StillbornLink(Link):
        async def prepare(self, setup: bytes, parts: Sequence[bytes]) -> bytes:
            raise WorkerGone("its node is gone", is_alone=False)

    closed, records = await play(Workers(DyingLink, *[StillbornLink] * 6, Link))
    assert closed.reason == "completed"
    assert all(record.verdict.outcome.is_graded for record in records if isinstance(record, Finished))


async def test_without_any_worker_left_the_run_stops_resumable(play) -> None:
    class Gone(Workers):
        async def spawn(self) -> Link:
            if self.made:
                raise UsageError("the cluster is gone")
            return await super().spawn()

    closed, records = await play(Gone(DyingLink))
    assert (closed.reason, "the cluster is gone" in closed.message) == ("halted", True)
    assert isinstance(records[-1], Closed)
    assert not any(isinstance(record, Finished) for record in records)


async def test_a_cluster_that_is_gone_stops_the_run_resumable_and_breaks_no_case(play) -> None:
    class Vanishing(Workers):
        async def until_gone(self) -> str:
            await given.wait()
            return "the cluster is gone"

    given = asyncio.Event()

    class SilentLink(Link):
        """Never plays what it is given."""

        def deliver(self, piece: Piece) -> None:
            given.set()

    closed, records = await play(Vanishing(SilentLink, size=2))
    assert (closed.reason, closed.message) == (
        "halted",
        "the cluster is gone: resume the run on another cluster, or without --on",
    )
    assert not any(isinstance(record, Finished) for record in records)
    assert {record.why for record in records if isinstance(record, Lost)} == {"the cluster is gone"}


async def test_a_case_that_was_only_unlucky_with_nodes_is_not_broken(play) -> None:
    class NodeLink(DyingLink):
        async def poll(self) -> Piece:
            try:
                return await super().poll()
            except WorkerGone:
                raise WorkerGone("its node is gone", is_alone=False) from None

    _, records = await play(Workers(*[NodeLink] * 5, Link), limit=1)
    assert len({record.worker for record in records if isinstance(record, Lost)}) == 5
    assert all(record.verdict.outcome.is_graded for record in records if isinstance(record, Finished))


class ThreadLink(Link):
    """A worker whose session has a thread of its own, as on a cluster."""

    def __init__(self, number: int) -> None:
        self.session, self.number = SessionThread(), number
        self.delivering: list[asyncio.Task[None]] = []

    async def prepare(self, setup: bytes, parts: Sequence[bytes]) -> bytes:
        return await asyncio.to_thread(self.session.prepare, setup, parts)

    def deliver(self, piece: Piece) -> None:
        self.delivering.append(asyncio.create_task(self.session.deliver(piece)))


@pytest.mark.parametrize(
    "code",
    [
        "loop.stop()",
        "loop.call_soon(lambda: loop.stop())",
        "task = asyncio.create_task(raises(KeyboardInterrupt()))",
        "loop.call_soon(lambda: sys.exit())",
        "contextvars.Context().run(loop.call_soon, throws, ValueError('stray')); loop.stop()",
    ],
)
async def test_code_that_stops_or_leaves_the_loop_breaks_its_case_and_loses_no_worker(
    play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_escaping_suite(tmp_path / "data", play=f"{code}; await until_stopped()")
    allow(FolderCode(Catalog(find_data_roots(tmp_path / "data")).entry("escapes")))
    fleet = Workers(ThreadLink)
    notices: list[str] = []
    closed, records = await play(fleet, suite="escapes", data=tmp_path / "data", notify=notices.append)
    assert closed.reason == "completed"
    ended = {record.key.case: record.verdict for record in records if isinstance(record, Finished)}
    assert [ended[case].outcome for case in ("first", "bad", "last")] == [
        Outcome.PASSED,
        Outcome.BROKEN,
        Outcome.PASSED,
    ]
    assert ended["bad"].reason == "suite"
    assert "suite.py:" in ended["bad"].messages[0]
    assert fleet.made == 1
    assert any("outside a conversation: ValueError: stray" in notice for notice in notices) is ("throws" in code)


@given(st.lists(st.text(max_size=40), max_size=30), st.randoms())
def test_lines_come_out_as_they_went_in_whatever_the_order_of_pieces(texts: list[str], random) -> None:
    writer, reader = LineWriter(3), LineReader(3)
    sent = [messages.Failed(number, text * 50) for number, text in enumerate(texts)]
    pieces: list[Piece] = []
    for message in sent:
        writer.add(message)
        if random.random() < 0.5:
            pieces.append(writer.pop_piece())
    while len(writer):
        pieces.append(writer.pop_piece())
    random.shuffle(pieces)
    lines = [line for piece in pieces for line in reader.feed(piece)]
    assert [messages.to_engine(line) for line in lines] == [
        messages.Failed(message.job, message.text.encode("utf-8", "replace").decode()) for message in sent
    ]


def test_what_an_older_session_says_is_refused() -> None:
    with pytest.raises(NotUnderstood, match="session 1, this is 2"):
        LineReader(2).feed(Piece(1, 0, b""))
