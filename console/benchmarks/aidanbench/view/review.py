"""AidanBench's view in Review: loops named by their questions, round by round, and a summary of the run.

A loop is shown with its reason for ending, the two colliding answers side by side, and all rounds. Its version of Live
is in `live`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from textual.content import Content

from console.benchmarks.aidanbench.view.endings import BAR_WIDTH, NAME_WIDTH, accepted, ending_lines, length_lines
from console.benchmarks.aidanbench.view.live import LoopLiveView
from console.benchmarks.aidanbench.view.loops import Round, collision, is_loop, rounds_of
from console.benchmarks.aidanbench.view.rounds import end_line, gauges, round_blocks
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.passage import Passage
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.insight.word_diff import Part, compare_words
from console.suites.suite import Metric, Report
from console.tui.render import diff, lines
from console.tui.render.block import Block
from console.tui.sanitize import literal, one_line
from console.tui.suite_views.conversation_blocks import broken_blocks
from console.tui.suite_views.suite_view import CaseView, DrawContext, LiveView, NoteBlock, ReviewedCase, SuiteView
from console.tui.symbols import MUTED, bar, block_title, muted

LEAST_COLUMN = 34
"""Minimum width of each answer, in cells, for the side-by-side layout."""
TEXT_LIMIT = 20_000


def _ending_blocks(rounds: Sequence[Round], comparison: Comparison | None, width: int, *, stacked: bool) -> list[Block]:
    if not rounds:
        return [Block("none", muted("No round of this loop was finished."))]
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
    """Return the earlier answer that the suite compared with the last one."""
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
        body = [line for name, side in zip(names, sides, strict=True) for line in (block_title(name.upper()), *side)]
    else:
        body = list(_columns(names, sides, column))
    return Block("collision", title, body=tuple(body), indent=1)


def _marked(parts: Iterable[Part], style: str) -> list[Content]:
    """Return the lines of one answer; words that the other answer lacks are colored and underlined."""
    whole = Content.empty()
    for part in parts:
        text = literal(part.text, TEXT_LIMIT)
        whole = whole.append(_underlined(text, style) if part.differs else text)
    return list(whole.split("\n"))


def _underlined(text: Content, style: str) -> Content:
    """Underline text except trailing whitespace."""
    end = len(text.plain.rstrip())
    return text.stylize(f"underline {style}", 0, end) if end else text


def _columns(names: Sequence[str], sides: Sequence[list[Content]], width: int) -> Iterable[Content]:
    bar = Content.assemble(" ", ("│", "$line"), " ")
    left, right = ([block_title(name.upper()), *_wrapped(side, width)] for name, side in zip(names, sides, strict=True))
    for place in range(max(len(left), len(right))):
        left_line = left[place] if place < len(left) else Content.empty()
        right_line = right[place] if place < len(right) else Content.empty()
        yield lines.fit(left_line, width).append(bar).append(right_line)


def _wrapped(side: Sequence[Content], width: int) -> list[Content]:
    return [line[start:end] for line in side for start, end in lines.wrap(line.plain, width)]


def _metric_line(metric: Metric) -> Content:
    label = lines.fit(one_line(metric.name.replace("_", " "), NAME_WIDTH, MUTED), NAME_WIDTH)
    value = "—" if metric.value is None else number_format.number(metric.value)
    line = label.append("  ").append_text(value.rjust(7), "bold")
    if span := number_format.bounds(metric.low, metric.high, number_format.number):
        line = line.append_text(f"   95% {span}", MUTED)
    return line.append_text(f"   {number_format.plural(metric.count, 'loop')}" if metric.count else "", MUTED)


def _question_lines(rollouts: Sequence[Rollout], cases: Mapping[str, tuple[Metric, ...]], width: int) -> list[Content]:
    """Return one line per question, in run order: mean, bar, interval, and reasons for ending."""
    by_case: dict[str, list[Rollout]] = defaultdict(list)
    for rollout in rollouts:
        by_case[rollout.key.case].append(rollout)
    values = {case: _value(loops, cases.get(case)) for case, loops in by_case.items()}
    most = max([1.0, *(value for value, _ in values.values() if value is not None)])
    room = max(min(width - BAR_WIDTH - 34, 60), 16)
    drawn = [_question_line(loops, values[case], most, room) for case, loops in by_case.items()]
    return [lines.fit(line, width - 2) for line in drawn]


def _value(loops: Sequence[Rollout], metrics: tuple[Metric, ...] | None) -> tuple[float | None, str]:
    """Return a question's score and its formatted interval."""
    if metrics and metrics[0].value is not None:
        span = number_format.bounds(metrics[0].low, metrics[0].high, number_format.number)
        return metrics[0].value, f" {span}" if span else ""
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


def _one_line_note(words: Callable[[Mapping[str, Any]], Content], *, with_gap: bool = True) -> NoteBlock:
    def draw(passage: Passage, key: str, gap: bool) -> Block:
        return Block(key, words(cast(dict[str, Any], passage.data)), gap=gap and with_gap)

    return draw


def _nearest(data: Mapping[str, Any]) -> Content:
    similarity, turn = data.get("similarity"), data.get("turn")
    alike = f", {number_format.number(similarity)} alike" if isinstance(similarity, int | float) else ""
    words = f"nearest earlier answer: turn {(turn if isinstance(turn, int) else 0) + 1}{alike}  "
    return Content.assemble((words, MUTED), one_line(str(data.get("answer", "")), 300, f"italic {MUTED}"))


def _accepted(data: Mapping[str, Any]) -> Content:
    return Content.styled("accepted, goes on", "$pass")


def _rejected(data: Mapping[str, Any]) -> Content:
    return Content.assemble(("rejected: ", "$fail"), one_line(reason_words(str(data.get("reason", ""))), 200))


LOOP_NOTES: Mapping[str, NoteBlock] = MappingProxyType(
    {
        "nearest": _one_line_note(_nearest, with_gap=False),
        "accepted": _one_line_note(_accepted),
        "rejected": _one_line_note(_rejected),
    }
)


_ABSENT = ("truth", "tools")
"""Standard views omitted, because a loop has neither tools nor ground truth."""


class AidanBenchView(SuiteView):
    """View of loops of answers to an open question, each of which must be coherent and new."""

    lists_everything: bool = True
    everything_label: str = "loops"
    has_pass_rate: bool = False
    has_conversation_pane: bool = False
    live: LiveView | None = LoopLiveView()
    note_blocks: Mapping[str, NoteBlock] = LOOP_NOTES

    def case_name(self, rollout: Rollout) -> str:
        if not rollout.title:
            return str(rollout.key)
        return f"{rollout.title} #{rollout.key.rollout + 1}" if rollout.key.rollout else rollout.title

    def case_detail(self, rollout: Rollout) -> str:
        """Return the number of accepted answers."""
        return number_format.plural(accepted(rollout), "answer")

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Replace the diff by rounds, and add the summary of the run."""
        views = [_rounds_view(view) if view.id == "diff" else view for view in standard if view.id not in _ABSENT]
        return [*views, CaseView("run", "Run", _draw_run)]


def _rounds_view(difference: CaseView) -> CaseView:
    """Return a view of a case's rounds; a case without rounds is shown by the standard view."""

    def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
        return _draw_rounds(case, context) if _has_rounds(case) else difference.draw(case, context)

    def folds_same(case: ReviewedCase) -> bool:
        return _has_rounds(case) or difference.folds_same(case)

    return replace(difference, name="Rounds", draw=draw, folds_same=folds_same)


def _has_rounds(case: ReviewedCase) -> bool:
    return is_loop(case.conversation.passages)


def _draw_rounds(case: ReviewedCase, context: DrawContext) -> list[Block]:
    rounds = rounds_of(case.conversation.passages)
    is_stacked = context.style.layout is not diff.Layout.SIDES
    blocks = _ending_blocks(rounds, case.comparison, context.width, stacked=is_stacked)
    for place, loop_round in enumerate(rounds):
        blocks += round_blocks(loop_round, unfolded=context.style.equal is diff.Equal.SHOWN, earlier=place)
    if case.rollout.outcome is Outcome.BROKEN:
        return [*broken_blocks(case.rollout, case.conversation), *blocks]
    return blocks


def _draw_run(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the blocks of the run; without the suite's report, statistics of the loops alone."""
    report, rollouts, width = context.report(), context.rollouts(), context.width
    blocks: list[Block] = []
    if isinstance(report, str):
        blocks.append(Block("why", one_line(report, 400, "$undecided")))
    else:
        body = [_metric_line(metric) for metric in report.metrics]
        notes = dict.fromkeys(metric.note for metric in report.metrics[:1] if metric.note)
        body += [one_line(note, 400, f"italic {MUTED}") for note in notes]
        blocks.append(Block("totals", block_title("the run"), body=tuple(body)))
    blocks.append(Block("endings", block_title("why loops ended"), body=tuple(ending_lines(rollouts, width))))
    blocks.append(Block("lengths", block_title("answers accepted in a loop"), body=tuple(length_lines(rollouts))))
    cases = report.cases if isinstance(report, Report) else {}
    blocks.append(Block("questions", block_title("by question"), body=tuple(_question_lines(rollouts, cases, width))))
    return blocks
