"""Workers as actors of a Ray cluster: the only module that imports Ray, which is an optional extra.

Actors hold no durable state and are never restarted by Ray: the engine starts new ones. Pieces of both streams are
arguments and results of actor methods, short enough to bypass object stores; only data that a node lacks goes through
those, once. Keys are never sent: an actor reads them from the environment of its node.
"""

import asyncio
import concurrent.futures
import contextlib
import importlib
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from console.config.extras import install_command
from console.core.fault import UsageError
from console.engine.background import start_task
from console.engine.forced_exit import skip_shutdown
from console.engine.workers.messages import NotUnderstood, Piece
from console.engine.workers.remote_player import WorkerGone, WorkerLink


def _token() -> str:
    """Return the cluster token from the environment or Ray's token file; empty if there is none."""
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    with contextlib.suppress(OSError, ValueError):
        path = Path(named) if named else Path.home() / ".ray" / "auth_token"
        return os.environ.get("RAY_AUTH_TOKEN") or path.read_text().strip()
    return ""


os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# Otherwise any call to Ray after its cluster is gone starts or awaits another one, forever. Also read once, on import.
os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
if _token() and "ray" not in sys.modules:
    # A head started on a machine with a token requires it, but a client given an address sends none by default (Ray
    # 2.59 and later, ray-project/ray#64755). An open cluster ignores it. Ray reads this once, on import.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
try:
    ray: Any = importlib.import_module("ray")
    exceptions: Any = importlib.import_module("ray.exceptions")
except ImportError:
    raise UsageError(
        "Ray is not installed", where="--on ray", hint=f"Install the extra: {install_command('ray')}"
    ) from None

KNOCK_S = 10.0
"""Seconds within which a cluster must answer on its port."""
WATCH_S = 2.0
GONE_S = 15.0
"""Seconds without an answer after which a head counts as gone; Ray waits for a minute and then ends this process."""
CLOSE_S = 10.0
"""Seconds for disconnecting; if the cluster is gone, Ray would take a minute and end this process instead."""
SURVEY_S = 60.0
"""Seconds within which a worker must answer `doctor`."""
FETCH_S = 120.0
"""Seconds within which a part of the data must reach a node."""
_NO_SESSION = "Starting Ray client server failed"
_STORE_HINT = "Free some space in it, or put the data on every node or in a folder that all nodes share (--data)."
OBJECT_STORE_BYTES = 80_000_000
"""Size for a local cluster, whose node has the data and needs no object store."""


class WorkerActor:
    """The actor class, a thin wrapper of a session."""

    def __init__(self) -> None:
        from console.engine.workers.session_thread import SessionThread

        self._thread = SessionThread()
        self._watchdog: asyncio.Task[None] | None = None

    async def prepare(self, setup: bytes, parts: list[Any]) -> bytes:
        """Prepare for a run (`WorkerSession.prepare`) in a thread, as it may take a while.

        Args:
            setup: the run to play.
            parts: references to the packed data, each transferred to this node on access.
        """
        facts = await asyncio.to_thread(self._thread.prepare, setup, map(fetch, parts))
        if self._watchdog is None:
            self._watchdog = start_task(self._end_when_abandoned(), "watchdog")
        return facts

    async def survey(self, keys: list[str]) -> tuple[str, dict[str, str]]:
        """Return the worker's name, versions, confinement, and which of these variables are set."""
        from console.engine.plan import program_versions
        from console.sandbox.probe import reached_level

        facts = program_versions() | {f"key {name}": "set" for name in keys if os.environ.get(name)}
        facts["sandbox"] = (await asyncio.to_thread(reached_level)).text
        return self._thread.session.name, facts

    async def deliver(self, epoch: int, number: int, data: bytes) -> None:
        """Pass a piece of the engine's stream to the session (`WorkerSession.deliver`)."""
        await self._thread.deliver(Piece(epoch, number, data))

    async def poll(self) -> tuple[int, int, bytes]:
        """Return the next piece of the worker's stream (`WorkerSession.poll`)."""
        piece = await self._thread.poll()
        return piece.epoch, piece.number, piece.data

    async def _end_when_abandoned(self) -> None:
        """End the process if the engine is gone, so that it cannot spend more money."""
        while True:
            await asyncio.sleep(1.0)
            if self._thread.session.is_abandoned:
                os._exit(1)


def fetch(part: Any) -> bytes:
    """Transfer a part of the data to this node.

    Raises:
        UsageError: the transfer failed.
    """
    try:
        return ray.get(part, timeout=FETCH_S)
    except (exceptions.RayError, ConnectionError) as error:
        raise UsageError(
            f"the data cannot be fetched from the cluster's object store: {_last_line(error)}", hint=_STORE_HINT
        ) from None


class RayCluster:
    """A fleet (see `remote_player.Fleet`) of actors."""

    def __init__(self, where: str, workers: int | None) -> None:
        """Connect, or start a cluster on this machine.

        Args:
            where: `ray`, or an address `ray://host:port`.
            workers: number of workers; None for one per CPU.

        Raises:
            UsageError: no such cluster, or one with another version of Ray or Python.
        """
        address = where if where.startswith("ray://") else os.environ.get("RAY_ADDRESS", "").strip()
        _check_answers(address)
        _check_token(address)
        try:
            with contextlib.redirect_stdout(None):
                if address:
                    _connect(address)
                else:
                    cpus = max(workers or 1, os.cpu_count() or 1)
                    ray.init(
                        address="local",
                        num_cpus=cpus,
                        include_dashboard=False,
                        log_to_driver=False,
                        logging_level="error",
                        object_store_memory=OBJECT_STORE_BYTES,
                    )
        except Exception as error:  # Ray raises all kinds of exceptions
            raise _no_cluster(address, error) from None
        if not address.startswith("ray://"):
            address = ray.get_runtime_context().gcs_address
        self._address = address
        self.size = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._actor: Any = ray.remote(WorkerActor)
        self._is_gone = False

    async def spawn(self) -> WorkerLink:
        return await _apart(self._spawn)

    def _spawn(self) -> "RayLink":
        if not ray.is_initialized():
            raise UsageError(
                "the cluster is gone", where="--on", hint="Resume the run on another cluster, or without --on."
            )
        return RayLink(
            self._actor.options(
                num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD", max_concurrency=64
            ).remote()
        )

    def put(self, part: bytes) -> Any:
        try:
            return ray.put(part)
        except (exceptions.RayError, ConnectionError) as error:
            raise UsageError(
                f"cannot write to the cluster's object store: {_last_line(error)}",
                where="--on",
                hint=_STORE_HINT,
            ) from None

    @property
    def nodes(self) -> int:
        """Number of nodes that are alive."""
        return sum(bool(node.get("Alive")) for node in ray.nodes())

    async def survey(self, keys: list[str]) -> list[tuple[str, dict[str, str]]]:
        """Ask a worker of each node for its facts; return worker names with facts, or with `trouble`."""
        actors = [self._actor.options(num_cpus=0, scheduling_strategy="SPREAD").remote() for _ in range(self.nodes)]
        surveyed = await asyncio.gather(*(RayLink(actor).survey(keys) for actor in actors))
        return sorted(dict(surveyed).items())

    async def until_gone(self) -> str:
        """Return when the head has not answered for `GONE_S`; shorter outages are tolerated."""
        answered = time.monotonic()
        while time.monotonic() < answered + GONE_S:
            await asyncio.sleep(WATCH_S)
            try:
                await asyncio.to_thread(_check_answers, self._address)
            except UsageError:
                continue
            answered = time.monotonic()
        self._is_gone = True
        return "the cluster is gone"

    def close(self) -> None:
        closing = threading.Thread(target=_shut_down, name="ray shutdown", daemon=True)
        if not self._is_gone:
            closing.start()
            closing.join(CLOSE_S)
        if self._is_gone or closing.is_alive():
            skip_shutdown("ray")  # it would also wait for the head when this process ends


class RayLink:
    """Connection to one actor (see `remote_player.WorkerLink`)."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._undelivered = ""
        self._is_cut_off = False
        """True if the connection failed, False if the worker rejected a message."""

    async def prepare(self, setup: bytes, parts: Sequence[Any]) -> bytes:
        try:
            reference = await _apart(partial(self._actor.prepare.remote, setup, list(parts)))
        except (exceptions.RayError, ConnectionError) as error:
            # A setup with many ids goes through the object store, which may be full.
            raise WorkerGone(f"the run could not be sent to it: {_last_line(error)}") from None
        return await self._ask(reference)

    async def survey(self, keys: list[str]) -> tuple[str, dict[str, str]]:
        """Return the worker's name and facts."""
        try:
            async with asyncio.timeout(SURVEY_S):
                name, facts = await self._ask(self._actor.survey.remote(keys))
        except (WorkerGone, TimeoutError) as error:
            return "a worker", {"trouble": str(error) or f"does not answer within {SURVEY_S:.0f} s"}
        finally:
            self.kill()
        return name, facts

    def deliver(self, piece: Piece) -> None:
        try:
            sent = self._actor.deliver.remote(piece.epoch, piece.number, piece.data)
            sent.future().add_done_callback(self._note_delivery)
        except (exceptions.RayError, ConnectionError) as error:
            self._is_cut_off = True
            self._undelivered = _last_line(error)

    def _note_delivery(self, future: Any) -> None:
        """Record a failed delivery, after which no later message can be decoded."""
        error = None if future.cancelled() else future.exception()
        if error is not None:
            self._is_cut_off = isinstance(error, exceptions.RayError) and not isinstance(error, exceptions.RayTaskError)
            self._undelivered = _last_line(error)

    async def poll(self) -> Piece:
        epoch, number, data = await self._ask(self._actor.poll.remote())
        if self._undelivered and self._is_cut_off:
            raise WorkerGone("it can no longer be reached", is_alone=False)
        if self._undelivered:
            raise NotUnderstood(self._undelivered)
        return Piece(epoch, number, data)

    async def _ask(self, reference: Any) -> Any:
        try:
            return await _result_of(reference.future())
        except exceptions.RayTaskError as error:
            raise WorkerGone(f"its program failed: {_last_line(error)}") from None
        except exceptions.ActorUnavailableError:
            raise WorkerGone("it can no longer be reached", is_alone=False) from None
        except (exceptions.RayError, ConnectionError) as error:
            text = str(error)
            if _has_lost_node(text):
                raise WorkerGone("its node is gone", is_alone=False) from None
            raise WorkerGone(_how_it_ended(text) or _last_line(error)) from None

    def kill(self) -> None:
        threading.Thread(target=self._kill, name="ray kill", daemon=True).start()

    def _kill(self) -> None:
        with contextlib.suppress(Exception):  # the actor or the cluster may already be gone
            ray.kill(self._actor)


async def _apart(call: Callable[[], Any]) -> Any:
    """Run a call in a daemon thread, as it may wait for a cluster that is gone."""
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def do() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, name="ray call", daemon=True).start()
    return await _result_of(future)


def _connect(address: str) -> None:
    """Connect to an existing cluster, with one retry, as Ray's client server sometimes fails to start a session."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", namespace="eval-console")
    except Exception as error:
        if not address.startswith("ray://") or _NO_SESSION not in str(error):
            raise
        with contextlib.suppress(Exception):  # leftovers of the first try
            ray.shutdown()
        ray.init(address=address, log_to_driver=False, logging_level="error", namespace="eval-console")


def _shut_down() -> None:
    with contextlib.suppress(Exception):  # it may be half gone
        ray.shutdown()


async def _result_of(future: Any) -> Any:
    """Await a result without ever cancelling the future, as Ray's client fails on cancelled futures."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def settle() -> None:
        if result.done():
            return
        if (error := future.exception()) is not None:
            result.set_exception(error)
        else:
            result.set_result(future.result())

    def arrive(_: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle)

    future.add_done_callback(arrive)
    return await result


def _has_lost_node(text: str) -> bool:
    return "node" in text and ("died" in text or "dead" in text) and "Worker exit type" not in text


def _how_it_ended(text: str) -> str:
    """Return a short form of Ray's report on a dead worker; empty for anything else."""
    exit_type = re.search(r"Worker exit type: (\w+)", text)
    return f"its process ended ({exit_type[1].lower().replace('_', ' ')})" if exit_type else ""


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def _check_answers(address: str) -> None:
    """Try to connect first, as Ray waits for minutes and logs about it; `auto` and `local` are Ray's own words.

    Raises:
        UsageError: nothing listens there.
    """
    if not (place := _host_and_port(address)):
        return
    try:
        socket.create_connection(place, timeout=KNOCK_S).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from None


def _host_and_port(address: str) -> tuple[str, int] | None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isascii() and port.isdigit() else None


def _check_token(address: str) -> None:
    """Make one authenticated call first, as Ray takes 20 to 30 s to notice that its token is refused."""
    if not _host_and_port(address) or os.environ.get("RAY_AUTH_MODE", "disabled") not in ("disabled", "token"):
        return
    token, grpc = _token(), importlib.import_module("grpc")
    is_client = address.startswith("ray://")
    method = "/ray.rpc.RayletDriver/ClusterInfo" if is_client else "/ray.rpc.NodeInfoGcsService/CheckAlive"
    with grpc.insecure_channel(address.removeprefix("ray://")) as channel:
        try:
            sent = [("authorization", f"Bearer {token}")] if token else []
            channel.unary_unary(method)(b"", timeout=KNOCK_S, metadata=sent)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                credential = "a token other than this machine's" if token else "a token"
                raise UsageError(
                    f"the cluster at {address} requires {credential}",
                    where="--on",
                    hint="Set RAY_AUTH_TOKEN to what `ray get-auth-token` prints on its head.",
                ) from None


def _no_cluster(address: str, error: BaseException) -> UsageError:
    text = _last_line(error)
    whole = str(error)
    if "ersion mismatch" in whole:
        return UsageError(
            f"the cluster has another version of Ray or Python: {' '.join(whole.split())[:300]}",
            where="--on",
            hint="Install the same versions here and there.",
        )
    where = f"no cluster answers at {address}" if address else "no cluster can be started here"
    hint = "Check the address, or unset RAY_ADDRESS to start one here."
    if address.startswith("ray://") and _NO_SESSION in whole:
        hint = "It failed to start a session twice: set GRPC_ENABLE_FORK_SUPPORT=0 where its head is started."
    elif address.startswith("ray://"):
        hint = "Check the address; if it is right, see ray_client_server.err in the logs of its head."
    return UsageError(f"{where}: {text}", where="--on", hint=hint)
