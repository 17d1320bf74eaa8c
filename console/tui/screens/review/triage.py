"""`Triage`: the list of Review, in groups with a stable order.

Holds the list and its filters; draws nothing. Only the group of the current case is unfolded, so that all reasons stay
visible. Groups keep their position when new failures arrive; new groups are appended.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import overload

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.insight.failures import Group, GroupBy, possible_grouping
from console.insight.filter import Filter, read_filter
from console.insight.rollout import Rollout
from console.insight.rollouts import RolloutList
from console.insight.sort_orders import BY_ID, Sorting
from console.tui.render.rollout_rows import repeat_words, row_key, slot_of
from console.tui.screens.review.listing import WHOLE_CASES, GroupPath, Listing, ListRequest

FAILURES = "is:failed,broken,undecided"
"""Initial filter of Review."""
_HEAD, _TOP = "g", "p"
_JOINT = "\x1f"


@dataclass(frozen=True, slots=True)
class Head:
    """The line of one group."""

    group: Group
    is_open: bool
    depth: int
    """Number of its parents that have a line above it."""
    is_top: bool = False
    """True if the line is only a heading for subgroups."""
    repeats: int = 1
    """Planned rollouts of each case."""
    folds: bool = False
    """True if it unfolds to cases."""


class Triage:
    """The list, its filters and the unfolded group."""

    def __init__(self) -> None:
        """Start with failures by reason."""
        self.by = self._chosen = GroupBy.REASON
        self.repeats = 1
        """Planned rollouts of each case."""
        self.home = FAILURES
        """Default scope."""
        self.scope = read_filter(FAILURES)
        self.narrow = Filter()
        """The user's text filter, in addition to the scope."""
        self.annotations: Mapping[Slot, Annotation] = {}
        self.matches: Mapping[str, Container[Rollout]] = {}
        """Rollouts in whose conversations a free text of the filter occurs, by text."""
        self.sorting: Sorting | None = None
        """Order within a group; None for the order of the run."""
        self.contested: Collection[str] = ()
        """Cases whose key is wrong or ambiguous by the suite's errata."""
        self.open_path: GroupPath = ()
        self.shows_repeats = False
        """True if the case of `open_path` is unfolded to its repeats."""
        self.heads: dict[str, Head] = {}
        self._listing = Listing()
        self._group_places: Mapping[GroupPath, int] = {}

    def request(self) -> ListRequest:
        """Return a request for the current filters and grouping."""
        if (by := possible_grouping(self._chosen, self.annotations)) is not self.by:
            self.by, self.open_path = by, ()
            self.forget_order()
        return ListRequest(
            self.by,
            self.scope,
            self.narrow,
            self.annotations,
            self.matches,
            self._group_places,
            self.repeats,
            self.sorting,
            self.contested,
        )

    def use_listing(self, listing: Listing) -> None:
        self._listing = listing
        if listing.is_whole:  # partial lists may have another order of groups
            self._group_places = listing.group_places

    @property
    def groups(self) -> Sequence[Group]:
        return self._listing.groups

    @property
    def leaves(self) -> Sequence[Group]:
        """The lowest groups, in order."""
        return self._listing.leaves

    @property
    def order(self) -> RolloutList:
        """All listed rollouts in reading order."""
        return self._listing.order

    def annotation(self, slot: Slot) -> Annotation:
        return self.annotations.get(slot, NO_ANNOTATION)

    def list_everything(self) -> None:
        """Make all rollouts the default scope; keep a scope chosen by the user."""
        if self.scope.text == self.home:
            self.scope = read_filter("")
        self.home = ""

    def regroup(self, by: GroupBy) -> None:
        """Set the grouping of the next list."""
        self.by = self._chosen = by
        self.open_path, self._group_places = (), {}

    def forget_order(self) -> None:
        """Sort groups by size again in the next list."""
        self._group_places = {}

    # Rows ------------------------------------------------------------------------------------------------------------

    def rows(self, by_slot: Mapping[Slot, Rollout]) -> "Rows":
        """Return all rows in order."""
        self.heads = {}
        if self.by is GroupBy.NONE and not self.has_cases:
            return Rows([], self.order, [], frozenset(), self._listing, by_slot)
        before: list[str] = []
        after: list[str] = []
        members: Sequence[Rollout] = ()
        fixed: set[str] = set()
        keys, depth = before, 0
        for head in self._heads(self.groups, 0):
            key = (_TOP if head.is_top else _HEAD) + _JOINT + _JOINT.join(head.group.path)
            self.heads[key] = head
            keys.append(key)
            if head.is_open:
                fixed.add(key)
            if head.is_open and not head.is_top:
                members, keys, depth = head.group.rollouts, after, head.depth
        repeats = members if self.has_cases else ()
        longest = max((len(repeat_words(rollout.key)) for rollout in repeats), default=0)
        return Rows(before, members, after, fixed, self._listing, by_slot, depth, longest_repeat=longest)

    def _heads(self, groups: Sequence[Group], depth: int) -> Iterator[Head]:
        """Yield the lines of groups and of those below them, without the cases of reasons other than the open one."""
        for each in groups:
            folds = each.has_cases and self.by not in WHOLE_CASES
            if not each.parts or (folds and self.open_path[:-2] != each.path):
                is_open = each.path == self.open_path and (self.shows_repeats or not each.is_case)
                yield Head(each, is_open, depth, repeats=self.repeats)
            elif self.by is GroupBy.NONE:
                yield from self._heads(each.parts, depth)
            else:
                yield Head(each, True, depth, is_top=True, folds=folds)
                yield from self._heads(each.parts, depth + 1)

    def open_group_of(self, rollout: Rollout | None) -> bool:
        """Unfold the group of a case; return whether that changed anything."""
        leaf = self._listing.leaf_of(rollout)
        if leaf is None or leaf.path == self.open_path:
            return False
        self.open_path, self.shows_repeats = leaf.path, False
        return True

    def key_of(self, rollout: Rollout) -> str:
        """Return the key of the row that shows a rollout: of its case while that is folded."""
        leaf = self.group_of(rollout)
        if leaf is None or not leaf.is_case or (self.shows_repeats and leaf.path == self.open_path):
            return row_key(rollout.slot)
        return _HEAD + _JOINT + _JOINT.join(leaf.path)

    def unfold(self, rollout: Rollout | None) -> bool:
        """List the repeats of a rollout's case; return False if it has no other, or they are listed."""
        leaf = self.group_of(rollout)
        if leaf is None or not leaf.is_case or leaf.count == 1 or self.shows_repeats:
            return False
        self.open_path, self.shows_repeats = leaf.path, True
        return True

    def fold(self) -> bool:
        """Hide the repeats; return False if none are listed."""
        was_open, self.shows_repeats = self.shows_repeats, False
        return was_open

    def selected(self, rollout: Rollout) -> Sequence[Rollout]:
        """Return the rollouts behind a rollout's row: the failures of its case if it is folded, or itself."""
        leaf = self.group_of(rollout)
        is_folded = leaf is not None and leaf.is_case and not self.shows_repeats
        return leaf.telling if leaf is not None and is_folded else [rollout]

    def sorted_by(self, rollout: Rollout) -> str:
        """Return a case's value in the sorted column; empty if the row shows it anyway."""
        return self.sorting.shown(rollout, self._listing.passes) if self.sorting is not None else ""

    @property
    def shows_values(self) -> bool:
        """True if rows have the value by which they are sorted."""
        return self.sorting is not None and self.sorting.column != BY_ID

    def group_of(self, rollout: Rollout | None) -> Group | None:
        return self._listing.leaf_of(rollout)

    @property
    def sections(self) -> Sequence[Group]:
        """The groups to step through: the lowest ones, except that reasons are not divided into their cases."""
        if self.by is GroupBy.REPEATS:
            return self._listing.leaves
        return [section for top in self.groups for section in top.sections]

    def section_of(self, rollout: Rollout | None) -> Group | None:
        leaf = self.group_of(rollout)
        if leaf is None or not leaf.is_case or self.by is GroupBy.REPEATS:
            return leaf
        tops = (top for top in self.groups if top.path == leaf.path[: len(top.path)])
        return next(section for top in tops for section in top.sections if section.path == leaf.path[:-2])

    # Places ----------------------------------------------------------------------------------------------------------

    def place_of(self, rollout: Rollout | None) -> int:
        """Return the position of a rollout in reading order, from 1; 0 if it is not listed."""
        return self._listing.place_of(rollout)

    def item_of(self, rollout: Rollout | None) -> int:
        """Return the position of a rollout's row among the `items`, from 1; 0 if it is not listed."""
        place = self.place_of(rollout)
        return self._listing.leaf_number_of(rollout) + 1 if place and self.has_cases else place

    @property
    def items(self) -> int:
        """Number of rows that are stepped through: cases with their repeats, otherwise rollouts."""
        return self._listing.items

    def step(self, rollout: Rollout | None, by: int) -> Rollout | None:
        """Return the rollout N rows away in reading order, the first failure of a folded case; None at the end."""
        order, place = self.order, self.place_of(rollout) - 1
        leaf, leaves = self.group_of(rollout), self._listing.leaves
        if leaf is not None and leaf.is_case:
            if self.shows_repeats and 0 <= place + by < len(order) and self.group_of(order[place + by]) is leaf:
                return order[place + by]
            number = self._listing.leaf_number_of(rollout) + by
            return leaves[number].lead if 0 <= number < len(leaves) else None
        if place < 0:
            return (order[0] if by > 0 else order[-1]) if order else None
        target = place + by
        return order[target] if 0 <= target < len(order) else None

    def next_to_review(self, rollout: Rollout) -> Rollout | None:
        """Return the rollout of the next row, passing over the repeats of an unfolded case that did not fail."""
        leaf, following = self.group_of(rollout), self.step(rollout, 1)
        if leaf is None or not leaf.is_case or not leaf.lead.is_failure:
            return following
        while following is not None and self.group_of(following) is leaf and not following.is_failure:
            following = self.step(following, 1)
        return following

    def around(self, rollout: Rollout | None, reach: int = 2) -> list[Rollout]:
        """Return the neighbors of a case in reading order, following ones first."""
        if self.has_cases:
            steps = (*range(1, reach + 1), *range(-1, -reach - 1, -1))
            return [near for by in steps if (near := self.step(rollout, by)) is not None]
        place = self.place_of(rollout) - 1
        after = self.order[place + 1 : place + 1 + reach]
        return [*after, *reversed(self.order[max(place - reach, 0) : max(place, 0)])]

    @property
    def listed(self) -> int:
        """Number of listed rollouts, or of cases if they are groups."""
        return len({leaf.path[-2:] for leaf in self._listing.leaves}) if self.has_cases else len(self.order)

    @property
    def outcomes(self) -> Mapping[str | None, int]:
        return self._listing.outcomes

    @property
    def has_cases(self) -> bool:
        """True if cases are groups of their repeats."""
        return self._listing.has_cases

    @property
    def lists_whole_cases(self) -> bool:
        """True if a listed case has all of its rollouts, not only those of a group."""
        return self.has_cases and self.by in WHOLE_CASES

    @property
    def seen(self) -> int:
        """Number of `items` that the user has dealt with."""
        return self._listing.seen

    def first_unseen(self) -> Rollout | None:
        """Return the first unseen case that matches the filter, or else the first."""
        return self._listing.first_unseen


class Rows(Sequence[str]):
    """Keys of the rows: lines of groups, with the cases of the unfolded group in between.

    Keys of cases are created on access, since a group may have a hundred thousand.
    """

    def __init__(
        self,
        before: Sequence[str],
        members: Sequence[Rollout],
        after: Sequence[str],
        fixed: AbstractSet[str],
        listing: Listing,
        by_slot: Mapping[Slot, Rollout],
        depth: int = 0,
        *,
        longest_repeat: int = 0,
    ) -> None:
        """Insert cases, or the repeats of one, between the group lines, below a line of this depth.

        The cursor skips the `fixed` lines. `longest_repeat` is the width of the longest name of a repeat, 0 for cases.
        """
        self.fixed, self.depth, self.longest_repeat = fixed, depth, longest_repeat
        self._before, self._members, self._after = before, members, after
        self._listing, self._by_slot = listing, by_slot
        self._places = {key: place for place, key in enumerate(before)}
        self._places |= {key: place for place, key in enumerate(after, len(before) + len(members))}

    def __len__(self) -> int:
        return len(self._before) + len(self._members) + len(self._after)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index if index >= 0 else index + len(self)
        if place < len(self._before):
            return self._before[place]
        place -= len(self._before)
        return (
            row_key(self._members[place].slot)
            if place < len(self._members)
            else self._after[place - len(self._members)]
        )

    def place_of(self, key: str) -> int | None:
        """Return the zero-based position of a key, or None."""
        if (place := self._places.get(key)) is not None or not self._members or key.startswith((_HEAD, _TOP)):
            return place
        rollout = self._by_slot.get(slot_of(key))
        first = self._listing.place_of(self._members[0])
        offset = self._listing.place_of(rollout) - first
        return len(self._before) + offset if rollout is not None and 0 <= offset < len(self._members) else None
