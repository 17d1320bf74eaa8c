"""`SuiteTree`: suites, groups and categories as rows of a tree, with the chosen parts and the number of cases.

The form holds what is ticked, the tree which parts are unfolded. A filter shows all matching parts, even of folded
ones.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from console.suites.suite import Category
from console.tui.data.suites import SuiteLine


class Mark(Enum):
    """Extent to which a part is chosen."""

    NONE = " "
    SOME = "~"
    ALL = "x"


@dataclass(frozen=True, slots=True)
class Part:
    """A suite, a group of its categories, or one category. Names are untrusted text."""

    suite: str
    group: str = ""
    category: str = ""

    @property
    def name(self) -> str:
        return self.category or self.group or self.suite

    @property
    def above(self) -> "tuple[Part, Part]":
        """Parents, nearest first: group and suite."""
        return Part(self.suite, self.group), Part(self.suite)

    @property
    def key(self) -> str:
        return "\n".join((self.suite, self.group, self.category))


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the tree."""

    part: Part
    depth: int
    mark: Mark
    cases: int
    chosen_cases: int
    parts: int
    """Number of categories to unfold; 0 if it cannot be unfolded."""
    is_unfolded: bool
    obstacle: str = ""
    """Reason why the suite cannot be chosen, in a few words."""


@dataclass(slots=True)
class SuiteTree:
    """The tree of all suites."""

    lines: Sequence[SuiteLine] = ()
    unfolded: set[Part] = field(default_factory=set[Part])

    def rows(self, ticked: Mapping[str, Collection[str]], words: str = "") -> list[Row]:
        """Return the visible rows.

        Args:
            ticked: ticked categories by chosen suite; empty stands for all.
            words: letters that the name of a suite, group or category must contain unless it is chosen.
        """
        rows: list[Row] = []
        for line in self.lines:
            every = [category.name for category in line.categories]
            chosen = frozenset(ticked.get(line.name) or every) if line.name in ticked else frozenset[str]()
            rows += _rows_of(line, chosen, line.name in ticked, self.unfolded, words.lower())
        return rows

    def categories_of(self, part: Part) -> list[str]:
        line = next((line for line in self.lines if line.name == part.suite), None)
        categories = line.categories if line is not None else ()
        return [
            category.name
            for category in categories
            if part.category in ("", category.name) and part.group in ("", category.group)
        ]

    def toggle(self, part: Part) -> Part:
        """Fold or unfold a part, or the parent of a category; return the part whose row remains visible."""
        if part.category:
            part = Part(part.suite, part.group) if Part(part.suite, part.group) in self.unfolded else Part(part.suite)
        self.unfolded ^= {part}
        return part

    def unfold(self, part: Part) -> None:
        if not part.category:
            self.unfolded.add(part)


def _rows_of(
    line: SuiteLine, chosen: Collection[str], is_chosen: bool, unfolded: Collection[Part], words: str
) -> list[Row]:
    whole = Part(line.name)
    inner = _inner_rows(line, chosen, unfolded, words)
    if words and words not in line.name.lower() and not inner and not is_chosen:
        return []
    has_parts = len(line.categories) > 1
    row = _row(line.categories, whole, 0, chosen, unfolded, parts=len(line.categories) if has_parts else 0)
    if not line.categories and is_chosen:
        row = Row(whole, 0, Mark.ALL, 0, 0, 0, is_unfolded=False)
    if line.mistake:
        row = Row(whole, 0, Mark.NONE, 0, 0, 0, is_unfolded=False, obstacle=line.obstacle)
    return [row, *inner]


def _inner_rows(line: SuiteLine, chosen: Collection[str], unfolded: Collection[Part], words: str) -> list[Row]:
    """Return the rows under a suite: those of unfolded parts and, with a filter, matching and chosen ones."""
    if len(line.categories) < 2:
        return []
    groups: dict[str, list[Category]] = {}
    for category in line.categories:
        groups.setdefault(category.group, []).append(category)
    is_grouped = len(groups) > 1 and all(groups)
    is_open = Part(line.name) in unfolded
    is_part = len(chosen) < len(line.categories)
    rows: list[Row] = []
    for name, members in groups.items():
        group = Part(line.name, name if is_grouped else "")
        shows_all = is_open and (not is_grouped or group in unfolded)
        parts = [Part(line.name, name, category.name) for category in members]
        shown = [
            _row([category], part, 1 + is_grouped, chosen, unfolded)
            for category, part in zip(members, parts, strict=True)
            if shows_all or (words and (words in category.name.lower() or (is_part and category.name in chosen)))
        ]
        if is_grouped and (is_open or shown or (words and words in name.lower())):
            shown.insert(0, _row(members, group, 1, chosen, unfolded, parts=len(members)))
        rows += shown
    return rows


def _row(
    categories: Sequence[Category],
    part: Part,
    depth: int,
    chosen: Collection[str],
    unfolded: Collection[Part],
    *,
    parts: int = 0,
) -> Row:
    picked = [category for category in categories if category.name in chosen]
    mark = Mark.NONE if not picked else Mark.ALL if len(picked) == len(categories) else Mark.SOME
    cases = sum(category.cases for category in categories)
    return Row(
        part, depth, mark, cases, sum(category.cases for category in picked), parts, is_unfolded=part in unfolded
    )
