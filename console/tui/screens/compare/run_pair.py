"""Two runs read for Compare: their comparison, and on demand each case with expected beside actual. No widgets.

Everything is read in threads.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from console.core.annotation import Annotation
from console.exchange.run_reader import RunReader
from console.insight.case_in_both import CaseInBoth
from console.insight.comparison import RolloutPair, RunComparison, compare
from console.insight.rollout import Slot
from console.store.runs import RunFolder
from console.tui.data.opened_run import OpenedRun


class RunPair:
    """Two runs, read to their present ends."""

    def __init__(self, a: OpenedRun, b: OpenedRun, read_s: float = 0.0) -> None:
        """Compare two runs that were read; see `read_pair`."""
        self._runs = a, b
        self.read_s = read_s
        """Seconds that reading and comparing took."""
        self.comparison: RunComparison = compare(a.reader.side, b.reader.side)

    @property
    def folders(self) -> tuple[RunFolder, RunFolder]:
        """A and B."""
        return self._runs[0].reader.folder, self._runs[1].reader.folder

    @property
    def why_no_suite(self) -> str:
        """Why a suite cannot be opened; expected is then not known."""
        return self._runs[0].why_no_suite or self._runs[1].why_no_suite

    @property
    def damages(self) -> int:
        """Journal lines of either that could not be read."""
        return sum(run.reader.damages for run in self._runs)

    @property
    def has_grown(self) -> bool:
        """Whether one of the journals holds more than was read."""
        return any(run.reader.is_behind for run in self._runs)

    @property
    def live(self) -> tuple[bool, bool]:
        """Whether A and B are being played."""
        return self.folders[0].is_live, self.folders[1].is_live

    @property
    def annotations(self) -> tuple[Mapping[Slot, Annotation], Mapping[Slot, Annotation]]:
        """What readers say of the cases of A and of B."""
        return self._runs[0].reader.annotations(), self._runs[1].reader.annotations()

    def swapped(self) -> "RunPair":
        """Return the same two with A as B and B as A."""
        return RunPair(self._runs[1], self._runs[0], self.read_s)

    def read_case(self, pair: RolloutPair) -> CaseInBoth:
        """Return a case in both runs, folded and compared by the suites; call it in a thread.

        Raises:
            UsageError: a run folder is not there any more.
        """
        return CaseInBoth(pair, self._runs[0].read_case(pair.a), self._runs[1].read_case(pair.b))


def read_pair(a: RunFolder, b: RunFolder, data: Path | None) -> RunPair:
    """Read both journals, open the suites and compare; call it in a thread.

    Args:
        a: the first run.
        b: the second one.
        data: folder of suites, if one was named.

    Raises:
        UsageError: one of them is not a run.
    """
    begun = time.monotonic()
    readers = RunReader(a), RunReader(b)
    pair = RunPair(OpenedRun.of(readers[0], data), OpenedRun.of(readers[1], data))
    pair.read_s = time.monotonic() - begun
    return pair
