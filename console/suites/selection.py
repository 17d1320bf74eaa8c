"""Selection of the cases of a run, by the same rules for every suite.

Looks up categories and ids, draws samples and adds prerequisites. Reads no more of a suite than needed: only the
selected categories, and only as many cases as the limit.
"""

import contextlib
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.names import find_name
from console.core.run import Selection
from console.core.suggestion import nearest, suggest
from console.suites.modes import find_mode
from console.suites.suite import Category, Suite

_MOST_COMPARED = 200_000
"""Number of cases after which the search for an earlier selection gives up."""


def select_cases(suite: Suite, selection: Selection, setting: Setting, *, without_last: int = 0) -> list[Case]:
    """Return the selected cases and their prerequisites in the suite's order.

    Without categories or ids, select all cases that support the setting's mode. Ungraded cases do not count toward the
    limit.

    Args:
        suite: the suite.
        selection: names and limits.
        setting: mode and options.
        without_last: number of cases at the end of the suite to leave out.

    Raises:
        UsageError: unknown category or id (suggests a name), duplicate ids, or corrupt data.
    """
    categories = _categories_to_read(suite, selection, setting)
    if categories == []:
        return []
    offered = _OfferedCases(suite, categories, setting, without_last)
    chosen = _limited(_named(offered, selection, suite) if selection.ids else offered, selection)
    return _with_prerequisites(chosen, offered)


def select_planned(suite: Suite, selection: Selection, setting: Setting, truths: str) -> list[Case]:
    """Return the cases of an earlier selection without those added since; as selected now if they have changed.

    Args:
        suite: the suite.
        selection: names and limits.
        setting: mode and options.
        truths: digest of the cases then (`core.grader`); empty if unknown.
    """
    from console.suites.grading import truths_digest  # imported late: lists do not need it

    now = cases = select_cases(suite, selection, setting)
    if not (truths and suite.has_independent_rows):
        return now
    added, compared = 0, 0
    with contextlib.suppress(UsageError):  # without the last cases, one that was named is missing
        while cases and compared <= _MOST_COMPARED:
            if truths_digest(cases) == truths:
                return cases
            added, compared = added + 1, compared + len(cases)
            cases = select_cases(suite, selection, setting, without_last=added)
    return now


def _find_categories(suite: Suite, categories: Sequence[Category], names: Iterable[str]) -> list[str]:
    """Resolve names of categories and groups to distinct categories."""
    own = [category.name for category in categories]
    groups = _groups(suite, categories)
    chosen_names: dict[str, None] = {}
    for name in names:
        own_name = find_name(name, own)
        members = [own_name] if own_name is not None else groups.get(find_name(name, groups) or "", [])
        if not members:
            hint = suggest(name, [*own, *groups], f"It has: {', '.join(own)}.")
            raise UsageError(f"{suite.entry.name} has no category {name!r}", hint=hint)
        chosen_names |= dict.fromkeys(members)
    return list(chosen_names)


def _groups(suite: Suite, categories: Sequence[Category]) -> Mapping[str, list[str]]:
    """Return the available members of each group."""
    own = {category.name for category in categories}
    groups: dict[str, list[str]] = {}
    for category in categories:
        if category.group:
            groups.setdefault(category.group, []).append(category.name)
    for group, names in suite.category_groups().items():
        groups[group] = [name for name in names if name in own]
    return {group: members for group, members in groups.items() if members}


def _categories_to_read(suite: Suite, selection: Selection, setting: Setting) -> list[str] | None:
    """Return the categories to read for a selection; None: all."""
    categories = suite.categories()
    if selection.categories:
        return _find_categories(suite, categories, selection.categories)
    own = [category.name for category in categories]
    if not selection.ids:
        mode = find_mode(suite, None, setting.mode)
        playable = [category.name for category in categories if not category.modes or mode in category.modes]
        return None if playable == own else playable
    named = [name for case_id in selection.ids if (name := suite.category_of(case_id)) is not None]
    if len(named) < len(selection.ids):
        return None
    return list(dict.fromkeys(name if name in own else nearest(name, own) or "" for name in named))


class _OfferedCases:
    """Lazily read cases of some categories, with unique ids."""

    def __init__(self, suite: Suite, categories: list[str] | None, setting: Setting, without_last: int) -> None:
        self._suite, self._categories = suite, None if categories is None else frozenset(categories)
        cases = suite.cases(categories or (), setting)
        if without_last:
            cases = list(cases)[:-without_last]
        self._source = iter(cases)
        self._made: dict[str, Case] = {}

    def __iter__(self) -> Iterator[Case]:
        for case in self._all():
            if self._categories is None or case.category in self._categories:
                yield case

    @property
    def ids(self) -> Collection[str]:
        """Ids of all cases read so far."""
        return self._made.keys()

    def find(self, case_id: str) -> Case | None:
        """Find a case by id, in any category that the suite yields."""
        return self._made.get(case_id) or next((case for case in self._unread() if case.id == case_id), None)

    def in_order(self, case_ids: Iterable[str]) -> list[Case]:
        """Return cases by id in the suite's order."""
        wanted_ids = set(case_ids)
        return [case for case_id, case in self._made.items() if case_id in wanted_ids]

    def _all(self) -> Iterator[Case]:
        yield from list(self._made.values())
        yield from self._unread()

    def _unread(self) -> Iterator[Case]:
        for case in self._source:
            if case.id in self._made:
                raise UsageError(f"{self._suite.entry.name} has two cases with the id {case.id!r}")
            self._made[case.id] = case
            yield case


def _named(offered: _OfferedCases, selection: Selection, suite: Suite) -> list[Case]:
    cases = {case.id: case for case in offered}
    chosen_ids = {case_id: find_name(case_id, cases) for case_id in selection.ids}
    for case_id, known in chosen_ids.items():
        if known is None:
            close = nearest(case_id, offered.ids)
            where = " in the chosen categories" if case_id in offered.ids else ""
            hint = f"Did you mean {close}?" if close and not where else ""
            raise UsageError(f"{suite.entry.name} has no case {case_id!r}{where}", where="--ids", hint=hint)
    return offered.in_order(known for known in chosen_ids.values() if known is not None)


def _limited(cases: Iterable[Case], selection: Selection) -> list[Case]:
    """Return up to `limit` graded cases, the first or a random sample; without a limit all cases."""
    if selection.limit is None:
        return list(cases)
    if selection.seed is None:
        return _first(cases, selection.limit)
    every = list(cases)
    graded = [case for case in every if case.graded]
    if selection.limit >= len(graded):
        return every
    drawn = random.Random(selection.seed).sample(range(len(graded)), selection.limit)  # noqa: S311 - not a secret
    return [graded[index] for index in sorted(drawn)]


def _first(cases: Iterable[Case], limit: int) -> list[Case]:
    read: list[Case] = []
    graded: list[Case] = []
    for case in cases:
        if case.graded:
            if len(graded) == limit:
                return graded
            graded.append(case)
        read.append(case)
    return read


def _with_prerequisites(cases: list[Case], offered: _OfferedCases) -> list[Case]:
    """Add the transitive prerequisites of cases, skipping those that the suite does not yield."""
    ids = {case.id for case in cases}
    open_ids = [need for case in cases for need in case.depends_on]
    while open_ids:
        need = open_ids.pop()
        if need not in ids and (case := offered.find(need)) is not None:
            ids.add(need)
            open_ids += case.depends_on
    return cases if len(ids) == len(cases) else offered.in_order(ids)
