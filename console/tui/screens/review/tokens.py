"""The Tokens view: replies token by token, marked by probability, with the alternatives of one token."""

import math
from collections.abc import Sequence

from textual.content import Content

from console.core.chat import TokenLogprob
from console.insight.conversation import Conversation
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import DrawContext, ReviewedCase
from console.tui.symbols import MUTED, bar, block_title, muted
from console.tui.widgets.transcript import Transcript

CURSOR = "cursor"
"""Key of the block with the line of the cursor and the alternatives."""
_LEVELS = ((0.1, "$fail bold underline"), (0.5, "$fail underline"), (0.9, "$undecided"))
"""Styles of tokens below a probability; attributes distinguish the doubtful ones without colors."""
_LEGEND = "underlined: below 50 %   bold: below 10 %   < > previous, next token"
_BAR = 20
_NAME = 24
_MOST = 10


def tokens_of(conversation: Conversation) -> list[TokenLogprob]:
    """Return the tokens of all replies whose log probabilities are known, in order."""
    return [token for exchange in conversation.exchanges for token in exchange.asked.reply.logprobs]


def cursor_of(tokens: Sequence[TokenLogprob], chosen: int | None) -> int:
    """Return the index of the token under the cursor: the chosen one, else the least probable."""
    if chosen is not None:
        return max(0, min(chosen, len(tokens) - 1))
    return min(range(len(tokens)), key=lambda place: tokens[place].logprob, default=0)


def is_in_view(text: Transcript, key: str) -> bool:
    """Return whether all lines of a block are visible."""
    top, first = 0, text.scroll_offset.y
    for block in text.blocks:
        bottom = top + block.height_at(text.room)
        if block.key == key:
            return first <= top and bottom <= first + text.page
        top = bottom
    return False


def token_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the replies as lines of tokens; below the line with the cursor, the alternatives of its token."""
    tokens = tokens_of(case.conversation)
    if not tokens:
        return [Block("none", muted("The journal has no log probabilities of this case."))]
    cursor, first = cursor_of(tokens, context.token), 0
    blocks: list[Block] = []
    for exchange in case.conversation.exchanges:
        reply = exchange.asked.reply.logprobs
        if not reply:
            continue
        where = muted(f"{exchange.asked.role}  turn {exchange.asked.turn + 1} step {exchange.asked.step + 1}")
        blocks += _reply_blocks(f"reply {exchange.asked.n}", where, reply, cursor - first, context.width)
        first += len(reply)
    return [*blocks, Block("legend", body=(muted(_LEGEND),), indent=1)]


def _reply_blocks(name: str, where: Content, tokens: Sequence[TokenLogprob], cursor: int, width: int) -> list[Block]:
    """Return the blocks of a reply; `cursor` is outside of it if another reply has the cursor."""
    title = block_title(f"{name}: {len(tokens)} token{'s' * (len(tokens) != 1)}")
    lines, cursor_line = _lines(tokens, cursor, width - 2)
    if cursor_line is None:
        return [Block(name, title, where, body=lines)]
    here = [lines[cursor_line], *(line.pad_left(2) for line in _alternatives(tokens[cursor], width - 4))]
    blocks = [Block(name, title, where, body=lines[:cursor_line], gap=False)]
    blocks.append(Block(CURSOR, body=here, gap=cursor_line + 1 == len(lines)))
    return [*blocks, *([Block(f"{name} rest", body=rest)] if (rest := lines[cursor_line + 1 :]) else [])]


def _lines(tokens: Sequence[TokenLogprob], cursor: int, width: int) -> tuple[list[Content], int | None]:
    """Return tokens wrapped between tokens, and the index of the line with the cursor."""
    lines, line, cursor_line = list[Content](), Content.empty(), None
    for place, token in enumerate(tokens):
        cell = _shown(token.token)
        if line and line.cell_length + cell.cell_length > width:
            lines.append(line)
            line = Content.empty()
        style = "reverse" if place == cursor else _style(math.exp(token.logprob))
        line = line.append(cell.stylize(style) if style else cell)
        if place == cursor:
            cursor_line = len(lines)
        if token.token.endswith("\n"):
            lines.append(line)
            line = Content.empty()
    return ([*lines, line] if line else lines), cursor_line


def _shown(token: str) -> Content:
    r"""Return a token as sanitized text on one line, with line breaks as `\n`."""
    return one_line(token.replace("\n", "\\n") or " ")


def _style(probability: float) -> str:
    return next((style for least, style in _LEVELS if probability < least), "")


def _alternatives(token: TokenLogprob, width: int) -> list[Content]:
    """Return a line for each candidate at the position of a token, most probable first."""
    top = dict(token.top)
    candidates = top if token.token in top else {**top, token.token: token.logprob}
    listed = sorted(candidates.items(), key=lambda item: -item[1])[:_MOST]
    return [_candidate(text, math.exp(number), width, chosen=text == token.token) for text, number in listed]


def _candidate(text: str, probability: float, width: int, *, chosen: bool) -> Content:
    """Return a candidate in quotes, so that blanks are seen, with its probability."""
    name = Content('"').append(_shown(text).truncate(_NAME - 2, ellipsis=True)).append('"')
    name = (name.stylize("bold") if chosen else name).pad_right(max(_NAME - name.cell_length, 0))
    drawn = bar(probability, max(min(_BAR, width - _NAME - 9), 0))
    return Content.assemble(name, f"{probability:>7.1%}  ", (drawn, MUTED))
