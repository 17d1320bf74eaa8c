"""View of judged pairs: both answers side by side, and the judge's words in each order."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from textual.content import Content

from console.core.comparison import Pair
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import literal, one_line
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase, SuiteView
from console.tui.symbols import MUTED, block_title, muted

ANSWER, QUESTION = "answer", "question"
"""Names of the rows that do not quote the judge."""
_GAP = "   "
_NAME = 40


class PairwiseView(SuiteView):
    """View of judged pairs."""

    lists_everything: bool = True
    has_pass_rate: bool = False
    has_conversation_pane: bool = False

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Show both answers in place of the diff."""
        return [replace(view, name="Answers", draw=answer_blocks) if view.id == "diff" else view for view in standard]


def answer_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the question, both answers side by side, and the judge's words about them."""
    if case.comparison is None or not case.comparison.pairs:
        return [Block("why", one_line(case.why or case.rollout.message or "not judged", 400, "$undecided"))]
    [pair] = case.comparison.pairs
    rows = {row.name: row for row in pair.rows}
    question, answer = rows.pop(QUESTION), rows.pop(ANSWER)
    words = [
        Block(
            f"judge {name}",
            Content.assemble(one_line(name, _NAME, MUTED), "  ", one_line(row.actual or "", _NAME, "bold")),
            text=row.note,
        )
        for name, row in rows.items()
    ]
    both = (answer.actual or "", *answer.expected)
    return [
        Block("question", muted(QUESTION), text="\n".join(question.expected)),
        Block("answers", body=tuple(_columns(pair, both, max(context.width - 2, 20)))),
        *([Block("judge", block_title("what the judge says"), gap=False)] if words else []),
        *words,
    ]


def _columns(pair: Pair, answers: Sequence[str], width: int) -> Iterator[Content]:
    """Yield the lines of both answers next to each other, with their names above."""
    room = (width - len(_GAP)) // 2
    names = (pair.actual, pair.expected)
    yield Content(_GAP).join(lines.fit(one_line(name, room, "bold"), room) for name in names)
    wrapped = [list(_wrapped(answer, room)) for answer in answers]
    for place in range(max(map(len, wrapped))):
        cells = (part[place] if place < len(part) else Content.empty() for part in wrapped)
        yield Content(_GAP).join(lines.fit(cell, room) for cell in cells)


def _wrapped(text: str, room: int) -> Iterator[Content]:
    for line in literal(text or "(no text)").split("\n"):
        yield from line.wrap(room) if line else [line]
