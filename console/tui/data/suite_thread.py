"""`SuiteThread`: runs a suite's code away from the interface's loop; it may be slow, hang or fail in any way."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar, cast

ResultT = TypeVar("ResultT")
GIVE_UP_S = 10.0
"""After so long with one call the thread is left behind and the next call gets a new one."""
_Entry = tuple[Callable[[], Any], Future[Any]] | None


class SuiteThread:
    """A thread that runs one call after the other; made when it is first needed, never waited for when quitting."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Entry] | None = None
        self._busy_since: float | None = None

    def start(self, call: Callable[[], ResultT]) -> Future[ResultT]:
        """Queue a call; whatever it raises, the future raises."""
        if self._queue is None or self._is_stuck:
            self._queue, self._busy_since = SimpleQueue(), None
            threading.Thread(target=self._run, args=(self._queue,), name="suite", daemon=True).start()
        future: Future[ResultT] = Future()
        self._queue.put((call, cast("Future[Any]", future)))
        return future

    def close(self) -> None:
        """Let the thread end after what is queued."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None

    @property
    def _is_stuck(self) -> bool:
        return self._busy_since is not None and time.monotonic() - self._busy_since > GIVE_UP_S

    def _run(self, queue: "SimpleQueue[_Entry]") -> None:
        while (entry := queue.get()) is not None:
            call, future = entry
            if queue is self._queue:
                self._busy_since = time.monotonic()
            try:
                future.set_result(call())
            except BaseException as error:  # even sys.exit
                future.set_exception(error)
            if queue is self._queue:
                self._busy_since = None
