"""Conversations as blocks: speakers, tool calls with aligned arguments, scores as bars, long passages folded."""

from collections.abc import Callable

from textual.content import Content

from console.core.outcome import Outcome
from console.core.wait import wait_words
from console.insight import number_format
from console.insight.conversation import SIMULATED_USER, Conversation, speaker_of
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import hint, reason_words
from console.insight.rollout import SETUP, Rollout
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.suite_views.registry import find_note_block
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, bar, block_title, muted

LONG_PROMPT = 40
"""Number of lines above which only the end of a user message is shown, since it holds the question."""
LONG_TEXT = 4000
"""Number of characters above which texts start folded."""
LONG_LINES = 6
"""Minimum number of lines for a note to start folded; prompts and results use multiples of it."""
NAME_WIDTH = 18
"""Maximum width of the argument name column, in cells."""
BAR_WIDTH = 10
_JUDGES = ("judge", "second_judge")


def passage_block(passage: Passage, key: str, *, gap: bool = True) -> Block:
    """Return the block of a passage."""
    return _DRAWN[passage.kind](passage, key, gap)


def conversation_blocks(
    conversation: Conversation, *, gap: bool = True, with_verdict: bool = True, shared: int = 0
) -> list[Block]:
    """Return the blocks of a conversation.

    Args:
        conversation: the conversation.
        gap: True if an empty line follows each block.
        with_verdict: False to omit the verdict.
        shared: number of leading passages in common with the conversation next to it. They are muted, and the first
            difference is marked.
    """
    passages = [each for each in conversation.passages if with_verdict or each.kind is not PassageKind.VERDICT]
    blocks = [passage_block(passage, block_key(index), gap=gap) for index, passage in enumerate(passages)]
    for block in blocks[:shared]:
        block.title, block.style = muted(block.title.plain), MUTED
        block.body = [muted(line.plain) for line in block.body]
    if 0 < shared < len(blocks):
        block = blocks[shared]
        block.title = Content.styled(f"{SYMBOLS.changed} ", "bold $undecided").append(block.title)
        block.aside = lines.stacked([block.aside, Content.styled("first difference", "$undecided")])
    if not any(passage.media for passage in passages):
        return blocks
    pictures = [media_blocks(passage, block_key(index), gap=gap) for index, passage in enumerate(passages)]
    return [each for block, below in zip(blocks, pictures, strict=True) for each in (block, *below)]


def media_blocks(passage: Passage, key: str, *, gap: bool = True) -> list[Block]:
    """Return the images of a passage; its text names them as well as audio and files."""
    if not passage.media:
        return []
    from console.tui.render.picture import picture_lines  # rare

    pictures = [picture_lines(shown) for shown in passage.media]
    return [Block(f"{key} picture {place}", body=lines, gap=gap) for place, lines in enumerate(pictures) if lines]


def block_key(index: int) -> str:
    """Return the key of the block of a passage."""
    return f"talk {index}"


def _plain(passage: Passage, key: str, gap: bool) -> Block:
    is_reply = passage.kind is PassageKind.ASSISTANT
    word = "output sent to the model" if passage.repeats else speaker_of(passage)
    is_user = passage.kind is PassageKind.USER or (passage.role == SIMULATED_USER and is_reply)
    style = "bold" if is_user else "bold $live" if passage.kind is PassageKind.ASSISTANT else f"bold {MUTED}"
    folded = passage.kind is PassageKind.SYSTEM or (passage.role in _JUDGES and is_user)
    block = Block(key, Content.styled(word, style), _aside(passage), passage.text, gap=gap)
    block.folded = passage.repeats or (folded and passage.text.count("\n") >= LONG_LINES // 2)
    is_long = passage.text.count("\n") >= LONG_PROMPT or len(passage.text) > LONG_TEXT
    if passage.kind is PassageKind.USER and is_long and not block.folded:
        block.folded, block.tail = True, LONG_LINES
    if not passage.text and not passage.streaming:
        block.body = (muted("(nothing)"),)
    return block


def _reasoning(passage: Passage, key: str, gap: bool) -> Block:
    block = Block(key, block_title("reasoning"), _aside(passage), passage.text, style=MUTED, gap=gap)
    block.folded = not passage.streaming
    return block


def _call(passage: Passage, key: str, gap: bool) -> Block:
    if passage.streaming:
        return Block(key, Content.styled("writes a call", "bold $live"), text=passage.text, gap=gap)
    title = Content.assemble((f"{SYMBOLS.call} ", "bold $live"), _by_user(passage), one_line(passage.head, 200, "bold"))
    if passage.arguments is None:
        error = one_line(passage.complaint, 300, "$broken")
        return Block(key, title.append("   ").append(error), _aside(passage), passage.text, gap=gap)
    body = argument_lines(passage.arguments) or (muted("(no arguments)"),)
    return Block(key, title, _aside(passage), body=body, gap=gap, indent=4)


def _by_user(passage: Passage) -> str:
    """Return the word that marks calls and results as the simulated user's."""
    return "user: " if passage.role == SIMULATED_USER else ""


def argument_lines(arguments: tuple[tuple[str, str], ...]) -> tuple[Content, ...]:
    """Return the arguments of a call, one per line, values aligned."""
    names = [one_line(name, 60, MUTED) for name, _ in arguments]
    width = min(max((name.cell_length for name in names), default=0), NAME_WIDTH)
    return tuple(
        name.pad_right(max(width - name.cell_length, 0)).append("  ").append(one_line(value, 8000))
        for name, (_, value) in zip(names, arguments, strict=True)
    )


def _result(passage: Passage, key: str, gap: bool) -> Block:
    name = one_line(passage.head or "result", 200, MUTED)
    title = Content.assemble((f"{SYMBOLS.result} {_by_user(passage)}", MUTED), name)
    block = Block(key, title, text=passage.text, gap=gap, indent=4)
    block.folded = passage.text.count("\n") >= LONG_LINES * 2 or len(passage.text) > LONG_TEXT
    return block


def _score(passage: Passage, key: str, gap: bool) -> Block:
    return Block(key, score_line(passage.head, passage.value, passage.threshold), gap=False, folded=False)


_SCALES = (1.0, 5.0, 10.0, 100.0)
"""Maxima of the usual scales; a bar uses the smallest one that covers both score and threshold."""


def score_line(name: str, value: float | None, threshold: float | None) -> Content:
    """Return one score with its bar and its relation to the threshold."""
    label = one_line(name, 24, MUTED)
    label = label.pad_right(max(12 - label.cell_length, 1))
    if value is None:
        return label.append_text("could not be determined", "$undecided")
    most = max(value, threshold or 0.0)
    top = next((top for top in _SCALES if most <= top), most)
    drawn = bar(value / top, BAR_WIDTH).ljust(BAR_WIDTH, "·")
    parts = label.append_text(number_format.number(value).rjust(5), "bold").append("  ").append_text(drawn, "$live")
    if threshold is None:
        return parts
    limit = number_format.number(threshold)
    if value == threshold:  # suites differ on whether that passes
        return parts.append_text(f"  exactly {limit}", MUTED)
    over = value > threshold
    return parts.append_text(f"  over {limit}" if over else f"  below {limit}", MUTED if over else "$fail")


_NOTE_WORDS = {"running code": "executed code"}
"""Labels of notes recorded during an activity in progress, by kind."""


def _note(passage: Passage, key: str, gap: bool) -> Block:
    draw = find_note_block(passage.head)
    if draw is not None and isinstance(passage.data, dict):
        return draw(passage, key, gap)
    word = _NOTE_WORDS.get(passage.head) or passage.head.replace("_", " ")
    block = Block(key, one_line(word, 200, MUTED), text=passage.text, style=MUTED, gap=gap)
    block.folded = passage.text.count("\n") >= LONG_LINES or len(passage.text) > 600
    return block


def _try(passage: Passage, key: str, gap: bool) -> Block:
    then = f"again in {wait_words(passage.threshold)}" if passage.threshold is not None else "given up"
    words = one_line(reason_words(passage.head), 80)
    title = Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), words, (f", {then}", MUTED))
    return Block(key, title, text=passage.text, style=MUTED, gap=gap)


def _verdict(passage: Passage, key: str, gap: bool) -> Block:
    words = "passed" if passage.head == Outcome.PASSED else reason_words(passage.head)
    style = "$pass" if passage.head == Outcome.PASSED else "$fail"
    title = Content.assemble(("verdict  ", f"bold {MUTED}"), one_line(words, 200, f"bold {style}"))
    code = "" if passage.head.replace("_", " ") == words else passage.head
    return Block(key, title, one_line(code, 60, MUTED), passage.text, gap=gap)


def _thread(passage: Passage, key: str, gap: bool) -> Block:
    """Return a thread as a line, which opens to all its passages."""
    words = f"{number_format.plural(int(passage.value), 'call')}  " if passage.value else ""
    title = Content.assemble((f"{SYMBOLS.branch} ", "bold $live"), one_line(passage.head, 40, MUTED))
    aside = muted("writing" if passage.streaming else words).append(_aside(passage))
    body: list[Content] = []
    for place, each in enumerate(passage.passages):
        block = passage_block(each, f"{key} {place}")
        body += [block.title, *(Content("  ").append(line) for line in block.logical), Content.empty()]
    return Block(key, title, aside, body=tuple(body[:-1]), gap=gap, folded=True, opened_by="enter")


_DRAWN: dict[PassageKind, Callable[[Passage, str, bool], Block]] = {
    PassageKind.SYSTEM: _plain,
    PassageKind.USER: _plain,
    PassageKind.ASSISTANT: _plain,
    PassageKind.REASONING: _reasoning,
    PassageKind.CALL: _call,
    PassageKind.RESULT: _result,
    PassageKind.SCORE: _score,
    PassageKind.NOTE: _note,
    PassageKind.TRY: _try,
    PassageKind.THREAD: _thread,
    PassageKind.VERDICT: _verdict,
}


def _aside(passage: Passage) -> Content:
    parts: list[str] = []
    if passage.kind is PassageKind.USER and passage.turn and passage.role == "model":
        parts.append(f"turn {passage.turn + 1}")
    if passage.usage is not None:
        parts.append(f"{number_format.count(passage.usage.input)} in  {number_format.count(passage.usage.output)} out")
    if passage.latency_s:
        parts.append(number_format.duration(passage.latency_s))
    return muted("  ".join(parts))


def outcome_word(outcome: Outcome, *, graded: bool = True) -> Content:
    """Return an outcome's symbol and word; those of `setup` for a rollout that is not graded."""
    if outcome.is_graded and not graded:
        return muted(f"{SYMBOLS.setup} {SETUP} (not graded)")
    return Content.styled(f"{SYMBOLS.of(outcome)} {outcome.value.replace('_', ' ')}", OUTCOME_STYLES[outcome])


def broken_blocks(rollout: Rollout, conversation: Conversation) -> list[Block]:
    """Return blocks with the error of a broken rollout, its tries, and a hint."""
    messages = "\n".join(conversation.verdict.messages) if conversation.verdict else rollout.message
    title = Content.assemble(
        ("not graded: ", "bold $broken"), one_line(reason_words(rollout.reason), 100, "bold $broken")
    )
    blocks = [Block("fault", title, text=messages, gap=False)]
    tries = [
        Content.assemble(
            (f"{place}  ", MUTED), one_line(reason_words(tried.kind), 40), "  ", one_line(tried.message, 300, MUTED),
            ("" if tried.wait_s is None else f"  waited {tried.wait_s:.0f} s", MUTED),
            one_line(f"  at {tried.address}" if tried.address else "", 80, MUTED),
        )
        for place, tried in enumerate(conversation.tries, 1)
    ]  # fmt: skip
    count = f"tried {number_format.plural(len(tries), 'time')}" if tries else "not retried"
    blocks.append(Block("tries", muted(count), body=tuple(tries), gap=False))
    advice = f"{hint(rollout.reason)} r re-runs it.".strip()
    blocks.append(Block("hint", Content.assemble(("what to do  ", MUTED), advice)))
    return blocks
