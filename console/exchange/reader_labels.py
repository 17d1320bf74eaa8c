"""The queue of answers that a reader labels, and labels as JSON lines for people who label elsewhere."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from console.core.annotation import VERDICTS, ReaderLabel
from console.core.case import Key, Slot
from console.core.fault import UsageError
from console.core.json_text import decode_as
from console.exchange.run_reader import RunReader
from console.exchange.suspects import expected_lines
from console.insight.conversation import Conversation, actual_text
from console.insight.message import NormalizedMessage, normalized_message
from console.insight.reader_labels import ReaderScore, next_to_label, reader_score, unsettled
from console.insight.rollout import Rollout
from console.store.journal_line import scrub
from console.store.notes import READER_LABEL, Note, Notes, reader_labels, user_name
from console.store.runs import RunFolder
from console.suites.run_suite import open_run_suite

_JUDGE = "judge"


class LabelQueue:
    """The answers of a run, one by one, for one reader."""

    def __init__(self, folder: RunFolder, reader: str = "", *, settles: bool = False, data: Path | None = None) -> None:
        """Read the run.

        Args:
            folder: the run.
            reader: name of the reader; empty for the user's name.
            settles: draw only what readers disagree on.
            data: folder of suites, if one was named.

        Raises:
            UsageError: the folder is not a run, or nothing in it is graded.
        """
        self.folder = folder
        self.reader = reader or user_name() or "reader"
        self._run, self._notes, self._settles = RunReader(folder), Notes(folder.path), settles
        self._suite = open_run_suite(self._run.manifest, data)
        grader = self._run.manifest.grader
        self._grader = grader.digest if grader is not None else ""
        if not any(rollout.outcome is not None and rollout.outcome.is_graded for rollout in self._rollouts):
            raise UsageError("has no graded answer to be labeled", where=folder.name)

    @property
    def _rollouts(self) -> Iterable[Rollout]:
        return self._run.side.rollouts.values()

    def next(self) -> Rollout | None:
        """Return the next answer to be labeled, or None if none is left."""
        annotations = self._notes.annotations()
        if self._settles:
            return next(iter(unsettled(self._rollouts, annotations)), None)
        return next_to_label(self._rollouts, annotations, self.reader, self.folder.name)

    def read(self, rollout: Rollout) -> tuple[str, str]:
        """Return what the answer is graded by, without the verdict, and the answer."""
        conversation = self._run.conversation(rollout.key)
        comparison = self._suite.compare(conversation.case, conversation.finished)
        expected = expected_lines(comparison)
        shown = [_question(conversation), *(["expected:\n" + "\n".join(expected)] if expected else [])]
        return "\n\n".join(shown), actual_text(conversation)

    def label(self, rollout: Rollout, word: str, label: ReaderLabel) -> None:
        """Save a verdict.

        Raises:
            UsageError: the run folder cannot be written.
        """
        made = msgspec.structs.replace(
            label, grader=self._grader, settled=self._settles, remark=scrub(label.remark.strip())
        )
        self._notes.add(Note(rollout.key, READER_LABEL, word, who=self.reader, reader=made))

    def take_back(self, slot: Slot) -> Rollout:
        """Remove the reader's verdict on an answer, and return it.

        Raises:
            UsageError: the run folder cannot be written.
        """
        rollout = self._run.side.rollouts[slot]
        self._notes.add(Note(rollout.key, READER_LABEL, "", who=self.reader, reader=ReaderLabel(settled=self._settles)))
        return rollout

    def score(self) -> ReaderScore | None:
        """Return the corrected score; None before anything is labeled."""
        return reader_score(self._rollouts, self._notes.annotations())


def _question(conversation: Conversation) -> str:
    """Return the judge's question, or else the conversation up to the answer."""
    exchanges = conversation.exchanges
    judged = [exchange for exchange in exchanges if exchange.asked.role == _JUDGE]
    asked = judged[-1:] or [exchange for exchange in exchanges if exchange.asked.role == "model"][-1:]
    messages = asked[0].messages if asked else []
    shown = [normalized_message(message) for message in messages]
    return "\n\n".join(message.text if judged else _said(message) for message in shown)


def _said(message: NormalizedMessage) -> str:
    calls = [f"calls {call.name}({call.arguments})" for call in message.calls]
    return f"{message.role}: " + "\n".join(filter(None, (message.text, *calls)))


class LabelLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One label as a line of a file."""

    case: str
    rollout: int
    """From 1."""
    reader: str
    verdict: str
    """One of `VERDICTS`."""
    at: float = 0.0
    blind: bool = False
    grade: int | None = None
    remark: str = ""
    settled: bool = False
    grader: str = ""


def label_lines(folder: RunFolder) -> Iterator[LabelLine]:
    """Yield the labels of a run."""
    for (case, rollout), of_slot in reader_labels(Notes(folder.path).all()).items():
        for note in of_slot:
            about = note.reader or ReaderLabel()
            yield LabelLine(case, rollout + 1, note.who, note.value, note.at, about.blind, about.grade, about.remark,
                            about.settled, about.grader)  # fmt: skip


def read_label_lines(path: Path, folder: RunFolder) -> list[Note]:
    """Read labels from a file of JSON lines.

    Raises:
        UsageError: the file cannot be read, or a line is invalid; names the line. Nothing is written then.
    """
    slots = RunReader(folder).side.rollouts
    notes: list[Note] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            read = decode_as(line, LabelLine)
        except ValueError as error:
            fields: Any = ", ".join(LabelLine.__struct_fields__[:4])
            raise UsageError(f"is no label: {error}", where=place, hint=f"A line has {fields}.") from None
        if read.verdict not in VERDICTS or not read.reader:
            hint = f"The verdict is one of {', '.join(VERDICTS)}, and the reader a name."
            raise UsageError(f"{read.verdict!r} by {read.reader!r} is no verdict", where=place, hint=hint)
        if (read.case, read.rollout - 1) not in slots:
            raise UsageError(f"the run has no rollout {read.rollout} of {read.case!r}", where=place)
        about = ReaderLabel(read.blind, read.grader, read.grade, scrub(read.remark), read.settled)
        key = Key(read.case, read.rollout - 1)
        notes.append(Note(key, READER_LABEL, read.verdict, read.at, scrub(read.reader), reader=about))
    return notes
