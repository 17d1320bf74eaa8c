"""The standard views of a case as blocks of a transcript; suites add views in `suite_views`.

Pure functions. All marks of right and wrong come from the suite's comparison.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import msgspec
from textual.content import Content

from console.core.annotation import Annotation
from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.insight import number_format
from console.insight.conversation import SIMULATED_USER, Conversation, Exchange, actual_text
from console.insight.judging import Judging
from console.insight.passage import Passage, PassageKind, show_json, show_json_lines
from console.insight.report import Section, statistics
from console.insight.rollout import Rollout
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.sanitize import literal, one_line
from console.tui.suite_views.conversation_blocks import broken_blocks, conversation_blocks, outcome_word, passage_block
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase, SuiteView
from console.tui.symbols import MUTED, SYMBOLS, block_title, muted


@dataclass(frozen=True, slots=True)
class ShownCase:
    """The current case with everything that its pane draws."""

    case: ReviewedCase
    annotation: Annotation
    model: ModelFacts
    """The model requested."""
    simulated: bool
    alike: int
    """Number of listed cases with the same reason; 0 if the list is not grouped by reason."""
    views: Sequence[CaseView]
    view: CaseView
    style: diff.Style
    suite_view: SuiteView
    words: str
    """First word of the list's text filter."""
    rollouts: Callable[[], Sequence[Rollout]]
    report: Callable[[], Report | str]
    judging: Callable[[], Judging | None] = lambda: None
    apart: Callable[[], Section | None] = lambda: None
    has_repeats: bool = False
    """True if the run plays each case more than once."""
    is_repeat: bool = False
    """True if the user chose this repeat; False if it stands for its case."""

    def context(
        self, width: int, *, with_conversation: bool, with_verdict: bool = True, token: int | None = None
    ) -> DrawContext:
        """Return the context for drawing a view."""
        return DrawContext(width, self.style, self.suite_view, with_conversation, with_verdict, self.rollouts,
                           self.report, self.judging, token, self.apart, self.model.name)  # fmt: skip

    def without_notes_in(self, text: str) -> ReviewedCase:
        """Return the case without the notes of its comparison that are part of a text shown above it."""
        comparison = self.case.comparison
        if comparison is None or not text:
            return self.case
        pairs = tuple(
            msgspec.structs.replace(
                pair,
                note=_unless_in(pair.note, text),
                rows=tuple(msgspec.structs.replace(row, note=_unless_in(row.note, text)) for row in pair.rows),
            )
            for pair in comparison.pairs
        )
        return replace(self.case, comparison=msgspec.structs.replace(comparison, pairs=pairs))


def _unless_in(note: str, text: str) -> str:
    return "" if one_line(note, len(text) + 1).plain in text else note


# Tools, truth ---------------------------------------------------------------------------------------------------------


_TRUTHS = (
    "ground_truth", "possible_answer", "expected", "answer", "target", "conversation", "expect", "turns", "rubric",
)  # fmt: skip
"""Fields with expected answers in the case data of known suites."""
_DOCS = ("function", "tools")
"""Fields of case data with function documents not sent as tools."""


def tool_blocks(conversation: Conversation) -> list[Block]:
    """Return the tools offered, each with signature, description and parameters."""
    none: list[dict[str, Any]] = []
    sent = next((exchange.tools for exchange in conversation.model_calls if exchange.tools), none)
    data: Mapping[str, Any] = conversation.case.data if conversation.case is not None else {}
    docs = sent or next((docs for name in _DOCS if (docs := _listed(data.get(name)))), none)
    if not docs:
        words = "No tools were sent, and the case documents none; i shows the prompt."
        return [Block("none", muted(words))]
    how = "sent with the request" if sent else "described in the prompt"
    head = Block("tools", block_title(f"{number_format.plural(len(docs), 'tool')}, {how}"))
    return [head, *(_tool_block(doc, place) for place, doc in enumerate(docs))]


def _tool_block(doc: dict[str, Any], place: int) -> Block:
    tool = _members(doc.get("function")) or doc
    parameters = _members(tool.get("parameters"))
    named, required = _members(parameters.get("properties")), cast(list[Any], parameters.get("required") or [])
    needed = {str(name) for name in required}
    shown = ", ".join(name if name in needed else f"{name}?" for name in named)
    title = one_line(str(tool.get("name", "?")), 120, "bold").append(one_line(f"({shown})", 400))
    body = [*literal(str(tool.get("description") or ""), 4000, MUTED).split("\n")]
    for name, about in named.items():
        body += _parameter(name, _members(about), needed=name in needed)
    return Block(f"tool {place}", title, body=tuple(line for line in body if line.plain.strip()))


def _listed(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [_members(item) for item in items if isinstance(item, dict)]


def _members(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _parameter(name: str, about: dict[str, Any], *, needed: bool) -> Iterator[Content]:
    kind = show_json(about.get("type", "any")).strip('"')
    line = (
        one_line(name, 60, "bold").append(one_line(f"  {kind}", 80)).append_text("" if needed else "  optional", MUTED)
    )
    for word in ("enum", "default", "items", "properties"):
        if word in about:
            line = line.append_text(f"  {word} ", MUTED).append(one_line(show_json(about[word]), 600))
    yield line
    if about.get("description"):
        yield Content("  ").append(one_line(str(about["description"]), 1000, MUTED))


def truth_blocks(conversation: Conversation, comparison: Comparison | None, expected: str) -> list[Block]:
    """Return the expected answer as parsed by the grader, the case's own ground truth, and its remaining data."""
    blocks: list[Block] = []
    if expected:
        blocks.append(Block("expected", block_title("expected, as the grader reads it"), text=expected))
    if comparison is not None and comparison.hint:
        blocks.append(Block("hint", block_title("smallest change that passes"), text=comparison.hint))
    data = conversation.case.data if conversation.case is not None else {}
    truths = {name: data[name] for name in _TRUTHS if data.get(name) is not None}
    blocks += [
        Block(f"truth {name}", block_title(f"{name} of the case"), text=show_json_lines(value))
        for name, value in truths.items()
    ]
    if not truths and not expected:
        words = "This case has no ground truth of its own; it is graded by a rule."
        blocks.append(Block("none", muted(words)))
    rest = {name: value for name, value in data.items() if name not in truths and value not in ("", None, [], {})}
    if rest:
        blocks.append(Block("rest", block_title("the rest of the case"), text=show_json_lines(rest), folded=True))
    return blocks


# Turns of a comparison ------------------------------------------------------------------------------------------------


_QUERY_WIDTH = 400
_KINDS = (
    ("call", "calls"),
    ("read", "reads"),
    ("write", "writes"),
    ("state", "state"),
    ("result", "results"),
    ("validator", "validator"),
    ("check", "checks"),
    ("judge", "grades"),
)
_WHOLE = ("state", "result")
"""Kinds listed only when wrong, so that counts are meaningless."""


def turn_blocks(
    comparison: Comparison, conversation: Conversation, codes: Mapping[int, Block], width: int, style: diff.Style
) -> list[Block]:
    """Return the blocks of all turns with the code executed in each; if one failed, the correct ones are folded."""
    pairs_by_turn = dict(diff.turns_of(comparison))
    marks = diff.turn_marks(comparison)
    is_titled = len(marks) > 1 or bool(codes)
    has_failed = Mark.DIFFERS in marks.values()
    blocks: list[Block] = []
    is_named = False
    for number in sorted({*pairs_by_turn, *marks}):
        pairs = pairs_by_turn.get(number, [])
        mark = marks.get(number, Mark.SAME)
        is_folded = (has_failed and mark is Mark.SAME) or (comparison.has_end and mark is Mark.OMITTED)
        hides = diff.hides_equal(pairs, style)
        name = comparison.turn_name(number)
        title = turn_title(name, mark, pairs) if is_titled else Content.empty()
        body = _asked(conversation.passages, number) if is_titled and not comparison.is_end(number) else []
        if pairs and not is_named and not is_folded:
            is_named = True
            body += diff.heading(width, style)
        body += diff.pair_lines(pairs, width, style)
        code = codes.get(number)
        if code is not None and is_folded:
            body += code.body
            code = None
        blocks.append(
            Block(f"turn {number}", title, body=tuple(body), indent=0, hides=hides, folded=is_folded, gap=code is None)
        )
        if code is not None:
            code.folded = not has_failed
            blocks.append(code)
    for block, after in pairwise(blocks):
        block.gap = block.gap and not (block.folded and after.folded)
    return blocks


def turn_title(name: str, mark: Mark, pairs: Sequence[Pair]) -> Content:
    """Return a title such as `turn 2 ✗   calls 1 of 2   reads ✓   writes ✗   validator ✗`."""
    parts = [Content.assemble((f"{name} ", "bold"), diff.turn_sign(mark))]
    if mark is Mark.OMITTED:
        parts.append(muted("not judged"))
    for kind, words in _KINDS:
        of_kind = [pair for pair in pairs if pair.kind == kind]
        if of_kind:
            parts.append(_wrong(words) if kind in _WHOLE else _summary(words, of_kind))
    return Content("   ").join(parts)


def _summary(words: str, pairs: Sequence[Pair]) -> Content:
    expected = [pair for pair in pairs if pair.mark is not Mark.EXTRA]
    right = sum(pair.mark in (Mark.SAME, Mark.OMITTED) for pair in expected)
    extra = len(pairs) - len(expected)
    parts: list[Content] = []
    if expected:
        count = f"{right} of {len(expected)}" if len(expected) > 1 and right < len(expected) else ""
        style = "$pass" if right == len(expected) else "$fail"
        parts.append(Content.styled(count or (SYMBOLS.passed if right else SYMBOLS.failed), style))
    if extra:
        parts.append(muted(f"{extra} extra"))
    return muted(f"{words} ").append(Content(", ").join(parts))


def _wrong(words: str) -> Content:
    return Content.assemble((f"{words} ", MUTED), (SYMBOLS.failed, "$fail"))


_USER_WORDS = ((PassageKind.USER, "model"), (PassageKind.ASSISTANT, SIMULATED_USER))
"""Passages that quote the user: messages in a request to the model, or replies of the simulated user."""


def _asked(passages: Sequence[Passage], turn: int) -> list[Content]:
    """Return the user's message in a turn, or the end of a long one, which holds the question."""
    texts = [
        passage.text
        for passage in passages
        if passage.turn == turn and not passage.step and (passage.kind, passage.role) in _USER_WORDS
    ]
    if not texts:
        return []
    text = " ".join(texts[-1].split())
    hidden = len(text) - _QUERY_WIDTH
    if hidden <= 0:
        return [muted("user  ").append(one_line(text, _QUERY_WIDTH))]
    note = f"{SYMBOLS.cut} {number_format.plural(hidden, 'character')} before {SYMBOLS.cut} "
    return [Content.assemble(muted("user  "), muted(note), one_line(text[hidden:], _QUERY_WIDTH))]


# Diff ----------------------------------------------------------------------------------------------------------------


def diff_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return expected and actual, or the error of a broken case; then the conversation, unless it has its own pane."""
    if case.rollout.outcome is Outcome.BROKEN:
        blocks = broken_blocks(case.rollout, case.conversation)
    elif case.comparison is None:
        blocks = _uncompared_blocks(case)
    else:
        blocks = _compared_blocks(case.comparison, case.conversation, context)
    if not context.with_conversation:
        return blocks
    is_told = case.rollout.outcome is Outcome.BROKEN or bool(case.comparison and case.comparison.pairs)
    with_verdict = context.with_verdict and not is_told
    return [*blocks, *conversation_blocks(case.conversation, gap=False, with_verdict=with_verdict)]


def _compared_blocks(comparison: Comparison, conversation: Conversation, context: DrawContext) -> list[Block]:
    blocks: list[Block] = []
    strip = diff.turn_strip(comparison)
    if strip:
        blocks.append(Block("turns", strip))
    codes = context.suite_view.code_blocks(conversation)
    blocks += turn_blocks(comparison, conversation, codes, context.width, context.style)
    blocks += _judged_blocks(comparison, conversation)
    if comparison.raw:
        blocks.append(Block("decoded", muted("parsed from the answer"), text=comparison.raw))
    if context.width >= 90 and comparison.pairs:
        blocks.append(Block("legend", muted(f" {diff.LEGEND}")))
    return blocks


def _judged_blocks(comparison: Comparison, conversation: Conversation) -> list[Block]:
    """Return the basis of a judge's grades: the model's answer, the judge's prompt, and its reply."""
    if all(pair.kind != "judge" for pair in comparison.pairs):
        return []
    blocks = [Block("judged", block_title("the model's answer"), text=actual_text(conversation))]
    for kind, title in _JUDGED.items():
        texts = [passage.text for passage in conversation.passages if passage.role == "judge" and passage.kind is kind]
        blocks += [Block(f"judge {kind}", block_title(title), text=texts[-1])] if texts else []
    return blocks


_JUDGED = {
    PassageKind.USER: "given to the judge: criteria, rubric, reference and answer",
    PassageKind.ASSISTANT: "the judge's reply",
}
"""Titles of a judge's last request and reply."""


def _uncompared_blocks(case: ReviewedCase) -> list[Block]:
    """Return the graded output and the grader's message of a case that cannot be compared."""
    verdict = case.conversation.verdict
    messages = "\n".join(verdict.messages) if verdict else ""
    why = one_line(case.why, 400, "$undecided")
    output = case.conversation.output
    text = output if isinstance(output, str) else show_json_lines(output)
    return [
        Block("why", why, gap=False),
        Block("grader", muted("grader's message"), text=messages or "(nothing)"),
        Block("output", muted("graded output"), text=text),
    ]


# Talk, scores, raw, attempts -----------------------------------------------------------------------------------------


def score_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    """Return the verdict, all scores, and the judge's prompts and replies."""
    from console.tui.render.section_block import section_block  # lazy, as only this view needs it

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
            blocks.append(Block("scores", block_title("scores of the verdict"), body=tuple(named)))
        if (own_block := context.suite_view.verdict_block(verdict)) is not None:
            blocks.append(own_block)
        elif verdict.detail:
            detail = show_json_lines(verdict.detail)
            blocks.append(Block("detail", block_title("details"), text=detail))
    report = context.report()
    sections = statistics(None if isinstance(report, str) else report, context.judging())
    if (apart := context.apart()) is not None:
        sections.append(apart)
    blocks += [section_block(part, f"{part.title.lower()}, over the whole run", context.width) for part in sections]
    judged = (PassageKind.SCORE, PassageKind.NOTE)
    blocks += [
        passage_block(passage, f"score {place}", gap=passage.kind is not PassageKind.SCORE)
        for place, passage in enumerate(conversation.passages)
        if passage.kind in judged or passage.role in ("judge", "second_judge")
    ]
    return blocks


def raw_blocks(case: ReviewedCase) -> list[Block]:
    """Return every request and reply as journaled."""
    blocks: list[Block] = []
    for place, exchange in enumerate(case.conversation.exchanges):
        blocks += _exchange_blocks(exchange, place)
    if case.conversation.finished is not None:
        title = block_title("graded output")
        blocks.append(Block("output", title, text=show_json_lines(case.conversation.output)))
    if case.conversation.source is not None:
        title = block_title("other data of the log")
        blocks.append(Block("source", title, text=show_json_lines(case.conversation.source)))
    if not blocks:
        blocks.append(Block("none", muted("No call of this case has finished.")))
    return blocks


def _exchange_blocks(exchange: Exchange, place: int) -> list[Block]:
    asked = exchange.asked
    where = muted(f"{asked.role}  turn {asked.turn + 1} step {asked.step + 1}")
    request = {"messages": exchange.messages, "tools": exchange.tools, "params": asked.params}
    blocks = [
        Block(f"request {place}", Content.styled(f"request {asked.n}", "bold"), where, show_json_lines(request)),
        Block(f"reply {place}", Content.styled(f"reply {asked.n}", "bold $live"), where, reply_json(exchange)),
    ]
    blocks[0].folded = place > 0
    return blocks


def reply_json(exchange: Exchange) -> str:
    """Return a reply as indented JSON."""
    return show_json_lines(msgspec.to_builtins(exchange.asked.reply))


def attempt_blocks(case: ReviewedCase) -> list[Block]:
    """Return the result of every attempt, latest first."""
    blocks: list[Block] = []
    for conversation in reversed(case.attempts):
        verdict = conversation.verdict
        graded = case.rollout.graded
        word = outcome_word(verdict.outcome, graded=graded) if verdict else muted("not finished")
        counts = "   counts: the first grade" if case.rollout.later and conversation.key == case.rollout.key else ""
        title = Content.assemble((f"attempt {conversation.key.attempt}  ", "bold"), word, (counts, MUTED))
        messages = "\n".join(verdict.messages) if verdict else ""
        answer = _last_words(conversation)
        body = [*literal(messages).split("\n")] if messages else []
        blocks.append(Block(f"attempt {conversation.key.attempt}", title, body=(*body, *answer)))
    return blocks


def _last_words(conversation: Conversation) -> list[Content]:
    if not conversation.exchanges:
        return [muted("no answer")]
    return list(literal(actual_text(conversation), 4000, MUTED).split("\n"))


def expected_text(comparison: Comparison | None) -> str:
    """Return the expected answers as source text."""
    if comparison is None:
        return ""
    texts: list[str] = []
    for pair in comparison.expectations:
        if pair.expected:
            texts.append(pair.expected)
        texts += [f"  {row.name} = {' | '.join(row.expected)}" for row in pair.rows if row.expected]
    return "\n".join(texts)


def prompt_text(conversation: Conversation) -> str:
    """Return the initial prompt as source text."""
    texts = [
        passage.text
        for passage in conversation.passages
        if passage.kind in (PassageKind.SYSTEM, PassageKind.USER) and passage.n <= 1 and passage.role == "model"
    ]
    return "\n\n".join(texts)


# The standard views --------------------------------------------------------------------------------------------------


def _has_comparison(case: ReviewedCase) -> bool:
    return case.comparison is not None


def _has_tokens(case: ReviewedCase) -> bool:
    return any(exchange.asked.reply.logprobs for exchange in case.conversation.exchanges)


def _token_blocks(case: ReviewedCase, context: DrawContext) -> list[Block]:
    from console.tui.screens.review.tokens import token_blocks  # lazy, as tokens are rare

    return token_blocks(case, context)


def _was_repeated(case: ReviewedCase) -> bool:
    return len(case.rollout.attempts) > 1


TOKENS = "tokens"


def _draw_branches(case: ReviewedCase, context: DrawContext) -> list[Block]:
    from console.tui.screens.review.branch_view import branch_blocks  # few cases have branches

    return branch_blocks(case, context)


BRANCHES = CaseView("branches", "Branches", _draw_branches, exists_for=lambda case: bool(case.branches))
"""View of the chances of passing from each step, and of the branches of this case."""
STANDARD_VIEWS = (
    CaseView("diff", "Diff", diff_blocks, folds_same=_has_comparison),
    CaseView(
        "talk",
        "Talk",
        lambda case, context: conversation_blocks(case.conversation, with_verdict=context.with_verdict),
    ),
    CaseView(
        "truth",
        "Truth",
        lambda case, context: truth_blocks(case.conversation, case.comparison, expected_text(case.comparison)),
    ),
    CaseView("tools", "Tools", lambda case, context: tool_blocks(case.conversation)),
    CaseView("scores", "Scores", score_blocks),
    CaseView(TOKENS, "Tokens", _token_blocks, exists_for=_has_tokens),
    CaseView("raw", "Raw", lambda case, context: raw_blocks(case)),
    CaseView("attempts", "Attempts", lambda case, context: attempt_blocks(case), exists_for=_was_repeated),
    BRANCHES,
)
"""Views available for any suite, in the order of their tabs; a suite's own view may change them."""


def view_with(words: str, case: ReviewedCase, views: Sequence[CaseView], context: DrawContext) -> CaseView | None:
    """Return the first of the given views that contains a text."""
    text = words.casefold()
    for view in views:
        blocks = view.draw(case, context)
        if any(text in line.plain.casefold() for block in blocks for line in block.logical):
            return view
    return None
