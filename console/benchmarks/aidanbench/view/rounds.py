"""Blocks of a round: prompt, answer, scores as gauges, and the reason if the loop ended there."""

from textual.content import Content

from console.benchmarks.aidanbench.view.loops import SCORES, Measure, Round
from console.core.wait import wait_words
from console.insight import number_format
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, bar, muted

GAUGE_WIDTH = 10
FIRST_WORDS = 60
"""Maximum width of the nearest answer, in cells."""
SHORT_REPLY = 60
"""Maximum number of characters in a judge's reply shown without folding."""
_SHORT_NAMES = {"coherence": "coh", "novelty": "nov", "llm_novelty": "llm"}


def round_blocks(
    loop_round: Round, *, state: str = "", compact: bool = False, unfolded: bool = False, earlier: int = 0
) -> list[Block]:
    """Return the blocks of one round.

    Args:
        loop_round: the round.
        state: the loop's current activity, shown until there are scores.
        compact: whether to omit prompt, judge and empty lines, for a pane of a few lines.
        unfolded: whether prompt and judge are unfolded.
        earlier: number of earlier answers in the prompt.
    """
    name = f"round {loop_round.turn}"
    title, aside = head_line(loop_round, state)
    blocks = [Block(name, title, aside, gap=False)]
    if loop_round.prompt and not compact:
        words = f"asked again, with {number_format.plural(earlier, 'earlier answer')}" if earlier else "asked"
        asked = Block(f"{name} prompt", muted(words), text=loop_round.prompt, style=MUTED, gap=False)
        asked.folded = not unfolded
        blocks.append(asked)
    if loop_round.reasoning and not compact:
        thought = Block(f"{name} reasoning", muted("reasoning"), text=loop_round.reasoning, style=MUTED)
        thought.folded = not unfolded and bool(loop_round.answer)
        thought.gap = not thought.folded
        blocks.append(thought)
    body = tuple(map(failed_try_line, loop_round.failed_tries))
    if body:
        blocks.append(Block(f"{name} tries", body=body, gap=False))
    blocks.append(answer_block(loop_round))
    blocks += _judge_blocks(loop_round, name, unfolded=unfolded) if not compact else []
    ended = [line for line in (nearest_line(loop_round), end_line(loop_round)) if line is not None]
    if ended:
        blocks.append(Block(f"{name} end", body=tuple(ended), indent=1, gap=False))
    blocks[-1].gap = not compact
    return blocks


def answer_block(loop_round: Round) -> Block:
    """Return the block of a round's answer, including a partial one."""
    is_missing = loop_round.is_decided and not loop_round.answer and not loop_round.streaming
    body = (muted("(no answer)"),) if is_missing else ()
    return Block(f"round {loop_round.turn} answer", text=loop_round.answer, body=body, indent=1, gap=False)


def _judge_blocks(loop_round: Round, name: str, *, unfolded: bool) -> list[Block]:
    blocks: list[Block] = []
    if loop_round.is_decided and loop_round.outside_answer:
        outside = Block(f"{name} beside", muted("outside the answer"), text=loop_round.outside_answer)
        outside.folded, outside.gap = not unfolded, unfolded
        blocks.append(outside)
    judged = "\n\n".join(loop_round.judged)
    if judged and len(judged) <= SHORT_REPLY and "\n" not in judged.strip():
        title = Content.assemble(("judge  ", MUTED), one_line(judged.strip(), SHORT_REPLY, MUTED))
        blocks.append(Block(f"{name} judge", title, gap=False))
    elif judged:
        words = Content.assemble(("judge  ", MUTED), one_line(loop_round.judged[-1], 60, MUTED))
        title = words if not unfolded else muted("judge")
        block = Block(f"{name} judge", title, text=judged, style=MUTED, gap=unfolded)
        block.folded = not unfolded
        blocks.append(block)
    return blocks


def head_line(loop_round: Round, state: str = "") -> tuple[Content, Content]:
    """Return a round's title, and the text at the right end of its line: scores, or the current activity."""
    style = "bold $fail" if loop_round.is_decided and loop_round.accepted is False else "bold"
    title = Content.styled(f"round {loop_round.turn + 1}", style)
    if loop_round.measures:
        return title, gauges(loop_round, GAUGE_WIDTH if len(loop_round.measures) < len(SCORES) else GAUGE_WIDTH // 2)
    return title, one_line(state, 60, "$live")


def gauges(loop_round: Round, width: int = GAUGE_WIDTH) -> Content:
    """Return all scores of a round on one line, such as `coh 66 ███│░░  nov .24 ██│░░`."""
    parts: list[Content] = []
    for name in SCORES:
        measure = loop_round.measures.get(name)
        if measure is not None:
            parts.append(
                Content.assemble((f"{_SHORT_NAMES[name]} ", MUTED), _value(measure), " ", gauge(measure, width))
            )
    return Content("  ").join(parts)


def gauge(measure: Measure, width: int = GAUGE_WIDTH) -> Content:
    """Return a bar of the value, with a tick at the threshold."""
    value, threshold = measure.value or 0.0, measure.threshold
    top = 100.0 if max(value, threshold or 0.0) > 1 else 1.0
    drawn = bar(max(value, 0.0) / top, width)[:width].ljust(width, "░")
    shown = Content.styled(drawn, "$live" if measure.passes else "$fail")
    if threshold is None:
        return shown
    place = min(int(threshold / top * width), width - 1)
    tick = Content.styled("│", "bold" if measure.passes else "bold $fail")
    return shown[:place].append(tick).append(shown[place + 1 :])


def _value(measure: Measure) -> Content:
    if measure.value is None:
        return Content.styled("  ?", "$undecided")
    low = "" if measure.passes else SYMBOLS.failed
    return Content.styled(
        f"{low}{number_format.number(measure.value)}".rjust(3), "bold" if measure.passes else "bold $fail"
    )


def nearest_line(loop_round: Round) -> Content | None:
    """Return the nearest earlier answer: its round, its similarity and its first words."""
    if loop_round.nearest is None:
        return None
    alike = f", {number_format.number(loop_round.similarity)} alike" if loop_round.similarity is not None else ""
    words = f"nearest earlier answer: round {loop_round.nearest + 1}{alike}  "
    return Content.assemble((words, MUTED), one_line(loop_round.nearest_answer, FIRST_WORDS, f"italic {MUTED}"))


def end_line(loop_round: Round) -> Content | None:
    """Return the reason that the loop ended in this round; None if it continued or has no decision yet."""
    if not loop_round.is_decided or loop_round.accepted:
        return None
    words = one_line(reason_words(loop_round.reason), 200)
    if loop_round.accepted is None:
        return Content.assemble((f"{SYMBOLS.undecided} undecided: ", "bold $undecided"), words)
    official = one_line(f"  {loop_round.reason}", 80, MUTED)
    return Content.assemble((f"{SYMBOLS.stopped} not accepted: ", "bold $fail"), words.stylize("bold"), official)


def failed_try_line(passage: Passage) -> Content:
    """Return the line of a failed call."""
    assert passage.kind is PassageKind.TRY
    then = f", again in {wait_words(passage.threshold)}" if passage.threshold is not None else ", given up"
    words = one_line(reason_words(passage.head), 80, "$broken")
    return Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), words, (then, MUTED), "  ").append(
        one_line(passage.text, 300, MUTED)
    )


def loop_state(state: str, why: str) -> str:
    """Return the current activity of a loop as text."""
    return why or {"asking": "asking", "streaming": "writing", "": ""}.get(state, state)
