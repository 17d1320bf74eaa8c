"""A loop for review: why it ended, the two answers that collided side by side, then every round in order. Pure."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from console.core.comparison import Comparison
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.loops import Round, collision, rounds_of
from console.insight.word_diff import Part, compare_words
from console.tui.render import lines
from console.tui.render.bars import is_ascii
from console.tui.sanitize import literal
from console.tui.suite_views.loop_blocks import round_blocks
from console.tui.suite_views.loop_lines import end_line, gauges
from console.tui.widgets.block import Block

MUTED = "$muted"
LEAST_COLUMN = 34
"""Cells each of two answers needs for side by side."""
TEXT_LIMIT = 20_000


def loop_blocks(
    conversation: Conversation, comparison: Comparison | None, width: int, *, stacked: bool = False, folded: bool = True
) -> list[Block]:
    """Return the blocks of a loop.

    Args:
        conversation: the loop.
        comparison: the suite's, which knows the answer that was collided with; without it, the nearest one is taken.
        width: cells of the pane.
        stacked: lay colliding answers above each other even where there is room for two columns.
        folded: whether prompts and the judge's words are one line each.
    """
    rounds = rounds_of(conversation.passages)
    blocks = _ending_blocks(rounds, comparison, width, stacked=stacked)
    for place, loop_round in enumerate(rounds):
        blocks += round_blocks(loop_round, unfolded=not folded, earlier=place)
    return blocks


def _ending_blocks(rounds: Sequence[Round], comparison: Comparison | None, width: int, *, stacked: bool) -> list[Block]:
    if not rounds:
        return [Block("none", Content.styled("No round of this loop was finished.", MUTED))]
    last = rounds[-1]
    ended = end_line(last)
    accepted = sum(loop_round.accepted is True for loop_round in rounds)
    count = Content.assemble((number_format.plural(accepted, "answer"), "bold"), (" accepted", MUTED))
    blocks = [Block("accepted", count, gauges(last) if ended else Content.empty(), gap=False)]
    if ended:
        blocks.append(Block("ended", Content.assemble((f"round {last.turn + 1}  ", MUTED), ended), gap=False))
    pair = collision(rounds, _collided_with(comparison))
    if pair is not None:
        blocks.append(_collision_block(*pair, width, stacked=stacked))
    blocks[-1].gap = True
    return blocks


def _collided_with(comparison: Comparison | None) -> str:
    """Return the earlier answer that the suite laid beside the last one."""
    last = comparison.pairs[-1] if comparison is not None and comparison.pairs else None
    return last.expected if last is not None else ""


def _collision_block(earlier: Round, last: Round, width: int, *, stacked: bool) -> Block:
    shared = compare_words(earlier.answer, last.answer)
    alike = ""
    if last.similarity is not None and last.nearest == earlier.turn:
        alike = f"{number_format.number(last.similarity)} alike, "
    words = f"  {alike}{shared.same} of {shared.words} words the same, the others underlined"
    title = Content.assemble((f"round {earlier.turn + 1} and round {last.turn + 1}", "bold"), (words, MUTED))
    sides = [_marked(shared.left, "$expected"), _marked(shared.right, "$actual")]
    names = [f"round {earlier.turn + 1}", f"round {last.turn + 1}"]
    column = (width - 5) // 2
    if stacked or column < LEAST_COLUMN:
        body = [line for name, side in zip(names, sides, strict=True) for line in (_named(name), *side)]
    else:
        body = list(_columns(names, sides, column))
    return Block("collision", title, body=tuple(body), indent=1)


def _named(name: str) -> Content:
    return Content.styled(name.upper(), f"bold {MUTED}")


def _marked(parts: Iterable[Part], style: str) -> list[Content]:
    """Return the lines of one answer; words that only it has are underlined, not only coloured."""
    whole = Content.empty()
    for part in parts:
        text = literal(part.text, TEXT_LIMIT)
        whole = whole.append(_underlined(text, style) if part.differs else text)
    return list(whole.split("\n"))


def _underlined(text: Content, style: str) -> Content:
    """Underline the words, not the blanks after them."""
    end = len(text.plain.rstrip())
    return text.stylize(f"underline {style}", 0, end) if end else text


def _columns(names: Sequence[str], sides: Sequence[list[Content]], width: int) -> Iterable[Content]:
    bar = Content.assemble(" ", ("|" if is_ascii() else "│", "$line"), " ")
    left, right = ([_named(name), *_wrapped(side, width)] for name, side in zip(names, sides, strict=True))
    for place in range(max(len(left), len(right))):
        left_line = left[place] if place < len(left) else Content.empty()
        right_line = right[place] if place < len(right) else Content.empty()
        yield lines.fit(left_line, width).append(bar).append(right_line)


def _wrapped(side: Sequence[Content], width: int) -> list[Content]:
    return [line[start:end] for line in side for start, end in lines.wrap(line.plain, width)]
