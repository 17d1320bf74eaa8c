"""`CaseCursor`: the current case of Review, and the moves through the list."""

from collections.abc import Callable, Sequence

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Key, Slot
from console.insight.failures import Group
from console.insight.rollout import Rollout
from console.tui.render.rollout_rows import slot_of
from console.tui.screens.review.case_loader import ReviewedRun
from console.tui.screens.review.stale import Stale
from console.tui.screens.review.triage import Triage


class CaseCursor:
    """Follows the list until the user moves it; then it stays on its case."""

    def __init__(self, triage: Triage, mark_stale: Callable[[Stale], None], requested: Slot | None) -> None:
        """Start with no current case.

        Args:
            triage: the list.
            mark_stale: called with the parts of the screen that a move makes stale.
            requested: the first case to show; None for the first that is not reviewed.
        """
        self.run: ReviewedRun | None = None
        self.slot: Slot | None = None
        self.requested = requested
        self.is_moved = False
        """True if the user has moved the cursor, so that new data no longer moves it."""
        self._triage, self._mark_stale = triage, mark_stale
        self._left: Slot | None = None
        """The case that a filter removed from the list; the cursor returns to it once it is listed again."""

    def rollout_of(self, slot: Slot | None) -> Rollout | None:
        """Return a rollout of the run, if read so far."""
        return self.run.overview.rollouts.get(slot) if self.run is not None and slot is not None else None

    @property
    def rollout(self) -> Rollout | None:
        return self.rollout_of(self.slot)

    @property
    def row(self) -> str | None:
        """Key of the row under the cursor."""
        rollout = self.rollout
        return self._triage.key_of(rollout) if rollout is not None else None

    @property
    def annotation(self) -> Annotation:
        return self._triage.annotation(self.slot) if self.slot is not None else NO_ANNOTATION

    @property
    def group(self) -> Group | None:
        """The group of the current case, such as its reason."""
        return self._triage.section_of(self.rollout)

    # Following the list ----------------------------------------------------------------------------------------------

    @property
    def missing_case(self) -> str:
        """The requested case if the run has been read and lacks it; otherwise empty."""
        slot, run = self.requested, self.run
        if slot is None or run is None or not run.is_read or slot in run.overview.rollouts:
            return ""
        return str(Key(*slot))

    def follow_list(self, *, is_whole: bool) -> None:
        """Move to the case to show in a new list, or leave a case that is no longer listed."""
        target = self._triage.first_unseen() if self.requested is None else self.rollout_of(self.requested)
        is_gone = is_whole and self.run is not None and self.run.is_read and not self._triage.place_of(target)
        if target is not None and not is_gone and (self.slot is None or not self.is_moved):
            self.go(target)
        elif is_whole and not self._triage.place_of(self.rollout):
            self._leave_unlisted()
        elif is_whole:
            self._return()
        self._triage.open_group_of(self.rollout)

    def _leave_unlisted(self) -> None:
        """Move from the current case, which is no longer listed, to the first that is."""
        left, first = self._left or self.slot, self._triage.first_unseen()
        if first is not None:
            self.go(first)
        else:
            self.slot = None
            self._mark_stale(Stale.CASE)
        self._left = left
        self._return()

    def _return(self) -> None:
        """Return to the case that a filter removed, if it is listed again."""
        rollout = self.rollout_of(self._left)
        if rollout is not None and self._triage.place_of(rollout):
            self.go(rollout)

    # Moves -----------------------------------------------------------------------------------------------------------

    def go(self, rollout: Rollout | None) -> None:
        """Select a case and unfold its group; None does nothing."""
        if rollout is None:
            return
        self.slot, self._left = rollout.slot, None
        is_opened = self._triage.open_group_of(rollout)
        is_hidden = self._triage.selected(rollout)[0].slot != rollout.slot
        if (is_hidden and self._triage.unfold(rollout)) or is_opened:
            self._mark_stale(Stale.LIST)
        self._mark_stale(Stale.CASE)

    def unfold(self) -> bool:
        """List the repeats of the current case; return False if it has no other, or they are listed."""
        if not self._triage.unfold(self.rollout):
            return False
        self._mark_stale(Stale.LIST | Stale.CASE)
        return True

    def fold(self) -> bool:
        """Hide the repeats of the current case, which becomes current itself; return False if none are listed."""
        if not self._triage.fold():
            return False
        if self.rollout is not None:
            self.slot = self._triage.selected(self.rollout)[0].slot
        self._mark_stale(Stale.LIST | Stale.CASE)
        return True

    def enter_row(self, key: str) -> None:
        """Move to a row: a case, or a folded group, which unfolds."""
        head = self._triage.heads.get(key)
        if head is not None:
            if key == self.row:
                return
            self.is_moved = True
            first, last = _ends_of(head.group.leaves)
            is_going_up = self._triage.place_of(first) < self._triage.place_of(self.rollout)
            self.go(last if is_going_up else first)
        elif self.run is not None and slot_of(key) != self.slot:
            self.is_moved = True
            self.go(self.rollout_of(slot_of(key)))

    def step(self, by: int) -> bool:
        """Move by N cases in reading order; return False at the end."""
        self.is_moved = True
        rollout = self._triage.step(self.rollout, by)
        self.go(rollout)
        return rollout is not None

    def go_to_end(self, place: int) -> None:
        """Move to the first (0) or last (-1) case in reading order."""
        if self._triage.order:
            self.is_moved = True
            self.go(_ends_of(self._triage.leaves)[place])

    def step_group(self, by: int) -> None:
        """Move to the first case of another group."""
        self.is_moved = True
        sections, current = self._triage.sections, self.group
        places = {section.path: place for place, section in enumerate(sections)}
        target = places.get(current.path if current is not None else (), -by) + by
        if 0 <= target < len(sections):
            self.go(_ends_of(sections[target].leaves)[0])


def _ends_of(leaves: Sequence[Group]) -> tuple[Rollout, Rollout]:
    """Return the first and last rollouts of groups; for a group that is a case, the rollout that its row shows."""
    if leaves[0].is_case:
        return leaves[0].lead, leaves[-1].lead
    return leaves[0].rollouts[0], leaves[-1].rollouts[-1]
