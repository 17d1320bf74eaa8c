"""`CaseReads` and `LateReads`: read cases, and facts about them, in a separate thread, and cache them.

That code runs outside the app's loop (`SuiteThread`), because it may be slow, hang or raise anything.
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
"""Seconds in one call after which the thread is abandoned and the next call gets a new one."""
_Entry = tuple[Callable[[], Any], Future[Any]] | None


class SuiteThread:
    """A daemon thread that runs calls in order, created on first use."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Entry] | None = None
        self._busy_since: float | None = None

    def start(self, call: Callable[[], ResultT]) -> Future[ResultT]:
        """Queue a call; the future has its result or exception."""
        if self._queue is None or self._is_stuck:
            self._queue, self._busy_since = SimpleQueue(), None
            threading.Thread(target=self._run, args=(self._queue,), name="suite", daemon=True).start()
        future: Future[ResultT] = Future()
        self._queue.put((call, cast("Future[Any]", future)))
        return future

    def close(self) -> None:
        """Let the thread end after the queued calls."""
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
"""Longest time, in seconds, that `get` blocks."""
KEPT_CASES = 64


class CaseReads(Generic[KeyT, CaseT]):
    """A cache of cases by key, read one at a time in the suite thread."""

    def __init__(self, in_loop: Callable[[Callable[[], None]], object], arrived: Callable[[KeyT], None]) -> None:
        """Start with an empty cache.

        Args:
            in_loop: calls a function in the app's loop; thread-safe.
            arrived: called in that loop with the key of a case that `get` did not wait for, once it has been read.
        """
        self._in_loop, self._arrived = in_loop, arrived
        self.thread = SuiteThread()
        """The thread for all calls to suites' code."""
        self._cases: OrderedDict[KeyT, Future[CaseT]] = OrderedDict()
        self._awaited: set[Future[CaseT]] = set()
        """Cases requested before they were read."""

    def get(self, key: KeyT, read: Callable[[], CaseT]) -> CaseT | None:
        """Return a case from the cache or by `read`, or None if reading takes long; `arrived` is then called later.

        Raises:
            UsageError: or anything else `read` raises.
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
        """Start reading a case in advance."""
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
        """Clear the cache, because the underlying data has changed."""
        self._cases.clear()

    def close(self) -> None:
        self.thread.close()


class LateReads(Generic[KeyT, CaseT]):
    """Values by key, each read in a thread when first needed, and again after `forget`."""

    def __init__(
        self,
        read: Callable[[KeyT], CaseT],
        before: CaseT,
        when_idle: Callable[[Callable[[], None]], object],
        in_loop: Callable[[Callable[[], None]], object],
        arrived: Callable[[], None],
    ) -> None:
        """Start with an empty cache.

        Args:
            read: reads a value; called in the thread.
            before: the value of a key until it has been read.
            when_idle: schedules a call after the case has been drawn.
            in_loop: schedules a call in the event loop; thread-safe.
            arrived: called in that loop when the value read differs from the last one.
        """
        self._read, self._before, self._arrived = read, before, arrived
        self._when_idle, self._in_loop = when_idle, in_loop
        self._thread = SuiteThread()
        self._values: dict[KeyT, CaseT] = {}
        self._current: set[KeyT] = set()
        """Keys whose value is up to date, or is being read."""

    def get(self, key: KeyT) -> CaseT:
        """Return the most recently read value."""
        if key not in self._current:
            self._current.add(key)
            self._when_idle(partial(self._start, key))
        return self._values.get(key, self._before)

    def _start(self, key: KeyT) -> None:
        future = self._thread.start(partial(self._read, key))
        future.add_done_callback(lambda done: self._in_loop(partial(self._keep, key, done)))

    def _keep(self, key: KeyT, done: Future[CaseT]) -> None:
        last, self._values[key] = self._values.get(key, self._before), done.result()
        if last != done.result():
            self._arrived()

    def forget(self) -> None:
        """Read values again when next needed, because the underlying data has changed."""
        self._current.clear()

    def close(self) -> None:
        self._thread.close()
