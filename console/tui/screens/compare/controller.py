"""`CompareController`: listing, filtering and stepping in Compare.

Independent of widgets and the event loop. The suites' code reads cases in a thread (`case`), since it may be slow.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.core.case import Slot
from console.exchange.score_columns import ScoreColumns, columns_of, columns_section
from console.insight.case_in_run import CaseInBoth
from console.insight.comparison import CasePair, PairOutcome, RolloutPair, RunComparison, compare
from console.insight.comparison_report import change_words
from console.insight.number_format import plural, signed
from console.insight.report import Section
from console.insight.sort_orders import BY_ID, BY_REPEATS, SORT_COLUMNS, SortColumn, Sorting
from console.store.runs import RunFolder
from console.tui.data.case_reads import CaseReads
from console.tui.data.filter_in_force import FilterInForce, has_words
from console.tui.data.opened_run import OpenedRun, open_run
from console.tui.render.rollout_rows import row_key

LOOK_EVERY_S = 1.0
"""Minimum seconds between checks for new records in a live run."""
_NAME_IN_FILE = 80
"""Characters of each run's name in the name of an export, from its end, which sets it apart."""
PROMPT = "prompt differs"
SCOPES: dict[str, tuple[PairOutcome, ...]] = {
    "changed": (PairOutcome.LOST, PairOutcome.GAINED),
    "lost": (PairOutcome.LOST,),
    "gained": (PairOutcome.GAINED,),
    "both fail": (PairOutcome.NEITHER,),
    "left out": (PairOutcome.LEFT_OUT,),
    PROMPT: tuple(PairOutcome),
    "all": tuple(PairOutcome),
}
"""Outcomes listed, by filter label."""
SIDE_BY_SIDE, TALK_A, TALK_B, NUMBERS = VIEWS = ("Side by side", "Talk A", "Talk B", "Numbers")
"""Views of a case, by label."""


@dataclass(slots=True)
class RunPair:
    """Two runs, read completely and compared."""

    a: OpenedRun
    b: OpenedRun
    comparison: RunComparison
    columns: tuple[ScoreColumns | None, ScoreColumns | None]
    """Scores of A and B by corrected keys and by people's labels, shown but not compared."""
    read_s: float
    """Seconds taken to read and compare."""

    def read_case(self, pair: RolloutPair) -> CaseInBoth:
        """Return a case in both runs, compared by the suites. Call in a thread.

        Raises:
            UsageError: a run folder no longer exists.
        """
        return CaseInBoth(self.a.read_case(pair.a), self.b.read_case(pair.b))


def read_pair(a: RunFolder, b: RunFolder, data: Path | None) -> RunPair:
    """Read both journals, open the suites and compare. Call in a thread.

    Raises:
        UsageError: a folder is not a run.
    """
    begun = time.monotonic()
    run_a, run_b = open_run(a, data), open_run(b, data)
    comparison = compare(run_a.reader.side, run_b.reader.side)
    columns = columns_of(run_a.reader, data), columns_of(run_b.reader, data)
    return RunPair(run_a, run_b, comparison, columns, time.monotonic() - begun)


Change = CasePair | RolloutPair
"""A row of the list: a case, or one repeat of an unfolded case."""


def change_key(change: Change) -> str:
    """Return the row key of a case or a repeat."""
    has_repeats = isinstance(change, CasePair) and len(change.repeats) > 1
    return f"case/{change.slot[0]}" if has_repeats else row_key(change.slot)


def _difference(change: Change, column: SortColumn) -> float | None:
    """Return the mean difference of B and A over the repeats of a case; None if a value is unknown."""
    pairs: Sequence[RolloutPair] = change.repeats if isinstance(change, CasePair) else (change,)
    values = [(column.value(pair.a), column.value(pair.b)) for pair in pairs]
    differences = [b - a for a, b in values if a is not None and b is not None]
    return sum(differences) / len(differences) if len(differences) == len(pairs) else None


class CompareController:
    """Two runs, the listed cases and the current one."""

    def __init__(
        self,
        a: RunFolder,
        b: RunFolder,
        first: Slot | None = None,
        *,
        in_loop: Callable[[Callable[[], None]], object],
        case_arrived: Callable[[], None],
    ) -> None:
        """Initialize without reading.

        Args:
            a: the first run.
            b: the second run.
            first: the rollout to start at, if listed.
            in_loop: schedules a call in the event loop; thread-safe.
            case_arrived: called in that loop when a case that was not ready for drawing is available.
        """
        self.folders: tuple[RunFolder, RunFolder] = (a, b)
        self.pair: RunPair | None = None
        """Both runs, once read."""
        self.scope = "changed"
        self.words = ""
        """Filter on id, category and reason."""
        self.sorting: Sorting | None = None
        """Order of the list; None for lost, gained, then the others."""
        self.view = SIDE_BY_SIDE
        self.changes: dict[str, Change] = {}
        """Listed cases by row key, in order; unfolded ones are followed by their repeats."""
        self.current_key = ""
        """Row key of the current case or repeat."""
        self._unfolded: set[str] = set()
        """Row keys of the cases whose repeats are listed."""
        self._first_slot = first
        self._case_arrived = case_arrived
        self._cases = CaseReads[str, CaseInBoth](in_loop, self._arrive)

    # The two runs ----------------------------------------------------------------------------------------------------

    @property
    def comparison(self) -> RunComparison | None:
        """The comparison; None until the runs are read."""
        return self.pair.comparison if self.pair is not None else None

    def read(self, data: Path | None) -> RunPair:
        """Read both runs. Call in a thread and pass the result to `use_runs`.

        Raises:
            UsageError: a folder is not a run.
            OSError: a journal cannot be read.
        """
        return read_pair(*self.folders, data)

    def use_runs(self, pair: RunPair) -> None:
        """Show runs that were read; list all pairs if none of them has changed."""
        is_first, self.pair = self.pair is None, pair
        if is_first and self.is_continuation:
            self.view = TALK_B
        self._cases.forget()
        if self.scope == "changed" and not pair.comparison.changes():
            self.scope = "all"
        self._list()

    @property
    def is_continuation(self) -> bool:
        """True if B continues conversations of A."""
        if self.pair is None:
            return False
        a, b = self.pair.a.reader.manifest, self.pair.b.reader.manifest
        return b.parent == a.id and b.experiment is not None and bool(b.experiment.beginnings)

    @property
    def is_beside(self) -> bool:
        """True if both conversations are shown side by side, if there is room."""
        return self.is_continuation and self.view in (TALK_A, TALK_B)

    @property
    def scores_apart(self) -> Section | None:
        """Scores of both runs by corrected keys and by people's labels; None if there are none."""
        return columns_section(zip("AB", self.pair.columns, strict=True)) if self.pair is not None else None

    def swap(self) -> None:
        if (pair := self.pair) is not None:
            self.folders = self.folders[1], self.folders[0]
            comparison = compare(pair.b.reader.side, pair.a.reader.side)
            self.use_runs(RunPair(pair.b, pair.a, comparison, (pair.columns[1], pair.columns[0]), pair.read_s))

    @property
    def look_every_s(self) -> float:
        """Seconds until the next check for new records."""
        return max(LOOK_EVERY_S, 4 * self.pair.read_s if self.pair is not None else 0.0)

    @property
    def has_grown(self) -> bool:
        """True if a journal has unread records."""
        return any(run.reader.is_behind for run in self._runs)

    @property
    def _runs(self) -> tuple[OpenedRun, ...]:
        return (self.pair.a, self.pair.b) if self.pair is not None else ()

    @property
    def live(self) -> tuple[bool, bool]:
        """For A and B, True if the run is live."""
        a, b = self.folders
        return a.is_live, b.is_live

    @property
    def damages(self) -> int:
        """Number of unreadable journal lines in both runs."""
        return sum(run.reader.damages for run in self._runs)

    @property
    def why_no_suite(self) -> str:
        """Error from opening a suite, without which expected results are unavailable; empty if there is none."""
        return next((run.suite.why for run in self._runs if run.suite.why), "")

    @property
    def lost_cases(self) -> tuple[str, ...]:
        """Ids of the cases that A passed and B did not."""
        lost = self.comparison.with_outcome(PairOutcome.LOST) if self.comparison is not None else ()
        return tuple(case.slot[0] for case in lost)

    @property
    def disputed(self) -> list[int]:
        """Number of cases with a disputed ground truth, in A and in B."""
        annotations = [run.reader.annotations() for run in self._runs]
        return [sum(bool(annotation.dispute) for annotation in of_run.values()) for of_run in annotations]

    def export_path(self, extension: str) -> Path:
        a, b = (folder.name[-_NAME_IN_FILE:] for folder in self.folders)
        return Path(f"compare-{a}-{b}{extension}")

    # Listing ----------------------------------------------------------------------------------------------------------

    def list_scope(self, scope: str) -> None:
        """List the cases of a filter label in `SCOPES`."""
        assert scope in SCOPES
        self.scope = scope
        self._list()

    def find(self, words: str) -> None:
        """List only cases with these words."""
        self.words = words
        self._list()

    def _list(self) -> None:
        """List the cases of the scope: lost first, then gained, then the others."""
        if self.comparison is None:
            return
        changed = [case for case in self.comparison.changes() if self._is_in_scope(case)]
        others = [case for case in self.comparison.cases if self._is_in_scope(case) and not case.is_change]
        cases = [case for case in (*changed, *others) if self._has_words(case)]
        if self.sorting is not None:
            cases.sort(key=self._sort_key(self.sorting), reverse=self.sorting.is_down)
        self.changes = {}
        for case in cases:
            key = change_key(case)
            self.changes[key] = case
            self.changes |= {change_key(pair): pair for pair in case.repeats if key in self._unfolded}

    def unfold(self) -> bool:
        """List the repeats of the current case; return False if it has none, or they are listed."""
        current = self.changes.get(self.current_key)
        if not isinstance(current, CasePair) or len(current.repeats) == 1 or self.current_key in self._unfolded:
            return False
        self._unfolded.add(self.current_key)
        self._list()
        return True

    def fold(self) -> bool:
        """Hide the repeats of the current case, which becomes current itself; return False if none are listed."""
        key = self._case_key(self.current_key)
        if key not in self._unfolded:
            return False
        self._unfolded.discard(key)
        self.current_key = key
        self._list()
        return True

    def _case_key(self, key: str) -> str:
        change = self.changes.get(key)
        return f"case/{change.slot[0]}" if isinstance(change, RolloutPair) else key

    @property
    def cases(self) -> list[CasePair]:
        return [change for change in self.changes.values() if isinstance(change, CasePair)]

    def _is_in_scope(self, case: CasePair) -> bool:
        if self.scope == PROMPT and self.comparison is not None:
            return any(map(self.comparison.has_other_prompt, case.repeats))
        return case.outcome in SCOPES[self.scope]

    def sort(self, column: str) -> None:
        """Sort by the difference of B and A in a column, reversed if it is chosen again; empty for the usual order."""
        self.sorting = (self.sorting or Sorting("")).toggled(column) if column else None
        self._list()

    def reverse_order(self) -> None:
        if self.sorting is not None:
            self.sort(self.sorting.column)

    def _sort_key(self, sorting: Sorting) -> Callable[[CasePair], Any]:
        if sorting.column == BY_ID:
            return lambda case: case.name
        if sorting.column == BY_REPEATS:
            return lambda case: case.change
        return lambda case: sorting.place(_difference(case, SORT_COLUMNS[sorting.column]))

    def sorted_by(self, change: Change) -> str:
        """Return a row's value in the sorted column; empty if the row already shows it."""
        if self.sorting is None or self.sorting.column in (BY_ID, BY_REPEATS):
            return ""
        column = SORT_COLUMNS[self.sorting.column]
        difference = _difference(change, column)
        if difference is None:
            return "—"
        return signed(difference, column.write)

    @property
    def filter_in_force(self) -> FilterInForce | None:
        if not self.words or self.comparison is None:
            return None
        total = sum(map(self._is_in_scope, self.comparison.cases))
        return FilterInForce(self.words, len(self.cases), total)

    def _has_words(self, case: CasePair) -> bool:
        if not self.words:
            return True
        return has_words(self.words, str(case.a.key), case.a.category, case.a.title, *change_words(case))

    @property
    def empty_words(self) -> str:
        if self.comparison is not None and not self.comparison.pairs:
            live = " and ".join(name for name, is_live in zip("AB", self.live, strict=True) if is_live)
            if live:
                return f"No case has ended in both runs yet; {live} {'are' if len(live) > 1 else 'is'} live."
            sides = zip("AB", (self.comparison.a, self.comparison.b), strict=True)
            if idle := " and ".join(name for name, side in sides if not side.rollouts):
                return f"{idle} {'have' if len(idle) > 1 else 'has'} played no case yet. p picks another run."
            return "The two runs have no case in common. p picks another run."
        if self.words:
            return "Nothing matches. F clears the filter."
        return f"No case under “{self.scope}”. f changes the filter."

    # The current pair ------------------------------------------------------------------------------------------------

    @property
    def current(self) -> RolloutPair | None:
        """The current repeat; for a case with several, the one that shows its change."""
        change = self.changes.get(self.current_key)
        return change.telling if isinstance(change, CasePair) else change

    def pop_first_row(self) -> str:
        """Return the row key of the rollout to start at, once, and list it; empty if there is none."""
        slot, self._first_slot = self._first_slot, None
        cases = self.comparison.cases if self.comparison is not None else ()
        case = next((case for case in cases if any(pair.slot == slot for pair in case.repeats)), None)
        if case is None or slot is None:
            return ""
        if change_key(case) not in self.changes:
            self.list_scope("all")
        self.current_key = change_key(case)
        return row_key(slot) if self.unfold() else self.current_key

    def step(self, by: int) -> str | None:
        """Return the row key of the next or previous row; None at the end."""
        keys = list(self.changes)
        if self.current_key not in self.changes:
            return (keys[0] if by > 0 else keys[-1]) if keys else None
        index = keys.index(self.current_key) + by
        return keys[index] if 0 <= index < len(keys) else None

    @property
    def is_at_repeat(self) -> bool:
        """True if the current row is one repeat of a case."""
        return isinstance(self.changes.get(self.current_key), RolloutPair)

    @property
    def has_repeats(self) -> bool:
        """True if the current case was played more than once in both runs."""
        case = self.changes.get(self._case_key(self.current_key))
        return isinstance(case, CasePair) and len(case.repeats) > 1

    @property
    def position_words(self) -> str:
        """Position of the current case in the list."""
        keys = [key for key, change in self.changes.items() if isinstance(change, CasePair)]
        listed = plural(len(keys), "case") if self.scope == "all" else f"{len(keys)} {self.scope}"
        return f"{keys.index(self._case_key(self.current_key)) + 1} of {listed}"

    def show_next_view(self) -> None:
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]

    def toggle_numbers(self) -> None:
        self.view = SIDE_BY_SIDE if self.view == NUMBERS else NUMBERS

    def case(self) -> CaseInBoth | None:
        """Return the current case, or None if it is still being read; `case_arrived` is then called when it is ready.

        Raises:
            UsageError: a run folder no longer exists.
        """
        pair, current = self.pair, self.current
        assert pair is not None
        assert current is not None
        return self._cases.get(row_key(current.slot), lambda: pair.read_case(current))

    def _arrive(self, key: str) -> None:
        if self.current is not None and key == row_key(self.current.slot):
            self._case_arrived()

    def close(self) -> None:
        self._cases.close()
