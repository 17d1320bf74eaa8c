"""A run of loops summed up: totals with intervals, why loops ended, and a bar for every question. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from textual.content import Content

from console.insight import number_format
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.suites.suite import Metric, Report
from console.tui.render import lines
from console.tui.render.bars import bar
from console.tui.sanitize import one_line
from console.tui.suite_views.loop_facts import BAR_WIDTH, NAME_WIDTH, accepted, ending_lines, length_lines
from console.tui.widgets.block import Block

MUTED = "$muted"


def run_blocks(report: Report | str, rollouts: Sequence[Rollout], width: int) -> list[Block]:
    """Return the blocks of a run; without the suite's report, what is known from the loops alone."""
    blocks: list[Block] = []
    if isinstance(report, str):
        blocks.append(Block("why", one_line(report, 400, "$undecided")))
    else:
        body = [_metric_line(metric) for metric in report.metrics]
        notes = dict.fromkeys(metric.note for metric in report.metrics[:1] if metric.note)
        body += [one_line(note, 400, f"italic {MUTED}") for note in notes]
        blocks.append(Block("totals", _heading("the run"), body=tuple(body)))
    blocks.append(Block("endings", _heading("why loops ended"), body=tuple(ending_lines(rollouts, width))))
    blocks.append(Block("lengths", _heading("answers accepted in a loop"), body=tuple(length_lines(rollouts))))
    cases = report.cases if isinstance(report, Report) else {}
    blocks.append(Block("questions", _heading("by question"), body=tuple(_question_lines(rollouts, cases, width))))
    return blocks


def _heading(words: str) -> Content:
    return Content.styled(words, f"bold {MUTED}")


def _metric_line(metric: Metric) -> Content:
    label = lines.fit(one_line(metric.name.replace("_", " "), NAME_WIDTH, MUTED), NAME_WIDTH)
    value = "—" if metric.value is None else number_format.number(metric.value)
    line = label.append("  ").append_text(value.rjust(7), "bold")
    if metric.low is not None and metric.high is not None:
        line = line.append_text(
            f"   95% {number_format.number(metric.low)} … {number_format.number(metric.high)}", MUTED
        )
    return line.append_text(f"   {number_format.plural(metric.count, 'loop')}" if metric.count else "", MUTED)


def _question_lines(rollouts: Sequence[Rollout], cases: Mapping[str, tuple[Metric, ...]], width: int) -> list[Content]:
    """Return one line for every question, in the order of the run: its bar, its number, why it ended."""
    by_case: dict[str, list[Rollout]] = defaultdict(list)
    for rollout in rollouts:
        by_case[rollout.key.case].append(rollout)
    values = {case: _value(loops, cases.get(case)) for case, loops in by_case.items()}
    most = max([1.0, *(value for value, _ in values.values() if value is not None)])
    room = max(min(width - BAR_WIDTH - 34, 60), 16)
    drawn = [_question_line(loops, values[case], most, room) for case, loops in by_case.items()]
    return [lines.fit(line, width - 2) for line in drawn]


def _value(loops: Sequence[Rollout], metrics: tuple[Metric, ...] | None) -> tuple[float | None, str]:
    """Return a question's number and its interval in words."""
    if metrics and metrics[0].value is not None:
        metric = metrics[0]
        has_interval = metric.low is not None and metric.high is not None
        span = (
            f" {number_format.number(metric.low or 0)} … {number_format.number(metric.high or 0)}"
            if has_interval
            else ""
        )
        return metric.value, span
    graded = [accepted(loop) for loop in loops if loop.outcome is not None and loop.outcome.is_graded]
    return (sum(graded) / len(graded) if graded else None), ""


def _question_line(loops: Sequence[Rollout], value: tuple[float | None, str], most: float, room: int) -> Content:
    first = loops[0]
    name = lines.fit(one_line(first.title or first.key.case, room), room)
    number, span = value
    ended = dict.fromkeys(reason_words(loop.reason, loop.outcome) for loop in loops)
    why = one_line(", ".join(ended), 60, MUTED)
    if number is None:
        return Content.assemble(name, "     —  ", why)
    drawn = bar(number / most, BAR_WIDTH).ljust(BAR_WIDTH)
    return Content.assemble(
        name, (number_format.number(number).rjust(6), "bold"), "  ", (drawn, "$live"), (span, MUTED), " ", why
    )
