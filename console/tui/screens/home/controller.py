"""`HomeController`: listing, sorting, next steps and key labels of Home."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.core.run import Tally, simulated_note_of
from console.insight import number_format
from console.tui.data.filter_in_force import has_words
from console.tui.data.runs import RunLine, SortedFigure

_SortKey = Callable[[RunLine], Any]
NEWEST = "newest first"
_ORDERS: dict[str, tuple[str, _SortKey, bool]] = {
    NEWEST: ("when", lambda line: line.summary.at if line.summary else 0.0, True),
    "suite": ("suite", lambda line: (line.label, line.name), False),
    "model": ("model", lambda line: (line.summary.model if line.summary else "", line.name), False),
    "score": ("score", lambda line: (line.score < 0, line.score), False),
    "cost": ("cost", lambda line: line.tally.cost_usd, True),
    "time": ("time", lambda line: line.summary.seconds if line.summary else 0.0, True),
    "tokens": ("tokens", lambda line: line.tally.input_tokens + line.tally.output_tokens, True),
    "calls": ("calls", lambda line: line.tally.calls, True),
    "id": ("id", lambda line: line.name, False),
    "repeats": ("repeats", lambda line: max(line.tally.cases, default=0), True),
}
"""Column name, sort key, and whether descending, by name of the order."""
_WRITERS: dict[str, Callable[[Any], str]] = {
    "time": number_format.duration,
    "tokens": number_format.count,
    "calls": number_format.count,
    "id": str,
    "repeats": number_format.count,
}
"""Formats of values that are shown only in a list sorted by them, by name of the order."""


@dataclass(frozen=True, slots=True)
class NextSteps:
    """Likely next steps for the user."""

    queued: Sequence[RunLine] = ()
    """Queued runs, next one first."""
    is_stranded: bool = False
    """True if runs are queued but no engine runs the queue."""
    resumable: RunLine | None = None
    """The newest resumable run."""
    failed: RunLine | None = None
    """The newest run with failures to review."""
    reviewed: int = 0
    """Number of its rollouts already reviewed."""


@dataclass(frozen=True, slots=True)
class RunListing:
    """The listed runs with their filter, order and marks."""

    lines: Sequence[RunLine]
    total: int
    words: str
    """Filter; only runs with these words are listed."""
    order: str
    """Label of the sort order."""
    marked: frozenset[Path]
    """Folders of the runs marked for Compare."""
    column: str = ""
    """Name of the column chosen for sorting; empty for the default order."""
    figure: SortedFigure | None = None
    """Values of the sort column, if the list shows it only while sorted by it."""
    sign: str = ""
    """Arrow of the order: down if the largest is first."""
    is_archive: bool = False
    """True if only archived runs are listed."""
    branches: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of branches by the run they are listed under."""
    unfolded: frozenset[str] = frozenset()
    """Names of the runs whose branches are listed."""

    def fold_of(self, line: RunLine) -> tuple[int, bool]:
        """Return the number of a run's branches and whether they are listed."""
        return self.branches.get(line.name, 0), line.name in self.unfolded


def _figure(order: str) -> SortedFigure | None:
    """Return the values of a sort order that the list shows only while sorted by it."""
    if order not in _WRITERS:
        return None
    name, key, is_number = _ORDERS[order]
    return SortedFigure(name, lambda line: _WRITERS[order](key(line)), is_text=not is_number)


class HomeController:
    """Contents and state of Home, without Textual or disk access."""

    def __init__(self) -> None:
        self.words = ""
        """Filter; only runs with these words are listed."""
        self.shows_archived = False
        """True to list the archived runs instead of the others."""
        self._order = NEWEST
        self._is_reversed = False
        self.next_steps = NextSteps()
        self._runs: Sequence[RunLine] = ()
        self._total = 0
        self._marked: list[Path] = []
        self._day: tuple[int, int, int] | None = None
        self._unfolded: set[str] = set()
        """Names of the runs whose branches are listed."""

    def use_runs(
        self, runs: Sequence[RunLine], total: int, *, failed: tuple[RunLine, int] | None, is_stranded: bool
    ) -> None:
        """Update from the workspace: runs, newest first, and the run of the last failures with its reviewed count."""
        self._runs, self._total = runs, total
        self.next_steps = NextSteps(
            sorted((line for line in runs if line.is_queued), key=lambda line: line.place),
            is_stranded,
            next((line for line in runs if line.can_resume and not line.is_archived), None),
            *(failed or (None, 0)),
        )
        self._unfolded |= {line.summary.parent for line in runs if line.summary and line.is_branch and line.is_live}

    # Listing ---------------------------------------------------------------------------------------------------------

    @property
    def listing(self) -> RunListing:
        """The runs that match the filter in name, suite, model or state, sorted, with branches after their run."""
        column, key, is_largest_first = _ORDERS[self._order]
        is_down = is_largest_first != self._is_reversed
        lines = [line for line in self._runs if line.is_archived is self.shows_archived]
        others = len(self._runs) - len(lines)
        if self.words:
            lines = [line for line in lines if has_words(self.words, *_texts_of(line))]
        lines.sort(key=key, reverse=is_down)
        lines.sort(key=lambda line: line.summary is None or not line.summary.pinned)
        sign = "↓" if is_down else "↑"
        column = "" if self.order == NEWEST else column
        lines, branches = self._nested(lines)
        return RunListing(
            lines,
            self._total - others,
            self.words,
            self._label(sign),
            frozenset(self._marked),
            column,
            _figure(self._order),
            sign,
            self.shows_archived,
            branches,
            frozenset(branches if self.words else self._unfolded),
        )

    def _nested(self, lines: Sequence[RunLine]) -> tuple[list[RunLine], dict[str, int]]:
        """Return the lines with unfolded branches after their run, and the number of each run's branches.

        A live, waiting or pinned branch is never folded, nor is any branch while the list is filtered.
        """
        by_name = {line.name: line for line in lines}
        branches: dict[str, list[RunLine]] = {}
        for line in lines:
            if (root := _root_of(line, by_name)) is not line:
                branches.setdefault(root.name, []).append(line)
        nested: list[RunLine] = []
        for line in lines:
            if _root_of(line, by_name) is line:
                is_open = bool(self.words) or line.name in self._unfolded
                nested.append(line)
                nested += [each for each in branches.get(line.name, ()) if is_open or each.is_begun_or_waits]
        return nested, {name: len(listed) for name, listed in branches.items()}

    def fold(self, line: RunLine | None) -> str | None:
        """Fold or unfold the branches of a run, or of the run of a branch; return the run's name if it has any."""
        by_name = {listed.name: listed for listed in self.listing.lines}
        name = _root_of(line, by_name).name if line is not None else ""
        if name not in self.listing.branches:
            return None
        self._unfolded ^= {name}
        return name

    @property
    def order(self) -> str:
        """Name of the order, with a `-` before it if reversed; an unknown one selects the first order."""
        return f"{'-' * self._is_reversed}{self._order}"

    @order.setter
    def order(self, words: str) -> None:
        name = words.removeprefix("-")
        self._order = name if name in _ORDERS else NEWEST
        self._is_reversed = words.startswith("-") and name in _ORDERS

    def sort(self, column: str) -> None:
        """Sort by a column, reversed if it is chosen again; an empty name restores the first order."""
        order = column or NEWEST
        self._is_reversed = order == self._order and not self._is_reversed
        self._order = order

    def reverse_order(self) -> None:
        self.sort(self._order)

    def _label(self, sign: str) -> str:
        return NEWEST if self.order == NEWEST else f"{_ORDERS[self._order][0] or self._order} {sign}"

    def toggle_mark(self, line: RunLine | None) -> list[RunLine]:
        """Toggle a run's mark for Compare; return the listed marked runs in order of marking."""
        if line is not None and line.summary is not None:
            path = line.folder.path
            self._marked = [marked for marked in self._marked if marked != path] + [path] * (path not in self._marked)
        by_path = {listed.folder.path: listed for listed in self.listing.lines}
        return [by_path[marked] for marked in self._marked if marked in by_path]

    def is_new_day(self, now: float) -> bool:
        """Return whether a new day has begun since the last call of `today`."""
        return self._day is not None and time.localtime(now)[:3] != self._day

    def today(self, now: float) -> str:
        """Return the number, cost and tokens of the runs started on the local day of `now`; empty if there are none."""
        year, month, day = self._day = time.localtime(now)[:3]
        begin, end = (time.mktime((year, month, each, 0, 0, 0, 0, 0, -1)) for each in (day, day + 1))
        started = [
            line
            for line in self._runs
            if line.summary is not None and begin <= line.summary.at < end and not line.is_queued
        ]
        if not started:
            return ""
        tallies = [line.tally for line in started]
        tokens = sum(tally.input_tokens + tally.output_tokens for tally in tallies)
        paid = Tally(
            cost_usd=sum(tally.cost_usd for tally in tallies), cost_unknown=sum(tally.cost_unknown for tally in tallies)
        )
        notes = [line.summary.simulated_note for line in started if line.summary is not None]
        spent = number_format.spent(paid, simulated_note_of(notes) if all(notes) else "")
        runs = number_format.plural(len(started), "run")
        return f"today {runs} · {spent} · {number_format.count(tokens)} tokens"

    def unmark_all(self) -> None:
        self._marked.clear()

    # Available actions ------------------------------------------------------------------------------------------------

    def why_not(self, action: str, line: RunLine | None, to_resume: RunLine | None) -> str:
        """Return the reason that an action on a run is unavailable; empty if it is available."""
        match action:
            case "queue.earlier" | "queue.later":
                return "" if line is not None and line.is_queued else "this run is not queued"
            case "fold":
                return "" if self._has_fold(line) else "this run has no branches"
            case "queue.go":
                return "" if self.next_steps.is_stranded else "the queue is empty, or running"
            case "organize.name" | "organize.note" | "organize.pin" | "organize.archive":
                return "" if line is not None and line.summary is not None else "there is no readable run"
            case "run.failed":
                return "" if line is not None and line.tally.failed else "this run has no failed case"
            case "run.delete":
                is_live = line is not None and line.is_live
                return "it is running; ctrl+x in Live stops it" if is_live else "" if line else "there is no run"
            case "run.resume":
                if to_resume is not None and to_resume.is_recorded:
                    return "the run was recorded by another tool"
                return "" if to_resume is not None and to_resume.can_resume else "this run has nothing to resume"
            case "run.review" | "mark" | "export" | "copy.id" | "copy.command" | "copy.link":
                return "" if line is not None else "there is no run"
            case _:
                return ""

    def _has_fold(self, line: RunLine | None) -> bool:
        return line is not None and (line.is_branch or bool(self.listing.branches.get(line.name)))

    def key_words(self, line: RunLine | None) -> dict[str, str]:
        """Return the key line labels for a run, None in other lists; keys of unavailable actions are hidden."""
        is_queued, has_failed = line is not None and line.is_queued, line is not None and line.tally.failed > 0
        return {
            **({} if is_queued else {"queue.earlier": ""}),
            **({} if has_failed else {"run.failed": ""}),
            **({} if self._has_fold(line) else {"fold": ""}),
            "run.delete": "dequeue" if is_queued else "delete" if line is not None else "",
        }


def _root_of(line: RunLine, by_name: Mapping[str, RunLine]) -> RunLine:
    """Return the listed run that a branch, or a branch of a branch, is listed under; else the run itself."""
    seen = {line.name}
    while line.summary is not None and line.summary.parent and not line.summary.pinned:
        parent = by_name.get(line.summary.parent)
        if parent is None or parent.name in seen:
            break
        line = parent
        seen.add(line.name)
    return line


def _texts_of(line: RunLine) -> tuple[str, ...]:
    summary = line.summary
    model, kind = (summary.model, "simulated" if summary.simulated else "") if summary else ("", "")
    return line.name, line.label, line.state, model, kind
