"""Runs a worker's session in its own thread and event loop, so that suite code can end its case but not the worker."""

import asyncio
import threading
from collections.abc import Iterable

from console.engine.engine_loop import EngineLoop
from console.engine.workers.messages import Notice, Piece
from console.engine.workers.session import WorkerSession


class SessionThread:
    """Passes calls from any event loop on to a session."""

    def __init__(self) -> None:
        self.session = WorkerSession()
        self._loop: asyncio.AbstractEventLoop | None = None

    def prepare(self, data: bytes, parts: Iterable[bytes] = ()) -> bytes:
        """Prepare for a run (`WorkerSession.prepare`); takes a while, so call it in a thread."""
        facts = self.session.prepare(data, parts)
        if self._loop is None and self.session.suite is not None:
            loop = EngineLoop(self.session.suite, lambda text: self.session.send(Notice(text)))
            # It ends with the process, like anything else that the suite's code leaves running.
            threading.Thread(target=loop.run, args=(asyncio.Event().wait(),), name="session", daemon=True).start()
            self._loop = loop.loop
        return facts

    async def deliver(self, piece: Piece) -> None:
        """Pass a piece of the engine's stream to the session (`WorkerSession.deliver`)."""

        async def deliver() -> None:
            self.session.deliver(piece)

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(deliver(), self._prepared))

    async def poll(self) -> Piece:
        """Return the next piece of the worker's stream (`WorkerSession.poll`)."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.session.poll(), self._prepared))

    @property
    def _prepared(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None
        return self._loop
