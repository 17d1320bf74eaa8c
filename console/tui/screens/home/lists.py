"""The lists of Home: next steps, runs with details, models and suites.

Empty and damaged states show a message; unusable models and suites show a hint.
"""

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.widgets import Static

from console.core.annotation import annotation_counts
from console.insight import number_format
from console.store.notes import Notes
from console.tui.data.models import Models
from console.tui.data.runs import RunLine
from console.tui.data.suites import Suites
from console.tui.render import lines, row_cells
from console.tui.render.columns import GAP, Column, Face, marked_columns
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.controller import NextSteps, RunListing
from console.tui.symbols import MUTED, SYMBOLS, muted, state_word
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import ListTitle

_NO_RUN = Content("Nothing has been run yet.\nEnter on Try the demo shows everything without a key.")
_ROOMY = 128
"""Minimum width in cells for a separate column per count."""


class RunList(RowList):
    """The runs of the runs folder."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.RUNS_NARROW,
            draw=self._cells,
            id="runs",
            names=True,
            newest_first=True,
            empty=Content("reading runs …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._listing = RunListing([], 0, "", "", frozenset())
        self._layout = row_cells.RunColumns()
        self._by_path: Mapping[str, RunLine] = {}
        self._parents: Mapping[str, RunLine] = {}

    @property
    def line(self) -> RunLine | None:
        return None if self.cursor is None else self._by_path.get(self.cursor)

    def on_resize(self, event: events.Resize) -> None:
        self._fit_columns()

    @property
    def _is_roomy(self) -> bool:
        return self.size.width >= _ROOMY

    def set_listing(self, listing: RunListing, *, is_complete: bool, mistake: str, today: str = "") -> None:
        """Show runs, or why there are none; `mistake` may be untrusted text, `today` summarizes the day."""
        self._listing = listing
        self._by_path = {str(line.folder.path): line for line in listing.lines}
        self._parents = {line.name: line for line in listing.lines}
        self._fit_columns()
        number = Content.assemble(_number(listing), "   " if today else "", today)
        self.title_line.show("Runs", number, f"/ filter   s {listing.order}")
        self.show(list(self._by_path), empty=_why_empty(listing, is_complete=is_complete, mistake=mistake))

    def _fit_columns(self) -> None:
        figure = self._listing.figure
        if self._is_roomy:
            self._layout = row_cells.runs_wide(self._listing.lines, figure)
        else:
            self._layout = row_cells.runs_narrow(self._listing.lines, self.room, time.time(), figure)
        self.set_columns(marked_columns(self._layout.columns, self._listing.column, self._listing.sign))

    def _cells(self, key: str) -> Face:
        line, now = self._by_path[key], time.time()
        parent = self._parents.get(line.summary.parent if line.summary else "")
        kin = row_cells.Kin(parent, *self._listing.fold_of(line))
        if self._is_roomy:
            cells = row_cells.run_wide(line, kin, now, self._layout.figure)
        else:
            cells = row_cells.run_narrow(line, kin, now, self._layout)
        if line.folder.path in self._listing.marked and not isinstance(cells, Content):
            return (Content.styled("A", "bold $live"), *cells[1:])
        return cells


def _number(listing: RunListing) -> Content:
    if listing.is_archive:
        return Content(f"{number_format.count(len(listing.lines))} archived")
    if not listing.words:
        return Content(number_format.count(listing.total))
    return Content(f"{number_format.count(len(listing.lines))} of {number_format.count(listing.total)}")


def _why_empty(listing: RunListing, *, is_complete: bool, mistake: str) -> Content:
    if mistake:
        return literal(mistake, 400, "$broken")
    if not is_complete:
        return Content("reading runs …")
    if listing.words:
        return Content.assemble("No run matches “", one_line(listing.words, 30), "”. F shows all.")
    if listing.is_archive:
        return Content("No run is archived; o s shows the others.")
    return _NO_RUN


_WIDTH_AT_FIRST = 78
"""Width of the details before they are laid out: the least on screens that show them."""


class RunDetails(Static):
    """Details of the run under the cursor, on large screens."""

    def __init__(self) -> None:
        super().__init__(id="about")
        self.border_title = Content("This run")

    def describe(self, line: RunLine | None) -> None:
        if line is None:
            self.update(muted("No run is under the cursor."))
            return
        text = row_cells.about_run(line, self.size.width or _WIDTH_AT_FIRST)
        if remarks := annotation_counts(Notes(line.folder.path).annotations().values()):
            text.append(Content.styled(remarks, "$undecided"))
        self.update(Content("\n").join(text))


_START_COLUMNS = (Column("", 15), Column("", 30, 1), Column("", 2, right=True))
_BESIDE_WORDS = 2 + 15 + 2 + 2 * len(GAP)
"""Cells of a row of `StartList` beside its words: cursor sign, name and key."""
_MORE = muted(f"  {'':15}  function calls, creativity loops and code, by simulated models")


class StartList(RowList):
    """Possible next steps: demo, new run, queue, resume, last failures."""

    FIXED: ClassVar[frozenset[str]] = frozenset({"more", "gap"})

    def __init__(self) -> None:
        super().__init__(_START_COLUMNS, draw=self._cells, quiet=True, id="start", classes="pane")
        self.title_line = ListTitle(self, id="start-title")
        self._steps = NextSteps()
        self._is_starting = False

    def set_steps(self, steps: NextSteps, *, wide: bool, most: int) -> None:
        """Show at most `most` steps; omitted ones have keys of their own. `wide`: the demo gets a second line."""
        self._steps = steps
        self.title_line.show("Start")
        keys = ["demo", "more", "gap", "new"] if wide else ["demo", "new"]
        keys += ["queue"] * bool(steps.queued or steps.is_stranded)
        keys += ["resume"] * (steps.resumable is not None) + ["failures"] * (steps.failed is not None)
        self.show(keys[:most], fixed=self.FIXED)

    def set_starting(self, starting: bool) -> None:
        self._is_starting = starting
        self.touch("demo")

    def _cells(self, key: str) -> Face:
        room = self.room - _BESIDE_WORDS
        match key:
            case "demo":
                words = "starting …" if self._is_starting else "offline, no key needed, about a minute"
                return Content.styled("Try the demo", "bold"), _muted(Content(words)), Content.empty()
            case "more":
                return _MORE
            case "gap":
                return Content.empty()
            case "new":
                return Content("New run"), _muted(Content("pick models, suites and limits")), _key("L")
            case "queue":
                return Content("Queue"), self._queue_words(room), Content.empty()
            case "resume":
                return Content("Resume a run"), _muted(_resume_words(self._steps.resumable, room)), _key("r")
            case _:
                return Content("Last failures"), _muted(_failure_words(self._steps, room)), _key("3")

    def _queue_words(self, room: int) -> Content:
        queued = self._steps.queued
        waits = f"{number_format.plural(len(queued), 'run')} {'waits' if len(queued) == 1 else 'wait'}"
        if self._steps.is_stranded:
            return Content.styled(f"{waits}, queue stopped: enter resumes", "$fail")
        return _muted(_about_run(f"{waits}, next: ", queued[0], "", room) if queued else Content(waits))


def _resume_words(line: RunLine | None, room: int) -> Content:
    if line is None or line.summary is None:
        return Content.empty()
    done = number_format.done(line.tally, line.summary.planned_cases, 0)
    return _about_run("", line, f", {state_word(line.state).plain} {done}", room)


def _failure_words(steps: NextSteps, room: int) -> Content:
    """Return the counts, the run with its time, and how many are reviewed."""
    line = steps.failed
    if line is None or line.summary is None:
        return Content.empty()
    after = f", {row_cells.when(line.summary.at, time.time(), wide=False)}"
    after += f" · {steps.reviewed} reviewed" * bool(steps.reviewed)
    return _about_run(f"{number_format.failures(line.tally)} in ", line, after, room)


def _about_run(before: str, line: RunLine, after: str, room: int) -> Content:
    """Return words around a run's given name, suite and model, cut in their middles to fit into `room` cells."""
    assert line.summary is not None
    names = [one_line(line.label, 60), one_line(line.summary.model, 60)]
    title = one_line(f"{line.summary.name} · ", 24) if line.summary.name else Content.empty()
    room -= len(before) + len(after) + title.cell_length + len(_SLASH)
    over = sum(name.cell_length for name in names) - room
    for place, name in enumerate(names):
        width = max(name.cell_length - max(over, 0), min(name.cell_length, _LEAST_NAME))
        over -= name.cell_length - width
        names[place] = lines.fit_name(name, width)
    return Content.assemble(before, title, names[0], _SLASH, names[1], after if over <= 0 else "")


_SLASH = " / "
_LEAST_NAME = 8
"""Minimum width of a suite or model in a sentence."""


def _muted(content: Content) -> Content:
    return content.stylize_before(MUTED)


def _key(key: str) -> Content:
    return Content.styled(key, "bold $focus")


class ModelList(RowList):
    """Models with the state of their API keys, preceded by errors in models.toml."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.MODELS,
            draw=self._cells,
            quiet=True,
            id="models",
            empty=Content("reading models …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._models = Models()

    def set_models(self, models: Models | None) -> None:
        self._models = models or Models()
        number = "".join(_readiness(self._models)) if self._models.lines else ""
        path = self._models.path
        self.title_line.show("Models", number, one_line(path.name, 40) if path else "+ adds one" if models else "")
        notes = [f"! {place}" for place in range(len(self._models.mistakes))]
        notes += [f"~ {place}" for place in range(len(self._models.warnings))]
        self.show([*notes, *(f"= {line.name}" for line in self._models.lines)])

    def note_of(self, key: str) -> str:
        """Return the full error or warning of a row, or an empty string for a model."""
        sign, _, place = key.partition(" ")
        notes = {"!": self._models.mistakes, "~": self._models.warnings}.get(sign)
        return notes[int(place)] if notes else ""

    def name_of(self, key: str) -> str:
        return key[2:]

    def _cells(self, key: str) -> Face:
        if note := self.note_of(key):
            style = "bold $broken" if key.startswith("!") else "$fail"
            return Content.assemble((f"{SYMBOLS.broken}  ", style), one_line(note, 400, "" if key[0] == "!" else MUTED))
        line = self._models.find(key[2:])
        return row_cells.model_cells(line) if line else Content.empty()


class SuiteList(RowList):
    """Suites with their sizes, or the reasons why they cannot be opened."""

    def __init__(self) -> None:
        super().__init__(
            row_cells.SUITES,
            draw=self._cells,
            quiet=True,
            id="suites",
            empty=Content("reading suites …"),
            classes="pane",
        )
        self.title_line = ListTitle(self)
        self._suites = Suites()

    def set_suites(self, suites: Suites | None) -> None:
        self._suites = suites or Suites()
        cases = sum(line.cases for line in self._suites.lines)
        self.title_line.show("Suites", number_format.plural(cases, "case") if suites else "")
        notes = [f"! {place}" for place in range(len(self._suites.warnings))]
        is_official = any(line.entry.origin == "pulled" for line in self._suites.lines)
        more = ["+"] if self._suites.missing and not is_official else []
        keys = [*(f"= {line.name}" for line in self._suites.lines), *notes, *more]
        empty = Content("No suite was found.") if suites else None
        self.set_columns(row_cells.suite_columns(self._suites.lines))
        self.show(keys, fixed=frozenset(more), empty=empty)

    def note_of(self, key: str) -> str:
        """Return the reason that a suite cannot be used, or the full warning of a row; empty if there is neither."""
        if key.startswith("!"):
            return self._suites.warnings[int(key[2:])]
        line = self._suites.find(key[2:])
        return line.mistake if line else ""

    def name_of(self, key: str) -> str:
        return key[2:]

    def _cells(self, key: str) -> Face:
        if key == "+":
            command = f"eval-console pull {self._suites.missing[0].name}"
            official = f"  official data: `{command}`"
            return muted(official if len(official) <= self.room else f"  {command}")
        if key.startswith("!"):
            return Content.assemble((f"{SYMBOLS.broken}  ", "$broken"), one_line(self.note_of(key), 400))
        line = self._suites.find(key[2:])
        return row_cells.suite_cells(line) if line else Content.empty()


class LibraryLine(RowList):
    """A one-line summary of models and suites for small screens; opens Library."""

    def __init__(self) -> None:
        super().__init__(draw=self._line, quiet=True, gutter=False, id="library-line", classes="pane strip")
        self._models: Models | None = None
        self._suites: Suites | None = None
        self.show(["library"])

    def set_models(self, models: Models | None) -> None:
        self._models = models
        self.touch()

    def set_suites(self, suites: Suites | None) -> None:
        self._suites = suites
        self.touch()

    def _line(self, key: str) -> Face:
        if self._models is None or self._suites is None:
            return muted(" reading models and suites …")
        ready, *more = _readiness(self._models)
        parts = [Content(" ").append_text("MODELS ", "bold").append(ready), *map(muted, more)]
        if mistakes := len(self._models.mistakes):
            parts.append(Content.styled(f", {number_format.plural(mistakes, 'mistake')} in models.toml", "$broken"))
        if self._models.path is None:
            parts.append(muted(", no models.toml (e creates one)"))
        cases = sum(line.cases for line in self._suites.lines)
        parts.append(Content("   ").append_text("SUITES ", "bold"))
        parts.append(Content(f"{len(self._suites.lines)}, {number_format.plural(cases, 'case')}"))
        if unusable := sum(bool(line.mistake) for line in self._suites.lines):
            parts.append(Content.styled(f", {unusable} not usable", "$broken"))
        return Content("").join([*parts, muted("   5 Library")])


def _readiness(models: Models) -> list[str]:
    """Return the number of models that can be played, how many are simulated, and how many need a key."""
    ready = sum(line.ready for line in models.lines)
    simulated = sum(line.ready and line.simulated for line in models.lines)
    missing = len(models.lines) - ready
    words = [f"{ready} ready"]
    if simulated:
        words.append(", all simulated" if simulated == ready else f", {simulated} simulated")
    if missing:
        words.append(f", {missing} {'needs' if missing == 1 else 'need'} a key")
    return words
