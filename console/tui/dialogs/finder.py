"""`Finder`: jumps to a run, or to a case of the current run, by any of its words."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from textual.content import Content

from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.store.runs import RunFolder
from console.tui.data.filter_in_force import has_words
from console.tui.data.workspace import Workspace
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, outcome_sign

_COLUMNS = (Column("", 1), Column("name", 26, 2, is_name=True), Column("about", 20, 3))


class JumpTarget(NamedTuple):
    """A run, or a case of it."""

    run: RunFolder
    case: str = ""
    repeat: int = 0
    """Repeat of the case to show, from 0."""


class CaseLine(msgspec.Struct, frozen=True):
    """A case as the finder lists it. All fields but the outcomes are untrusted text."""

    id: str
    category: str
    title: str
    outcomes: dict[int, Outcome]
    """Outcomes of the ended repeats, by repeat."""

    @property
    def lead(self) -> int:
        """The first repeat that did not pass; the first one if there is none."""
        return min((repeat for repeat, outcome in self.outcomes.items() if outcome is not Outcome.PASSED), default=0)


class Finder(FilterDialog[JumpTarget]):
    """Returns a run or a case, or None."""

    DEFAULT_CSS = """
    Finder > Vertical { width: 96; }
    Finder RowList { height: 20; }
    BaseScreen.-compact Finder { align: left top; }
    """

    def __init__(self, workspace: Workspace, run: RunFolder | None) -> None:
        """Search the runs of the workspace, and the cases of `run` or of the run in RUN#CASE."""
        self._workspace = workspace
        self._targets = RunAndCaseRows(workspace, run, self._read)
        hint, nothing = "a word of a run, or of a case; or RUN#CASE", "No matching run or case."
        super().__init__(self._targets, _COLUMNS, hint=hint, nothing=nothing)

    def _read(self, run: RunFolder) -> None:
        self._workspace.in_thread(lambda: self._workspace.hand_over(self._receive, run, _read_cases(run)))

    def _receive(self, run: RunFolder, cases: list[CaseLine]) -> None:
        self._targets.cases[run.path] = cases
        if self.is_mounted:
            self.narrow()


class RunAndCaseRows:
    """The runs of the workspace and the cases of one run."""

    def __init__(self, workspace: Workspace, run: RunFolder | None, read: Callable[[RunFolder], None]) -> None:
        """List runs, and the cases of `run` or of the run named before a `#`.

        Args:
            workspace: source of the runs.
            run: the current run.
            read: called once for each run whose cases are needed in `cases`.
        """
        self._workspace = workspace
        self._run = run
        self._read = read
        self.cases: dict[Path, list[CaseLine]] = {}
        """Cases read so far, by run folder."""
        self._asked: set[Path] = set()
        self._rows: dict[str, tuple[JumpTarget, CaseLine | None]] = {}

    def narrowed(self, text: str) -> list[str]:
        run_text, mark, case_text = text.partition("#")
        runs = [
            line
            for line in self._workspace.runs or ()
            if line.summary is not None and has_words(run_text, line.name, line.label, line.summary.model)
        ]
        if mark:
            exact = [line.folder for line in runs if line.name == run_text.strip()]
            named = [*exact, *(line.folder for line in runs)] if run_text.strip() else [self._run]
            rows = self._case_rows(named[0] if named else None, case_text)
        else:
            rows = [(JumpTarget(line.folder), None) for line in runs] + self._case_rows(self._run, run_text)
        self._rows = {str(place): row for place, row in enumerate(rows)}
        return list(self._rows)

    def _case_rows(self, run: RunFolder | None, words: str) -> list[tuple[JumpTarget, CaseLine | None]]:
        if run is None:
            return []
        if run.path not in self._asked:
            self._asked.add(run.path)
            self._read(run)
        cases = self.cases.get(run.path, ())
        return [
            (JumpTarget(run, case.id, case.lead), case)
            for case in cases
            if has_words(words, case.id, case.category, case.title)
        ]

    def answer(self, key: str) -> JumpTarget | None:
        return self._rows[key][0]

    def draw_row(self, key: str) -> tuple[Content, ...]:
        target, case = self._rows[key]
        if case is not None:
            outcomes = list(case.outcomes.values()) or [Outcome.NOT_RUN]
            mark = outcome_sign(outcomes[0]) if len(set(outcomes)) == 1 else Content.empty()
            passed = f"{outcomes.count(Outcome.PASSED)}/{len(outcomes)}  " if len(outcomes) > 1 else ""
            return mark, one_line(case.id, 100), Content(passed).append(one_line(case.title, 300, MUTED))
        line = self._workspace.find(target.run.path)
        if line is None or line.summary is None:
            return Content.empty(), one_line(target.run.name, 100), Content.empty()
        about = Content.assemble("run  ", one_line(line.label, 60), " / ", one_line(line.summary.model, 60))
        return Content.empty(), one_line(line.name, 100), about.stylize_before(MUTED)


def _read_cases(folder: RunFolder) -> list[CaseLine]:
    """Read the cases of a run and their outcomes; unreadable parts are omitted."""
    from console.core.record import Finished, Started
    from console.store.journal import JournalReader

    lines_by_case: dict[str, CaseLine] = {}
    try:
        reader = JournalReader(folder.journal_path)
        while records := reader.read_new():
            for record in records:
                if isinstance(record, Started):
                    case = record.case
                    lines_by_case.setdefault(case.id, CaseLine(case.id, case.category, case.title, {}))
                elif isinstance(record, Finished) and (line := lines_by_case.get(record.key.case)) is not None:
                    before = line.outcomes.get(record.key.rollout)
                    if before is None or not before.is_graded:  # the first grade counts
                        line.outcomes[record.key.rollout] = record.verdict.outcome
    except (UsageError, OSError):
        pass
    return list(lines_by_case.values())
