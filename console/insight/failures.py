"""Failures in groups and in reading order.

Groups have at most two levels, reason, then subject; runs that play cases several times have cases below. Model
failures come before machinery failures, then larger groups first, ties in run order; the order is therefore stable.
Cases within a group stay in run order.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from operator import attrgetter

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.core.outcome import BLAME_PREFIX, Outcome
from console.core.tally import group_reason
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.insight.rollouts import RolloutList

_RANKS: dict[Outcome | None, int] = {Outcome.FAILED: 0, Outcome.UNDECIDED: 1, Outcome.BROKEN: 2}
_LAST = 3
FLAKY = "flaky"
_FAILED, _FAILED_SO_FAR = "always failed", "failed so far"
_PASSED, _PASSED_SO_FAR = "always passed", "passed so far"
_UNGRADED = "without a grade"
_KINDS = (FLAKY, _FAILED, _FAILED_SO_FAR, _PASSED, _PASSED_SO_FAR, _UNGRADED)
"""Consistency of a case's rollouts, in order of display."""


class GroupBy(StrEnum):
    """Property to group by."""

    REASON = "reason"
    ERROR = "error"
    """Official error type, as recorded."""
    PARAMETER = "parameter"
    """Argument, variable or call named by the grader."""
    CATEGORY = "category"
    FUNCTION = "function"
    OUTCOME = "outcome"
    TAG = "tag"
    LABEL = "label"
    """Cause of failure according to a model."""
    REPEATS = "repeats"
    """Consistency: all, some or none of a case's rollouts passed; each case is a subgroup."""
    BLAME = "blame"
    """Party at fault: by people's labels, else by decisions on keys, else by the suite's rules."""
    NONE = "none"


@dataclass(slots=True)
class Group:
    """Rollouts that share a property."""

    path: tuple[str, ...]
    """Identifier: recorded values from the top level down. Untrusted text."""
    label: str
    """Display name: our words for a known reason, else untrusted text."""
    rollouts: RolloutList
    """Members in run order, including those of subgroups."""
    parts: list["Group"] = field(default_factory=list["Group"])
    """Subgroups, largest first; the last one collects subjects that occur once."""
    is_case: bool = False
    """True if all members are rollouts of one case."""
    subject: str = ""
    """Subject shared by all members if they are not divided by subject. Untrusted text."""
    cases: int = 0
    """Number of its cases if they are groups at its lowest level, otherwise 0."""

    @property
    def has_cases(self) -> bool:
        return bool(self.parts) and self.parts[0].is_case

    @property
    def count(self) -> int:
        return len(self.rollouts)

    @property
    def size(self) -> int:
        """Number of its cases if they are groups, else of its rollouts."""
        return self.cases or self.count

    @property
    def rank(self) -> int:
        """Sort rank by kind of outcome: 0 model failure, then undecided, broken, everything else."""
        rank = _LAST
        for rollout in self.rollouts.kinds():  # usually the first decides
            if (rank := min(rank, _rank(rollout))) == 0:
                break
        return rank

    @property
    def telling(self) -> RolloutList:
        """Failures of the group; all of its rollouts if none failed."""
        pairs = zip(self.rollouts.numbers, self.rollouts.kinds(), strict=True)
        return self.rollouts.pick(number for number, kind in pairs if kind.is_failure) or self.rollouts

    @property
    def lead(self) -> Rollout:
        """First failure of the group; its first rollout if none failed."""
        failing = (place for place, kind in enumerate(self.rollouts.kinds()) if kind.is_failure)
        return self.rollouts[next(failing, 0)]

    @property
    def leaves(self) -> list["Group"]:
        """Lowest-level groups in order; the group itself if it has no subgroups."""
        if self.has_cases:
            return self.parts
        return [leaf for part in self.parts for leaf in part.leaves] or [self]

    @property
    def sections(self) -> list["Group"]:
        """Lowest-level groups in order, except that they are not divided into cases."""
        if self.has_cases:
            return [self]
        return [section for part in self.parts for section in part.sections] or [self]


def possible_grouping(by: GroupBy, annotations: Mapping[Slot, Annotation]) -> GroupBy:
    """Return the grouping; reasons replace labels where no case has a label."""
    is_empty = by is GroupBy.LABEL and not any(annotation.label for annotation in annotations.values())
    return GroupBy.REASON if is_empty else by


def group(
    rollouts: Iterable[Rollout],
    by: GroupBy,
    annotations: Mapping[Slot, Annotation] | None = None,
    *,
    repeats: int = 1,
    contested: Collection[str] = (),
) -> list[Group]:
    """Group rollouts in run order; tags, labels and blame need annotations, blame also the contested cases."""
    listed = RolloutList.of(rollouts)
    if by is GroupBy.NONE:
        return [Group(("",), "all", listed)] if listed else []
    if by is GroupBy.REPEATS:
        return _by_repeats(listed, repeats)
    groups = _collect(listed, _readers(annotations or {}, contested)[by], (), of_kind=by in _OF_KIND)
    if by is GroupBy.REASON:
        for part in groups:
            _divide(part)
        groups.sort(key=lambda part: part.rank)
    return groups


def _by_repeats(rollouts: RolloutList, repeats: int) -> list[Group]:
    """Group rollouts by case, and cases by consistency, flaky ones first."""
    kinds: dict[str, Group] = {}
    for (category, case), members in _cases(rollouts).items():
        label = _steadiness(members, repeats)
        if label not in kinds:
            kinds[label] = Group((label,), label, rollouts.pick(()))
        kinds[label].parts.append(Group((label, category, case), case, members, is_case=True))
        kinds[label].rollouts.numbers.extend(members.numbers)
    for kind in kinds.values():
        kind.cases = len(kind.parts)
    return [kinds[label] for label in _KINDS if label in kinds]


def _cases(rollouts: RolloutList) -> dict[tuple[str, str], RolloutList]:
    """Divide rollouts by category and case."""
    members = defaultdict[str, "array[int]"](partial(array, "I"))
    for number, case in zip(rollouts.numbers, rollouts.cases(), strict=True):
        members[case].append(number)
    kind_at = rollouts.rollouts.kind_at
    return {(kind_at(numbers[0]).category, case): rollouts.pick(numbers) for case, numbers in members.items()}


def with_cases(groups: Iterable[Group]) -> list[Group]:
    """Return the groups with the lowest ones divided into their cases, for runs that play cases several times."""
    return [_with_cases(each) for each in groups]


def _with_cases(whole: Group) -> Group:
    if whole.parts:
        parts = with_cases(whole.parts)
        cases = len({leaf.path[-2:] for part in parts for leaf in part.leaves})
    else:
        members = _cases(whole.rollouts)
        parts = [Group((*whole.path, *names), names[1], of, is_case=True) for names, of in members.items()]
        cases = len(parts)
    rollouts = whole.rollouts.pick(chain.from_iterable(part.rollouts.numbers for part in parts))
    return replace(whole, rollouts=rollouts, parts=parts, cases=cases)


def _steadiness(members: RolloutList, repeats: int) -> str:
    outcomes = members.count_by(attrgetter("outcome"))
    passed = outcomes[Outcome.PASSED]
    graded = sum(count for outcome, count in outcomes.items() if outcome is not None and outcome.is_graded)
    if not graded:
        return _UNGRADED
    if 0 < passed < graded:
        return FLAKY
    is_over = len(members) - outcomes[None] >= repeats
    return (_PASSED if is_over else _PASSED_SO_FAR) if passed else (_FAILED if is_over else _FAILED_SO_FAR)


def in_order(groups: Sequence[Group]) -> RolloutList:
    """Return all members in reading order, depth first."""
    source = groups[0].rollouts if groups else RolloutList.of(())
    numbers = source.pick(()).numbers
    for part in groups:
        for leaf in part.leaves:
            numbers.extend(leaf.rollouts.numbers)
    return source.pick(numbers)


def _rank(rollout: Rollout) -> int:
    """Rank an outcome; a passed rollout with a reason is a loop that ended, the usual result in such runs."""
    if rollout.outcome is Outcome.PASSED and rollout.reason:
        return 0
    return _RANKS.get(rollout.outcome, _LAST)


_OF_KIND = (GroupBy.REASON, GroupBy.ERROR, GroupBy.PARAMETER, GroupBy.CATEGORY, GroupBy.OUTCOME)
"""Groupings that read only fields shared by all rollouts of a kind."""
Reader = Callable[[Rollout], tuple[str, str]]
"""Returns a group's key and label."""


def _readers(annotations: Mapping[Slot, Annotation], contested: Collection[str]) -> dict[GroupBy, Reader]:
    return {
        GroupBy.REASON: _by_reason,
        GroupBy.ERROR: lambda rollout: (rollout.reason, rollout.reason or "no error type"),
        GroupBy.PARAMETER: lambda rollout: (rollout.subject, rollout.subject or "no parameter named"),
        GroupBy.CATEGORY: lambda rollout: (rollout.category, rollout.category or "no category"),
        GroupBy.FUNCTION: lambda rollout: (rollout.function, rollout.function or "no function called"),
        GroupBy.OUTCOME: _by_outcome,
        GroupBy.BLAME: lambda rollout: _by_blame(
            rollout, annotations.get(rollout.slot, NO_ANNOTATION), rollout.key.case in contested
        ),
        GroupBy.TAG: lambda rollout: _by_tag(annotations.get(rollout.slot, NO_ANNOTATION)),
        GroupBy.LABEL: lambda rollout: _by_label(annotations.get(rollout.slot, NO_ANNOTATION)),
    }


def _by_tag(annotation: Annotation) -> tuple[str, str]:
    return annotation.tag, annotation.tag or "untagged"


def _by_label(annotation: Annotation) -> tuple[str, str]:
    """Keep labels by simulated models separate, because they say nothing about the case."""
    label = annotation.label
    if label is None:
        return "", "not labeled"
    return (f"{label.name} simulated", f"{label.name} (simulated)") if label.simulated else (label.name, label.name)


def _by_reason(rollout: Rollout) -> tuple[str, str]:
    words = reason_words(group_reason(rollout) if rollout.outcome else "", rollout.outcome)
    return words, words


def _by_outcome(rollout: Rollout) -> tuple[str, str]:
    word = rollout.outcome.value.replace("_", " ") if rollout.outcome else "not finished"
    return word, word


def _by_blame(rollout: Rollout, annotation: Annotation, is_contested: bool) -> tuple[str, str]:
    """Return the party at fault; readers' verdicts override decisions on the key, which override the suite's rules."""
    ruled = next((name for name in rollout.scores if name.startswith(BLAME_PREFIX)), "").removeprefix(BLAME_PREFIX)
    readers_passed = annotation.people.passed if annotation.people is not None else None
    if rollout.outcome is Outcome.BROKEN:
        party = "harness"
    elif rollout.outcome is Outcome.FAILED and readers_passed:
        party = "grader"
    elif rollout.outcome is Outcome.FAILED and (is_contested or annotation.dispute):
        party = "task"
    else:
        # a failure confirmed by readers is not the grader's fault, but nothing names another party
        party = "open" if readers_passed is False and ruled == "grader" else ruled
    return party, party or "no blame"


def _by_subject(rollout: Rollout) -> tuple[str, str]:
    return rollout.subject, rollout.subject or "no further detail"


def _divide(whole: Group) -> None:
    """Divide a group by subject; subjects of a single case stay together, so that there are fewer groups than cases."""
    parts = _collect(whole.rollouts, _by_subject, whole.path, of_kind=True)
    large = [part for part in parts if part.path[-1] and _has_several_cases(part.rollouts)]
    if not large or (len(large) == 1 and large[0].count == whole.count):
        whole.subject = large[0].label if large else ""
        return
    kept = {id(part) for part in large}
    small = [part for part in parts if id(part) not in kept]
    if small:
        numbers = {number for part in small for number in part.rollouts.numbers}
        rest = whole.rollouts.pick(number for number in whole.rollouts.numbers if number in numbers)
        label = small[0].label if len(small) == 1 else "others"
        large.append(Group((*whole.path, ""), label, rest))
    whole.parts = large


def _has_several_cases(rollouts: RolloutList) -> bool:
    names = rollouts.cases()
    first = next(names, None)
    return any(name != first for name in names)


def _collect(rollouts: RolloutList, read: Reader, path: tuple[str, ...], *, of_kind: bool) -> list[Group]:
    groups: dict[str, Group] = {}
    numbers_of: dict[int, array[int]] = {}
    """Members of the group of each kind, by identity."""
    for number, rollout in zip(rollouts.numbers, rollouts.kinds() if of_kind else rollouts, strict=True):
        members = numbers_of.get(id(rollout)) if rollout.order < 0 else None
        if members is None:
            value, label = read(rollout)
            if value not in groups:
                groups[value] = Group((*path, value), label, rollouts.pick(()))
            members = groups[value].rollouts.numbers
            if rollout.order < 0:
                numbers_of[id(rollout)] = members
        members.append(number)
    return sorted(groups.values(), key=lambda item: -item.count)
