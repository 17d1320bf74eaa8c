"""The numbers of Compare whole: the test, the intervals, every category and every error type, as blocks. Pure."""

from collections.abc import Sequence

from textual.content import Content

from console.exchange.comparison_table import p_words, signed
from console.insight import number_format
from console.insight.by_case import by_case
from console.insight.comparison import PairCounts, RunComparison, bootstrapped, error_types
from console.tui.render import lines
from console.tui.render.dot_plot import dot_lines
from console.tui.sanitize import one_line
from console.tui.widgets.block import Block

MUTED = "$muted"


def number_blocks(comparison: RunComparison, disputed: Sequence[int], width: int) -> list[Block]:
    """Return the blocks.

    Args:
        comparison: the comparison.
        disputed: how many cases of A and of B have a disputed ground truth.
        width: cells of a line.
    """
    blocks = [Block("test", _title("is it chance?"), body=tuple(_test_lines(comparison)))]
    if any(disputed):
        words = f"{disputed[0]} disputed in A, {disputed[1]} in B; the numbers count them as they were graded"
        blocks.append(Block("disputed", Content.styled(words, "$undecided")))
    if cases := by_case(comparison):
        blocks.append(Block("cases", _title("question by question"), body=tuple(dot_lines(cases, width - 3))))
    rows = [
        ("all", comparison.counts),
        *(list(comparison.categories.items()) if len(comparison.categories) > 1 else []),
    ]
    blocks.append(
        Block("categories", _title("by category"), body=tuple(_category_lines(rows, comparison.headline, width)))
    )
    kinds = error_types(comparison)
    if kinds:
        blocks.append(Block("errors", _title("by error type"), body=tuple(_error_lines(kinds, width))))
    return blocks


def _title(words: str) -> Content:
    return Content.styled(words, f"bold {MUTED}")


def _test_lines(comparison: RunComparison) -> list[Content]:
    part, show = comparison.counts, number_format.number if comparison.headline else number_format.rate
    change, resampled = part.difference, bootstrapped(comparison)
    if change.p is None:
        return [Content.styled("no case is graded in both runs", "$broken")]
    name = "sign flips" if comparison.headline or change.cases < part.compared else "exact McNemar"
    how = "bootstrap" if comparison.headline or change.cases < part.compared else "Newcombe"
    made = [
        Content.assemble((f"{name:<16}", MUTED), f"p = {p_words(change.p)}".replace("= <", "<"), f"   {change.words}")
    ]
    for label, low, high in ((how, change.low, change.high), ("bootstrap", resampled.low, resampled.high)):
        if low is not None and high is not None and (label, low) != ("bootstrap", change.low):
            span = f"{signed(low, show)} … {signed(high, show)}"
            made.append(Content.assemble((f"{label + ' 95%':<16}", MUTED), span))
    return made


def _category_lines(rows: list[tuple[str, PairCounts]], headline: str, width: int) -> list[Content]:
    room = max(min(width - 48, 34), 12)
    words = ("cases", "lost", "gained", "B − A", "p")
    made = [_cells("", room, *words, style=f"bold {MUTED}")]
    show = number_format.number if headline else number_format.rate
    for name, part in rows:
        change = part.difference
        p = "" if change.p is None else p_words(change.p)
        made.append(
            _cells(name or "no category", room, str(part.compared), str(part.lost), str(part.gained),
                   signed(change.value, show), p)
        )  # fmt: skip
    return made


def _error_lines(kinds: Sequence[tuple[str, int, int]], width: int) -> list[Content]:
    room = max(min(width - 30, 60), 12)
    made = [_cells("", room, "A", "B", "B − A", style=f"bold {MUTED}")]
    made += [_cells(name, room, str(a), str(b), f"{b - a:+}".replace("-", "−")) for name, a, b in kinds]
    return made


def _cells(name: str, room: int, *cells: str, style: str = "") -> Content:
    return lines.fit(one_line(name, room, style), room).append_text("".join(f"{cell:>8}" for cell in cells), style)
