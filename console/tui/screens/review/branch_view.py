"""The branches of a case in Review: its chance of passing from each step, and a line for each branch."""

from collections.abc import Sequence

from textual.content import Content

from console.core.statistics.intervals import wilson
from console.insight.as_sent import called_words, points_of
from console.insight.deciding import Branch, Chance, Curve, curve_of, decided_words, fall_of
from console.insight.number_format import rate
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import DrawContext, ReviewedCase
from console.tui.symbols import MUTED, SYMBOLS, block_title, muted

_PLOT_WIDTH = 21
_LEAST_WIDTH = 76
"""Minimum width of the pane for drawing the curve next to its numbers."""


def branch_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the curve of chances along the conversation, and its branches."""
    if not case.branches:
        return [Block("none", muted("This case has no branch yet. A h goes on from a step, A d finds the one."))]
    key, model = case.rollout.key, context.model
    curve = curve_of(case.branches, key.case, key.rollout, model)
    blocks = [_curve_block(case, curve, context.width)] if curve else []
    return [*blocks, Block("branches", block_title("branches"), body=branch_lines(case.branches, model))]


def branch_lines(branches: Sequence[Branch], recorded_model: str) -> tuple[Content, ...]:
    """Return a line for each branch: its change, and how often it passed."""
    changes = [_change(branch, recorded_model) for branch in branches]
    width = max((change.cell_length for change in changes), default=0)
    return tuple(
        Content.assemble(change.pad_right(width - change.cell_length), "   ", _passed(branch))
        for change, branch in zip(changes, branches, strict=True)
    )


def _change(branch: Branch, recorded_model: str) -> Content:
    sign = f"{'  ' * (branch.level - 1)}{SYMBOLS.branch} " if branch.level else ""
    return Content.assemble((sign, MUTED), one_line(branch.words(recorded_model), 40))


def _passed(branch: Branch) -> Content:
    live = Content.styled(f"   {SYMBOLS.live} playing", "$live") if branch.is_live else Content.empty()
    low, high = wilson(branch.passed, branch.graded)
    interval = f"  [{rate(low)} {rate(high)}]" if branch.graded > 1 else ""
    return Content.assemble((f"{branch.passed} of {branch.graded} passed", "bold"), (interval, MUTED), live)


def _curve_block(case: ReviewedCase, curve: Curve, width: int) -> Block:
    points = points_of(case.conversation)
    fall = fall_of(curve, len(points))
    lines = [one_line(decided_words(points, curve), 400, "bold"), Content.empty()]
    for replies, chance in sorted(curve.items()):
        low, high = wilson(chance.passed, chance.graded)
        point = points[replies]
        parts: list[Content | str | tuple[str, str]] = [
            f"{point.beginning.place:<5} ",
            (f"{chance.passed} of {chance.graded}".rjust(8), "bold"),
            "  ",
        ]
        if width >= _LEAST_WIDTH:
            parts += [_interval(chance, low, high), "  "]
        parts += [(f"[{rate(low)} {rate(high)}]".ljust(13), MUTED)]
        is_here = fall is not None and fall.replies == replies
        done = one_line(called_words(point.exchange.asked.reply), max(width - 50 if width >= _LEAST_WIDTH else 24, 24))
        parts += [done.append_text(f"  {SYMBOLS.here} here", "bold $fail") if is_here else done]
        lines.append(Content.assemble(*parts))
    return Block("curve", block_title("going on from each step"), body=tuple(lines))


def _interval(chance: Chance, low: float, high: float) -> Content:
    """Draw a chance as a dot on its interval, on a scale from 0 to 1."""
    last = _PLOT_WIDTH - 1
    first, at, end = (round(value * last) for value in (low, chance.share, high))
    line = [SYMBOLS.not_run] * first + [SYMBOLS.rule] * (end - first + 1) + [SYMBOLS.not_run] * (last - end)
    spread = Content("".join(line[:at])), Content("".join(line[at + 1 :]))
    return Content.assemble(spread[0].stylize(MUTED), (SYMBOLS.live, "bold $live"), spread[1].stylize(MUTED))
