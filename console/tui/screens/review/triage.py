"""The list of Review: failures in groups, one group unfolded at a time, in an order that stays while one reads.

Holds what is listed and where the reader is; draws nothing. The group of the current case is unfolded, the others are
one line each, so that all reasons stay in sight. Groups keep their place when new failures arrive; new ones come last.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from console.core.annotation import NO_ANNOTATION, Annotation
from console.insight.failures import Group, GroupBy, group, in_order
from console.insight.filter import Filter, read_filter
from console.insight.rollout import Rollout, Slot
from console.tui.render.rollout_rows import row_key

FAILURES = "is:failed,broken,undecided"
"""What Review opens on."""
_HEAD, _TOP = "g", "p"
_JOINT = "\x1f"


@dataclass(frozen=True, slots=True)
class Head:
    """The line of one group."""

    group: Group
    is_open: bool
    depth: int
    """0 for a group of its own or one that has subgroups, 1 for a subgroup."""
    is_top: bool = False
    """Whether it only sums up subgroups."""
    top_label: str = ""
    """Label of the group above a subgroup."""


class Triage:
    """Filters, groups and orders rollouts, and knows which group is unfolded."""

    def __init__(self) -> None:
        """List failures by reason."""
        self.by = GroupBy.REASON
        self.home = FAILURES
        """What is listed unless the reader chooses something else."""
        self.scope = read_filter(FAILURES)
        self.narrow = Filter()
        """What the reader typed besides the scope."""
        self.annotations: Mapping[Slot, Annotation] = {}
        """What readers say."""
        self.matches: Mapping[Slot, Collection[str]] = {}
        """Free texts of the filter that a conversation holds."""
        self.groups: list[Group] = []
        self.order: list[Rollout] = []
        """Everything listed, in reading order."""
        self.open_path: tuple[str, ...] = ()
        self.heads: dict[str, Head] = {}
        self._places: dict[tuple[str, ...], int] = {}
        self._of_path: dict[tuple[str, ...], Group] = {}
        self._of_slot: dict[Slot, tuple[str, ...]] = {}
        self._place_of_slot: dict[Slot, int] = {}

    def refresh(self, rollouts: Iterable[Rollout]) -> None:
        """Group and filter anew; groups that are known keep their order."""
        kept = self._kept(rollouts)
        tags = {slot: annotation.tag for slot, annotation in self.annotations.items()} if self.by is GroupBy.TAG else {}
        groups = group(kept, self.by, tags)
        self.groups = self._in_known_order(groups)
        for top in self.groups:
            top.parts = self._in_known_order(top.parts)
        self.order = in_order(self.groups)
        leaves = [leaf for top in self.groups for leaf in top.leaves]
        self._of_path = {leaf.path: leaf for leaf in leaves}
        self._of_slot = {rollout.slot: leaf.path for leaf in leaves for rollout in leaf.rollouts}
        self._place_of_slot = {rollout.slot: place for place, rollout in enumerate(self.order)}

    def _kept(self, rollouts: Iterable[Rollout]) -> list[Rollout]:
        """Return what the filter leaves; by repeats, a case of which it leaves one is shown with all its rollouts."""
        if self.by is not GroupBy.REPEATS:
            return [rollout for rollout in rollouts if self._keeps(rollout)]
        listed = list(rollouts)
        cases = {rollout.key.case for rollout in listed if self._keeps(rollout)}
        return [rollout for rollout in listed if rollout.key.case in cases]

    def _keeps(self, rollout: Rollout) -> bool:
        annotation = self.annotation(rollout.slot)
        matches = self.matches.get(rollout.slot, ())
        return self.scope.keeps(rollout, annotation) and self.narrow.keeps(rollout, annotation, matches)

    def annotation(self, slot: Slot) -> Annotation:
        """Return what readers say of a case."""
        return self.annotations.get(slot, NO_ANNOTATION)

    def settle_on(self, home: str) -> None:
        """List something else by default; what the reader has chosen stays."""
        if self.home != home:
            was_home = self.scope.text == self.home
            self.home = home
            self.scope = read_filter(home) if was_home else self.scope

    def regroup(self, by: GroupBy) -> None:
        """Group by something else from the next refresh on."""
        self.by, self.open_path, self._places = by, (), {}

    def forget_order(self) -> None:
        """Let the largest groups come first again at the next refresh."""
        self._places = {}

    def _in_known_order(self, groups: list[Group]) -> list[Group]:
        for each in groups:
            self._places.setdefault(each.path, len(self._places))
        return sorted(groups, key=lambda each: (each.rank, self._places[each.path]))

    # Rows ------------------------------------------------------------------------------------------------------------

    def rows(self, *, with_tops: bool = True) -> tuple[list[str], set[str]]:
        """Return the keys of all rows in order, and those the cursor passes over.

        Args:
            with_tops: whether groups with several subgroups have a line of their own.
        """
        self.heads = {}
        keys: list[str] = []
        fixed: set[str] = set()
        if self.by is GroupBy.NONE:
            return [row_key(rollout.slot) for rollout in self.order], fixed
        for top in self.groups:
            has_top = with_tops and (len(top.parts) > 1 or self.by is GroupBy.REPEATS)
            if has_top:
                fixed.add(self._add_head(keys, _TOP, Head(top, True, 0, is_top=True)))
            for leaf in top.leaves:
                is_open = leaf.path == self.open_path
                label = top.label if leaf is not top else ""
                head = self._add_head(keys, _HEAD, Head(leaf, is_open, int(has_top), top_label=label))
                if is_open:
                    fixed.add(head)
                    keys += [row_key(rollout.slot) for rollout in leaf.rollouts]
        return keys, fixed

    def _add_head(self, keys: list[str], kind: str, head: Head) -> str:
        key = kind + _JOINT + _JOINT.join(head.group.path)
        self.heads[key] = head
        keys.append(key)
        return key

    def open_group_of(self, slot: Slot) -> bool:
        """Unfold the group of a case; say whether that changed anything."""
        path = self._of_slot.get(slot)
        if path is None or path == self.open_path:
            return False
        self.open_path = path
        return True

    def group_of(self, slot: Slot) -> Group | None:
        """Return the lowest group of a case."""
        path = self._of_slot.get(slot)
        return self._of_path.get(path) if path is not None else None

    # Places ----------------------------------------------------------------------------------------------------------

    def place_of(self, slot: Slot | None) -> int:
        """Return the number, from 1, of a case in reading order; 0 when it is not listed."""
        return 0 if slot is None else self._place_of_slot.get(slot, -1) + 1

    def step(self, slot: Slot | None, by: int) -> Rollout | None:
        """Return the case so many places on in reading order; None at the end."""
        place = self.place_of(slot) - 1
        if place < 0:
            return (self.order[0] if by > 0 else self.order[-1]) if self.order else None
        target = place + by
        return self.order[target] if 0 <= target < len(self.order) else None

    def around(self, slot: Slot, reach: int = 2) -> list[Rollout]:
        """Return the cases next to one in reading order, the following ones first."""
        place = self.place_of(slot) - 1
        after = self.order[place + 1 : place + 1 + reach]
        return after + self.order[max(place - reach, 0) : max(place, 0)][::-1]

    @property
    def listed(self) -> int:
        """How many rollouts are listed; by repeats, how many cases."""
        if self.by is not GroupBy.REPEATS:
            return len(self.order)
        return sum(len(top.parts) for top in self.groups)

    @property
    def seen(self) -> int:
        """How many of those listed a reader has dealt with."""
        return sum(self.annotation(rollout.slot).is_seen for rollout in self.order)

    def first_unseen(self) -> Rollout | None:
        """Return the first listed case nobody has dealt with, or the first; what the filter leaves goes first."""
        listed = [rollout for rollout in self.order if self._keeps(rollout)] or self.order
        first = listed[0] if listed else None
        return next((rollout for rollout in listed if not self.annotation(rollout.slot).is_seen), first)
