"""What the app has to offer: models, suites and runs, read from disk in a thread after the first paint.

Reading never raises for what a file says; a mistake becomes a line with its hint, and what is sound stays usable.
Nothing here imports Textual or a model client.
"""

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.core.run import Manifest, Summary, Tally
from console.core.tally import RunFold, without_output
from console.store.run_list import read_newest, read_summaries
from console.store.run_queue import RunQueue
from console.store.run_scan import Dated, ListedFolder, read_listed
from console.store.runs import RunFolder
from console.suites.catalog import RECORDED

if TYPE_CHECKING:
    from console.config.model import ModelConfig
    from console.config.models import ModelBook
    from console.core.outcome import Outcome
    from console.insight.trends import ListedRun
    from console.suites.benchmark import OfficialData
    from console.suites.catalog import Catalog
    from console.suites.category_index import CategoryIndex
    from console.suites.suite import Category, SuiteEntry

FIRST_PAUSE_S = 0.25
"""After so long further runs are handed on while they are read."""
UNFINISHED = ("interrupted", "stopped", "budget", "halted")
"""States from which a run can be resumed."""


class ModelLine(msgspec.Struct, frozen=True):
    """One model as lists show it. Names are foreign text."""

    name: str
    model_id: str
    ready: bool
    state: str
    simulated: bool
    provider: str
    addresses: tuple[str, ...]
    mode: str
    concurrency: int
    price_in: float | None
    price_out: float | None
    line: int

    @property
    def is_priced(self) -> bool:
        """Whether asking it costs money that we know of, or may cost money that we do not know of."""
        return not self.simulated and (self.price_in is None or self.price_in > 0 or bool(self.price_out))


class Models(msgspec.Struct):
    """All models, and what is wrong with the file."""

    lines: list[ModelLine] = msgspec.field(default_factory=list[ModelLine])
    mistakes: list[str] = msgspec.field(default_factory=list[str])
    warnings: list[str] = msgspec.field(default_factory=list[str])
    path: Path | None = None
    book: "ModelBook | None" = None

    def find(self, name: str) -> ModelLine | None:
        return next((line for line in self.lines if line.name == name), None)


class SuiteLine(msgspec.Struct, frozen=True):
    """One suite as lists show it, or why it cannot be opened. Names and titles are foreign text."""

    entry: "SuiteEntry"
    categories: tuple["Category", ...] = ()
    mistake: str = ""
    may_run: bool = True
    """False: its folder has code that nobody allowed to run as it is now."""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def cases(self) -> int:
        """Number of cases in all categories."""
        return sum(category.cases for category in self.categories)

    @property
    def obstacle(self) -> str:
        """Why it cannot be chosen, in a few words; empty when it can."""
        if not self.mistake:
            return ""
        return "not usable" if self.may_run else "not allowed"


class Suites(msgspec.Struct):
    """All suites, and what was passed over while looking for them."""

    lines: list[SuiteLine] = msgspec.field(default_factory=list[SuiteLine])
    warnings: list[str] = msgspec.field(default_factory=list[str])
    catalog: "Catalog | None" = None
    missing: tuple["OfficialData", ...] = ()
    """Official data that a pull would bring."""

    def find(self, name: str) -> SuiteLine | None:
        return next((line for line in self.lines if line.name == name), None)


class RunLine(msgspec.Struct, frozen=True):
    """One run as lists show it, or why it cannot be read."""

    folder: RunFolder
    summary: Summary | None = None
    mistake: str = ""
    place: int = 0
    """Its place in the queue of runs, from 1; 0: it does not wait there."""

    @property
    def name(self) -> str:
        """Folder name, which is the run's id. Foreign text: folders can be made by anybody."""
        return self.folder.name

    @property
    def dated(self) -> Dated:
        """By what lists are sorted."""
        return Dated(self.name, self.summary.at if self.summary else 0.0, is_exact=self.summary is not None)

    @property
    def state(self) -> str:
        """State of the run; `damaged` when it cannot be read."""
        return self.summary.state if self.summary else "damaged"

    @property
    def is_live(self) -> bool:
        """Whether an engine plays it."""
        return self.state == "running"

    @property
    def is_queued(self) -> bool:
        """Whether it waits in the queue of runs."""
        return self.state == "queued"

    @property
    def is_begun_or_waits(self) -> bool:
        """Whether it is live, starting, or waits in the queue."""
        return self.is_live or self.is_queued or self.state == "starting"

    @property
    def can_resume(self) -> bool:
        """Whether it ended before everything was played."""
        summary = self.summary
        return summary is not None and self.state in UNFINISHED and summary.format != RECORDED

    @property
    def tally(self) -> Tally:
        return self.summary.tally if self.summary else Tally()

    @property
    def left(self) -> int:
        """Rollouts that are not finished."""
        return max(self.summary.planned - self.tally.finished, 0) if self.summary else 0

    @property
    def label(self) -> str:
        """Suite, with its category when there is only one; a run that goes on may come to others."""
        if self.summary is None:
            return ""
        names = [] if self.is_begun_or_waits else list(self.summary.categories)
        names = [self.summary.category] if self.summary.category else names
        return f"{self.summary.suite}/{names[0]}" if len(names) == 1 and names[0] else self.summary.suite

    @property
    def score(self) -> float:
        """Share that passed; -1 when nothing is graded."""
        rate = self.tally.rate
        return -1.0 if rate is None else rate.value


class CaseLine(msgspec.Struct, frozen=True):
    """One case of a run as the finder lists it. Everything but the outcome is foreign text."""

    id: str
    category: str
    title: str
    outcome: "Outcome | None"


class RunWatch:
    """Follows the journal of one live run, reading only what is new."""

    def __init__(self, folder: RunFolder) -> None:
        """Read nothing yet."""
        from console.store.journal import JournalReader

        self.folder = folder
        self._reader = JournalReader(folder.journal_path)
        self._fold = RunFold()
        self._manifest: Manifest | None = None

    def look(self, now: float) -> RunLine:
        """Read what is new and return the run as it stands."""
        try:
            self._manifest = self._manifest or self.folder.manifest()
            was_live = self.folder.is_live  # asked before and after: an end in between is read at the next look
            for record in self._reader.iter_all():
                self._fold.apply(without_output(record))
            live = was_live or self.folder.is_live
            if not live and not self._fold.sessions:
                return read_run(self.folder)
            summary = self._fold.summary(
                self._manifest,
                live=live,
                now=now,
                damaged=len(self._reader.damages),
                journal_bytes=self._reader.offset,
            )
        except (UsageError, OSError) as error:
            return RunLine(self.folder, mistake=str(error))
        return RunLine(self.folder, summary)


def read_models(paths: WorkspacePaths) -> Models:
    """Read the models file and say which models can be asked."""
    from console.config.models import load_models
    from console.config.paths import find_models_file

    try:
        book = load_models(find_models_file(paths.models), paths.data)
    except UsageError as error:
        book = load_models(None, paths.data)
        return Models(_lines_of(book), [str(error)], book=book)
    return Models(_lines_of(book), [str(mistake) for mistake in book.mistakes], list(book.warnings), book.path, book)


def _lines_of(book: "ModelBook") -> list[ModelLine]:
    return [_model_line(model) for model in book.models.values() if _can_be_asked(model)]


def _can_be_asked(model: "ModelConfig") -> bool:
    """Judges, users and embeddings that come with the program are roles, not models to evaluate."""
    return model.provider != "local" and not (model.simulated and model.model_id in ("judge", "user", "embedding"))


def _model_line(model: "ModelConfig") -> ModelLine:
    from console.config.model import USUAL_CONCURRENCY
    from console.config.models import key_state, public_address

    state = key_state(model)
    return ModelLine(
        name=model.name,
        model_id=model.model_id,
        ready=state.ready,
        state=state.text,
        simulated=model.simulated,
        provider=model.provider,
        addresses=tuple(map(public_address, model.addresses)),
        mode=model.mode,
        concurrency=model.limits.concurrency or USUAL_CONCURRENCY,
        price_in=model.price.input,
        price_out=model.price.output,
        line=model.line,
    )


def read_suites(paths: WorkspacePaths) -> Suites:
    """Look for suites and count their cases."""
    from console.config.paths import find_data_roots, state_dir
    from console.suites.catalog import Catalog, official_data
    from console.suites.category_index import CategoryIndex

    try:
        catalog = Catalog(find_data_roots(paths.data))
        entries = catalog.entries()
    except UsageError as error:
        return Suites(warnings=[str(error)], missing=tuple(official_data()))
    index = CategoryIndex(state_dir() / "categories.msgpack")
    lines = [_suite_line(catalog, index, entry) for entry in entries]
    index.save()
    names = {entry.name for entry in entries}
    missing = tuple(data for data in official_data() if data.name not in names)
    return Suites(lines, catalog=catalog, missing=missing)


def with_warnings(suites: Suites) -> Suites:
    """Add what was passed over while looking for suites; slow, because it asks every installed package for formats."""
    return suites if suites.catalog is None else msgspec.structs.replace(suites, warnings=suites.catalog.warnings)


def _suite_line(catalog: "Catalog", index: "CategoryIndex", entry: "SuiteEntry") -> SuiteLine:
    if entry.module:
        return _line_of_code(catalog, index, entry)
    try:
        return SuiteLine(entry, index.categories(catalog, entry))
    except UsageError as error:
        return SuiteLine(entry, mistake=str(error))
    except ImportError as error:
        return SuiteLine(entry, mistake=f"its format {entry.format!r} cannot be loaded: {error}")


def _line_of_code(catalog: "Catalog", index: "CategoryIndex", entry: "SuiteEntry") -> SuiteLine:
    """Return the line of a suite that is code of its folder, which may not be allowed, and may hang when it counts."""
    from console.suites.allowed import NotAllowed
    from console.suites.loading import LoadError, run_limited

    try:
        return SuiteLine(entry, run_limited(lambda: index.categories(catalog, entry)))
    except NotAllowed as error:
        return SuiteLine(entry, mistake=str(error), may_run=False)
    except LoadError as error:
        return SuiteLine(entry, mistake=f"its cases cannot be counted: {error.message}")
    except UsageError as error:
        return SuiteLine(entry, mistake=str(error))


def runs_root(paths: WorkspacePaths) -> Path:
    """Return the folder of runs; it may not exist yet.

    Raises:
        UsageError: what was named is no folder.
    """
    from console.config.paths import find_runs_root

    return find_runs_root(paths.runs, may_be_new=True)


def read_newest_runs(root: Path, most: int = 40) -> tuple[list[RunLine], int] | None:
    """Return the newest runs, and how many there are in all; None: all must be read to know that."""
    newest = read_newest(root, most)
    return None if newest is None else ([_run_line(listed) for listed in newest[0]], newest[1])


def read_runs(root: Path, show: Callable[[list[RunLine]], None], first: int = 40) -> list[RunLine]:
    """Read the runs of a folder, newest first.

    Args:
        root: the folder.
        show: called with those that were read so far: the first few, and where it takes long ever more, each time after
            twice as long as before, because the list is made anew with each.
        first: how many the first few are.
    """
    lines: list[RunLine] = []
    pause_s, due = FIRST_PAUSE_S, math.inf
    for listed in read_summaries(root):
        lines.append(_run_line(listed))
        if len(lines) == first or time.monotonic() > due:
            show(lines[:])
            due, pause_s = time.monotonic() + pause_s, pause_s * 2
    return lines


def read_run(folder: RunFolder) -> RunLine:
    """Read one run."""
    return _run_line(read_listed(folder))


def _run_line(listed: ListedFolder) -> RunLine:
    folder, summary = listed.folder, listed.summary
    place = _place_of(folder) if summary is not None and summary.state == "queued" else 0
    return RunLine(folder, summary, listed.mistake, place)


def _place_of(folder: RunFolder) -> int:
    """Return the place of a run in the queue, from 1; 0 when it is no longer there."""
    names = RunQueue(folder.path.parent).names()
    return names.index(folder.name) + 1 if folder.name in names else 0


def read_case_lines(folder: RunFolder) -> list[CaseLine]:
    """Read which cases a run holds and how each ended; what cannot be read is left out."""
    from console.core.record import Finished, Started
    from console.store.journal import JournalReader

    lines_by_case: dict[str, CaseLine] = {}
    try:
        reader = JournalReader(folder.journal_path)
        while records := reader.read_new():
            for record in records:
                if isinstance(record, Started):
                    case = record.case
                    lines_by_case.setdefault(case.id, CaseLine(case.id, case.category, case.title, None))
                elif isinstance(record, Finished) and (line := lines_by_case.get(record.key.case)) is not None:
                    lines_by_case[line.id] = msgspec.structs.replace(line, outcome=record.verdict.outcome)
    except (UsageError, OSError):
        pass
    return list(lines_by_case.values())


def listed_runs(lines: Iterable[RunLine]) -> "list[ListedRun]":
    """Return the runs that can be read, with their manifests, for the screens over all runs; reads a file for each."""
    from console.insight.trends import ListedRun

    runs: list[ListedRun] = []
    for line in lines:
        try:
            if line.summary is not None:
                runs.append(ListedRun(line.summary, line.folder.manifest()))
        except UsageError:  # a run that was deleted meanwhile
            continue
    return runs
