"""Batches of earlier sessions, read from the journal of a run that is resumed."""

from collections import defaultdict, deque

import msgspec

from console.core.record import AnyRecord, Asked, Batched, call_name


class RecordedBatches:
    """Batches in a journal that have not ended, with their calls that have no answer there."""

    def __init__(self, run: str, *, resubmits: bool = False) -> None:
        """Start with an empty journal of this run."""
        self._run = run
        self.resubmits = resubmits
        """True if the user has asked to send the calls of missing batches again."""
        self._open: dict[str, Batched] = {}
        self._unanswered: defaultdict[str, deque[tuple[str, str]]] = defaultdict(deque)
        """Batch and id of each call without an answer, by the call's name."""

    def add(self, record: AnyRecord) -> None:
        """Add a record, in the order of the journal."""
        match record:
            case Batched(ended=""):
                planned = self._open.get(record.name, record)
                self._open[record.name] = msgspec.structs.replace(record, calls=planned.calls)
                for call in record.calls:
                    self._unanswered[name_of(call)].append((record.name, call))
            case Batched():
                self._open.pop(record.name, None)
            case Asked(key=key) if self._open and not record.kept:
                name = call_name(self._run, f"{key.case}/{key.rollout}/{key.attempt}/{record.digest}")
                waiting = self._unanswered.get(name)
                while waiting and waiting.popleft()[0] not in self._open:
                    pass
            case _:
                pass

    def of(self, model: str) -> list[tuple[Batched, list[str]]]:
        """Return the open batches of a model, with all their calls, and those that are unanswered."""
        calls: defaultdict[str, list[str]] = defaultdict(list)
        for unanswered in self._unanswered.values():
            for batch, call in unanswered:
                calls[batch].append(call)
        return [(record, calls[record.name]) for record in self._open.values() if record.model == model]


def name_of(call: str) -> str:
    """Return the name of a call; equal calls have the same name."""
    return call.rpartition("-")[0]
