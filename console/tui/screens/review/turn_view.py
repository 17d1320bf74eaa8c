"""A comparison turn by turn: what was asked, how calls, variables, state and validator came out, the code it ran. Pure.

Says nothing of its own about what is right: marks come from the suite's comparison.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from textual.content import Content

from console.core.comparison import Comparison, Mark, Pair
from console.insight.conversation import Conversation
from console.insight.passage import Passage, PassageKind
from console.tui.render import diff
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.block import Block

MUTED = "$muted"
_QUERY_WIDTH = 400
_KINDS = (
    ("call", "calls"),
    ("read", "reads"),
    ("write", "writes"),
    ("state", "state"),
    ("result", "results"),
    ("validator", "validator"),
)
_WHOLE = ("state", "result")
"""Kinds of which only what is wrong is listed: how many of how many means nothing."""


def turn_blocks(
    comparison: Comparison, conversation: Conversation, codes: Mapping[int, Block], width: int, style: diff.Style
) -> list[Block]:
    """Return the blocks of all turns; where one failed, the good ones are folded.

    Args:
        comparison: the suite's.
        conversation: what was said in each turn.
        codes: block of the code that was run in a turn, by turn from 0.
        width: cells of the pane.
        style: how the reader wants it.
    """
    pairs_by_turn = dict(diff.turns_of(comparison))
    marks = diff.turn_marks(comparison)
    is_titled = len(marks) > 1 or bool(codes)
    has_failed = Mark.DIFFERS in marks.values()
    blocks: list[Block] = []
    is_named = False
    for number in sorted({*pairs_by_turn, *marks}):
        pairs = pairs_by_turn.get(number, [])
        is_folded = has_failed and marks.get(number) is Mark.SAME
        title = turn_title(number, marks.get(number, Mark.SAME), pairs) if is_titled else Content.empty()
        body = _asked(conversation.passages, number) if is_titled else []
        if pairs and not is_named and not is_folded:
            is_named = True
            body += diff.heading(width, style)
        body += diff.pair_lines(pairs, width, style)
        code = codes.get(number)
        if code is not None and is_folded:
            body += code.body
            code = None
        blocks.append(Block(f"turn {number}", title, body=tuple(body), indent=0, folded=is_folded, gap=code is None))
        if code is not None:
            code.folded = not has_failed
            blocks.append(code)
    for block, after in pairwise(blocks):
        block.gap = block.gap and not (block.folded and after.folded)
    return blocks


def turn_title(number: int, mark: Mark, pairs: Sequence[Pair]) -> Content:
    """Return `turn 2 ✗   calls 1 of 2   reads ✓   writes ✗   validator ✗`."""
    parts = [Content.assemble((f"turn {number + 1} ", "bold"), diff.turn_sign(mark))]
    if mark is Mark.OMITTED:
        parts.append(Content.styled("not judged", MUTED))
    for kind, words in _KINDS:
        of_kind = [pair for pair in pairs if pair.kind == kind]
        if of_kind:
            parts.append(_wrong(words) if kind in _WHOLE else _summary(words, of_kind))
    return Content("   ").join(parts)


def _summary(words: str, pairs: Sequence[Pair]) -> Content:
    expected = [pair for pair in pairs if pair.mark is not Mark.EXTRA]
    right = sum(pair.mark in (Mark.SAME, Mark.OMITTED) for pair in expected)
    extra = len(pairs) - len(expected)
    parts: list[Content] = []
    if expected:
        count = f"{right} of {len(expected)}" if len(expected) > 1 and right < len(expected) else ""
        style = "$pass" if right == len(expected) else "$fail"
        parts.append(Content.styled(count or (SYMBOLS.passed if right else SYMBOLS.failed), style))
    if extra:
        parts.append(Content.styled(f"{extra} extra", MUTED))
    return Content.styled(f"{words} ", MUTED).append(Content(", ").join(parts))


def _wrong(words: str) -> Content:
    return Content.assemble((f"{words} ", MUTED), (SYMBOLS.failed, "$fail"))


def _asked(passages: Sequence[Passage], turn: int) -> list[Content]:
    """Return what the user said in a turn, on one line."""
    texts = [
        passage.text
        for passage in passages
        if passage.kind is PassageKind.USER and passage.turn == turn and not passage.step and passage.role == "model"
    ]
    return [Content.styled("user  ", MUTED).append(one_line(texts[-1], _QUERY_WIDTH))] if texts else []
