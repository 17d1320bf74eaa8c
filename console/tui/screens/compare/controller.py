"""`CompareController`: the rules of Compare: which pairs are listed in which order, the current one, when to read.

Knows no widgets and no event loop. Cases are read by the suites' code in a thread (`case`), as that may be slow.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from console.core.case import Slot
from console.insight.case_in_run import CaseInBoth
from console.insight.comparison import PairOutcome, RolloutPair, RunComparison, compare
from console.insight.comparison_report import change_words
from console.store.runs import RunFolder, slug
from console.tui.data.case_reads import CaseReads
from console.tui.data.filter_in_force import FilterInForce, has_words
from console.tui.data.opened_run import OpenedRun, open_run
from console.tui.render.rollout_rows import row_key

LOOK_EVERY_S = 1.0
"""Time between two looks at a run that grows; longer when comparing takes long."""
SCOPES: dict[str, tuple[PairOutcome, ...]] = {
    "changed": (PairOutcome.LOST, PairOutcome.GAINED),
    "lost": (PairOutcome.LOST,),
    "gained": (PairOutcome.GAINED,),
    "both fail": (PairOutcome.NEITHER,),
    "left out": (PairOutcome.LEFT_OUT,),
    "all": tuple(PairOutcome),
}
"""What can be listed, by the word for it."""
SIDE_BY_SIDE, TALK_A, TALK_B, NUMBERS = VIEWS = ("Beside", "Talk A", "Talk B", "Numbers")
"""How a case is shown, by the word on the screen."""


@dataclass(slots=True)
class RunPair:
    """Two runs, read to their present ends, and compared."""

    a: OpenedRun
    b: OpenedRun
    comparison: RunComparison
    read_s: float
    """Seconds that reading and comparing took."""

    def read_case(self, pair: RolloutPair) -> CaseInBoth:
        """Return a case in both runs, compared by the suites; call it in a thread.

        Raises:
            UsageError: a run folder is not there any more.
        """
        return CaseInBoth(self.a.read_case(pair.a), self.b.read_case(pair.b))


def read_pair(a: RunFolder, b: RunFolder, data: Path | None) -> RunPair:
    """Read both journals, open the suites and compare; call it in a thread.

    Raises:
        UsageError: one of them is not a run.
    """
    begun = time.monotonic()
    run_a, run_b = open_run(a, data), open_run(b, data)
    return RunPair(run_a, run_b, compare(run_a.reader.side, run_b.reader.side), time.monotonic() - begun)


class CompareController:
    """Two runs, what is listed of them and what is shown of the current pair."""

    def __init__(
        self,
        a: RunFolder,
        b: RunFolder,
        first: Slot | None = None,
        *,
        in_loop: Callable[[Callable[[], None]], object],
        case_arrived: Callable[[], None],
    ) -> None:
        """Compare two runs; nothing is read yet.

        Args:
            a: the first run.
            b: the second one.
            first: the rollout to begin with, if it is listed.
            in_loop: has a function called in the interface's loop; may be called from any thread.
            case_arrived: told, in that loop, that a case is there that drawing did not wait for.
        """
        self.folders: tuple[RunFolder, RunFolder] = (a, b)
        self.pair: RunPair | None = None
        """Both runs, once they are read."""
        self.scope = "changed"
        self.words = ""
        """Only pairs with these words in id, category or reason are listed."""
        self.view = SIDE_BY_SIDE
        self.pairs: dict[str, RolloutPair] = {}
        """What is listed, by row key, in order."""
        self.current_key = ""
        """Row key of the pair that is looked at."""
        self._first_slot = first
        self._case_arrived = case_arrived
        self._cases = CaseReads[str, CaseInBoth](in_loop, self._arrive)

    # The two runs ----------------------------------------------------------------------------------------------------

    @property
    def comparison(self) -> RunComparison | None:
        """What is said of the two runs; None until they are read."""
        return self.pair.comparison if self.pair is not None else None

    def read(self, data: Path | None) -> RunPair:
        """Read both runs to their present ends; call it in a thread and give `use_runs` the result.

        Raises:
            UsageError: one of them is not a run.
            OSError: a journal cannot be read.
        """
        return read_pair(*self.folders, data)

    def use_runs(self, pair: RunPair) -> None:
        """Show both runs as they were read; all pairs where none has changed."""
        self.pair = pair
        self._cases.forget()
        if self.scope == "changed" and not pair.comparison.changes():
            self.scope = "all"
        self._list()

    def swap(self) -> None:
        """Make A of B and B of A."""
        if (pair := self.pair) is not None:
            self.folders = self.folders[1], self.folders[0]
            self.use_runs(RunPair(pair.b, pair.a, compare(pair.b.reader.side, pair.a.reader.side), pair.read_s))

    @property
    def look_every_s(self) -> float:
        """Seconds until the next look whether a run has grown."""
        return max(LOOK_EVERY_S, 4 * self.pair.read_s if self.pair is not None else 0.0)

    @property
    def has_grown(self) -> bool:
        """Whether the runs must be read again."""
        return any(run.reader.is_behind for run in self._runs)

    @property
    def _runs(self) -> tuple[OpenedRun, ...]:
        return (self.pair.a, self.pair.b) if self.pair is not None else ()

    @property
    def live(self) -> tuple[bool, bool]:
        """Whether A and B are being played."""
        a, b = self.folders
        return a.is_live, b.is_live

    @property
    def damages(self) -> int:
        """Journal lines of either that could not be read."""
        return sum(run.reader.damages for run in self._runs)

    @property
    def why_no_suite(self) -> str:
        """Why a suite cannot be opened; expected is then not known."""
        return next((run.suite.why for run in self._runs if run.suite.why), "")

    @property
    def lost_cases(self) -> tuple[str, ...]:
        """Ids of the cases that A passed and B did not."""
        lost = self.comparison.with_outcome(PairOutcome.LOST) if self.comparison is not None else ()
        return tuple(dict.fromkeys(pair.slot[0] for pair in lost))

    @property
    def disputed(self) -> list[int]:
        """How many cases of A and of B have a disputed ground truth."""
        annotations = [run.reader.annotations() for run in self._runs]
        return [sum(bool(annotation.dispute) for annotation in of_run.values()) for of_run in annotations]

    def export_path(self, extension: str) -> Path:
        """Return the file that the comparison is written to."""
        a, b = (slug(folder.name, 60) for folder in self.folders)
        return Path(f"compare-{a}-{b}{extension}")

    # What is listed --------------------------------------------------------------------------------------------------

    def list_scope(self, scope: str) -> None:
        """List other pairs, by a word of `SCOPES`."""
        assert scope in SCOPES
        self.scope = scope
        self._list()

    def find(self, words: str) -> None:
        """List only pairs with these words."""
        self.words = words
        self._list()

    def _list(self) -> None:
        """List the pairs of the scope: what was lost first, then what was gained, then the others."""
        if self.comparison is None:
            return
        outcomes = SCOPES[self.scope]
        changed = [pair for pair in self.comparison.changes() if pair.outcome in outcomes]
        others = [pair for pair in self.comparison.pairs if pair.outcome in outcomes and not pair.is_change]
        self.pairs = {row_key(pair.slot): pair for pair in (*changed, *others) if self._has_words(pair)}

    @property
    def filter_in_force(self) -> FilterInForce | None:
        """The words that narrow the list, and how many of the pairs of the scope have them."""
        if not self.words or self.comparison is None:
            return None
        total = sum(pair.outcome in SCOPES[self.scope] for pair in self.comparison.pairs)
        return FilterInForce(self.words, len(self.pairs), total)

    def _has_words(self, pair: RolloutPair) -> bool:
        return has_words(self.words, str(pair.a.key), pair.a.category, pair.a.title, *change_words(pair))

    @property
    def empty_words(self) -> str:
        """What is said when no pair is listed."""
        if self.comparison is not None and not self.comparison.pairs:
            return "The two runs have no case in common. p picks another run."
        if self.words:
            return "Nothing matches. F clears the filter."
        return f"No case is {self.scope}. f chooses others."

    # The current pair ------------------------------------------------------------------------------------------------

    @property
    def current(self) -> RolloutPair | None:
        """The pair that is looked at."""
        return self.pairs.get(self.current_key)

    def pop_first_row(self) -> str:
        """Return the row key of the rollout to begin with, once; empty: there is none, or it is not listed."""
        slot, self._first_slot = self._first_slot, None
        return next((key for key, pair in self.pairs.items() if pair.slot == slot), "")

    def step(self, by: int) -> str | None:
        """Return the row key of the next (or previous) pair; None at the end."""
        keys = list(self.pairs)
        if self.current_key not in self.pairs:
            return (keys[0] if by > 0 else keys[-1]) if keys else None
        index = keys.index(self.current_key) + by
        return keys[index] if 0 <= index < len(keys) else None

    @property
    def position_words(self) -> str:
        """Where the current pair is among those that are listed."""
        return f"{list(self.pairs).index(self.current_key) + 1} of {len(self.pairs)} {self.scope}"

    def show_next_view(self) -> None:
        """Show the current pair in the next way."""
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]

    def toggle_numbers(self) -> None:
        """Show every category and error type, or the case again."""
        self.view = SIDE_BY_SIDE if self.view == NUMBERS else NUMBERS

    def case(self) -> CaseInBoth | None:
        """Return the current case, read and compared by the suites in their thread.

        None: it takes long, and `case_arrived` will be called.

        Raises:
            UsageError: a run folder is not there any more.
        """
        pair, current = self.pair, self.current
        assert pair is not None
        assert current is not None
        return self._cases.get(self.current_key, lambda: pair.read_case(current))

    def _arrive(self, key: str) -> None:
        if key == self.current_key:
            self._case_arrived()

    def close(self) -> None:
        """Read no more cases."""
        self._cases.close()
