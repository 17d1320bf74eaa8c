"""Two runs read for Compare: their comparison, and on demand each case with expected beside actual. No widgets.

Everything is read in threads; what is folded of single cases is kept for the last 64.
"""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.core.annotation import Annotation
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.run import Manifest
from console.exchange.run_reader import RunReader
from console.insight.case_in_both import CaseInBoth, CaseInRun
from console.insight.comparison import RolloutPair, RunComparison, compare
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout, Slot
from console.store.runs import RunFolder
from console.suites.catalog import find_suite
from console.suites.suite import Suite

KEPT_CASES = 64


@dataclass(frozen=True, slots=True)
class _OpenedRun:
    """A run's journal, and its suite if that could be opened."""

    reader: RunReader
    suite: Suite | None
    why_no_suite: str


class RunPair:
    """Two runs, read to their present ends."""

    def __init__(self, a: _OpenedRun, b: _OpenedRun, read_s: float = 0.0) -> None:
        """Compare two runs that were read; see `read_pair`."""
        self._runs = a, b
        self.read_s = read_s
        """Seconds that reading and comparing took."""
        self.comparison: RunComparison = compare(a.reader.side, b.reader.side)
        self._cases: OrderedDict[Slot, CaseInBoth] = OrderedDict()

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

    def kept_case(self, pair: RolloutPair) -> CaseInBoth | None:
        """Return a case that was read already."""
        return self._cases.get(pair.slot)

    def read_case(self, pair: RolloutPair) -> CaseInBoth:
        """Return a case in both runs, folded and compared by the suites; call it in a thread.

        Raises:
            UsageError: a run folder is not there any more.
        """
        case = self._cases.get(pair.slot)
        if case is None:
            case = CaseInBoth(pair, _case_in(self._runs[0], pair.a), _case_in(self._runs[1], pair.b))
            self._cases[pair.slot] = case
            while len(self._cases) > KEPT_CASES:
                self._cases.popitem(last=False)
        return case


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
    pair = RunPair(_opened(readers[0], data), _opened(readers[1], data))
    pair.read_s = time.monotonic() - begun
    return pair


def _opened(reader: RunReader, data: Path | None) -> _OpenedRun:
    suite = suite_of(reader.manifest, data)
    return _OpenedRun(reader, None, suite) if isinstance(suite, str) else _OpenedRun(reader, suite, "")


def suite_of(manifest: Manifest, data: Path | None) -> Suite | str:
    """Return the suite of a run, or why it cannot be opened."""
    try:
        return find_suite(manifest, data)
    except UsageError as error:
        return str(error)
    except Exception as error:  # a suite of another package may fail in any way
        return f"the suite cannot be opened: {type(error).__name__}: {error}"


def _case_in(run: _OpenedRun, rollout: Rollout) -> CaseInRun:
    try:
        conversation = run.reader.conversation(rollout)
    except OSError as error:
        why = f"its journal cannot be read any more: {error.strerror}"
        raise UsageError(why, where=run.reader.folder.name, hint="ctrl+r reads both runs again.") from None
    comparison, fault = _compared(run.suite, conversation, run.reader.manifest)
    return CaseInRun(rollout, conversation, comparison, fault)


def _compared(suite: Suite | None, conversation: Conversation, manifest: Manifest) -> tuple[Comparison | None, str]:
    """Lay expected beside actual; None when there is nothing to compare, and a text when the suite cannot."""
    case, output, verdict = conversation.case, conversation.output, conversation.verdict
    if suite is None or case is None or verdict is None or output is None:
        return None, ""
    try:
        return suite.compare(case, output, verdict, manifest.setting), ""
    except BaseException as error:  # a suite of another package may fail in any way, even by sys.exit
        return None, f"the suite cannot compare this case: {type(error).__name__}: {error}"
