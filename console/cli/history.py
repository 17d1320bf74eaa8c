"""A run loaded for display: manifest, counts, and the attempt at every rollout that counts, with its case."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console.core.case import Case, Key, Slot
from console.core.endings import Endings
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Finished, Started
from console.core.run import Manifest, Summary
from console.core.tally import without_rerolls
from console.insight.rollout import SETUP
from console.store.journal import JournalReader
from console.store.journal_file import journal_status
from console.store.journal_index import SAVED_FROM_BYTES, JournalIndex
from console.store.runs import RunFolder
from console.suites.catalog import find_suite
from console.suites.planned_order import first_results
from console.suites.report import build_report, results_of
from console.suites.suite import Report, Result, Suite

if TYPE_CHECKING:
    from console.insight.overview import Overview


@dataclass(frozen=True, slots=True)
class PlayedRollout:
    """The attempt at one rollout that counts."""

    case: Case
    key: Key
    finished: Finished | None
    """Its end; None if in flight or interrupted."""

    @property
    def outcome(self) -> str:
        """Outcome as a word; `setup` for setup cases, `interrupted` if the attempt has no end."""
        if self.finished is None:
            return "interrupted"
        outcome = self.finished.verdict.outcome
        return SETUP if outcome.is_graded and not self.case.graded else outcome.value

    @property
    def reason(self) -> str:
        """Reason for a failure or a broken rollout; empty otherwise."""
        return (self.finished.verdict.reason or "") if self.finished else ""

    @property
    def has_not_passed(self) -> bool:
        """True if it is neither passed nor a setup case that succeeded."""
        return self.outcome not in (Outcome.PASSED.value, SETUP)


@dataclass(frozen=True, slots=True)
class History:
    """The data of a run that its report needs."""

    folder: RunFolder
    manifest: Manifest
    summary: Summary
    results: list[Result]
    """Ended rollouts by case, in order of first start."""


def read_history(folder: RunFolder) -> History:
    """Read a run's journal once, without outputs and messages: a run may have a million rollouts."""
    manifest = folder.manifest()
    fold, summary = folder.fold(Endings(manifest.rollouts))
    return History(folder, manifest, summary, results_of(fold))


def read_played(folder: RunFolder) -> list[PlayedRollout]:
    """Return the attempt at every rollout that counts, with its record, in order of first start."""
    cases: dict[str, Case] = {}
    keys: dict[Slot, Key] = {}
    latest: dict[Slot, Finished] = {}
    for record in without_rerolls(JournalReader(folder.journal_path).iter_all()):
        if isinstance(record, Finished):
            latest[record.key.slot] = record
        elif isinstance(record, Started):
            cases.setdefault(record.key.case, record.case)
            keys[record.key.slot] = record.key
    return [
        PlayedRollout(cases[key.case], ended.key if (ended := latest.get(slot)) is not None else key, ended)
        for slot, key in keys.items()
    ]


def save_overview(folder: RunFolder) -> None:
    """Save overview and summary of a long run at its end, so that opening it does not require reading the journal."""
    with contextlib.suppress(OSError, UsageError):
        status = journal_status(folder.journal_path)
        if status.size >= SAVED_FROM_BYTES:
            index, live = JournalIndex(folder.journal_path, folder.summarized_bytes), folder.is_live
            overview = _read(folder, index, live=live)
            folder.summarize(overview.fold, index, status.modified_ns, live=live)


def read_overview(folder: RunFolder) -> "Overview":
    """Return the list data of a run: from the saved overview of a finished long run, else from the journal."""
    return _read(folder, JournalIndex(folder.journal_path), live=folder.is_live)


def _read(folder: RunFolder, index: JournalIndex, *, live: bool) -> "Overview":
    from console.insight.overview import Overview  # here, as playing and reporting a short run need no list data
    from console.insight.overview_snapshot import decode_overview, encode_overview, layout

    overview = index.restore_saved(folder.index_path, layout(), decode_overview, live=live) or Overview()
    saved_at = index.offset
    for record in index.iter_all():
        overview.apply(record)
        overview.changed.clear()  # nothing is drawn
    if not live and index.offset >= SAVED_FROM_BYTES and index.offset != saved_at:
        index.save(folder.index_path, layout(), encode_overview(overview))
    return overview


def report_of(history: History, data_path: Path | None) -> Report:
    """Aggregate a run by its suite's formula."""
    suite = find_suite(history.manifest, data_path)
    return build_report(suite, shown_results(history, suite), history.manifest.setting)


def shown_results(history: History, suite: Suite) -> Sequence[Result]:
    """Return the results for a report: those included in the newest look, if it determines the run's score."""
    summary = history.summary
    if not summary.is_shown_by_look:
        return history.results
    return first_results(suite, history.results, history.manifest, summary.look)
