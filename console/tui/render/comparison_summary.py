"""The numbers of Compare as lines: who, the difference and whether it may be chance, counts, reasons. Pure."""

from collections import Counter

from textual.content import Content

from console.exchange.comparison_table import p_words, signed, summary_rows
from console.insight import number_format
from console.insight.comparison import Agreement, PairOutcome, RunComparison
from console.insight.comparison_side import ComparisonSide
from console.insight.reasons import sentence
from console.insight.statistics import wilson
from console.tui.render import lines
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line

MUTED = "$muted"


def title(comparison: RunComparison, *, wide: bool) -> Content:
    """Return what is compared: suite, and its category when there is only one."""
    names, plain = list(comparison.categories), not comparison.simulated and comparison.prompts.verdict is not False
    suite = comparison.b.manifest.suite
    label = f"{suite}/{names[0]}" if len(names) == 1 and names[0] else suite
    return one_line(label, 40, "bold").append(
        f", {number_format.plural(comparison.counts.compared, 'case')}{' in both' if wide or plain else ''}"
    )


def checks(comparison: RunComparison, *, wide: bool, live: tuple[bool, bool] = (False, False)) -> Content:
    """Return whether data and prompts are the same, and which of A and B is being played."""
    origins = [
        Content.styled(f"{name} {'edited prompt' if side.manifest.setting.edit else 'branch'}", "$undecided")
        for name, side in (("A", comparison.a), ("B", comparison.b))
        if side.manifest.setting.edit or side.manifest.parent
    ]
    other_prompts = comparison.prompts.verdict is False
    parts = [_check("data", comparison.data)]
    if not wide and other_prompts and comparison.data.verdict:
        parts = [Content.styled(f"data {SYMBOLS.passed}", "$pass")]
    if wide or (other_prompts and not origins):
        parts.append(_check("prompts", comparison.prompts))
    if comparison.simulated:
        parts.insert(0, Content.styled("simulated", "$undecided"))
    if playing := " ".join(name for name, on in zip("AB", live, strict=True) if on):
        parts.insert(0, Content.styled(f"{SYMBOLS.live} {playing} live", "bold $live"))
    parts += origins
    return Content("   " if wide else "  ").join(parts)


def _check(name: str, agreement: Agreement) -> Content:
    if agreement.verdict is None:
        return Content.styled(f"{name} not known", MUTED)
    if agreement.verdict:
        return Content.styled(f"same {name} {SYMBOLS.passed}", "$pass")
    return Content.styled(f"{agreement.other} other {name} {SYMBOLS.broken}", "$broken")


def head_lines(comparison: RunComparison, width: int) -> list[Content]:
    """Return two lines for narrow screens: both runs with their scores, and the difference."""
    half = (width - 2) // 2
    a, b = _run(comparison, "A", comparison.a), _run(comparison, "B", comparison.b)
    runs = Content.assemble(" ", lines.fit(a, half - 2), "  ", lines.fit(b, half))
    return [runs, Content(" ").append(lines.fit(difference(comparison), width - 1))]


def _run(comparison: RunComparison, name: str, side: ComparisonSide) -> Content:
    model, run = one_line(side.model, 20, "bold"), one_line(side.name, 40, MUTED)
    return Content.assemble((f"{name} ", "bold $focus"), model, "  ", score_of(comparison, name), "  ", run)


def score_of(comparison: RunComparison, name: str) -> str:
    """Return the score of A or B over the compared cases, with half of its interval where it is a rate."""
    if comparison.headline:
        means = next((score for score in comparison.scores if score.name == comparison.headline), None)
        return "—" if means is None else number_format.number(means.a if name == "A" else means.b)
    passed = comparison.counts.passed_a if name == "A" else comparison.counts.passed_b
    return number_format.score(passed, comparison.counts.compared)


def difference(comparison: RunComparison) -> Content:
    """Return B minus A with interval, p and what may be concluded."""
    change, show = comparison.counts.difference, number_format.number if comparison.headline else number_format.rate
    if change.p is None:
        return Content.styled("no case is graded in both runs", "$broken")
    span = ""
    if change.low is not None and change.high is not None:
        span = f"   95% {signed(change.low, show)} … {signed(change.high, show)}"
    style = MUTED if change.p >= 0.05 else "$pass" if change.value > 0 else "$fail"
    return Content.assemble(
        ("B − A  ", MUTED), (signed(change.value, show), f"bold {style}"), (span, MUTED),
        (f"   p = {p_words(change.p)}".replace("= <", "<"), MUTED), (f"  {change.words}", style),
    )  # fmt: skip


def outcome_square_lines(comparison: RunComparison) -> list[Content]:
    """Return the table of both, lost, gained and neither in three lines; of scores, how many went up and down."""
    part = comparison.counts
    left = f", {part.left_out} left out" if part.left_out else ""
    if comparison.headline:
        changes = Content.assemble(
            (f"  {part.gained} more", "$pass"), (f"   {part.lost} fewer", "$fail"), f"   {part.both} the same{left}"
        )
        return [
            Content.styled(f"  {comparison.headline} of B against A, case by case", MUTED),
            changes,
            Content.empty(),
        ]
    same, other = _both_fail(comparison)
    notes = (
        f"both fail {part.neither}: same reason {same}, another {other}" if part.neither else "",
        f"{part.left_out} left out without two grades" if left else "",
    )
    return [
        _square_row("", [(f"B {SYMBOLS.passed}", "bold"), (f"B {SYMBOLS.failed}", "bold")], ""),
        _square_row(f"A {SYMBOLS.passed}", [(f"{part.both:>3}", ""), (f"{part.lost:>3} lost", "$fail")], notes[0]),
        _square_row(
            f"A {SYMBOLS.failed}", [(f"{part.gained:>3} gained", "$pass"), (f"{part.neither:>3}", "")], notes[1]
        ),
    ]


def _square_row(name: str, cells: list[tuple[str, str]], note: str) -> Content:
    made = [
        Content.styled(f"{name:>9}  ", "bold"),
        *(lines.fit(Content.styled(text, style), 12) for text, style in cells),
    ]
    return Content("  ").join(made).append_text(f"  {note}" if note else "", MUTED)


def _both_fail(comparison: RunComparison) -> tuple[int, int]:
    pairs = comparison.with_outcome(PairOutcome.NEITHER)
    same = sum((pair.a.reason, pair.a.subject) == (pair.b.reason, pair.b.subject) for pair in pairs)
    return same, len(pairs) - same


def number_lines(comparison: RunComparison, width: int, most: int) -> list[Content]:
    """Return the wide table of numbers on both sides, and reasons whose counts changed most."""
    square = outcome_square_lines(comparison)
    rows: list[tuple[str, ...]] = [*summary_rows(comparison)]
    names = {row[0] for row in rows}
    changed = [(name, str(a), str(b), f"{b - a:+}".replace("-", "−")) for name, a, b in comparison.reasons if a != b]
    rows[1:1] = [row for row in changed if row[0] not in names][: max(most - len(rows), 0)]
    room = min(max(width - 90, 44), 64)
    made = [_row(("", "A", "B", "B − A"), room, f"bold {MUTED}"), *(_row(row, room, "") for row in rows)]
    made[1] = (
        made[1].append("   ").append(_interval(comparison)) if len(made) > 1 and not comparison.headline else made[1]
    )
    for place, line in enumerate(square):
        if place + 2 < len(made):
            made[place + 2] = lines.fit(made[place + 2], room).append("     ").append(line)
    return [lines.fit(line, width) for line in made[: most + 1]]


def _row(cells: tuple[str, ...], room: int, style: str) -> Content:
    name, a, b, change = cells
    label = lines.fit(one_line(name, 60, style or MUTED), max(room - 39, 18))
    return label.append_text(f"{a:>12} {b:>12} {change:>12}", style)


def _interval(comparison: RunComparison) -> Content:
    part = comparison.counts
    spans = [wilson(passed, part.compared) for passed in (part.passed_a, part.passed_b)]
    words = "   ".join(
        f"{name} {number_format.rate(low)}–{number_format.rate(high)}"
        for name, (low, high) in zip("AB", spans, strict=True)
    )
    return Content.styled(words, MUTED)


def reason_lines(comparison: RunComparison, width: int, most: int) -> list[Content]:
    """Return what was lost by reason, with bars; empty when nothing was."""
    lost = comparison.with_outcome(PairOutcome.LOST)
    counts = Counter(sentence(pair.b.reason, pair.b.subject, pair.b.outcome) for pair in lost)
    if not counts:
        return []
    largest, room = max(counts.values()), max(width - 18, 12)
    made = [Content.styled(f"{'fewer' if comparison.headline else 'lost'}, by reason", f"bold {MUTED}")]
    for name, count in counts.most_common(most):
        bar = number_format.bar(count / largest, 9)
        bar = bar if SYMBOLS.bar == "█" else SYMBOLS.bar * max(len(bar), 1)
        made.append(lines.fit(one_line(name, room), room).append(f"{count:>5} ").append_text(bar, "$fail"))
    return made
