"""The views of one case as blocks of a transcript: Diff, Talk, Scores, Raw and Attempts. Pure over what is given.

Truth and Tools are in `material`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content

from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.conversation import Conversation, Exchange
from console.insight.loops import is_loop
from console.insight.passage import PassageKind, show_json_lines
from console.insight.rollout import Rollout
from console.insight.turn_sums import turn_sums
from console.tui.render import diff
from console.tui.render.broken_case import broken_blocks
from console.tui.render.conversation import outcome_word, passage_block
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.turn_view import turn_blocks
from console.tui.suite_views.loop_case import loop_blocks
from console.tui.suite_views.turn_summary import turn_sum_block
from console.tui.widgets.block import Block

MUTED = "$muted"


class View(StrEnum):
    """What is shown of a case."""

    DIFF = "Diff"
    TALK = "Talk"
    TRUTH = "Truth"
    TOOLS = "Tools"
    SCORES = "Scores"
    RAW = "Raw"
    ATTEMPTS = "Attempts"
    RUN = "Run"


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything a view is drawn from."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None
    """None while the suite is not there; `why` then says so."""
    why: str = ""
    attempts: Sequence[Conversation] = ()
    """All attempts when there are several, oldest first."""

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop of answers."""
        return is_loop(self.conversation.passages)


def views_of(rollout: Rollout, *, loops: bool = False, sums: bool = False) -> tuple[View, ...]:
    """Return the views a case has; a run of loops is summed up in one, and has neither tools nor one right answer."""
    absent = {View.ATTEMPTS} if len(rollout.attempts) < 2 else set[View]()
    absent |= {View.TRUTH, View.TOOLS} if loops else set[View]() if sums else {View.RUN}
    return tuple(view for view in View if view not in absent)


def view_name(view: View, *, loops: bool = False) -> str:
    """Return what a view is called; a loop has rounds in place of a difference."""
    return "Rounds" if loops and view is View.DIFF else view.value


# Diff ----------------------------------------------------------------------------------------------------------------


def diff_blocks(subject: Subject, width: int, style: diff.Style, *, with_talk: bool) -> list[Block]:
    """Return expected beside actual; for a broken case what happened; then the conversation, if wanted."""
    if subject.is_loop:
        broken = (
            broken_blocks(subject.rollout, subject.conversation) if subject.rollout.outcome is Outcome.BROKEN else []
        )
        stacked = style.layout is not diff.Layout.SIDES
        return broken + loop_blocks(
            subject.conversation, subject.comparison, width, stacked=stacked, folded=not style.fold_same
        )
    if subject.rollout.outcome is Outcome.BROKEN:
        blocks = broken_blocks(subject.rollout, subject.conversation)
    elif subject.comparison is None:
        blocks = _uncompared_blocks(subject)
    else:
        blocks = _compared_blocks(subject.comparison, subject.conversation, width, style)
    return [*blocks, *(talk_blocks(subject, gap=False) if with_talk else [])]


def _compared_blocks(comparison: Comparison, conversation: Conversation, width: int, style: diff.Style) -> list[Block]:
    blocks: list[Block] = []
    strip = diff.turn_strip(comparison)
    if strip:
        blocks.append(Block("turns", strip))
    blocks += turn_blocks(comparison, conversation, width, style)
    if comparison.raw:
        blocks.append(Block("decoded", Content.styled("what was read from the answer", MUTED), text=comparison.raw))
    if width >= 90 and comparison.pairs:
        blocks.append(Block("legend", Content.styled(f" {diff.LEGEND}", MUTED)))
    return blocks


def _uncompared_blocks(subject: Subject) -> list[Block]:
    """Without the suite: what was scored and what the grader said."""
    verdict = subject.conversation.verdict
    said = "\n".join(verdict.messages) if verdict else ""
    why = one_line(subject.why or "the suite is being opened", 400, "$undecided")
    output = subject.conversation.output
    text = output if isinstance(output, str) else show_json_lines(output)
    return [
        Block("why", why, gap=False),
        Block("grader", Content.styled("the grader says", MUTED), text=said or "(nothing)"),
        Block("output", Content.styled("what was graded", MUTED), text=text),
    ]


# Talk, scores, raw, attempts -----------------------------------------------------------------------------------------


def talk_blocks(subject: Subject, *, gap: bool = True) -> list[Block]:
    """Return the whole conversation."""
    return [
        passage_block(passage, f"talk {place}", gap=gap) for place, passage in enumerate(subject.conversation.passages)
    ]


def score_blocks(subject: Subject) -> list[Block]:
    """Return the verdict, every score, and what the judge was asked and said."""
    conversation = subject.conversation
    verdict = conversation.verdict
    blocks: list[Block] = []
    if verdict is not None:
        title = (
            outcome_word(verdict.outcome, graded=subject.rollout.graded)
            .append("  ")
            .append(one_line(verdict.reason or "", 120, MUTED))
        )
        blocks.append(Block("verdict", title, text="\n".join(verdict.messages)))
        named = [
            Content.assemble(one_line(name, 30, MUTED), f"  {number_format.number(it)}")
            for name, it in verdict.scores.items()
        ]
        if named:
            blocks.append(Block("scores", Content.styled("scores of the verdict", f"bold {MUTED}"), body=tuple(named)))
        if turns := turn_sums(verdict.detail):
            blocks.append(turn_sum_block(turns))
        elif verdict.detail:
            detail = show_json_lines(verdict.detail)
            blocks.append(Block("detail", Content.styled("particulars", f"bold {MUTED}"), text=detail))
    judged = (PassageKind.SCORE, PassageKind.NOTE)
    blocks += [
        passage_block(passage, f"score {place}", gap=passage.kind is not PassageKind.SCORE)
        for place, passage in enumerate(conversation.passages)
        if passage.kind in judged or passage.role == "judge"
    ]
    return blocks


def raw_blocks(subject: Subject) -> list[Block]:
    """Return every request and reply as journaled."""
    blocks: list[Block] = []
    for place, exchange in enumerate(subject.conversation.exchanges):
        blocks += _exchange_blocks(exchange, place)
    if subject.conversation.finished is not None:
        title = Content.styled("what was graded", f"bold {MUTED}")
        blocks.append(Block("output", title, text=show_json_lines(subject.conversation.output)))
    if not blocks:
        blocks.append(Block("none", Content.styled("No call of this case was finished.", MUTED)))
    return blocks


def _exchange_blocks(exchange: Exchange, place: int) -> list[Block]:
    asked = exchange.asked
    where = Content.styled(f"{asked.role}  turn {asked.turn + 1} step {asked.step + 1}", MUTED)
    request = {"messages": exchange.messages, "tools": exchange.tools, "params": asked.params}
    blocks = [
        Block(f"request {place}", Content.styled(f"request {asked.n}", "bold"), where, show_json_lines(request)),
        Block(f"reply {place}", Content.styled(f"reply {asked.n}", "bold $live"), where, reply_json(exchange)),
    ]
    blocks[0].folded = place > 0
    return blocks


def reply_json(exchange: Exchange) -> str:
    """Return a reply as JSON over several lines."""
    import msgspec

    return show_json_lines(msgspec.to_builtins(exchange.asked.reply))


def attempt_blocks(subject: Subject) -> list[Block]:
    """Return how every attempt ended, latest first."""
    blocks: list[Block] = []
    for conversation in reversed(subject.attempts):
        verdict = conversation.verdict
        graded = subject.rollout.graded
        word = outcome_word(verdict.outcome, graded=graded) if verdict else Content.styled("not finished", MUTED)
        title = Content.assemble((f"attempt {conversation.key.attempt}  ", "bold"), word)
        said = "\n".join(verdict.messages) if verdict else ""
        answer = _last_words(conversation)
        body = [*literal(said).split("\n")] if said else []
        blocks.append(Block(f"attempt {conversation.key.attempt}", title, body=(*body, *answer)))
    return blocks


def _last_words(conversation: Conversation) -> list[Content]:
    if not conversation.exchanges:
        return [Content.styled("no answer", MUTED)]
    return list(literal(actual_text(conversation), 4000, MUTED).split("\n"))


def actual_text(conversation: Conversation) -> str:
    """Return what the model answered last, as source text."""
    if not conversation.exchanges:
        return ""
    mine = [it for it in conversation.exchanges if it.asked.role == "model"] or conversation.exchanges
    reply = mine[-1].asked.reply
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return "\n".join([text for text in (reply.content or "", *calls) if text])


def expected_text(comparison: Comparison | None) -> str:
    """Return what was expected, as source text."""
    if comparison is None:
        return ""
    found: list[str] = []
    for pair in comparison.pairs:
        if pair.expected:
            found.append(pair.expected)
        found += [f"  {row.name} = {' | '.join(row.expected)}" for row in pair.rows if row.expected]
    return "\n".join(found)


def prompt_text(conversation: Conversation) -> str:
    """Return what the model was asked first, as source text."""
    said = [
        passage.text
        for passage in conversation.passages
        if passage.kind in (PassageKind.SYSTEM, PassageKind.USER) and passage.n <= 1 and passage.role == "model"
    ]
    return "\n\n".join(said)
