"""The views of one case as blocks of a transcript, in `STANDARD_VIEWS`; a suite's own are in `suite_views`. Pure.

Truth and Tools are in `ground_truth`.
"""

from collections.abc import Sequence

from textual.content import Content

from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.conversation import Conversation, Exchange
from console.insight.passage import PassageKind, show_json_lines
from console.insight.rollout import Rollout
from console.tui.render import diff
from console.tui.render.broken_case import broken_blocks
from console.tui.render.conversation import outcome_word, passage_block
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.ground_truth import tool_blocks, truth_blocks
from console.tui.screens.review.turn_view import turn_blocks
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase
from console.tui.widgets.block import Block

MUTED = "$muted"


# Diff ----------------------------------------------------------------------------------------------------------------


def diff_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return expected beside actual; for a broken case what happened; then the conversation, if it is wanted here."""
    if case.rollout.outcome is Outcome.BROKEN:
        blocks = broken_blocks(case.rollout, case.conversation)
    elif case.comparison is None:
        blocks = _uncompared_blocks(case)
    else:
        blocks = _compared_blocks(case.comparison, case.conversation, context)
    return [*blocks, *(conversation_blocks(case, gap=False) if context.with_conversation else [])]


def _compared_blocks(comparison: Comparison, conversation: Conversation, context: DrawContext) -> list[Block]:
    blocks: list[Block] = []
    strip = diff.turn_strip(comparison)
    if strip:
        blocks.append(Block("turns", strip))
    codes = context.suite_view.code_blocks(conversation)
    blocks += turn_blocks(comparison, conversation, codes, context.width, context.style)
    if comparison.raw:
        blocks.append(Block("decoded", Content.styled("what was read from the answer", MUTED), text=comparison.raw))
    if context.width >= 90 and comparison.pairs:
        blocks.append(Block("legend", Content.styled(f" {diff.LEGEND}", MUTED)))
    return blocks


def _uncompared_blocks(case: ReviewedCase) -> list[Block]:
    """Without the suite: what was scored and what the grader said."""
    verdict = case.conversation.verdict
    messages = "\n".join(verdict.messages) if verdict else ""
    why = one_line(case.why or "the suite is being opened", 400, "$undecided")
    output = case.conversation.output
    text = output if isinstance(output, str) else show_json_lines(output)
    return [
        Block("why", why, gap=False),
        Block("grader", Content.styled("the grader says", MUTED), text=messages or "(nothing)"),
        Block("output", Content.styled("what was graded", MUTED), text=text),
    ]


# Talk, scores, raw, attempts -----------------------------------------------------------------------------------------


def conversation_blocks(case: ReviewedCase, *, gap: bool = True) -> list[Block]:
    """Return the whole conversation."""
    return [
        passage_block(passage, f"talk {place}", gap=gap) for place, passage in enumerate(case.conversation.passages)
    ]


def score_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the verdict, every score, and what the judge was asked and said."""
    conversation = case.conversation
    verdict = conversation.verdict
    blocks: list[Block] = []
    if verdict is not None:
        title = (
            outcome_word(verdict.outcome, graded=case.rollout.graded)
            .append("  ")
            .append(one_line(verdict.reason or "", 120, MUTED))
        )
        blocks.append(Block("verdict", title, text="\n".join(verdict.messages)))
        named = [
            Content.assemble(one_line(name, 30, MUTED), f"  {number_format.number(value)}")
            for name, value in verdict.scores.items()
        ]
        if named:
            blocks.append(Block("scores", Content.styled("scores of the verdict", f"bold {MUTED}"), body=tuple(named)))
        if (own_block := context.suite_view.verdict_block(verdict)) is not None:
            blocks.append(own_block)
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


def raw_blocks(case: ReviewedCase) -> list[Block]:
    """Return every request and reply as journaled."""
    blocks: list[Block] = []
    for place, exchange in enumerate(case.conversation.exchanges):
        blocks += _exchange_blocks(exchange, place)
    if case.conversation.finished is not None:
        title = Content.styled("what was graded", f"bold {MUTED}")
        blocks.append(Block("output", title, text=show_json_lines(case.conversation.output)))
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


def attempt_blocks(case: ReviewedCase) -> list[Block]:
    """Return how every attempt ended, latest first."""
    blocks: list[Block] = []
    for conversation in reversed(case.attempts):
        verdict = conversation.verdict
        graded = case.rollout.graded
        word = outcome_word(verdict.outcome, graded=graded) if verdict else Content.styled("not finished", MUTED)
        title = Content.assemble((f"attempt {conversation.key.attempt}  ", "bold"), word)
        messages = "\n".join(verdict.messages) if verdict else ""
        answer = _last_words(conversation)
        body = [*literal(messages).split("\n")] if messages else []
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
    answers = [exchange for exchange in conversation.exchanges if exchange.asked.role == "model"]
    reply = (answers or conversation.exchanges)[-1].asked.reply
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return "\n".join([text for text in (reply.content or "", *calls) if text])


def expected_text(comparison: Comparison | None) -> str:
    """Return what was expected, as source text."""
    if comparison is None:
        return ""
    texts: list[str] = []
    for pair in comparison.pairs:
        if pair.expected:
            texts.append(pair.expected)
        texts += [f"  {row.name} = {' | '.join(row.expected)}" for row in pair.rows if row.expected]
    return "\n".join(texts)


def prompt_text(conversation: Conversation) -> str:
    """Return what the model was asked first, as source text."""
    texts = [
        passage.text
        for passage in conversation.passages
        if passage.kind in (PassageKind.SYSTEM, PassageKind.USER) and passage.n <= 1 and passage.role == "model"
    ]
    return "\n\n".join(texts)


# The standard views --------------------------------------------------------------------------------------------------


def _has_comparison(case: ReviewedCase) -> bool:
    return case.comparison is not None


def _was_repeated(rollout: Rollout) -> bool:
    return len(rollout.attempts) > 1


STANDARD_VIEWS = (
    CaseView("diff", "Diff", diff_blocks, folds_same=_has_comparison),
    CaseView("talk", "Talk", lambda case, context: conversation_blocks(case)),
    CaseView(
        "truth",
        "Truth",
        lambda case, context: truth_blocks(case.conversation, case.comparison, expected_text(case.comparison)),
    ),
    CaseView("tools", "Tools", lambda case, context: tool_blocks(case.conversation)),
    CaseView("scores", "Scores", score_blocks),
    CaseView("raw", "Raw", lambda case, context: raw_blocks(case)),
    CaseView("attempts", "Attempts", lambda case, context: attempt_blocks(case), exists_for=_was_repeated),
)
"""The views of a case that any suite has, in the order of their tabs; a suite's own view may change them."""


def view_with(words: str, case: ReviewedCase, views: Sequence[CaseView], context: DrawContext) -> CaseView | None:
    """Return the first of some views of a case that holds a text."""
    text = words.casefold()
    for view in views:
        blocks = view.draw(case, context)
        if any(text in line.plain.casefold() for block in blocks for line in block.logical):
            return view
    return None
