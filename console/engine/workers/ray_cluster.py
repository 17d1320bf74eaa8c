"""Workers as actors of a Ray cluster: the one module that knows Ray, which is an optional extra.

An actor is started once, holds no state that anybody would miss, and is never restarted by Ray: the engine starts
another. Pieces of both streams are arguments and results of its methods, short enough to stay out of object stores.
Keys are no part of anything that is sent: an actor looks them up in the environment of its node.
"""

import asyncio
import contextlib
import importlib
import os
import re
import socket
from typing import Any

from console.core.fault import UsageError
from console.engine.workers.messages import NotUnderstood, Piece
from console.engine.workers.remote_player import WorkerGone, WorkerLink

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
try:
    ray: Any = importlib.import_module("ray")
    exceptions: Any = importlib.import_module("ray.exceptions")
except ImportError:
    raise UsageError(
        "Ray is not installed", where="--on ray", hint="Install the extra: pip install 'eval-console[ray]'."
    ) from None

KNOCK_S = 10.0
"""A cluster must answer its port within this."""
SURVEY_S = 60.0
"""A worker that `doctor` asks must answer within this."""
OBJECT_STORE_BYTES = 80_000_000
"""Of a cluster that is started here: nothing of ours goes through it."""


class WorkerActor:
    """The actor's class: a session, and nothing else."""

    def __init__(self) -> None:
        from console.engine.workers.session import WorkerSession

        self._session = WorkerSession()

    async def prepare(self, setup: bytes) -> bytes:
        """See `WorkerSession.prepare`; may take a while, so it does not hold the actor up."""
        facts = await asyncio.to_thread(self._session.prepare, setup)
        self._watchdog = asyncio.create_task(self._end_when_abandoned())
        return facts

    async def survey(self, keys: list[str]) -> tuple[str, dict[str, str]]:
        """Return the worker's name, its versions, its confinement, and which of these variables are set."""
        from console.engine.plan import program_versions
        from console.sandbox.probe import reached_level

        facts = program_versions() | {f"key {name}": "set" for name in keys if os.environ.get(name)}
        facts["sandbox"] = (await asyncio.to_thread(reached_level)).text
        return self._session.name, facts

    async def deliver(self, epoch: int, number: int, data: bytes) -> None:
        """See `WorkerSession.deliver`."""
        self._session.deliver(Piece(epoch, number, data))

    async def poll(self) -> tuple[int, int, bytes]:
        """See `WorkerSession.poll`."""
        piece = await self._session.poll()
        return piece.epoch, piece.number, piece.data

    async def _end_when_abandoned(self) -> None:
        """An engine that is gone must not cost any more money, whatever the cluster thinks of it."""
        while True:
            await asyncio.sleep(1.0)
            if self._session.is_abandoned:
                os._exit(1)


class RayCluster:
    """A fleet (see `remote_player.Fleet`) of actors."""

    def __init__(self, where: str, workers: int | None) -> None:
        """Connect, or start a cluster on this machine.

        Args:
            where: `ray`, or an address `ray://host:port`.
            workers: how many; None: as many as there are CPUs.

        Raises:
            UsageError: there is no such cluster, or it has another version of Ray or Python.
        """
        address = where if where.startswith("ray://") else os.environ.get("RAY_ADDRESS", "").strip()
        _check_answers(address)
        try:
            with contextlib.redirect_stdout(None):
                if address:
                    ray.init(address=address, log_to_driver=False, logging_level="error", namespace="eval-console")
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
        except Exception as error:  # Ray raises whatever its parts raise
            raise _no_cluster(address, error) from None
        self.size = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._actor: Any = ray.remote(WorkerActor)

    def spawn(self) -> WorkerLink:
        if not ray.is_initialized():
            raise UsageError(
                "the cluster is gone", where="--on", hint="Resume the run on another one, or without --on."
            )
        return RayLink(
            self._actor.options(
                num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD", max_concurrency=64
            ).remote()
        )

    @property
    def nodes(self) -> int:
        """How many nodes are alive."""
        return sum(bool(node.get("Alive")) for node in ray.nodes())

    async def survey(self, keys: list[str]) -> list[tuple[str, dict[str, str]]]:
        """Ask a worker of each node what it has; return names of workers with their facts, or their `trouble`."""
        actors = [self._actor.options(num_cpus=0, scheduling_strategy="SPREAD").remote() for _ in range(self.nodes)]
        surveyed = await asyncio.gather(*(RayLink(actor).survey(keys) for actor in actors))
        return sorted(dict(surveyed).items())

    def close(self) -> None:
        ray.shutdown()


class RayLink:
    """The way to one actor (see `remote_player.WorkerLink`)."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._undelivered = ""

    async def prepare(self, setup: bytes) -> bytes:
        return await self._ask(self._actor.prepare.remote(setup))

    async def survey(self, keys: list[str]) -> tuple[str, dict[str, str]]:
        """Return the worker's name and what it has."""
        try:
            async with asyncio.timeout(SURVEY_S):
                name, facts = await self._ask(self._actor.survey.remote(keys))
        except (WorkerGone, TimeoutError) as error:
            return "a worker", {"trouble": str(error) or f"does not answer within {SURVEY_S:.0f} s"}
        finally:
            self.kill()
        return name, facts

    def deliver(self, piece: Piece) -> None:
        sent = self._actor.deliver.remote(piece.epoch, piece.number, piece.data)
        sent.future().add_done_callback(self._note_delivery)

    def _note_delivery(self, future: Any) -> None:
        """Of what the worker did not take, only a mistake of it matters: that it is gone shows in `poll`."""
        error = None if future.cancelled() else future.exception()
        if error is not None and not isinstance(error, exceptions.RayActorError):
            self._undelivered = str(error)

    async def poll(self) -> Piece:
        epoch, number, data = await self._ask(self._actor.poll.remote())
        if self._undelivered:
            raise NotUnderstood(self._undelivered)
        return Piece(epoch, number, data)

    async def _ask(self, reference: Any) -> Any:
        try:
            return await reference
        except exceptions.RayTaskError as error:
            raise WorkerGone(f"its program failed: {_last_line(error)}") from None
        except (exceptions.RayError, ConnectionError) as error:
            raise WorkerGone(_how_it_ended(str(error)) or _last_line(error)) from None

    def kill(self) -> None:
        with contextlib.suppress(Exception):  # it may be gone already, and the cluster with it
            ray.kill(self._actor)


def _how_it_ended(text: str) -> str:
    """Return in few words what Ray says of a worker that is gone in many; empty for anything else."""
    if "node" in text and ("died" in text or "dead" in text) and "Worker exit type" not in text:
        return "its node is gone"
    exit_type = re.search(r"Worker exit type: (\w+)", text)
    return f"its process ended ({exit_type[1].lower().replace('_', ' ')})" if exit_type else ""


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def _check_answers(address: str) -> None:
    """Knock before Ray does, which waits for minutes and writes about it; `auto` and `local` are words of its own.

    Raises:
        UsageError: nobody listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from None


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
    if "timeout" in text and address.startswith("ray://"):
        hint = "It takes connections but no client: the head's ray_client_server.err says why, such as a missing token."
    return UsageError(f"{where}: {text}", where="--on", hint=hint)
