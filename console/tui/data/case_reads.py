"""`CaseReads`: cases that suites read and compare, in a thread of theirs; the last ones are kept."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from console.tui.data.suite_thread import SuiteThread

CaseT = TypeVar("CaseT")
WAIT_S = 0.1
"""Longest time that drawing waits for a case."""
KEPT_CASES = 64


class CaseReads(Generic[CaseT]):
    """Reads one case after the other, each known by a key."""

    def __init__(self, in_loop: Callable[[Callable[[], None]], object], arrived: Callable[[str], None]) -> None:
        """Read nothing yet.

        Args:
            in_loop: has a function called in the interface's loop; may be called from any thread.
            arrived: told, in that loop, the key of a case that is there and that drawing did not wait for.
        """
        self._in_loop, self._arrived = in_loop, arrived
        self._thread = SuiteThread()
        self._kept: OrderedDict[str, CaseT] = OrderedDict()
        self._being_read: set[str] = set()
        self._round = 0
        """Counts how often everything was forgotten: what was being read then is not kept."""

    def get(self, key: str, read: Callable[[], CaseT]) -> CaseT | None:
        """Return a case, by `read` in the suites' thread where it is not kept.

        None: it takes long, and `arrived` will be called.

        Raises:
            UsageError: or whatever else `read` raises.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key in self._being_read:
            return None
        self._being_read.add(key)
        number = self._round
        future = self._thread.start(lambda: self._keep(key, read(), number))
        try:
            case = future.result(WAIT_S)
        except TimeoutError:
            future.add_done_callback(lambda _: self._in_loop(lambda: self._arrive(key)))
            return None
        except BaseException:
            self._being_read.discard(key)
            raise
        self._being_read.discard(key)
        return case

    def _keep(self, key: str, case: CaseT, number: int) -> CaseT:
        if number == self._round:
            self._kept[key] = case
            while len(self._kept) > KEPT_CASES:
                self._kept.popitem(last=False)
        return case

    def _arrive(self, key: str) -> None:
        self._being_read.discard(key)
        self._arrived(key)

    def forget(self) -> None:
        """Read every case anew, because what it is read from has changed."""
        self._kept.clear()
        self._round += 1

    def close(self) -> None:
        """Read no more cases."""
        self._thread.close()
