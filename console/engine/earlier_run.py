"""The conversations of a run that another one grades again, read from its journal one by one."""

from dataclasses import dataclass
from pathlib import Path

from console.core.case import Key, Slot
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import AnyRecord, Finished
from console.core.run import Manifest
from console.core.tally import without_output
from console.engine.recorded_effects import ConversationEffects, EarlierPlay
from console.store.journal_index import JournalIndex
from console.store.runs import RunFolder
from console.suites.catalog import RECORDED


@dataclass(slots=True)
class EarlierRun:
    """The latest plays of a run's conversations."""

    journal: JournalIndex
    finished: dict[Slot, Finished]
    repeats: int
    """How often each is graded."""
    asked_anew: frozenset[str]
    is_imported: bool = False
    """True if another tool played them."""

    def has(self, slot: Slot) -> bool:
        """Return whether the conversation behind a rollout of the new run was played."""
        return self._old(slot) in self.finished

    def play(self, key: Key) -> EarlierPlay:
        """Return the play behind a rollout of the new run."""
        finished = self.finished[self._old((key.case, key.rollout))]
        effects = ConversationEffects()
        for record in self.journal.read(finished.key):
            if not isinstance(record, Finished):
                effects.add(record)
        effects.records.clear()
        return EarlierPlay(effects, finished, self.asked_anew, is_closed=True, is_taken_whole=self.is_imported)

    def _old(self, slot: Slot) -> Slot:
        return slot[0], slot[1] // self.repeats


def earlier_run(manifest: Manifest, runs_root: Path) -> EarlierRun | None:
    """Open the run that a run grades again; None if it plays its own conversations.

    Raises:
        UsageError: that run is gone.
    """
    if not manifest.regraded:
        return None
    folder = RunFolder(runs_root / manifest.regraded)
    if not folder.has_journal:
        hint = "Put it back, or grade another run again."
        raise UsageError("the run whose conversations are graded again is gone", where=str(folder.path), hint=hint)
    is_imported = manifest.format == RECORDED
    journal, finished = JournalIndex(folder.journal_path), dict[Slot, Finished]()
    for record in journal.iter_all():
        _add(finished, record, keeps_output=is_imported)
    played = {slot: record for slot, record in finished.items() if record.verdict.outcome is not Outcome.NOT_RUN}
    return EarlierRun(journal, played, manifest.judge_repeats, frozenset(manifest.asked_anew), is_imported)


def _add(finished: dict[Slot, Finished], record: AnyRecord, *, keeps_output: bool) -> None:
    if not isinstance(record, Finished):
        return
    kept = record if keeps_output or record.verdict.outcome is Outcome.BROKEN else without_output(record)
    finished[record.key.case, record.key.rollout] = kept
