"""A run of conversations summed up: the run, its categories, each conversation; and the turns of one. Pure."""

from collections.abc import Sequence

from textual.content import Content

from console.insight import number_format
from console.insight.rollout import Rollout
from console.insight.turn_sums import TurnSums
from console.suites.suite import Metric, Report
from console.tui.render import lines
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.block import Block

MUTED = "$muted"
NAME_WIDTH = 24


def sum_blocks(report: Report | str, rollouts: Sequence[Rollout], width: int) -> list[Block]:
    """Return the blocks of a run: its numbers, those of each category, and under each its conversations."""
    if isinstance(report, str):
        return [Block("why", one_line(report, 400, "$undecided"))]
    blocks = [Block("totals", _heading("the run"), body=tuple(_metric_line(metric) for metric in report.metrics))]
    for place, (name, metrics) in enumerate(report.categories.items()):
        body = [*_flow(metrics, width - 2)]
        for rollout in rollouts:
            if rollout.category == name:
                body += _conversation(rollout, report.cases.get(rollout.key.case, ()), width)
        blocks.append(Block(f"category {place}", one_line(name, 80, "bold"), body=tuple(body)))
    return blocks


def turn_sum_block(turns: Sequence[TurnSums]) -> Block:
    """Return the numbers of a conversation's turns, one line each."""
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
    return Block("turns", _heading("by turn"), body=tuple(body))


def _heading(words: str) -> Content:
    return Content.styled(words, f"bold {MUTED}")


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
    """Return metrics side by side, on as many lines as they need."""
    rows: list[Content] = []
    for metric in metrics:
        item = Content.assemble(one_line(metric.name, NAME_WIDTH, MUTED), " ", (_value(metric), "bold"))
        if rows and rows[-1].cell_length + 3 + item.cell_length <= width:
            rows[-1] = rows[-1].append("   ").append(item)
        else:
            rows.append(item)
    return rows


def _conversation(rollout: Rollout, metrics: Sequence[Metric], width: int) -> list[Content]:
    outcome = rollout.outcome
    mark = SYMBOLS.running if outcome is None else SYMBOLS.of(outcome)
    name = Content.styled(f"{mark} ", MUTED if outcome is None else OUTCOME_STYLES[outcome])
    name = name.append(one_line(str(rollout.key), 60))
    return [name, *(Content("    ").append(line) for line in _flow(metrics, width - 6))]
