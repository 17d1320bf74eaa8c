"""View of the dialogue format: checks by turn in the transcript, simulated users, and prompt versions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from textual.content import Content

from console.core.comparison import Mark, Pair
from console.insight import number_format
from console.insight.conversation import SIMULATED_USER
from console.insight.passage import Passage, PassageKind
from console.insight.rollout import Rollout
from console.suites.suite import Metric, Report
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.render.diff import turns_of
from console.tui.sanitize import one_line
from console.tui.suite_views.conversation_blocks import media_blocks, passage_block
from console.tui.suite_views.suite_view import CaseView, DrawContext, NoteBlock, ReviewedCase, SuiteView
from console.tui.symbols import MUTED, SYMBOLS, block_title, muted, outcome_sign

VARIANT_MARK = "@"
"""Separator of row and prompt version in a case's id."""
_JUDGES = ("judge", "second_judge")
_WIDEST_NAME = 24
_SHOWN = 2000
"""Maximum number of characters in a criterion's explanation or a user's goal."""


def _graded(passage: Passage, key: str, gap: bool) -> Block:
    """Draw a judge's explanations, one line per criterion."""
    words = _table(_table(passage.data).get("why"))
    names = [one_line(name, _WIDEST_NAME, MUTED) for name in words]
    width = max((name.cell_length for name in names), default=0)
    body = tuple(
        name.pad_right(width - name.cell_length + 2).append(one_line(str(why), _SHOWN))
        for name, why in zip(names, words.values(), strict=True)
    )
    return Block(key, body=body, gap=gap)


def _stopped(passage: Passage, key: str, gap: bool) -> Block:
    """Draw why a simulated user ended the conversation."""
    data = _table(passage.data)
    title = Content.assemble(("the user stops  ", MUTED), one_line(str(data.get("why", "")), 300))
    return Block(key, title, body=(_goal_line(str(data.get("goal", ""))),), gap=gap)


def _no_result(passage: Passage, key: str, gap: bool) -> Block:
    """Draw a call for which the row has no canned result."""
    data = _table(passage.data)
    call = one_line(f"{data.get('tool', '')}({data.get('arguments', '')})", 300)
    return Block(key, Content.assemble(("the row has no result for  ", "$undecided"), call), gap=gap)


def _step_limit(passage: Passage, key: str, gap: bool) -> Block:
    """Draw the note that a model used up its allowed replies to a user message."""
    most = _table(passage.data).get("most", "")
    return Block(
        key,
        Content.styled(f"the turn ends here: the model still calls tools after {most} replies", "$undecided"),
        gap=gap,
    )


NOTES: Mapping[str, NoteBlock] = MappingProxyType(
    {"graded": _graded, "user_stopped": _stopped, "no_result": _no_result, "step_limit": _step_limit}
)


def _table(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _goal_line(goal: str) -> Content:
    return Content.assemble(("goal  ", MUTED), one_line(goal, _SHOWN))


# Transcript ----------------------------------------------------------------------------------------------------------


def talk_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the whole conversation, with the results of the checks below each turn."""
    blocks: list[Block] = []
    turn, pairs = 0, dict(turns_of(case.comparison)) if case.comparison is not None else {}
    for place, passage in enumerate(case.conversation.passages):
        if passage.kind is PassageKind.VERDICT:
            blocks += [_checks(case, number, pairs.pop(number), context) for number in sorted(pairs)]
            if not context.with_verdict:
                continue
        elif _opens_turn(passage) and passage.turn > turn:
            if turn in pairs:
                blocks.append(_checks(case, turn, pairs.pop(turn), context))
            turn = passage.turn
        block = passage_block(passage, f"talk {place}")
        block.folded = block.folded or (passage.role in _JUDGES and passage.kind is PassageKind.ASSISTANT)
        blocks += [block, *media_blocks(passage, f"talk {place}")]
    return blocks


def _opens_turn(passage: Passage) -> bool:
    is_simulated = passage.kind is PassageKind.ASSISTANT and passage.role == SIMULATED_USER
    return is_simulated or (passage.kind is PassageKind.USER and passage.role == "model")


def _checks(case: ReviewedCase, turn: int, pairs: Sequence[Pair], context: DrawContext) -> Block:
    """Return the results of a turn's checks, or of those at the end."""
    is_end = case.comparison is not None and case.comparison.is_end(turn)
    held = sum(pair.mark in (Mark.SAME, Mark.OMITTED) for pair in pairs)
    style = "$pass" if held == len(pairs) else "$fail"
    name = "checks at the end" if is_end else "checks"
    title = Content.assemble((f"{name}  ", f"bold {MUTED}"), (f"{held} of {len(pairs)}", style))
    body = tuple(line for pair in pairs for line in _check_lines(pair, context.width))
    return Block(f"checks {turn}", title, body=body)


def _check_lines(pair: Pair, width: int) -> Iterator[Content]:
    mark, style = _sign(pair)
    room = max(width - 6, 20)
    title = Content.assemble((f"{mark} ", style), one_line(pair.expected or "not expected", room))
    if pair.kind == "judge":  # its explanation is shown above
        yield title.append("   ").append(one_line(pair.actual or "no grade", 20, "bold"))
        return
    yield title
    if pair.mark is Mark.SAME:
        return
    wrong = [row for row in pair.rows if row.mark not in (Mark.SAME, Mark.OMITTED)]
    for row in wrong:
        values = f"{row.name}: {' | '.join(row.expected) or 'nothing'}, not {row.actual or 'there'}"
        yield Content("    ").append(one_line(values, room, MUTED))
    if not wrong:
        yield Content("    ").append(one_line(pair.note or pair.actual, room, MUTED))


def _sign(pair: Pair) -> tuple[str, str]:
    """Return symbol and style of a check; a missing check or grade counts as undecided."""
    if pair.mark in (Mark.SAME, Mark.OMITTED):
        return SYMBOLS.passed, "$pass"
    is_open = pair.mark is Mark.MISSING and pair.kind in ("judge", "check")
    return (SYMBOLS.undecided, "$undecided") if is_open else (SYMBOLS.failed, "$fail")


# Difference ----------------------------------------------------------------------------------------------------------


def _with_user(difference: CaseView) -> CaseView:
    """Return the diff view with the simulated user above it."""

    def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
        return [*user_blocks(case), *difference.draw(case, context)]

    return replace(difference, draw=draw)


def user_blocks(case: ReviewedCase) -> list[Block]:
    """Return the simulated user's goal, persona and reason for stopping; empty for a scripted user."""
    data = case.conversation.case.data if case.conversation.case is not None else {}
    user, stopped = _table(data.get("user")), _table(case.conversation.output).get("stopped")
    if not user:
        return []
    body = [_goal_line(str(user.get("goal", "")))]
    if user.get("persona"):
        body.append(Content.assemble(("is    ", MUTED), one_line(str(user["persona"]), _SHOWN)))
    if stopped:
        body.append(Content.assemble(("stops ", MUTED), one_line(str(stopped), 300)))
    return [Block("user", block_title("simulated user"), body=tuple(body))]


# Versions ------------------------------------------------------------------------------------------------------------


def _has_variants(case: ReviewedCase) -> bool:
    return VARIANT_MARK in case.rollout.key.case


def variant_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the metrics by prompt version, and a table of rows by version."""
    report = context.report()
    if isinstance(report, str):
        return [Block("why", one_line(report, 400, "$undecided"))]
    names = _variants_of(report)
    rows: dict[str, dict[str, list[Rollout]]] = {}
    for rollout in context.rollouts():
        row, _, name = rollout.key.case.rpartition(VARIANT_MARK)
        if row and name in names:
            rows.setdefault(row, {}).setdefault(name, []).append(rollout)
    metrics = [metric for metric in report.metrics if _is_of_variants(metric, names)]
    return [
        Block("numbers", block_title("by version"), body=tuple(map(_metric_line, metrics))),
        Block("rows", block_title("row by row"), body=tuple(_row_lines(rows, names, context.width))),
    ]


_OF_VARIANT = ": accuracy"
_MINUS = " − "


def _variants_of(report: Report) -> list[str]:
    names = (metric.name.removesuffix(_OF_VARIANT) for metric in report.metrics if metric.name.endswith(_OF_VARIANT))
    return list(names)


def _is_of_variants(metric: Metric, names: Sequence[str]) -> bool:
    return metric.name.endswith(_OF_VARIANT) or metric.name.partition(_MINUS)[0] in names


def _metric_line(metric: Metric) -> Content:
    name = lines.fit(one_line(metric.name, _WIDEST_NAME, MUTED), _WIDEST_NAME)
    if metric.value is None:
        return name.append_text("  —", MUTED)
    line = name.append_text(f"{metric.value:+.1%}" if _MINUS in metric.name else f"{metric.value:.1%}", "bold")
    if metric.low is not None and metric.high is not None:
        line = line.append_text(f"   95% {metric.low:.1%} … {metric.high:.1%}", MUTED)
    words = "   ".join(filter(None, (number_format.plural(metric.count, "rollout"), metric.note)))
    return line.append_text(f"   {words}", MUTED)


def _row_lines(
    rows: Mapping[str, Mapping[str, Sequence[Rollout]]], names: Sequence[str], width: int
) -> Iterator[Content]:
    """Yield a heading and a line per row; rows on which versions differ come first."""
    cell = max(8, *(min(len(name), _WIDEST_NAME) + 2 for name in names)) if names else 8
    longest = max([0, *map(len, rows)]) + 2
    room = max(min(width - cell * len(names) - 4, longest), 12)
    heading = [lines.fit(one_line(name, cell - 1, f"bold {MUTED}"), cell) for name in names]
    yield Content("").join([Content(" " * room), *heading])
    for row, by_name in sorted(rows.items(), key=lambda item: len({_marks(item[1], name).plain for name in names}) < 2):
        cells = [lines.fit(_marks(by_name, name), cell) for name in names]
        yield Content("").join([lines.fit(one_line(row, room), room), *cells])


def _marks(by_name: Mapping[str, Sequence[Rollout]], name: str) -> Content:
    """Return a symbol for each rollout of a row with a version."""
    marks = [outcome_sign(rollout.outcome) for rollout in by_name.get(name, ())]
    return Content.assemble(*marks) if marks else muted("—")


class DialogueView(SuiteView):
    """View of the user's own rows, judged by checks."""

    note_blocks: Mapping[str, NoteBlock] = NOTES

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Add checks to the transcript, the simulated user to the diff, and a view of prompt versions."""
        own: dict[str, Callable[[CaseView], CaseView]] = {
            "diff": _with_user,
            "talk": lambda view: replace(view, draw=talk_blocks),
        }
        views = [own[view.id](view) if view.id in own else view for view in standard]
        return [*views, CaseView("variants", "Versions", variant_blocks, exists_for=_has_variants)]
