"""Code that a model had run, as blocks: code, what it printed, calls, variables, and how a turn ended. Pure."""

from collections.abc import Callable, Sequence

from textual.content import Content

from console.insight import number_format
from console.insight.executed_code import (
    CELL,
    SANDBOX,
    TOOL,
    TURN,
    Cell,
    read_cell,
    read_confinement,
    read_turn_end,
    tool_call,
)
from console.insight.passage import Passage
from console.tui.render.bars import is_ascii
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import literal, one_line
from console.tui.widgets.block import Block

MUTED = "$muted"
OUTPUT_LIMIT = 20_000
"""Characters of an output that are shown; of a longer one, its head and tail."""
NAMES_WIDTH = 60
LONG_LINES = 16
"""Lines from which on a tool's result starts folded."""


def cell_block(cell: Cell, key: str, *, code: str, gap: bool = True) -> Block:
    """Return the block of one cell.

    Args:
        cell: what was run.
        key: key of the block.
        code: the code to show; empty where it stands above already.
        gap: whether an empty line follows.
    """
    title = Content.styled("ran" if code else "ran it", "bold $live")
    if cell.error:
        title = title.append("  ").append(one_line(f"{SYMBOLS.broken} {cell.error}", 300, "bold $fail"))
    names = _variables(cell)
    return Block(key, title, body=(*cell_lines(cell, code), *((names,) if names else ())), gap=gap)


def cell_lines(cell: Cell, code: str) -> tuple[Content, ...]:
    """Return the lines of a cell: code, what it printed behind a bar, and the calls it made."""
    code_lines: list[Content] = list(literal(code, OUTPUT_LIMIT).split("\n")) if code else []
    side = Content.styled("| " if is_ascii() else "│ ", "$line")
    if cell.output:
        code_lines += [side.append(line) for line in literal(cell.output, OUTPUT_LIMIT, MUTED).split("\n")]
    else:
        code_lines.append(side.append_text("printed nothing", f"italic {MUTED}"))
    if cell.hidden:
        words = f"{number_format.count(cell.hidden)} characters more, not given to the model"
        code_lines.append(side.append_text(words, "$undecided"))
    arrow = "-> " if is_ascii() else "→ "
    code_lines += [Content.styled(arrow, "bold $live").append(one_line(call, 4000)) for call in cell.calls]
    return tuple(code_lines)


def turn_code_block(turn: int, cells: Sequence[Cell]) -> Block:
    """Return the code that was run in a turn, counted from 0, with what it printed."""
    body: list[Content] = []
    for place, cell in enumerate(cells):
        if len(cells) > 1:
            body.append(Content.styled(f"block {place + 1}", MUTED))
        if cell.error:
            body.append(one_line(f"{SYMBOLS.broken} {cell.error}", 300, "bold $fail"))
        body += cell_lines(cell, cell.code)
        names = [f"{verb} {', '.join(them)}" for verb, them in (("reads", cell.reads), ("writes", cell.writes)) if them]
        if names:
            body.append(one_line("  ".join(names), 200, MUTED))
    title = Content.styled(f"code it ran, {number_format.plural(len(cells), 'block')}", MUTED)
    return Block(f"code {turn}", title, body=tuple(body), folds_alone=True)


def _variables(cell: Cell) -> Content:
    parts: list[Content] = []
    for verb, names in (("reads", cell.reads), ("writes", cell.writes)):
        if names:
            parts.append(Content.assemble((f"{verb} ", MUTED), one_line(", ".join(names), NAMES_WIDTH, MUTED)))
    return Content("  ").join(parts)


def _cell(passage: Passage, key: str, gap: bool) -> Block:
    return cell_block(read_cell(passage.data), key, code=passage.text, gap=gap)


def _tool(passage: Passage, key: str, gap: bool) -> Block:
    name, text = tool_call(passage.data)
    title = Content.assemble((f"{'<-' if is_ascii() else '←'} ", MUTED), one_line(name, 200, MUTED))
    block = Block(key, title, text=text, gap=gap, indent=4)
    block.folded = text.count("\n") >= LONG_LINES or len(text) > OUTPUT_LIMIT
    if not text:
        block.body = (Content.styled("(nothing)", MUTED),)
    return block


def _turn(passage: Passage, key: str, gap: bool) -> Block:
    ended = read_turn_end(passage.data)
    steps = (
        f"{number_format.plural(ended.steps, 'step')}  {number_format.count(ended.tokens)} tokens"
        if ended.steps
        else ""
    )
    title = Content.styled(f"turn {passage.turn + 1} ended", f"bold {MUTED}")
    return Block(key, title, Content.styled(steps, MUTED), body=turn_lines(passage), gap=gap)


def turn_lines(passage: Passage) -> tuple[Content, ...]:
    """Return what the validator said and what went wrong in a turn."""
    ended = read_turn_end(passage.data)
    end_lines: list[Content] = []
    if ended.trouble:
        end_lines += _spoken(f"{SYMBOLS.broken} ", ended.trouble, "$broken")
    if ended.validator is not None:
        mark, style = (SYMBOLS.passed, "$pass") if ended.validator else (SYMBOLS.failed, "$fail")
        word = "agrees" if ended.validator else "disagrees"
        # A validator's message says what would be wrong, even where nothing is: only a failure needs it.
        end_lines += _spoken(f"{mark} validator {word}  ", "" if ended.validator else ended.message, style)
    return tuple(end_lines)


def _spoken(head: str, text: str, style: str) -> Sequence[Content]:
    first, *rest = literal(text, OUTPUT_LIMIT).split("\n")
    return [Content.styled(head, style).append(first), *rest]


def _sandbox(passage: Passage, key: str, gap: bool) -> Block:
    level = read_confinement(passage.data)
    style = "$undecided" if level.missing else MUTED
    return Block(key, Content.styled("sandbox  ", MUTED).append(one_line(level.text, 200, style)), gap=gap)


CODE_NOTES: dict[str, Callable[[Passage, str, bool], Block]] = {
    CELL: _cell,
    TOOL: _tool,
    TURN: _turn,
    SANDBOX: _sandbox,
}
"""How notes of these kinds are drawn."""
