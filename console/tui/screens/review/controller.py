"""`ReviewController`: list, current case and undo of Review.

Independent of widgets and the event loop. Methods take events from the user and the run; `pop_stale` returns what to
redraw.
"""

from collections.abc import Mapping, Sequence
from enum import Flag, auto
from functools import partial
from typing import TYPE_CHECKING

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Key, Slot
from console.core.fault import UsageError
from console.insight.failures import Group, GroupBy
from console.insight.filter import Filter, read_filter
from console.insight.judging import judge_name, judging_of
from console.insight.rollout import Rollout
from console.insight.sort_orders import Sorting
from console.store.notes import Note, Notes
from console.suites.run_suite import RunSuite
from console.tui.render.rollout_rows import slot_of
from console.tui.screens.review.case_loader import CaseLoader, ReviewedRun
from console.tui.screens.review.case_views import CaseViews
from console.tui.screens.review.listing import Lister, Listing
from console.tui.screens.review.triage import FAILURES, Rows, Triage
from console.tui.screens.review.views import ShownCase
from console.tui.suite_views.registry import find_view
from console.tui.suite_views.suite_view import ReviewedCase

if TYPE_CHECKING:
    from console.insight.deciding import Branch

NOT_REVIEWED = "!is:reviewed"
"""Filter for cases without tag, comment or review mark."""
_SCOPE_LABELS = {
    FAILURES: "failures",
    "is:failed": "failed only",
    "is:broken": "broken only",
    "is:disputed": "disputed only",
}
_GROUPING_LABELS = {GroupBy.ERROR: "error type"}


class Stale(Flag):
    """Parts of the screen to redraw."""

    NOTHING = 0
    LIST = auto()
    CASE = auto()
    FIGURES = auto()


class ReviewController:
    """The state of Review."""

    def __init__(self, notes: Notes, loader: CaseLoader, lister: Lister, slot: Slot | None = None) -> None:
        """Start with an empty list; `slot` is the first case to show."""
        self.triage = Triage()
        self.run: ReviewedRun | None = None
        self.views = CaseViews(self.case, partial(self.mark_stale, Stale.CASE))
        self.current: Slot | None = None
        self._left: Slot | None = None
        """The case that a filter removed from the list; the cursor returns to it once it is listed again."""
        self.is_moved = False
        """True if the user has moved the cursor, so that new data no longer moves it."""
        self.filter_mistake = ""
        """Error in the filter being typed."""
        self._notes = notes
        self._loader = loader
        self._lister = lister
        self._first_slot = slot
        self._is_list_of_all = False
        self._undoable: list[list[Note]] = []
        self._stale = Stale.NOTHING

    # The run ---------------------------------------------------------------------------------------------------------

    def open(self, run: ReviewedRun) -> None:
        """Start reviewing a run and read its notes."""
        self.run = run
        self.triage.repeats = run.manifest.rollouts
        if run.manifest.rollouts > 1:
            self.triage.regroup(GroupBy.REPEATS)
        self.read_notes()
        self.choose_suite_view()

    def read_notes(self) -> None:
        """Reread the notes of the run."""
        self.triage.annotations = self._notes.annotations()

    def choose_suite_view(self) -> None:
        """Switch to the view of the run's suite as far as it is known."""
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

    def put_largest_first(self) -> None:
        """Sort groups by size again, after the run has been read."""
        self.triage.forget_order()

    def keep_cursor(self) -> None:
        """Keep the cursor on its case from the first complete list, once the requested case is reached if it can be."""
        can_be_reached = not self.missing_case and self.triage.scope is not self.triage.narrow
        if self._is_list_of_all and (self._first_slot in (None, self.current) or not can_be_reached):
            self.is_moved = True

    def pop_stale(self) -> Stale:
        """Return and clear the parts to redraw."""
        stale, self._stale = self._stale, Stale.NOTHING
        return stale

    def mark_stale(self, stale: Stale) -> None:
        self._stale |= stale

    # The list --------------------------------------------------------------------------------------------------------

    @property
    def rollouts(self) -> Sequence[Rollout]:
        """All rollouts in the run's order."""
        return list(self.run.overview.rollouts.values()) if self.run is not None else ()

    @property
    def is_listing(self) -> bool:
        """True if the list is in progress and may be incomplete."""
        return self._lister.is_listing

    def rows(self, *, with_tops: bool) -> Rows:
        """Return the rows of the list; `with_tops` adds a line for groups with several subgroups."""
        by_slot: Mapping[Slot, Rollout] = self.run.overview.rollouts if self.run is not None else {}
        return self.triage.rows(by_slot, with_tops=with_tops)

    def rollout_of(self, slot: Slot | None) -> Rollout | None:
        """Return a rollout of the run, as far as it was read."""
        return self.run.overview.rollouts.get(slot) if self.run is not None and slot is not None else None

    def relist(self) -> None:
        """Rebuild the list; the cursor stays on its case or moves to the first unreviewed one."""
        if self.run is not None:
            self._is_list_of_all = self.run.is_read  # before the rollouts, since reading goes on
            rollouts = list(self.run.overview.rollouts.values())
            self._lister.list(self.triage.request(), rollouts, self._use_listing, self.relist)

    def _use_listing(self, listing: Listing) -> None:
        self.triage.use_listing(listing)
        self._stale |= Stale.LIST | Stale.FIGURES
        if listing.is_whole and self._widen_for_case():
            return
        target = self._first_target()
        is_gone = listing.is_whole and self.run is not None and self.run.is_read and not self.triage.place_of(target)
        if target is not None and not is_gone and (self.current is None or not self.is_moved):
            self.go(target)
        elif listing.is_whole and not self.triage.place_of(self.rollout):
            self._leave_unlisted()
        elif listing.is_whole:
            self._return()
        self.triage.open_group_of(self.rollout)

    def _widen_for_case(self) -> bool:
        """List everything if the requested rollout is not listed; return whether a new list was started."""
        if self.run is None or self.is_moved or not self.run.is_read or self.triage.scope is self.triage.narrow:
            return False
        rollout = self.rollout_of(self._first_slot)
        if rollout is None or self.triage.place_of(rollout):
            return False
        self.triage.scope = self.triage.narrow
        self.relist()
        return True

    @property
    def missing_case(self) -> str:
        """The requested case if the run has been read and lacks it; otherwise empty."""
        slot, run = self._first_slot, self.run
        if slot is None or run is None or not run.is_read or slot in run.overview.rollouts:
            return ""
        return str(Key(*slot))

    def _first_target(self) -> Rollout | None:
        """Return the case to show until the user moves."""
        return self.triage.first_unseen() if self._first_slot is None else self.rollout_of(self._first_slot)

    def _leave_unlisted(self) -> None:
        """Move from the current case, which is no longer listed, to the first that is."""
        left, first = self._left or self.current, self.triage.first_unseen()
        if first is not None:
            self.go(first)
        else:
            self.current = None
            self._stale |= Stale.CASE
        self._left = left
        self._return()

    def _return(self) -> None:
        """Return to the case that a filter removed, if it is listed again."""
        rollout = self.rollout_of(self._left)
        if rollout is not None and self.triage.place_of(rollout):
            self.go(rollout)

    def list_label(self) -> str:
        """Describe the list in words; may contain foreign text."""
        scope, by = self.triage.scope.text, self.triage.by
        label = _SCOPE_LABELS.get(scope, scope) if scope else self.views.suite_view.everything_label
        if self.triage.has_cases:
            label = f"cases with {label}" if scope else "cases"
        grouping = "" if by is GroupBy.NONE else f"by {_GROUPING_LABELS.get(by, by.value)}"
        return " · ".join(part for part in (label, grouping, self.triage.narrow.text) if part)

    # The cursor ------------------------------------------------------------------------------------------------------

    @property
    def rollout(self) -> Rollout | None:
        return self.rollout_of(self.current)

    @property
    def current_row(self) -> str | None:
        """Key of the row under the cursor."""
        rollout = self.rollout
        return self.triage.key_of(rollout) if rollout is not None else None

    @property
    def annotation(self) -> Annotation:
        return self.triage.annotation(self.current) if self.current is not None else NO_ANNOTATION

    @property
    def current_group(self) -> Group | None:
        """The group of the current case, such as its reason."""
        return self.triage.section_of(self.rollout)

    def go(self, rollout: Rollout | None) -> None:
        """Select a case and unfold its group; None does nothing."""
        if rollout is None:
            return
        self.current, self._left = rollout.slot, None
        is_opened = self.triage.open_group_of(rollout)
        is_hidden = self.triage.selected(rollout)[0] is not rollout
        if (is_hidden and self.triage.unfold(rollout)) or is_opened:
            self._stale |= Stale.LIST
        self._stale |= Stale.CASE

    def unfold(self) -> bool:
        """List the repeats of the current case; return False if it has no other, or they are listed."""
        if not self.triage.unfold(self.rollout):
            return False
        self._stale |= Stale.LIST
        return True

    def fold(self) -> bool:
        """Hide the repeats of the current case, which is then current; return False if none are listed."""
        if not self.triage.fold():
            return False
        if self.rollout is not None:
            self.current = self.triage.selected(self.rollout)[0].slot
        self._stale |= Stale.LIST | Stale.CASE
        return True

    def enter_row(self, key: str) -> None:
        """Move the cursor to a row: a case, or a folded group, which unfolds."""
        head = self.triage.heads.get(key)
        if head is not None:
            if self.rollout is not None and key == self.triage.key_of(self.rollout):
                return
            self.is_moved = True
            leaves = head.group.leaves
            members = self._ends_of(leaves)
            is_going_up = self.triage.place_of(members[0]) < self.triage.place_of(self.rollout)
            self.go(members[-1] if is_going_up else members[0])
        elif self.run is not None and slot_of(key) != self.current:
            self.is_moved = True
            self.go(self.rollout_of(slot_of(key)))

    def _ends_of(self, leaves: Sequence[Group]) -> tuple[Rollout, Rollout]:
        """Return the first and the last rollout of groups; of a case that which its row shows."""
        if leaves[0].is_case:
            return leaves[0].lead, leaves[-1].lead
        return leaves[0].rollouts[0], leaves[-1].rollouts[-1]

    def step(self, by: int) -> bool:
        """Move by N cases in reading order; return False at the end."""
        self.is_moved = True
        rollout = self.triage.step(self.rollout, by)
        self.go(rollout)
        return rollout is not None

    def go_to_end(self, place: int) -> None:
        """Move to the first (0) or last (-1) case in reading order."""
        if self.triage.order:
            self.is_moved = True
            self.go(self._ends_of(self.triage.leaves)[place])

    def step_group(self, by: int) -> None:
        """Move to the first case of another group."""
        self.is_moved = True
        sections, current = self.triage.sections, self.current_group
        places = {section.path: place for place, section in enumerate(sections)}
        target = places.get(current.path if current is not None else (), -by) + by
        if 0 <= target < len(sections):
            self.go(self._ends_of(sections[target].leaves)[0])

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
        """Restore the initial list."""
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
        """Reverse the chosen order."""
        if self.triage.sorting is not None:
            self.sort(self.triage.sorting.column)

    # Notes -----------------------------------------------------------------------------------------------------------

    def annotate(self, rollouts: Sequence[Rollout], kind: str, value: str) -> None:
        """Write a note on some cases; an empty value removes one.

        Raises:
            UsageError: the note cannot be written.
        """
        before: list[Note] = []
        for rollout in rollouts:
            before.append(Note(rollout.key, kind, _note_value(self.triage.annotation(rollout.slot), kind)))
            self._notes.add(Note(rollout.key, kind, value))
        self._undoable.append(before)
        self.read_notes()
        self.relist()

    def annotate_and_go_on(self, kind: str, value: str) -> None:
        """Write a note on the current case and move to the next one.

        Raises:
            UsageError: the note cannot be written.
        """
        rollout = self.rollout
        if rollout is None:
            return
        following = self.triage.step(rollout, 1)
        self.annotate(self.triage.selected(rollout), kind, value)
        self.go(following or (rollout if self.triage.place_of(rollout) else None))

    def undo(self) -> Sequence[Note]:
        """Undo the last notes, move to their case, and return the restored notes; empty if there is nothing to undo.

        Raises:
            UsageError: the notes cannot be written.
        """
        if not self._undoable:
            return ()
        notes = self._undoable.pop()
        for note in notes:
            self._notes.add(note)
        self.read_notes()
        self.relist()
        self.go(self.rollout_of((notes[0].key.case, notes[0].key.rollout)))
        return notes

    # The case and its views ------------------------------------------------------------------------------------------

    def case(self) -> ReviewedCase | None:
        """Return the current case with everything that its views need.

        Raises:
            UsageError: the journal can no longer be read.
        """
        rollout = self.rollout
        return self._loader.case(self.run, rollout) if self.run is not None and rollout is not None else None

    def shown_case(self) -> ShownCase | None:
        """Return the current case for drawing, or None if nothing is listed.

        Raises:
            UsageError: the journal can no longer be read.
        """
        case, run = self.case(), self.run
        if case is None or run is None:
            return None
        group = self.current_group if self.triage.by is GroupBy.REASON else None
        return ShownCase(
            case,
            annotation=self.annotation,
            model=run.manifest.model,
            simulated=run.manifest.model.simulated,
            alike=group.size if group is not None else 0,
            views=self.views.of_case(),
            view=self.views.current,
            style=self.views.style,
            suite_view=self.views.suite_view,
            words=next(iter(self.triage.narrow.words), ""),
            rollouts=lambda: self.rollouts,
            report=lambda: self._loader.report(run),
            judging=lambda: judging_of(run.manifest, self.rollouts, self.triage.annotations),
            apart=lambda: self._loader.scores_apart(run, self.triage.annotations),
        )

    @property
    def judge_name(self) -> str:
        """Name of the judge that the run uses or would use; empty if there is none."""
        return judge_name(self.run.manifest) if self.run is not None else ""

    def prefetch(self) -> None:
        """Read and compare the cases next to the current one."""
        if self.run is not None and self.current is not None:
            self._loader.prefetch(self.run, [rollout.key for rollout in self.triage.around(self.rollout)])

    @property
    def branches(self) -> "Sequence[Branch]":
        """Branches of the current case, newest first."""
        return self._loader.branches(self.rollout.key.case) if self.rollout is not None else ()

    def read_branches(self) -> None:
        """Read the branches again, because there may be new ones."""
        self._loader.forget_branches()
        self._stale |= Stale.CASE


def _note_value(annotation: Annotation, kind: str) -> str:
    """Return the current value of a note, for undo."""
    if kind == "reviewed":
        return "yes" if annotation.reviewed else ""
    return {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute}[kind]
