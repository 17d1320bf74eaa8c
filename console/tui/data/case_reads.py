"""`CaseReads`: cases that suites read and compare, in a thread of theirs; the last ones are kept.

A suite's code runs away from the interface's loop (`SuiteThread`), as it may be slow, hang or fail in any way.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

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


KeyT = TypeVar("KeyT", bound=Hashable)
CaseT = TypeVar("CaseT")
WAIT_S = 0.1
"""Longest time that drawing waits for a case."""
KEPT_CASES = 64


class CaseReads(Generic[KeyT, CaseT]):
    """Reads one case after the other, each known by a key."""

    def __init__(self, in_loop: Callable[[Callable[[], None]], object], arrived: Callable[[KeyT], None]) -> None:
        """Read nothing yet.

        Args:
            in_loop: has a function called in the interface's loop; may be called from any thread.
            arrived: told, in that loop, the key of a case that is there and that drawing did not wait for.
        """
        self._in_loop, self._arrived = in_loop, arrived
        self.thread = SuiteThread()
        """Where the suites' code runs; whatever else is asked of them belongs there too."""
        self._cases: OrderedDict[KeyT, Future[CaseT]] = OrderedDict()
        self._awaited: set[Future[CaseT]] = set()
        """Cases that were to be drawn before they were there."""

    def get(self, key: KeyT, read: Callable[[], CaseT]) -> CaseT | None:
        """Return a case, by `read` in the suites' thread where it is not kept.

        None: it takes long, and `arrived` will be called.

        Raises:
            UsageError: or whatever else `read` raises.
        """
        future = self._start(key, read)
        if future in self._awaited:
            return None
        try:
            return future.result(WAIT_S)
        except TimeoutError:
            self._awaited.add(future)
            future.add_done_callback(lambda _: self._in_loop(partial(self._arrive, key, future)))
            return None
        except BaseException:
            del self._cases[key]
            raise

    def prefetch(self, key: KeyT, read: Callable[[], CaseT]) -> None:
        """Read a case before it is looked at."""
        self._start(key, read)

    def _start(self, key: KeyT, read: Callable[[], CaseT]) -> Future[CaseT]:
        if key not in self._cases:
            self._cases[key] = self.thread.start(read)
            while len(self._cases) > KEPT_CASES:
                self._cases.popitem(last=False)
        self._cases.move_to_end(key)
        return self._cases[key]

    def _arrive(self, key: KeyT, future: Future[CaseT]) -> None:
        self._awaited.discard(future)
        if self._cases.get(key) is future:
            self._arrived(key)

    def forget(self) -> None:
        """Read every case anew, because what it is read from has changed."""
        self._cases.clear()

    def close(self) -> None:
        """Read no more cases."""
        self.thread.close()
