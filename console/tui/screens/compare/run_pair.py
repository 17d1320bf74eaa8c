"""Two runs read for Compare: their comparison, and on demand each case with expected beside actual. No widgets.

Everything is read in a thread; what is folded of single cases is kept for the last 64.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from console.core.annotation import Annotation
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.run import Manifest
from console.exchange.run_reader import RunReader, compared
from console.insight.comparison import RolloutPair, RunComparison, compare
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout, Slot
from console.store.runs import RunFolder
from console.suites.suite import Suite

KEPT = 64
FindSuite = Callable[[Manifest], Suite | str]
"""Returns a run's suite, or why it cannot be opened."""


@dataclass(frozen=True, slots=True)
class Half:
    """One case in one run."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class Both:
    """One case in both runs."""

    pairing: RolloutPair
    a: Half
    b: Half


class PairOfRuns:
    """Two runs, read to their present ends."""

    def __init__(self, a: RunFolder, b: RunFolder, find_suite: FindSuite) -> None:
        """Read both journals and compare; called in a thread.

        Raises:
            UsageError: one of them is not a run.
        """
        self._readers = RunReader(a), RunReader(b)
        found = [find_suite(reader.manifest) for reader in self._readers]
        self._suites = [None if isinstance(it, str) else it for it in found]
        self.why = next((it for it in found if isinstance(it, str)), "")
        """Why a suite cannot be opened; expected is then not known."""
        self.comparison: RunComparison = compare(self._readers[0].side, self._readers[1].side)
        self._kept: OrderedDict[tuple[str, int], Both] = OrderedDict()

    @property
    def folders(self) -> tuple[RunFolder, RunFolder]:
        """A and B."""
        return self._readers[0].folder, self._readers[1].folder

    @property
    def damages(self) -> int:
        """Journal lines of either that could not be read."""
        return sum(reader.damages for reader in self._readers)

    @property
    def has_grown(self) -> bool:
        """Whether one of the journals holds more than was read."""
        return any(reader.is_behind for reader in self._readers)

    @property
    def live(self) -> tuple[bool, bool]:
        """Whether A and B are being played."""
        return self._readers[0].folder.is_live, self._readers[1].folder.is_live

    @property
    def annotations(self) -> tuple[Mapping[Slot, Annotation], Mapping[Slot, Annotation]]:
        """What readers say of the cases of A and of B."""
        return self._readers[0].annotations(), self._readers[1].annotations()

    def swap(self) -> None:
        """Make A of B and B of A."""
        self._readers = self._readers[::-1]
        self._suites.reverse()
        self._kept.clear()
        self.comparison = compare(self._readers[0].side, self._readers[1].side)

    def both(self, pairing: RolloutPair) -> Both:
        """Return a case in both runs, folded and compared.

        Raises:
            UsageError: a run folder is not there any more.
        """
        kept = self._kept.get(pairing.slot)
        if kept is None:
            kept = Both(pairing, self._half(0, pairing.a), self._half(1, pairing.b))
            self._kept[pairing.slot] = kept
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept

    def _half(self, place: int, rollout: Rollout) -> Half:
        reader = self._readers[place]
        try:
            conversation = reader.conversation(rollout)
        except OSError as error:
            why = f"its journal cannot be read any more: {error.strerror}"
            raise UsageError(why, where=reader.folder.name, hint="ctrl+r reads both runs again.") from None
        return Half(rollout, conversation, compared(self._suites[place], conversation, reader.manifest))
