"""Label answers of a run yourself, blind, to see how far its judge can be trusted.

One answer at a time is shown with what the judge was asked; its verdict is hidden until you have decided. Answer with p
(passes), f (fails), u (unclear), 1 to 5 (a grade; 4 and 5 pass), c TEXT (a remark on the next verdict), b (one
back) or q (quit). Answers are drawn at random within the judge's verdicts, more of those with more uncertainty; a
second reader gets the same ones in another order, and --settle shows only answers on which readers disagree. Labels
change no score: the corrected score is shown next to the judge's.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.core.fault import UsageError, reason_of
from console.exchange.json_kind import JsonKind
from console.exchange.reader_labels import LabelQueue
from console.insight.reader_labels import reader_lines, reader_object

READER_SCORE = JsonKind(
    "reader_score",
    "label, labels",
    "The score of a run's judge, next to the score corrected by people's labels.",
    {"run": "its name", "people": "labels, scores, confusion and agreement; null without labels"},
)


class LabelArguments(Arguments):
    which: str
    blind: bool
    limit: int | None
    reader: str
    settle: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("--blind", action="store_true", help="never show the judge's verdict, not even afterwards")
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="stop after N answers")
    parser.add_argument("--reader", metavar="NAME", default="", help="name of the reader (default: the user's name)")
    parser.add_argument("--settle", action="store_true", help="settle only answers on which readers disagree")


def run(args: LabelArguments) -> int:
    """Label answers until the input ends, then show the corrected score."""
    queue = LabelQueue(args.find_run(args.which), args.reader, settles=args.settle, data=args.data)
    if args.limit is not None and args.limit < 1:
        raise UsageError(f"must be at least 1, not {args.limit}", where="--limit")
    _Session(args.output, queue, is_blind=args.blind).go(args.limit)
    show_reader_score(args.output, queue)
    return Exit.OK


def show_reader_score(output: Output, queue: LabelQueue) -> None:
    """Show the score by a run's judge next to the one corrected by labels."""
    score = queue.score()
    if output.machine:
        output.data(READER_SCORE, {"run": queue.folder.name, "people": reader_object(score)})
        return
    for line in reader_lines(score) if score is not None else ["nothing labeled yet"]:
        output.prose(line)


@dataclass
class _Session:
    output: Output
    queue: LabelQueue
    is_blind: bool

    def go(self, limit: int | None) -> None:
        """Ask for verdicts until there are enough, none are left, or the input ends."""
        queue, lines = self.queue, _lines()
        self._show()
        while queue.current is not None and (limit is None or len(queue.labeled) < limit):
            answer, line = queue.current, next(lines, "q")
            if line.strip() == "q":
                return
            self._answer(line)
            if queue.current is not answer and len(queue.labeled) != limit:
                self._show()

    def _show(self) -> None:
        shown = self.queue.read()
        if shown is None:
            self.output.info("nothing is left to label")
            return
        self.output.text(self.queue.progress_words, "strong")
        self.output.text(shown.question)
        place = "answer" if shown.round is None else f"answer of round {shown.round + 1}"
        self.output.text(f"{place} to {shown.title}", "strong")
        self.output.text(shown.answer)
        if words := self.queue.readers_words:
            self.output.text(f"readers disagree: {words}", "faint")
        for name in self.queue.criteria:
            self.output.text(f"to be graded: {name}", "faint")
        self.output.info("p passes   f fails   u unclear   1-5 grade   c TEXT remark   b one back   q quit")

    def _answer(self, line: str) -> None:
        queue, (key, _, text) = self.queue, line.strip().partition(" ")
        count = len(queue.labeled)
        if key == "c":
            queue.remark = text
        elif not (queue.go_back() if key == "b" else queue.press(key)):
            self.output.info(f"{line.strip()!r} is not one of p, f, u, 1-5, c, b, q")
        if len(queue.labeled) > count and not self.is_blind:
            self.output.text(f"the judge: {queue.labeled[-1].outcome}", "faint")


def _lines() -> Iterator[str]:
    """Yield the lines typed or piped in."""
    try:
        yield from (line for line in sys.stdin if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where="stdin") from None
