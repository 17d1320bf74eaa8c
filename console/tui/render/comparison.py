"""The statistics of Compare as lines and blocks: scores, difference, significance, counts, reasons, categories."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.core.grading import grading_differences, grading_words
from console.core.run import Manifest
from console.core.statistics.paired import MCNEMAR, NEWCOMBE
from console.insight import number_format
from console.insight.comparison import (
    CasePair,
    PairCounts,
    PairOutcome,
    RunComparison,
    bootstrapped,
    error_types,
)
from console.insight.comparison_report import ONE_CASE, reroll_notes, served_words, statistics, summary_rows
from console.insight.comparison_side import ComparisonSide, shared_repeats
from console.insight.number_format import signed
from console.insight.reasons import sentence
from console.insight.report import Section
from console.insight.run_number import REROLLED
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.render.section_block import section_block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, bar, block_title, muted


def title(comparison: RunComparison, *, wide: bool) -> Content:
    """Return the compared suite (with its category if there is only one) and the number of cases."""
    names, plain = list(comparison.categories), not comparison.simulated and comparison.prompts.verdict is not False
    suite = comparison.b.manifest.suite
    if comparison.pairing.is_across_suites:
        suite = f"{comparison.a.manifest.suite} and {suite}"
    label = f"{suite}/{names[0]}" if len(names) == 1 and names[0] else suite
    part = comparison.counts
    rollouts = f", {number_format.plural(part.rollouts, 'rollout')}" if part.rollouts > part.cases and wide else ""
    return one_line(label, 40, "bold").append(
        f", {number_format.plural(part.cases, 'case')}{rollouts}{' in both' if wide or plain else ''}"
    )


def _origin(manifest: Manifest) -> Content:
    """Return the changes of an experiment, or the word for a branch."""
    return one_line(manifest.experiment.words if manifest.experiment is not None else "branch", 40, "$undecided")


def fitting_checks(comparison: RunComparison, room: int, *, wide: bool, live: tuple[bool, bool]) -> Content:
    """Return `checks` in the longest form that fits `room` cells, else in the shortest."""
    forms = [checks(comparison, form, live=live) for form in _FORMS if wide or not form.whole]
    return next((form for form in forms if form.cell_length <= room), forms[-1])


@dataclass(frozen=True, slots=True)
class _Form:
    """How much `checks` says."""

    whole: bool = False
    """True for all checks in full, with wide gaps."""
    simulated: bool = False
    """True to say that runs are simulated, as other lines also do."""
    keys: str = ""
    """Hint at the keys that list cases with another prompt."""
    brief: bool = False
    """True for the fewest words; the facts stay."""


_FORMS = (
    _Form(whole=True, simulated=True, keys=" (f p shows them)"),
    _Form(simulated=True, keys=" (f p shows them)"),
    _Form(simulated=True, keys=" (f p)"),
    _Form(keys=" (f p)"),
    _Form(brief=True),
)
"""Forms of `checks`, the longest first."""


def checks(comparison: RunComparison, form: _Form, *, live: tuple[bool, bool]) -> Content:
    """Return whether cases, prompts and grading are the same, and whether A or B is live or a branch.

    Args:
        comparison: the runs.
        form: how much to say.
        live: for A and B, true if the run is live.
    """
    origins = [
        Content.styled(f"{name} ", "$undecided").append(_origin(side.manifest))
        for name, side in (("A", comparison.a), ("B", comparison.b))
        if side.manifest.parent or side.manifest.experiment is not None
    ]
    parts = _agreements(comparison, form, is_branch=bool(origins))
    if comparison.simulated and form.simulated:
        parts.insert(0, Content.styled(comparison.simulated_note, "$undecided"))
    if playing := " ".join(name for name, on in zip("AB", live, strict=True) if on):
        parts.insert(0, Content.styled(f"{SYMBOLS.live} {playing} live", "bold $live"))
    parts += origins
    if comparison.b.manifest.regraded == comparison.a.manifest.id:
        parts.append(Content.styled("B regraded from A", "$undecided"))
    elif _has_grades(comparison) and grading_differences(comparison.a.manifest, comparison.b.manifest):
        parts.append(Content.styled("other grading" if form.brief else "graded differently", "$broken"))
    if served_words(comparison).startswith("served by A"):
        parts.append(Content.styled("other server", "$undecided"))
    return Content("   " if form.whole else "  ").join(parts)


def _agreements(comparison: RunComparison, form: _Form, *, is_branch: bool) -> list[Content]:
    """Return whether cases and prompts are the same; nothing if no cases are paired.

    A branch's changes say whether its prompts differ, except in the longest form.
    """
    cases, prompts = comparison.data, comparison.prompts
    differs = prompts.verdict is False
    if comparison.pairing.is_across_suites:
        parts = [_share_paired(comparison, wide=form.whole)]
    elif not comparison.pairs:
        return []
    elif cases.verdict is False and differs and not form.whole and not is_branch:
        return [_check(f"{cases.words('case')}, prompts too{form.keys}", verdict=False)]
    elif cases.verdict and differs and form.brief:
        parts = [_check("cases", verdict=True)]
    else:
        parts = [_check(cases.words("case"), cases.verdict)]
    if form.whole:
        parts.append(_check(prompts.words("prompt") + form.keys * differs, prompts.verdict))
    elif differs and not is_branch:
        parts.append(_check(f"prompt differs in {prompts.other}{form.keys}", verdict=False))
    return parts


def _share_paired(comparison: RunComparison, *, wide: bool) -> Content:
    """Return how many cases of the smaller of two runs of different suites were paired, and on what basis."""
    pairing, paired = comparison.pairing, len(comparison.pairs)
    smaller = paired + min(comparison.only_a, comparison.only_b)
    how = f": {pairing.by_prompt} by prompt, {pairing.by_id} by id" if wide else ""
    return Content.styled(f"paired {paired} of {smaller}{how}", "$undecided")


def _check(words: str, verdict: bool | None) -> Content:
    if verdict is None:
        return muted(words)
    sign, style = (SYMBOLS.passed, "$pass") if verdict else (SYMBOLS.broken, "$broken")
    return Content.styled(f"{words} {sign}", style)


_LEAST_RUN = 8
"""Minimum width of a run's name."""


def head_lines(comparison: RunComparison, width: int) -> list[Content]:
    """Return two lines for narrow screens: the runs with their scores, and the difference."""
    half = (width - 2) // 2
    rooms = half - 2, half
    heads = [_run(comparison, name, side) for name, side in (("A", comparison.a), ("B", comparison.b))]
    spare = min(room - head.cell_length - 2 for room, head in zip(rooms, heads, strict=True))
    if spare >= _LEAST_RUN:  # both names or none
        names = (one_line(side.title, lines.LONGEST_ID, MUTED) for side in (comparison.a, comparison.b))
        heads = [
            head.append("  ").append(lines.fit_name(name, room - head.cell_length - 2))
            for head, name, room in zip(heads, names, rooms, strict=True)
        ]
    a, b = (lines.fit(head, room) for head, room in zip(heads, rooms, strict=True))
    runs = Content.assemble(" ", a, "  ", b)
    return [runs, Content(" ").append(lines.fit(difference(comparison), width - 1))]


def _run(comparison: RunComparison, name: str, side: ComparisonSide) -> Content:
    """Return the model and score of A or B."""
    model = one_line(side.model, 20, "bold")
    return Content.assemble((f"{name} ", "bold $focus"), model, "  ", score_of(comparison, name))


def score_of(comparison: RunComparison, name: str) -> str:
    """Return the score of A or B over the compared cases, with its interval if it is a rate."""
    if (pair := comparison.single) is not None and not comparison.headline:
        outcome = (pair.a if name == "A" else pair.b).outcome
        return outcome.value if outcome else "not finished"
    mark = REROLLED if (comparison.a if name == "A" else comparison.b).overview.fold.rerolled else ""
    if comparison.headline:
        means = next((score for score in comparison.scores if score.name == comparison.headline), None)
        return "—" if means is None else number_format.number(means.a if name == "A" else means.b) + mark
    return number_format.score(comparison.counts.rate_a if name == "A" else comparison.counts.rate_b) + mark


def difference(comparison: RunComparison) -> Content:
    """Return B minus A with interval, p-value and conclusion; for a single case, only the outcomes."""
    if comparison.single is not None:
        a, b = score_of(comparison, "A"), score_of(comparison, "B")
        words = f"A {a}, B {b}" if a != b else f"both {a}"
        return Content.assemble((words, "bold"), (f"   {ONE_CASE}", MUTED))
    change, show = comparison.counts.difference, number_format.number if comparison.headline else number_format.rate
    if change.p is None and not change.failed_in:
        return _no_grades(comparison)
    span = ""
    if change.low is not None and change.high is not None:
        span = f"   95% {number_format.bounds(change.low, change.high, lambda bound: signed(bound, show))}"
    style = MUTED if change.p is None or change.p >= 0.05 else "$pass" if change.value > 0 else "$fail"
    tested = "" if change.p is None else f"   {number_format.p_text(change.p)}"
    return Content.assemble(
        ("B − A  ", MUTED), (signed(change.value, show), f"bold {style}"), (span, MUTED),
        (tested, MUTED), (f"  {change.words}", style),
    )  # fmt: skip


def _has_grades(comparison: RunComparison) -> bool:
    return any(pair.outcome is not PairOutcome.LEFT_OUT for pair in comparison.pairs)


def _no_grades(comparison: RunComparison) -> Content:
    """Say that no case is graded in both runs, or not yet if an engine has not closed one of them."""
    is_open = any(side.overview.fold.closed is None for side in (comparison.a, comparison.b))
    return Content.styled(f"no case is graded in both runs{' yet' * is_open}", MUTED if is_open else "$broken")


def outcome_square_lines(comparison: RunComparison) -> list[Content]:
    """Return the 2x2 table of cases (three lines), or for scores, how many rose and fell."""
    if comparison.single is not None or not comparison.pairs:
        return []
    part = comparison.counts
    left = f", {part.left_out} left out" if part.left_out else ""
    if comparison.headline:
        same = f"   {part.both + part.as_often} the same{left}"
        changes = Content.assemble((f"  {part.gained} more", "$pass"), (f"   {part.lost} fewer", "$fail"), same)
        return [
            muted(f"  {comparison.headline} of B against A, case by case"),
            changes,
            Content.empty(),
        ]
    repeats = shared_repeats((comparison.a, comparison.b))
    if part.rollouts > part.cases:
        return _often_lines(part, repeats)
    same, other = _both_fail(comparison)
    notes = (
        f"{part.left_out} left out: no two grades" if left else "",
        f"same reason {same}, another {other}" if part.neither else "",
    )
    return [
        _square_row("", [(f"B {SYMBOLS.passed}", "bold"), (f"B {SYMBOLS.failed}", "bold")], repeats),
        _square_row(f"A {SYMBOLS.passed}", [(f"{part.both:>3}", ""), (f"{part.lost:>3} lost", "$fail")], notes[0]),
        _square_row(
            f"A {SYMBOLS.failed}", [(f"{part.gained:>3} gained", "$pass"), (f"{part.neither:>3}", "")], notes[1]
        ),
    ]


def _often_lines(part: PairCounts, repeats: str) -> list[Content]:
    """Return how many cases with repeats pass more, less or as often in B (three lines)."""
    basis = f" ({repeats})" if repeats else ""
    some = f", {part.as_often} as often" if part.as_often else ""
    left = f", {part.left_out} left out" if part.left_out else ""
    rows = (
        ("less often", part.lost, " lost", "$fail", f"{part.both} always in both"),
        ("more often", part.gained, " gained", "$pass", f"{part.neither} never in either{some}{left}"),
    )
    return [
        muted(f"  of {number_format.plural(part.cases, 'case')}{basis}, B passes"),
        *(
            Content.assemble(
                (f"{name:>13}  ", "bold"), lines.fit(Content.styled(f"{count:>3}{word}", style), 12)
            ).append_text(f"  {note}", MUTED)
            for name, count, word, style, note in rows
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
    """Return the table of A, B and difference, with changed reason counts; empty if there are no pairs."""
    if not comparison.pairs:
        return []
    square, is_single = outcome_square_lines(comparison), comparison.single is not None
    rows: list[tuple[str, ...]] = list(summary_rows(comparison))
    names = {row[0] for row in rows}
    changed = [(name, str(a), str(b), f"{b - a:+}".replace("-", "−")) for name, a, b in comparison.reasons if a != b]
    rows[1:1] = [row for row in changed if row[0] not in names][: max(most - len(rows), 0)]
    wide = 1 + max(_LEAST_NUMBER, *(len(cell) for row in rows for cell in row[1:]))
    needed = max(len(row[0]) for row in rows) + 3 * (wide + 1)
    beside = max((line.cell_length for line in square), default=0)
    room = max(min(max(width - 90, 52), 64), min(needed, width - beside - 5))
    made = [_row(("", "A", "B", "B − A"), room, wide, f"bold {MUTED}"), *(_row(row, room, wide, "") for row in rows)]
    if len(made) > 1 and not comparison.headline and not is_single:
        made[1] = made[1].append("   ").append(_interval(comparison))
    for place, line in enumerate(square):
        if place + 2 < len(made):
            made[place + 2] = lines.fit(made[place + 2], room).append("     ").append(line)
    return [lines.fit(line, width) for line in made[: most + 1]]


_LEAST_NUMBER = 7
"""Minimum width of a number in the table."""


def _row(cells: tuple[str, ...], room: int, wide: int, style: str) -> Content:
    name, *numbers = cells
    label = lines.fit(one_line(name, 60, style or MUTED), room - 3 * (wide + 1))
    return label.append_text("".join(f" {number:>{wide}}" for number in numbers), style)


def _interval(comparison: RunComparison) -> Content:
    words = [
        f"{name} {number_format.bounds(interval.low, interval.high)}"
        for name, interval in (("A", comparison.counts.rate_a), ("B", comparison.counts.rate_b))
        if interval is not None and interval.low is not None and interval.high is not None
    ]
    return muted("   ".join(words))


def reason_lines(comparison: RunComparison, width: int, most: int) -> list[Content]:
    """Return the number of lost cases by reason, with bars; empty if none were lost."""
    lost = comparison.with_outcome(PairOutcome.LOST)
    counts = Counter(sentence(pair.b.reason, pair.b.subject, pair.b.outcome) for pair in lost)
    if not counts:
        return []
    largest, room = max(counts.values()), max(width - 18, 12)
    made = [block_title(f"{'fewer' if comparison.headline else 'lost'}, by reason")]
    for name, count in counts.most_common(most):
        drawn = bar(count / largest, 9)
        made.append(lines.fit(one_line(name, room), room).append(f"{count:>5} ").append_text(drawn, "$fail"))
    return made


_NUMBERS_WIDTH = 22
"""Combined width of A, B and their difference."""


def dots(a: float, b: float, most: float, width: int) -> Content:
    """Draw A as ○ and B as ● on a scale from 0 to `most`, `width` cells long; B covers A."""
    last = max(width - 1, 1)
    at_a, at_b = (min(max(round(value / most * last), 0), last) if most > 0 else 0 for value in (a, b))
    style = MUTED if a == b else "$pass" if b > a else "$fail"
    low, high = sorted((at_a, at_b))
    drawn = [muted(SYMBOLS.not_run * low), Content.styled(SYMBOLS.rule * (high - low + 1), style),
             muted(SYMBOLS.not_run * (last - high))]  # fmt: skip
    line = Content.empty().join(drawn)
    for place, sign, look in ((at_a, SYMBOLS.not_ready, style), (at_b, SYMBOLS.live, f"bold {style}")):
        line = Content.assemble(line[:place], (sign, look), line[place + 1 :])
    return line


def dot_lines(cases: Sequence[CasePair], headline: str, width: int) -> list[Content]:
    """Return a heading and a line per case, largest loss first: name, both means, difference, and dots."""
    listed = sorted(cases, key=lambda case: math.inf if case.outcome is PairOutcome.LEFT_OUT else case.change)
    means = [(case, case.mean_scores(headline)) for case in listed]
    most = max([1.0, *(value for _, mean in means if mean is not None for value in mean)])
    room = max(min((width - _NUMBERS_WIDTH) * 11 // 20, 60), 12)
    line = max(width - room - _NUMBERS_WIDTH - 2, 8)
    scale = f"0{number_format.number(most).rjust(line - 1)}"
    names = f"{'A':>6} {'B':>6} {'B − A':>7}  "
    head = block_title(f"{f'{SYMBOLS.not_ready} A   {SYMBOLS.live} B':<{room}}{names}")
    return [head.append_text(scale, MUTED), *(_dot_line(case, mean, room, most, line) for case, mean in means)]


def _dot_line(case: CasePair, means: tuple[float, float] | None, room: int, most: float, width: int) -> Content:
    name = lines.fit(one_line(case.a.title or case.a.key.case, 200), room)
    if means is None:
        return name.append_text("  left out: not two grades", MUTED)
    a, b = means
    change = b - a
    style = MUTED if not change else "bold $pass" if change > 0 else "bold $fail"
    numbers = f"{number_format.number(a):>6} {number_format.number(b):>6} "
    return Content.assemble(
        name, numbers, (f"{signed(change, number_format.number):>7}", style), "  ", dots(a, b, most, width),
    )  # fmt: skip


def number_blocks(comparison: RunComparison, disputed: Sequence[int], apart: Section | None, width: int) -> list[Block]:
    """Return the blocks: significance, cases, categories, error types, and scores by people; `disputed` is by side."""
    if comparison.single is not None:
        return [Block("single", difference(comparison))]
    blocks = [Block("test", block_title("significance"), body=tuple(_test_lines(comparison)))]
    if words := served_words(comparison):
        blocks.append(Block("served", block_title("served"), body=(one_line(words, 400),)))
    if words := grading_words(comparison.a.manifest, comparison.b.manifest):
        blocks.append(Block("grading", block_title("grading"), body=(one_line(words, 400),)))
    if rerolls := reroll_notes(comparison):
        blocks.append(Block("rerolls", block_title("played again"), body=[*map(Content, rerolls)]))
    if any(disputed):
        words = f"{disputed[0]} disputed in A, {disputed[1]} in B; the numbers include them as graded"
        blocks.append(Block("disputed", Content.styled(words, "$undecided")))
    if apart is not None:
        blocks.append(section_block(apart, "scores, never mixed", width))
    if comparison.headline:
        body = tuple(dot_lines(comparison.cases, comparison.headline, width - 3))
        blocks.append(Block("cases", block_title("case by case"), body=body))
    blocks += [section_block(part, part.title.lower(), width) for part in statistics(comparison)]
    kinds = error_types(comparison)
    if kinds:
        blocks.append(Block("errors", block_title("by error type"), body=tuple(_error_lines(kinds, width))))
    return blocks


_TESTS = {MCNEMAR: "exact McNemar"}
_METHODS = {NEWCOMBE: "Newcombe"}
"""Names of tests and methods that are capitalized because they are named after people."""


def _test_lines(comparison: RunComparison) -> list[Content]:
    show = number_format.number if comparison.headline else number_format.rate
    change, resampled = comparison.counts.difference, bootstrapped(comparison)
    if change.p is None:
        return [Content.styled(change.words, MUTED) if change.failed_in else _no_grades(comparison)]
    name, how = _TESTS.get(change.test, change.test), _METHODS.get(change.method, change.method)
    made = [Content.assemble((f"{name:<16}", MUTED), number_format.p_text(change.p), f"   {change.words}")]
    for label, low, high in ((how, change.low, change.high), ("bootstrap", resampled.low, resampled.high)):
        if low is not None and high is not None and (label, low) != ("bootstrap", change.low):
            span = number_format.bounds(low, high, lambda bound: signed(bound, show))
            made.append(Content.assemble((f"{label + ' 95%':<16}", MUTED), span))
    return made


def _error_lines(kinds: Sequence[tuple[str, int, int]], width: int) -> list[Content]:
    room = max(min(width - 30, 60), 12)
    made = [_cells("", room, "A", "B", "B − A", style=f"bold {MUTED}")]
    made += [_cells(name, room, str(a), str(b), f"{b - a:+}".replace("-", "−")) for name, a, b in kinds]
    return made


def _cells(name: str, room: int, *cells: str, style: str = "") -> Content:
    return lines.fit(one_line(name, room, style), room).append_text("".join(f"{cell:>8}" for cell in cells), style)
