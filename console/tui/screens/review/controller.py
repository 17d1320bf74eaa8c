"""`ReviewController`: the run, the list and the notes of Review, with the cursor and the case under it.

Independent of widgets and the event loop. Methods take events from the user and the run; `pop_stale` returns what to
redraw.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from console.core.case import Slot
from console.core.fault import UsageError
from console.insight.failures import GroupBy
from console.insight.filter import Filter, read_filter
from console.insight.rollout import Rollout
from console.insight.sort_orders import Sorting
from console.store.notes import Note, Notes
from console.suites.run_suite import RunSuite
from console.tui.screens.review.case_loader import CaseLoader, ReviewedRun
from console.tui.screens.review.case_views import CaseViews
from console.tui.screens.review.current_case import CurrentCase
from console.tui.screens.review.cursor import CaseCursor
from console.tui.screens.review.listing import Lister, Listing
from console.tui.screens.review.stale import Stale
from console.tui.screens.review.triage import FAILURES, Rows, Triage
from console.tui.screens.review.undoable_notes import UndoableNotes
from console.tui.suite_views.registry import find_view

NOT_REVIEWED = "!is:reviewed"
"""Filter for cases without tag, comment or review mark."""
UNTAGGED = "tag:none"
_FILTER_LABELS = {
    FAILURES: "failures",
    "is:failed": "failed only",
    "is:broken": "broken only",
    "is:disputed": "disputed only",
    NOT_REVIEWED: "not reviewed",
    UNTAGGED: "untagged",
}
_GROUPING_LABELS = {GroupBy.ERROR: "error type"}


class ReviewController:
    """The state of Review."""

    def __init__(self, notes: Notes, loader: CaseLoader, lister: Lister, slot: Slot | None = None) -> None:
        """Start with an empty list; `slot` is the first case to show."""
        self.triage = Triage()
        self.cursor = CaseCursor(self.triage, self.mark_stale, slot)
        self.case = CurrentCase(self.cursor, self.triage, loader)
        self.views = CaseViews(self.case.load, partial(self.mark_stale, Stale.CASE))
        self.filter_mistake = ""
        """Error in the filter being typed."""
        self._notes = UndoableNotes(notes)
        self._loader = loader
        self._lister = lister
        self._is_list_of_all = False
        self._stale = Stale.NOTHING

    # The run ---------------------------------------------------------------------------------------------------------

    @property
    def run(self) -> ReviewedRun | None:
        return self.cursor.run

    def open(self, run: ReviewedRun) -> None:
        """Start reviewing a run and read its notes."""
        self.cursor.run = run
        self.triage.repeats = run.manifest.rollouts
        if run.manifest.rollouts > 1:
            self.triage.regroup(GroupBy.REPEATS)
        self.read_notes()
        self.choose_suite_view()

    def read_notes(self) -> None:
        self.triage.annotations = self._notes.read()

    def choose_suite_view(self) -> None:
        """Switch to the view of the run's suite, once the suite is known."""
        if self.run is None:
            return
        suite_view = find_view(self.run.manifest.format or self._loader.format_name)
        if suite_view is not self.views.suite_view:
            self.views.suite_view = suite_view
            self._stale |= Stale.CASE | Stale.FIGURES
        if suite_view.lists_everything:
            self.triage.list_everything()

    def use_suite(self, suite: RunSuite) -> None:
        """Set the suite, after it was opened or failed to open."""
        self._loader.use_suite(suite)
        self.choose_suite_view()
        self._stale |= Stale.CASE

    def keep_cursor(self) -> None:
        """Keep the cursor on its case once the list is complete and the requested case, if possible, is reached."""
        cursor = self.cursor
        can_be_reached = not cursor.missing_case and self.triage.scope is not self.triage.narrow
        if self._is_list_of_all and (cursor.requested in (None, cursor.slot) or not can_be_reached):
            cursor.is_moved = True

    def pop_stale(self) -> Stale:
        stale, self._stale = self._stale, Stale.NOTHING
        return stale

    def mark_stale(self, stale: Stale) -> None:
        self._stale |= stale

    # The list --------------------------------------------------------------------------------------------------------

    @property
    def rollouts(self) -> Sequence[Rollout]:
        return self.run.overview.rollouts.all() if self.run is not None else ()

    @property
    def is_listing(self) -> bool:
        """True if the list is in progress and may be incomplete."""
        return self._lister.is_listing

    def rows(self) -> Rows:
        """Return the rows of the list."""
        by_slot: Mapping[Slot, Rollout] = self.run.overview.rollouts if self.run is not None else {}
        return self.triage.rows(by_slot)

    def relist(self) -> None:
        """Rebuild the list; the cursor stays on its case or moves to the first unreviewed one."""
        if self.run is not None:
            self._is_list_of_all = self.run.is_read  # before the rollouts, since reading continues
            rollouts = self.run.overview.rollouts.all()
            self._lister.list(self.triage.request(), rollouts, self._use_listing, self.relist)
            self._stale |= Stale.FIGURES if self.is_listing else Stale.NOTHING

    def _use_listing(self, listing: Listing) -> None:
        self.triage.use_listing(listing)
        self._stale |= Stale.LIST | Stale.FIGURES
        if not (listing.is_whole and self._widen_for_case()):
            self.cursor.follow_list(is_whole=listing.is_whole)

    def _widen_for_case(self) -> bool:
        """List everything if the requested rollout is not listed; return whether a new list was started."""
        run, cursor = self.run, self.cursor
        if run is None or cursor.is_moved or not run.is_read or self.triage.scope is self.triage.narrow:
            return False
        rollout = cursor.rollout_of(cursor.requested)
        if rollout is None or self.triage.place_of(rollout):
            return False
        self.triage.scope = self.triage.narrow
        self.relist()
        return True

    def list_labels(self) -> list[str]:
        """Describe the list as text, which may be untrusted; shorter forms follow, without what is seen anyway."""
        scope, narrow, by = self.triage.scope.text, self.triage.narrow.text, self.triage.by
        kind = _FILTER_LABELS.get(scope, scope) if scope else self.views.suite_view.everything_label
        brief = kind
        if self.triage.has_cases and self.triage.repeats > 1:
            kind = f"cases with {kind}" if scope else "cases"
            brief = "cases" if scope == FAILURES else kind
        terms = [_FILTER_LABELS.get(term, "") for term in narrow.split()]
        filtered = ", ".join(terms) if all(terms) else narrow
        grouping = "" if by is GroupBy.NONE else f"by {_GROUPING_LABELS.get(by, by.value)}"
        forms = ((kind, filtered, grouping), (kind, filtered), (brief, filtered))
        return [" · ".join(part for part in form if part) for form in (forms if narrow else forms[:1])]

    # Filter and groups -----------------------------------------------------------------------------------------------

    def narrow(self, text: str, *, done: bool) -> str:
        """Set the text filter and return its error; an invalid filter matches everything.

        The change takes effect with the next `relist`. With `done`, the error is cleared from the title.
        """
        try:
            self.triage.narrow, mistake, self.filter_mistake = read_filter(text), "", ""
        except UsageError as error:
            self.triage.narrow, mistake = Filter(), str(error)
            self.filter_mistake = "" if done else f"{error.message}. {error.hint}"
        return mistake

    def set_scope(self, text: str) -> None:
        """Set the scope, a filter in addition to the text filter."""
        self.triage.scope = read_filter(text)
        self.relist()

    def add_to_filter(self, *terms: str) -> None:
        self.triage.narrow = read_filter(" ".join([self.triage.narrow.text, *terms]).strip())
        self.relist()

    def clear_filter(self) -> None:
        self.triage.scope, self.triage.narrow = read_filter(self.triage.home), Filter()
        self.relist()

    def regroup(self, by: GroupBy) -> None:
        self.triage.regroup(by)
        self.relist()

    def sort(self, column: str) -> None:
        """Sort by a column, reversed if it is chosen again; an empty name restores the order of the run."""
        current = self.triage.sorting or Sorting("")
        self.triage.sorting = current.toggled(column) if column else None
        self.relist()

    def reverse_order(self) -> None:
        if self.triage.sorting is not None:
            self.sort(self.triage.sorting.column)

    # Notes -----------------------------------------------------------------------------------------------------------

    def annotate(self, rollouts: Sequence[Rollout], kind: str, value: str) -> None:
        """Write a note on some cases; an empty value removes one.

        Raises:
            UsageError: the note cannot be written.
        """
        self._notes.write(rollouts, kind, value)
        self.read_notes()
        self.relist()

    def annotate_and_go_on(self, kind: str, value: str) -> None:
        """Write a note on the current case and move to the next one.

        Raises:
            UsageError: the note cannot be written.
        """
        rollout = self.cursor.rollout
        if rollout is None:
            return
        following = self.triage.next_to_review(rollout)
        self.annotate(self.triage.selected(rollout), kind, value)
        self.cursor.go(following or (rollout if self.triage.place_of(rollout) else None))

    def undo(self) -> Sequence[Note]:
        """Undo the last notes, move to their case, and return the restored notes; empty if there is nothing to undo.

        Raises:
            UsageError: the notes cannot be written.
        """
        notes = self._notes.undo()
        if notes:
            self.read_notes()
            self.relist()
            self.cursor.go(self.cursor.rollout_of((notes[0].key.case, notes[0].key.rollout)))
        return notes

    def read_branches(self) -> None:
        """Read the branches again, because there may be new ones."""
        self._loader.forget_branches()
        self._stale |= Stale.CASE
