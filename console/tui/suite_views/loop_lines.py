"""The lines of a round: its scores against their thresholds, what it resembles, and how it was decided. Pure."""

from textual.content import Content

from console.insight import number_format
from console.insight.loops import SCORES, Measure, Round
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words
from console.tui.render.bars import bar, is_ascii
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"
BAR_WIDTH = 10
FIRST_WORDS = 60
"""Cells of the nearest answer that are shown."""
_SHORT = {"coherence": "coh", "novelty": "nov", "llm_novelty": "llm"}


def gauge(measure: Measure, width: int = BAR_WIDTH) -> Content:
    """Return a bar of the value on its scale, with a tick where the threshold is."""
    value, threshold = measure.value or 0.0, measure.threshold
    top = 100.0 if max(value, threshold or 0.0) > 1 else 1.0
    empty = "." if is_ascii() else "░"
    drawn = bar(max(value, 0.0) / top, width)[:width].ljust(width, empty)
    shown = Content.styled(drawn, "$live" if measure.passes else "$fail")
    if threshold is None:
        return shown
    place = min(int(threshold / top * width), width - 1)
    tick = Content.styled("|" if is_ascii() else "│", "bold" if measure.passes else "bold $fail")
    return shown[:place].append(tick).append(shown[place + 1 :])


def gauges(loop_round: Round, width: int = BAR_WIDTH) -> Content:
    """Return all scores of a round on one line: `coh 66 ███│░░  nov .24 ██│░░`."""
    parts: list[Content] = []
    for name in SCORES:
        measure = loop_round.measures.get(name)
        if measure is not None:
            parts.append(Content.assemble((f"{_SHORT[name]} ", MUTED), _value(measure), " ", gauge(measure, width)))
    return Content("  ").join(parts)


def _value(measure: Measure) -> Content:
    if measure.value is None:
        return Content.styled("  ?", "$undecided")
    low = "" if measure.passes else SYMBOLS.failed
    return Content.styled(
        f"{low}{number_format.number(measure.value)}".rjust(3), "bold" if measure.passes else "bold $fail"
    )


def head_line(loop_round: Round, state: str = "") -> tuple[Content, Content]:
    """Return the title of a round, and what stands at the right end of it: its scores, or what is going on."""
    style = "bold $fail" if loop_round.is_decided and loop_round.accepted is False else "bold"
    title = Content.styled(f"round {loop_round.turn + 1}", style)
    if loop_round.measures:
        return title, gauges(loop_round, BAR_WIDTH if len(loop_round.measures) < len(SCORES) else BAR_WIDTH // 2)
    return title, one_line(state, 60, "$live")


def nearest_line(loop_round: Round) -> Content | None:
    """Return which earlier answer is nearest, how alike, and its first words."""
    if loop_round.nearest is None:
        return None
    alike = f", {number_format.number(loop_round.similarity)} alike" if loop_round.similarity is not None else ""
    words = f"nearest earlier answer: round {loop_round.nearest + 1}{alike}  "
    return Content.assemble((words, MUTED), one_line(loop_round.nearest_answer, FIRST_WORDS, f"italic {MUTED}"))


def end_line(loop_round: Round) -> Content | None:
    """Return why the loop ended with this round; None when it goes on or nobody knows yet."""
    if not loop_round.is_decided or loop_round.accepted:
        return None
    words = one_line(reason_words(loop_round.reason), 200)
    if loop_round.accepted is None:
        return Content.assemble((f"{SYMBOLS.undecided} undecided: ", "bold $undecided"), words)
    official = one_line(f"  {loop_round.reason}", 80, MUTED)
    return Content.assemble((f"{SYMBOLS.stopped} not accepted: ", "bold $fail"), words.stylize("bold"), official)


def trouble_line(passage: Passage) -> Content:
    """Return one failed try."""
    assert passage.kind is PassageKind.TRY
    then = f", again in {passage.threshold:.0f} s" if passage.threshold is not None else ", given up"
    words = one_line(reason_words(passage.head), 80, "$broken")
    return Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), words, (then, MUTED), "  ").append(
        one_line(passage.text, 300, MUTED)
    )


def loop_state(state: str, why: str) -> str:
    """Return in words what a loop is doing."""
    return why or {"asking": "asking", "streaming": "writing", "": ""}.get(state, state)


def prompt_title(loop_round: Round, earlier: int) -> Content:
    """Return what the folded prompt of a round is called."""
    words = f"asked again, with {number_format.plural(earlier, 'earlier answer')}" if earlier else "asked"
    return Content.styled(words, MUTED)
