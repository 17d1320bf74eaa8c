"""`ReviewController`: the rules of Review: what is listed, which case is current, which view is shown, what undo does.

Knows no widget and needs no event loop. What a reader or the run does comes in by methods; `pop_stale` says what has
to be drawn again, and the panes are given what the properties return. `ListPace` says when the list is made again while
a run is read.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Flag, auto
from typing import Any

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Key, Slot
from console.core.fault import UsageError
from console.insight.failures import Group, GroupBy
from console.insight.filter import Filter, read_filter
from console.insight.judging import judge_name, judging_of
from console.insight.rollout import Rollout
from console.store.notes import Note, Notes
from console.suites.run_suite import RunSuite
from console.tui.render import diff
from console.tui.render.rollout_rows import slot_of
from console.tui.screens.review.case_loader import CaseLoader, ReviewedRun
from console.tui.screens.review.listing import Lister, Listing
from console.tui.screens.review.triage import FAILURES, Rows, Triage
from console.tui.screens.review.views import STANDARD_VIEWS, ShownCase
from console.tui.suite_views.registry import STANDARD, find_view
from console.tui.suite_views.suite_view import CaseView, ReviewedCase, SuiteView

LEAST_PAUSE_S = 0.3
"""Shortest time between two lists."""
SHARE = 8
"""It is at least so many times as long as making one takes, so that listing a long run does not delay reading it."""


class ListPace:
    """Measures how long lists take, and says when the next one is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Wait for the first news; `clock` returns seconds."""
        self.has_begun = False
        """Whether there has been a list at all."""
        self._clock = clock
        self._has_news = self._is_listing = False
        self._begun_at = self._took_s = 0.0

    def note_news(self) -> None:
        """Something came that the list does not show."""
        self._has_news = True

    @property
    def is_due(self) -> bool:
        """Whether there is news, no list is being made, and enough time has passed since the last one was begun."""
        pause = max(LEAST_PAUSE_S, SHARE * self._took_s)
        return self._has_news and not self._is_listing and self._clock() - self._begun_at > pause

    def begin(self) -> None:
        """A list is made, which shows everything that came before."""
        self.has_begun, self._is_listing, self._has_news, self._begun_at = True, True, False, self._clock()

    def end(self) -> None:
        """The list is whole."""
        if self._is_listing:
            self._is_listing, self._took_s = False, self._clock() - self._begun_at


NOT_REVIEWED = "!is:reviewed"
"""Filter for what nobody has dealt with."""
_SCOPE_LABELS = {
    FAILURES: "failures",
    "is:failed": "failed only",
    "is:broken": "broken only",
    "is:disputed": "disputed only",
}
_GROUPING_LABELS = {GroupBy.ERROR: "error type"}


class Stale(Flag):
    """What has to be drawn again."""

    NOTHING = 0
    LIST = auto()
    CASE = auto()
    FIGURES = auto()


class ReviewController:
    """The state of Review."""

    def __init__(self, notes: Notes, loader: CaseLoader, lister: Lister, slot: Slot | None = None) -> None:
        """List nothing until `open`; with a rollout, the cursor goes there first."""
        self.triage = Triage()
        self.run: ReviewedRun | None = None
        self.suite_view: SuiteView = STANDARD
        self.current: Slot | None = None
        self._left: Slot | None = None
        """The case from which a filter took the cursor; it goes back there as soon as that is listed again."""
        self.is_moved = False
        """Whether the cursor belongs to the reader already, and does not follow what arrives."""
        self.filter_mistake = ""
        """What is wrong with the filter being typed."""
        self.style = diff.Style()
        self._notes = notes
        self._loader = loader
        self._lister = lister
        self._first_slot = slot
        self._view_id = STANDARD_VIEWS[0].id
        self._undoable: list[list[Note]] = []
        self._stale = Stale.NOTHING

    # The run ---------------------------------------------------------------------------------------------------------

    def open(self, run: ReviewedRun) -> None:
        """Review a run: read what readers said of it."""
        self.run = run
        if run.manifest.rollouts > 1:
            self.triage.regroup(GroupBy.REPEATS)
        self.read_notes()
        self.choose_suite_view()

    def read_notes(self) -> None:
        """Read what readers said of the run again."""
        self.triage.annotations = self._notes.annotations()

    def choose_suite_view(self) -> None:
        """Take the view of the run's suite, as far as it is known by now."""
        if self.run is None:
            return
        suite_view = find_view(self.run.manifest.format or self._loader.format_name)
        if suite_view is not self.suite_view:
            self.suite_view = suite_view
            self._stale |= Stale.CASE | Stale.FIGURES
        if suite_view.lists_everything:
            self.triage.list_everything()

    def use_suite(self, suite: RunSuite) -> None:
        """The suite has been opened, or cannot be."""
        self._loader.use_suite(suite)
        self.choose_suite_view()
        self._stale |= Stale.CASE

    def put_largest_first(self) -> None:
        """The run has been read: let the largest groups come first."""
        self.triage.forget_order()

    def keep_cursor(self) -> None:
        """The cursor stays where it is from the first list that is whole."""
        self.is_moved = self.is_moved or (self.run is not None and self.run.is_read)

    def pop_stale(self) -> Stale:
        """Return what has to be drawn again since the last call."""
        stale, self._stale = self._stale, Stale.NOTHING
        return stale

    def mark_stale(self, stale: Stale) -> None:
        self._stale |= stale

    # The list --------------------------------------------------------------------------------------------------------

    @property
    def rollouts(self) -> Sequence[Rollout]:
        """All rollouts of the run, in its order."""
        return list(self.run.overview.rollouts.values()) if self.run is not None else ()

    @property
    def is_listing(self) -> bool:
        """Whether the list is being made, and what is listed may not be all."""
        return self._lister.is_listing

    def rows(self, *, with_tops: bool) -> Rows:
        """Return the rows of the list; `with_tops`: groups with several subgroups have a line of their own."""
        by_slot: Mapping[Slot, Rollout] = self.run.overview.rollouts if self.run is not None else {}
        return self.triage.rows(by_slot, with_tops=with_tops)

    def relist(self) -> None:
        """Filter and group again; the cursor stays on its case, or goes to the first nobody has dealt with."""
        if self.run is not None:
            rollouts = list(self.run.overview.rollouts.values())
            self._lister.list(self.triage.request(), rollouts, self._use_listing, self.relist)

    def _use_listing(self, listing: Listing) -> None:
        self.triage.use_listing(listing)
        self._stale |= Stale.LIST | Stale.FIGURES
        if listing.is_whole and self._widen_for_case():
            return
        if (self.current is None or not self.is_moved) and (target := self._first_target()) is not None:
            self.go(target)
        elif listing.is_whole and not self.triage.place_of(self.rollout):
            self._leave_unlisted()
        elif listing.is_whole:
            self._return()
        self.triage.open_group_of(self.rollout)

    def _widen_for_case(self) -> bool:
        """List everything when the rollout that was asked for is not in the list; say whether a new list is made."""
        if self.run is None or self.is_moved or not self.run.is_read or self.triage.scope is self.triage.narrow:
            return False
        rollout = self.run.overview.rollouts.get(self._first_slot) if self._first_slot is not None else None
        if rollout is None or self.triage.place_of(rollout):
            return False
        self.triage.scope = self.triage.narrow
        self.relist()
        return True

    @property
    def missing_case(self) -> str:
        """The case that was asked for and that the run, once it has been read, does not have; empty: none."""
        slot, run = self._first_slot, self.run
        if slot is None or run is None or not run.is_read or slot in run.overview.rollouts:
            return ""
        return str(Key(*slot))

    def _first_target(self) -> Rollout | None:
        """Return where the cursor belongs before the reader has moved it."""
        assert self.run is not None
        if self._first_slot is None:
            return self.triage.first_unseen()
        return self.run.overview.rollouts.get(self._first_slot)

    def _leave_unlisted(self) -> None:
        """The current case is not listed any more: go to the first that is, unless nothing is."""
        left, first = self._left or self.current, self.triage.first_unseen()
        if first is not None:
            self.go(first)
        else:
            self.current = None
            self._stale |= Stale.CASE
        self._left = left
        self._return()

    def _return(self) -> None:
        """Go back to the case that a filter took away, if that is listed again."""
        if self._left is None or self.run is None:
            return
        rollout = self.run.overview.rollouts.get(self._left)
        if rollout is not None and self.triage.place_of(rollout):
            self.go(rollout)

    def list_label(self) -> str:
        """Return in words what is listed; parts may be foreign text."""
        scope, by = self.triage.scope.text, self.triage.by
        label = _SCOPE_LABELS.get(scope, scope) if scope else self.suite_view.everything_label
        if by is GroupBy.REPEATS:
            label = f"cases with {label}" if scope else "cases"
        grouping = "" if by is GroupBy.NONE else f"by {_GROUPING_LABELS.get(by, by.value)}"
        return " · ".join(part for part in (label, grouping, self.triage.narrow.text) if part)

    # The cursor ------------------------------------------------------------------------------------------------------

    @property
    def rollout(self) -> Rollout | None:
        if self.run is None or self.current is None:
            return None
        return self.run.overview.rollouts.get(self.current)

    @property
    def annotation(self) -> Annotation:
        """What readers say of the current case."""
        return self.triage.annotation(self.current) if self.current is not None else NO_ANNOTATION

    @property
    def current_group(self) -> Group | None:
        """The lowest group of the current case."""
        return self.triage.group_of(self.rollout)

    def go(self, rollout: Rollout | None) -> None:
        """Make a case the current one and unfold its group; None stays where one is."""
        if rollout is None:
            return
        self.current, self._left = rollout.slot, None
        if self.triage.open_group_of(rollout):
            self._stale |= Stale.LIST
        self._stale |= Stale.CASE

    def enter_row(self, key: str) -> None:
        """The cursor of the list came to a row: a case, or the line of a folded group, which unfolds."""
        head = self.triage.heads.get(key)
        if head is not None:
            self.is_moved = True
            members = head.group.rollouts
            is_going_up = self.triage.place_of(members[0]) < self.triage.place_of(self.rollout)
            self.go(members[-1] if is_going_up else members[0])
        elif self.run is not None and slot_of(key) != self.current:
            self.is_moved = True
            self.go(self.run.overview.rollouts.get(slot_of(key)))

    def step(self, by: int) -> bool:
        """Go so many cases on in reading order; say whether there was one."""
        self.is_moved = True
        rollout = self.triage.step(self.rollout, by)
        self.go(rollout)
        return rollout is not None

    def step_group(self, by: int) -> None:
        """Go to the first case so many groups on."""
        self.is_moved = True
        leaves = [leaf for group in self.triage.groups for leaf in group.leaves]
        places = {leaf.path: place for place, leaf in enumerate(leaves)}
        target = places.get(self.triage.open_path, -by) + by
        if 0 <= target < len(leaves):
            self.go(leaves[target].rollouts[0])

    # Filter and groups -----------------------------------------------------------------------------------------------

    def narrow(self, text: str, *, done: bool) -> str:
        """List only what a filter keeps, from the next `relist` on; one that cannot be read filters nothing.

        Return what is wrong with it; once it is `done`, typed to its end, that no longer stands in the title.
        """
        try:
            self.triage.narrow, mistake, self.filter_mistake = read_filter(text), "", ""
        except UsageError as error:
            self.triage.narrow, mistake = Filter(), str(error)
            self.filter_mistake = "" if done else f"{error.message}. {error.hint}"
        return mistake

    def set_scope(self, text: str) -> None:
        """List what a filter keeps, besides what the reader typed."""
        self.triage.scope = read_filter(text)
        self.relist()

    def add_to_filter(self, *terms: str) -> None:
        self.triage.narrow = read_filter(" ".join([self.triage.narrow.text, *terms]).strip())
        self.relist()

    def clear_filter(self) -> None:
        """List what Review opens on again."""
        self.triage.scope, self.triage.narrow = read_filter(self.triage.home), Filter()
        self.relist()

    def regroup(self, by: GroupBy) -> None:
        self.triage.regroup(by)
        self.relist()

    # Notes -----------------------------------------------------------------------------------------------------------

    def annotate(self, rollouts: Sequence[Rollout], kind: str, value: str) -> None:
        """Write a note on some cases; an empty value takes one back.

        Raises:
            UsageError: the note cannot be kept.
        """
        before: list[Note] = []
        for rollout in rollouts:
            before.append(Note(rollout.key, kind, _note_value(self.triage.annotation(rollout.slot), kind)))
            self._notes.add(Note(rollout.key, kind, value))
        self._undoable.append(before)
        self.read_notes()
        self.relist()

    def annotate_and_go_on(self, kind: str, value: str) -> None:
        """Write a note on the current case and go on to the next one.

        Raises:
            UsageError: the note cannot be kept.
        """
        rollout = self.rollout
        if rollout is None:
            return
        following = self.triage.step(rollout, 1)
        self.annotate([rollout], kind, value)
        self.go(following or rollout)

    def undo(self) -> Sequence[Note]:
        """Take the last notes back, go to their case, and return what stands now; nothing if there is none.

        Raises:
            UsageError: that cannot be kept.
        """
        if not self._undoable:
            return ()
        notes = self._undoable.pop()
        for note in notes:
            self._notes.add(note)
        self.read_notes()
        self.relist()
        if self.run is not None:
            self.go(self.run.overview.rollouts.get((notes[0].key.case, notes[0].key.rollout)))
        return notes

    # The case and its views ------------------------------------------------------------------------------------------

    def case(self) -> ReviewedCase | None:
        """Return everything the views of the current case are drawn from.

        Raises:
            UsageError: the journal cannot be read any more.
        """
        rollout = self.rollout
        return self._loader.case(self.run, rollout) if self.run is not None and rollout is not None else None

    def shown_case(self) -> ShownCase | None:
        """Return the current case as it is to be drawn; None when nothing is listed.

        Raises:
            UsageError: the journal cannot be read any more.
        """
        case, run = self.case(), self.run
        if case is None or run is None:
            return None
        group = self.current_group if self.triage.by is GroupBy.REASON else None
        return ShownCase(
            case,
            annotation=self.annotation,
            model=run.manifest.model,
            simulated=run.manifest.simulated,
            alike=group.count if group is not None else 0,
            views=self.views,
            view=self.view,
            style=self.style,
            suite_view=self.suite_view,
            words=next(iter(self.triage.narrow.words), ""),
            rollouts=lambda: self.rollouts,
            report=lambda: self._loader.report(run),
            judging=lambda: judging_of(run.manifest, self.rollouts, self.triage.annotations),
        )

    @property
    def judge_name(self) -> str:
        """The model that judges the run, or would; empty: there is none."""
        return judge_name(self.run.manifest) if self.run is not None else ""

    def prefetch(self) -> None:
        """Read and compare the cases next to the current one."""
        if self.run is not None and self.current is not None:
            self._loader.prefetch(self.run, [rollout.key for rollout in self.triage.around(self.rollout)])

    @property
    def views(self) -> Sequence[CaseView]:
        """The views that the current case has."""
        rollout = self.rollout
        views = self.suite_view.case_views(STANDARD_VIEWS)
        return [view for view in views if rollout is not None and view.exists_for(rollout)]

    @property
    def view(self) -> CaseView:
        """The view that is shown; it stays when the reader goes to a case that has nothing to show in it."""
        views = self.suite_view.case_views(STANDARD_VIEWS)
        return next((view for view in views if view.id == self._view_id), views[0])

    def show_view(self, view_id: str) -> None:
        self._view_id = view_id
        self._stale |= Stale.CASE

    def toggle_view(self, view_id: str) -> None:
        """Show a view that the current case has, or the first one again."""
        if any(view.id == view_id for view in self.views):
            self.show_view(STANDARD_VIEWS[0].id if self._view_id == view_id else view_id)

    def step_view(self, by: int) -> None:
        """Show the view so many tabs on."""
        ids = [view.id for view in self.views]
        if ids:
            place = ids.index(self._view_id) if self._view_id in ids else 0
            self.show_view(ids[(place + by) % len(ids)])

    def restyle(self, **changes: Any) -> None:
        """Lay the difference out in another way."""
        self.style = replace(self.style, **changes)
        self._stale |= Stale.CASE


def _note_value(annotation: Annotation, kind: str) -> str:
    """Return the value of the note that stands, for undo."""
    if kind == "reviewed":
        return "yes" if annotation.reviewed else ""
    return {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute}[kind]
