"""The conversations of a run that another run regrades or continues, read from its journal one by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.core.case import Key, Slot
from console.core.experiment import Beginning
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import AnyRecord, Finished
from console.core.run import RECORDED, Manifest
from console.core.tally import has_grade, without_output
from console.engine.recorded_effects import ConversationEffects, EarlierPlay
from console.store.journal_index import JournalIndex
from console.store.runs import RunFolder


@dataclass(slots=True)
class EarlierRun:
    """The plays of a run's conversations that count."""

    journal: JournalIndex
    finished: dict[Slot, Finished]
    repeats: int = 1
    """Number of gradings of each."""
    asked_anew: frozenset[str] = frozenset()
    """Roles that are called again instead of reusing their answers."""
    is_imported: bool = False
    """True if the run was imported from another tool."""
    beginnings: Mapping[str, Beginning] | None = None
    """The beginnings to repeat, by case id; None for a regrade."""

    def has(self, slot: Slot) -> bool:
        """Return whether a rollout of the new run can be played."""
        return self.beginnings is not None or self._old(slot) in self.finished

    def play(self, key: Key) -> EarlierPlay | None:
        """Return the play behind a rollout of the new run, or None if it is played from the start."""
        if self.beginnings is None:
            earlier = self._play(self._old(key.slot))
            earlier.asked_anew, earlier.is_closed, earlier.is_taken_whole = self.asked_anew, True, self.is_imported
            return earlier
        beginning = self.beginnings.get(key.case)
        if beginning is None:
            return None
        earlier = self._play((key.case, beginning.rollout))
        if beginning.replies is None:
            earlier.is_closed = True
        else:
            earlier.effects, earlier.replies = earlier.effects.up_to(beginning.replies), beginning.replies
        return earlier

    def records(self, old: Slot) -> list[AnyRecord]:
        """Return the records of a recorded conversation that has ended."""
        return self.journal.read(self.finished[old].key)

    def output(self, old: Slot) -> Any:
        """Return the output of a recorded conversation, or None if it has not ended."""
        finished = self._play(old).finished if old in self.finished else None
        return finished.output if finished is not None else None

    def _play(self, old: Slot) -> EarlierPlay:
        play = EarlierPlay(ConversationEffects(), self.finished[old])
        for record in self.records(old):
            if isinstance(record, Finished):
                play.finished = record  # with its output
            else:
                play.effects.add(record)
        play.effects.records.clear()
        return play

    def _old(self, slot: Slot) -> Slot:
        return slot[0], slot[1] // self.repeats


def earlier_run(manifest: Manifest, runs_root: Path) -> EarlierRun | None:
    """Open the run that a run regrades or continues; None if it plays its own conversations.

    Raises:
        UsageError: that run is gone, or has not finished a conversation to be continued.
    """
    beginnings = manifest.experiment.beginnings if manifest.experiment is not None else {}
    if not manifest.regraded and not beginnings:
        return None
    earlier = open_run(manifest, runs_root)
    if not manifest.regraded:
        earlier.beginnings = beginnings
        missing = [case for case, beginning in beginnings.items() if (case, beginning.rollout) not in earlier.finished]
        if missing:
            raise UsageError(f"{missing[0]} has not ended in {manifest.parent}", hint="Finish that run with `resume`.")
    return earlier


def open_run(manifest: Manifest, runs_root: Path) -> EarlierRun:
    """Open the run that a run regrades or experiments on."""
    folder = RunFolder(runs_root / (manifest.regraded or manifest.parent))
    if not folder.has_journal:
        done = "graded again" if manifest.regraded else "continued"
        raise UsageError(f"the run whose conversations are {done} is gone", where=str(folder.path), hint="Put it back.")
    earlier = open_recorded(folder)
    earlier.repeats, earlier.asked_anew = manifest.judge_repeats, frozenset(manifest.asked_anew)
    earlier.is_imported = manifest.format == RECORDED
    return earlier


def open_recorded(folder: RunFolder) -> EarlierRun:
    """Open a run whose recorded effects are all repeated."""
    journal, finished = JournalIndex(folder.journal_path), dict[Slot, Finished]()
    for record in journal.iter_ends():
        if not has_grade(finished.get(record.key.slot)):
            finished[record.key.slot] = without_output(record)
    return EarlierRun(
        journal, {slot: end for slot, end in finished.items() if end.verdict.outcome is not Outcome.NOT_RUN}
    )
