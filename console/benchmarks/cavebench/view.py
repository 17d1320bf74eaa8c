"""Cave-bench's view: executed code, numbers by turn, and a summary of the run."""

from collections.abc import Callable, Mapping, Sequence

from textual.content import Content

from console.core.outcome import Verdict
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.executed_code import (
    CELL,
    SANDBOX,
    TOOL,
    TURN,
    Cell,
    TurnEnd,
    cells_of,
    read_cell,
    read_confinement,
    read_turn_end,
    tool_call,
)
from console.insight.passage import Passage
from console.insight.rollout import Rollout
from console.insight.turn_sums import TurnSums, turn_sums
from console.suites.suite import Metric, Report
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import literal, one_line
from console.tui.suite_views.suite_view import CaseView, DrawContext, NoteBlock, ReviewedCase, SuiteView
from console.tui.symbols import MUTED, SYMBOLS, block_title, muted, outcome_sign

OUTPUT_LIMIT = 20_000
"""Maximum number of characters shown of an output; a longer one is reduced to its head and tail."""
NAMES_WIDTH = 60
LONG_LINES = 16
"""Minimum number of lines of a tool's result that is folded at first."""


def _cell(passage: Passage, key: str, gap: bool) -> Block:
    """Draw executed code and its output; the passage has no text if the code is already shown above."""
    cell, code = read_cell(passage.data), passage.text
    title = Content.styled("ran" if code else "ran it", "bold $live")
    if cell.error:
        title = title.append("  ").append(one_line(f"{SYMBOLS.broken} {cell.error}", 300, "bold $fail"))
    names = _variables(cell)
    return Block(key, title, body=(*cell_lines(cell, code), *((names,) if names else ())), gap=gap)


def cell_lines(cell: Cell, code: str) -> tuple[Content, ...]:
    """Return the lines of a cell: code, output marked by a bar, and calls."""
    code_lines: list[Content] = list(literal(code, OUTPUT_LIMIT).split("\n")) if code else []
    side = Content.styled("│ ", "$line")
    if cell.output:
        code_lines += [side.append(line) for line in literal(cell.output, OUTPUT_LIMIT, MUTED).split("\n")]
    else:
        code_lines.append(side.append_text("printed nothing", f"italic {MUTED}"))
    if cell.hidden:
        words = f"{number_format.count(cell.hidden)} more characters, not sent to the model"
        code_lines.append(side.append_text(words, "$undecided"))
    code_lines += [Content.styled(f"{SYMBOLS.call} ", "bold $live").append(one_line(call, 4000)) for call in cell.calls]
    return tuple(code_lines)


def turn_code_block(turn: int, cells: Sequence[Cell]) -> Block:
    """Return the code executed in a turn, with its output; turns count from 0."""
    body: list[Content] = []
    for place, cell in enumerate(cells):
        if len(cells) > 1:
            body.append(muted(f"block {place + 1}"))
        if cell.error:
            body.append(one_line(f"{SYMBOLS.broken} {cell.error}", 300, "bold $fail"))
        body += cell_lines(cell, cell.code)
        names = [f"{verb} {', '.join(them)}" for verb, them in (("reads", cell.reads), ("writes", cell.writes)) if them]
        if names:
            body.append(one_line("  ".join(names), 200, MUTED))
    title = muted(f"code it ran, {number_format.plural(len(cells), 'block')}")
    return Block(f"code {turn}", title, body=tuple(body), folds_alone=True)


def _variables(cell: Cell) -> Content:
    parts: list[Content] = []
    for verb, names in (("reads", cell.reads), ("writes", cell.writes)):
        if names:
            parts.append(Content.assemble((f"{verb} ", MUTED), one_line(", ".join(names), NAMES_WIDTH, MUTED)))
    return Content("  ").join(parts)


def _tool(passage: Passage, key: str, gap: bool) -> Block:
    name, text = tool_call(passage.data)
    title = Content.assemble((f"{SYMBOLS.result} ", MUTED), one_line(name, 200, MUTED))
    block = Block(key, title, text=text, gap=gap, indent=4)
    block.folded = text.count("\n") >= LONG_LINES or len(text) > OUTPUT_LIMIT
    if not text:
        block.body = (muted("(nothing)"),)
    return block


def _turn(passage: Passage, key: str, gap: bool) -> Block:
    ended = read_turn_end(passage.data)
    steps = (
        f"{number_format.plural(ended.steps, 'step')}  {number_format.count(ended.tokens)} tokens"
        if ended.steps
        else ""
    )
    title = block_title(f"turn {passage.turn + 1} ended")
    return Block(key, title, muted(steps), body=_turn_lines(ended), gap=gap)


def _turn_lines(ended: TurnEnd) -> tuple[Content, ...]:
    """Return the error and the validator's result of a turn."""
    end_lines: list[Content] = []
    if ended.trouble:
        end_lines += _labeled_text(f"{SYMBOLS.broken} ", ended.trouble, "$broken")
    if ended.validator is not None:
        mark, style = (SYMBOLS.passed, "$pass") if ended.validator else (SYMBOLS.failed, "$fail")
        word = "agrees" if ended.validator else "disagrees"
        # A validator has a message even on success, so show it only on failure.
        end_lines += _labeled_text(f"{mark} validator {word}  ", "" if ended.validator else ended.message, style)
    return tuple(end_lines)


def _labeled_text(head: str, text: str, style: str) -> Sequence[Content]:
    first, *rest = literal(text, OUTPUT_LIMIT).split("\n")
    return [Content.styled(head, style).append(first), *rest]


def _sandbox(passage: Passage, key: str, gap: bool) -> Block:
    level = read_confinement(passage.data)
    style = "$undecided" if level.missing else MUTED
    return Block(key, muted("sandbox  ").append(one_line(level.text, 200, style)), gap=gap)


CODE_NOTES: dict[str, Callable[[Passage, str, bool], Block]] = {
    CELL: _cell,
    TOOL: _tool,
    TURN: _turn,
    SANDBOX: _sandbox,
}
"""Drawing functions for notes, by kind."""


NAME_WIDTH = 24


def sum_blocks(report: Report | str, rollouts: Sequence[Rollout], width: int) -> list[Block]:
    """Return the blocks of a run: totals, then each category with its conversations."""
    if isinstance(report, str):
        return [Block("why", one_line(report, 400, "$undecided"))]
    blocks = [Block("totals", block_title("the run"), body=tuple(_metric_line(metric) for metric in report.metrics))]
    for place, (name, metrics) in enumerate(report.categories.items()):
        body = [*_flow(metrics, width - 2)]
        for rollout in rollouts:
            if rollout.category == name:
                body += _conversation(rollout, report.cases.get(rollout.key.case, ()), width)
        blocks.append(Block(f"category {place}", one_line(name, 80, "bold"), body=tuple(body)))
    return blocks


def turn_sum_block(turns: Sequence[TurnSums]) -> Block:
    """Return the numbers of a conversation by turn."""
    body: list[Content] = []
    for number, turn in enumerate(turns, start=1):
        mark, style = (SYMBOLS.passed, "$pass") if turn.success else (SYMBOLS.failed, "$fail")
        calls = f"calls {turn.actual_calls} of {turn.expected_calls}".ljust(14)
        spent = f"{number_format.plural(turn.steps, 'step').ljust(9)} {number_format.count(turn.tokens)} tokens"
        line = Content.assemble((f"turn {number}".ljust(8), MUTED), (f"{mark} ", style), calls, "  ", spent)
        body.append(line)
        wrong = "  ".join(f"{words} {count}" for words, count in turn.wrong)
        if wrong:
            body.append(Content.assemble(" " * 10, (wrong, "$fail")))
    return Block("turns", block_title("by turn"), body=tuple(body))


def _metric_line(metric: Metric) -> Content:
    label = lines.fit(one_line(metric.name, NAME_WIDTH, MUTED), NAME_WIDTH)
    line = label.append("  ").append_text(_value(metric).rjust(9), "bold")
    return line.append("   ").append(one_line(metric.note, 60, MUTED)) if metric.note else line


def _value(metric: Metric) -> str:
    if metric.value is None:
        return "—"
    if metric.unit == "rate":
        return f"{metric.value:.1%}"
    return number_format.count(metric.value) if metric.unit == "count" else number_format.number(metric.value)


def _flow(metrics: Sequence[Metric], width: int) -> list[Content]:
    """Lay out metrics side by side on as few lines as possible."""
    rows: list[Content] = []
    for metric in metrics:
        item = Content.assemble(one_line(metric.name, NAME_WIDTH, MUTED), " ", (_value(metric), "bold"))
        if rows and rows[-1].cell_length + 3 + item.cell_length <= width:
            rows[-1] = rows[-1].append("   ").append(item)
        else:
            rows.append(item)
    return rows


def _conversation(rollout: Rollout, metrics: Sequence[Metric], width: int) -> list[Content]:
    name = Content.assemble(outcome_sign(rollout.outcome), " ", one_line(str(rollout.key), 60))
    return [name, *(Content("    ").append(line) for line in _flow(metrics, width - 6))]


class CaveBenchView(SuiteView):
    """View of multi-turn conversations in which the model writes code."""

    note_blocks: Mapping[str, NoteBlock] = CODE_NOTES

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Add the summary of the run."""
        return [*standard, CaseView("run", "Run", _draw_run)]

    def verdict_block(self, verdict: Verdict) -> Block | None:
        """Return the numbers by turn."""
        turns = turn_sums(verdict.detail)
        return turn_sum_block(turns) if turns else None

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        """Return the code of each turn."""
        cells = cells_of(conversation.passages)
        turns = sorted({cell.turn for cell in cells})
        return {turn: turn_code_block(turn, [cell for cell in cells if cell.turn == turn]) for turn in turns}


def _draw_run(case: ReviewedCase, context: DrawContext) -> list[Block]:
    return sum_blocks(context.report(), context.rollouts(), context.width)
