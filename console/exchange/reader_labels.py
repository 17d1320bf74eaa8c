"""The queue of answers that a reader labels, and labels as JSON lines for people who label elsewhere."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from console.core.annotation import FAILED, NO_ANNOTATION, PASSED, PASSES_FROM, UNCLEAR, VERDICTS, ReaderLabel
from console.core.case import Key
from console.core.fault import UsageError, os_errors_as
from console.core.json_text import decode_as
from console.exchange.run_reader import RunReader
from console.exchange.suspects import expected_lines
from console.insight.conversation import Conversation, Exchange, actual_text
from console.insight.message import NormalizedMessage, normalized_message
from console.insight.reader_labels import (
    JudgedAnswer,
    ReaderScore,
    judged_answers,
    judged_scores,
    next_to_label,
    reader_progress,
    reader_score,
    score_words,
    unsettled,
)
from console.store.atomic import read_regular
from console.store.journal_line import scrub
from console.store.notes import NO_CIRCUMSTANCES, READER_LABEL, Note, Notes, reader_labels, user_name
from console.store.runs import RunFolder
from console.suites.run_suite import open_run_suite
from console.suites.stage import JUDGE

MOST = 5
"""Best grade on a reader's scale."""
LABEL_KEYS = {"p": PASSED, "f": FAILED, "u": UNCLEAR}
"""Verdicts by the key that gives them."""


class ShownAnswer(NamedTuple):
    """An answer as shown to a reader. Untrusted text."""

    title: str
    question: str
    """The question or criteria by which the answer is graded."""
    answer: str
    round: int | None = None
    """Number of the answer within a loop, from 0."""


class LabelQueue:
    """The answers of a run, one by one, for one reader."""

    def __init__(self, folder: RunFolder, reader: str = "", *, settles: bool = False, data: Path | None = None) -> None:
        """Read the run.

        Args:
            folder: the run.
            reader: name of the reader; empty for the user's name.
            settles: draw only answers on which readers disagree.
            data: folder of suites, if one was named.

        Raises:
            UsageError: the folder is not a run, or nothing in it is graded.
        """
        self.folder = folder
        self.reader = reader or user_name() or "reader"
        self.remark = ""
        """Remark that will be stored with the next verdict."""
        self.grades: dict[str, int] = {}
        """Grades given to the current answer so far, by criterion."""
        self.labeled: list[JudgedAnswer] = []
        """Answers labeled in this session since the last `turn_to`, in order."""
        self.settles = settles
        self._run, self._notes = RunReader(folder), Notes(folder.path)
        self._suite = open_run_suite(self._run.manifest, data)
        grader = self._run.manifest.grader
        self._grader = grader.digest if grader is not None else ""
        self._answers = judged_answers(self._run.side.rollouts.values(), self._run.manifest)
        if not self._answers:
            raise UsageError("has no graded answer to be labeled", where=folder.name)
        self.current = self._next()
        """The answer to be labeled; None if none is left."""

    def _next(self) -> JudgedAnswer | None:
        annotations = self._notes.annotations()
        if self.settles:
            return next(iter(unsettled(self._answers, annotations)), None)
        return next_to_label(self._answers, annotations, self.reader, self.folder.name)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria of the current answer; empty if it has at most one. Untrusted text."""
        names = judged_scores(self.current.rollout) if self.current is not None else []
        return tuple(names) if len(names) > 1 else ()

    @property
    def criterion(self) -> str:
        """Name of the criterion that the next grade applies to; empty without criteria."""
        return next((name for name in self.criteria if name not in self.grades), "")

    @property
    def readers_words(self) -> str:
        """Verdicts of the disagreeing readers on the current answer, while settling; else empty. Untrusted text."""
        if self.current is None or not self.settles:
            return ""
        annotation = self._notes.annotations().get(self.current.rollout.slot, NO_ANNOTATION)
        people = annotation.people if self.current.round is None else annotation.rounds.get(self.current.round)
        return ", ".join(f"{who} {word}" for who, word in people.by_reader.items()) if people is not None else ""

    def press(self, key: str) -> bool:
        """Record a verdict or a grade; return False if the key stands for neither.

        Grades of 4 or more pass. With criteria, each has a grade; the answer passes if all of them do.

        Raises:
            UsageError: the run folder cannot be written.
        """
        if self.current is None or key not in (*LABEL_KEYS, *"12345"):
            return False
        if key.isdigit():
            self.grades[self.criterion] = int(key)
            if not self.criterion:
                self._label(PASSED if min(self.grades.values()) >= PASSES_FROM else FAILED)
        else:
            self._label(LABEL_KEYS[key])
        return True

    def _label(self, word: str) -> None:
        assert self.current is not None
        about = ReaderLabel(True, self._grader, self.grades, None, scrub(self.remark.strip()), self.settles)
        self._write(self.current, word, about)
        self.labeled.append(self.current)
        self._show(self._next())

    def _write(self, answer: JudgedAnswer, word: str, about: ReaderLabel) -> None:
        """Label an answer, and the same answer in other rounds of its loop."""
        key = answer.rollout.key
        rounds = [each.round for each in self._answers if each.rollout.key == key]
        if len(rounds) > 1:
            conversation = self._run.conversation(key)
            texts = {number: self._round(conversation, number) for number in rounds if number is not None}
            rounds = [number for number, text in texts.items() if text == texts.get(answer.round or 0)]
        for number in rounds:
            of_round = msgspec.structs.replace(about, round=number)
            self._notes.add(Note(key, READER_LABEL, word, who=self.reader, reader=of_round))

    def go_back(self) -> bool:
        """Remove the last grade or verdict of this session; return False if nothing is left to remove.

        Raises:
            UsageError: the run folder cannot be written.
        """
        if self.grades:
            self.grades.popitem()
            return True
        if not self.labeled:
            return False
        answer = self.labeled.pop()
        self._write(answer, "", ReaderLabel(settled=self.settles))
        self._show(answer)
        return True

    def turn_to(self, *, settles: bool) -> None:
        """Draw only answers on which readers disagree, or all answers again."""
        self.settles, self.labeled = settles, []
        self._show(self._next())

    def _show(self, answer: JudgedAnswer | None) -> None:
        self.current, self.remark, self.grades = answer, "", {}

    def read(self) -> ShownAnswer | None:
        """Return the current answer and the basis of its grade, without the verdict; None if none is left."""
        if self.current is None:
            return None
        conversation, number = self._run.conversation(self.current.rollout.key), self.current.round
        title = conversation.case.title if conversation.case is not None else self.current.rollout.key.case
        if number is not None:
            return ShownAnswer(title, *self._round(conversation, number), number)
        comparison = self._suite.compare(conversation.case, conversation.finished)
        expected = expected_lines(comparison)
        shown = [_question(conversation.exchanges), *(["expected:\n" + "\n".join(expected)] if expected else [])]
        return ShownAnswer(title, "\n\n".join(shown), actual_text(conversation))

    def _round(self, conversation: Conversation, number: int) -> tuple[str, str]:
        """Return the judge's first question about an answer of a loop, and the answer."""
        turn = sorted({each.asked.turn for each in conversation.exchanges if each.asked.role == JUDGE})[number]
        of_turn = [each for each in conversation.exchanges if each.asked.turn == turn]
        judged = [each for each in of_turn if each.asked.role == JUDGE]
        replies = [each.asked.reply.content or "" for each in of_turn if each.asked.role == "model"]
        answer = self._suite.judged_answer(conversation.finished, turn) or "".join(replies[-1:])
        return _question(judged[:1]), answer

    @property
    def progress_words(self) -> str:
        """The reader's position in the queue, and the scores so far."""
        annotations = self._notes.annotations()
        done, total = reader_progress(self._answers, annotations, self.reader)
        if self.settles:
            done, total = len(self.labeled), len(self.labeled) + len(unsettled(self._answers, annotations))
        score = reader_score(self._answers, annotations)
        return f"{done} of {total}" + (f"   {score_words(score)}" if score is not None else "")

    def score(self) -> ReaderScore | None:
        """Return the corrected score; None before anything is labeled."""
        return reader_score(self._answers, self._notes.annotations())


def _question(exchanges: Sequence[Exchange]) -> str:
    """Return the judge's question, or else the conversation up to the answer."""
    judged = [exchange for exchange in exchanges if exchange.asked.role == JUDGE]
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
    """Number of the rollout, from 1."""
    reader: str
    verdict: str
    """One of `VERDICTS`."""
    at: float = 0.0
    blind: bool = False
    round: int | None = None
    """Round of a loop, from 1."""
    grades: dict[str, int] = {}
    remark: str = ""
    settled: bool = False
    grader: str = ""


def label_lines(folder: RunFolder) -> Iterator[LabelLine]:
    """Yield the labels of a run."""
    for ((case, rollout), number), of_answer in reader_labels(Notes(folder.path).all()).items():
        for note in of_answer:
            about = note.reader or NO_CIRCUMSTANCES
            yield LabelLine(case, rollout + 1, note.who, note.value, note.at, about.blind,
                            None if number is None else number + 1, about.grades, about.remark,
                            about.settled, about.grader)  # fmt: skip


def read_label_lines(path: Path, folder: RunFolder) -> list[Note]:
    """Read labels from a file of JSON lines.

    Raises:
        UsageError: the file cannot be read, or a line is invalid; names the line. Nothing is written in this case.
    """
    run = RunReader(folder)
    slots = run.side.rollouts
    rounds = {answer.place for answer in judged_answers(slots.values(), run.manifest)}
    notes: list[Note] = []
    with os_errors_as("cannot be read", where=path):
        lines = read_regular(path).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            read = decode_as(line, LabelLine)
        except ValueError as error:
            fields: Any = ", ".join(LabelLine.__struct_fields__[:4])
            raise UsageError(f"is not a label: {error}", where=place, hint=f"A line has {fields}.") from None
        if read.verdict not in VERDICTS or not read.reader:
            hint = f"The verdict must be one of {', '.join(VERDICTS)}, and the reader a name."
            raise UsageError(f"{read.verdict!r} by {read.reader!r} is not a verdict", where=place, hint=hint)
        if (read.case, read.rollout - 1) not in slots:
            raise UsageError(f"the run has no rollout {read.rollout} of {read.case!r}", where=place)
        number, key = None if read.round is None else read.round - 1, Key(read.case, read.rollout - 1)
        if number is not None and (key.slot, number) not in rounds:
            raise UsageError(f"rollout {read.rollout} of {read.case!r} has no judged round {read.round}", where=place)
        if any(not 1 <= grade <= MOST for grade in read.grades.values()):
            raise UsageError(f"a grade is not from 1 to {MOST}", where=place)
        about = ReaderLabel(read.blind, read.grader, read.grades, number, scrub(read.remark), read.settled)
        notes.append(Note(key, READER_LABEL, read.verdict, read.at, scrub(read.reader), reader=about))
    return notes
