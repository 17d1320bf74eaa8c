"""Sentences and sections that describe a comparison of two runs.

A new statistic is a section of `statistics`; the command line, Markdown, web pages and the app then show it.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from console.core.grading import grading_words
from console.core.run import SIMULATED, reroll_words
from console.insight.comparison import (
    CasePair,
    PairCounts,
    PairOutcome,
    RolloutPair,
    RunComparison,
    Spent,
    planned_look,
)
from console.insight.comparison_side import ComparisonSide
from console.insight.looks import difference_words, end_words
from console.insight.number_format import (
    bounds,
    cost_of,
    duration,
    money,
    number,
    p_digits,
    p_text,
    plural,
    rate,
    signed,
    with_interval,
)
from console.insight.reasons import sentence
from console.insight.report import Row, Section
from console.insight.rollout import Rollout, outcome_word
from console.insight.servers import comparison_words

_FINE_S = 10.0
"""Latency below which a small difference is shown with two decimals."""
ONE_CASE = "one case: it shows what changed, not how often"
"""Explanation for the missing rates and interval when a single case is compared."""


def comparison_sections(comparison: RunComparison) -> Iterator[Section]:
    """Yield the tables of a comparison; for a single case only its numbers."""
    yield _section("Numbers", ("", "A", "B", "B − A"), summary_rows(comparison))
    if comparison.single is not None:
        return
    part = comparison.counts
    if comparison.headline:
        changes = (("same", part.both), ("fewer", part.lost), ("more", part.gained))
        yield _section("Cases", ("cases", "count"), changes)
    elif part.rollouts > part.cases:
        changes = (("passes as often in B as in A", part.both + part.neither + part.as_often),)
        changes += (("less often (lost)", part.lost), ("more often (gained)", part.gained))
        yield _section("Cases", ("case", "count"), changes)
    else:
        square = (("A passed", part.both, part.lost), ("A failed", part.gained, part.neither))
        yield _section("Cases", ("", "B passed", "B failed"), square)
    if comparison.reasons:
        has_repeats = part.rollouts > part.cases
        headings = ("reason", "cases of A", "cases of B") if has_repeats else ("reason", "A", "B")
        yield _section("Reasons", headings, comparison.reasons, most=20)
    yield from statistics(comparison)


def _early_end(comparison: RunComparison) -> Iterator[Section]:
    """Yield what the looks at either run decided, and B's score on all cases, estimated with the help of A."""
    lines = [
        f"{name} {words}"
        for name, side in (("A", comparison.a), ("B", comparison.b))
        if (words := end_words(side.overview.fold.summary(side.manifest, live=False, now=0.0, damaged=0,
                                                          journal_bytes=0), side.manifest))
    ]  # fmt: skip
    look = planned_look(comparison.a, comparison.b)
    if look is not None and look.difference is not None and look.rollouts < look.planned:
        a = comparison.a.overview.fold
        interval = a.tally.rate if not comparison.headline else a.score_interval(comparison.headline)
        whole = interval.value if interval is not None else a.scores.get(comparison.headline)
        plan_a, plan_b = comparison.a.manifest, comparison.b.manifest
        is_same = (plan_a.cases - plan_a.setup) * plan_b.rollouts == look.planned * plan_a.rollouts
        if is_same and whole is not None and look.below is not None and look.above is not None:
            show = number if comparison.headline else rate
            least, most = plan_a.scale_of(comparison.headline)
            shifts = (look.difference, look.below, look.above)
            value, low, high = (min(max(whole + shift, least), most) for shift in shifts)
            estimate = with_interval(value, low, high, show)
            lines.append(f"B ≈ {estimate} on all {look.planned:,}, estimated from {look.rollouts:,} with A")
    if comparison.beyond:
        lines.append(f"{plural(comparison.beyond, 'rollout')} of B after the deciding look not compared")
    if lines:
        yield Section("Ended by looks", lines=tuple(lines))


def statistics(comparison: RunComparison) -> Iterator[Section]:
    """Yield the sections that the app also draws, in addition to its own numbers, counts and reasons."""
    yield from _early_end(comparison)
    if len(comparison.categories) > 1:
        parts = [("all", comparison.counts), *comparison.categories.items()]
        is_corrected = any(part.difference.adjusted is not None for _, part in parts)
        headings = ("category", "compared", "lost", "gained", "B − A", "p Holm" if is_corrected else "p")
        show = number if comparison.headline else rate
        yield _section("By category", headings, [_category_row(name, part, show) for name, part in parts])


def _category_row(name: str, part: PairCounts, show: Callable[[float], str]) -> tuple[str | int, ...]:
    change = part.difference
    p = change.p if change.adjusted is None else change.adjusted
    words = signed(change.value, show), "" if change.p is None or p is None else p_digits(p)
    return (name or "no category", part.cases, part.lost, part.gained, *words)


def _section(
    title: str, headings: tuple[str, ...], rows: Iterable[tuple[str | int, ...]], most: int | None = None
) -> Section:
    right = frozenset(range(1, len(headings)))
    return Section(title, headings, tuple(Row(tuple(map(str, row))) for row in rows), right, most)


def summary_rows(comparison: RunComparison) -> list[tuple[str, str, str, str]]:
    """Return formatted rows (name, A, B, B − A) for everything measured on both sides."""
    part, a, b = comparison.counts, comparison.spent_a, comparison.spent_b
    rows: list[tuple[str, str, str, str]] = []
    if part.rate_a is not None and part.rate_b is not None and comparison.single is None:
        rows.append(("passed", rate(part.rate_a.value), rate(part.rate_b.value), signed(part.difference.value, rate)))
    for score in comparison.scores:
        show = partial(number, unit=comparison.a.manifest.units.get(score.name, ""))
        rows.append((score.name, show(score.a), show(score.b), signed(score.difference.value, show)))
    if a.latency_p50 is not None and b.latency_p50 is not None:
        change = b.latency_p50 - a.latency_p50
        is_fine = 0 < abs(change) < 1 and b.latency_p50 < _FINE_S  # else 1.0 s less 1.0 s might be 0.1 s
        show = "{:.2f} s".format if is_fine else duration
        rows.append(("latency p50", show(a.latency_p50), show(b.latency_p50), signed(change, show)))
    is_priced = not a.cost_unknown and not b.cost_unknown
    costs = _cost(a, comparison.a), _cost(b, comparison.b)
    is_priced = is_priced and SIMULATED not in costs
    rows.append(("cost", *costs, signed(b.cost_usd - a.cost_usd, money) if is_priced else "—"))
    for name, in_a, in_b in (
        ("tokens in", a.input_tokens, b.input_tokens),
        ("tokens out", a.output_tokens, b.output_tokens),
    ):
        rows.append((name, f"{in_a:,}", f"{in_b:,}", signed(in_b - in_a, "{:,.0f}".format)))
    return rows


def _cost(spent: Spent, side: ComparisonSide) -> str:
    cost = spent.cost_usd if spent.cost_usd or not spent.cost_unknown else None
    return cost_of(cost, side.manifest.simulated_note, at_least=spent.cost_unknown > 0)


def comparability_notes(comparison: RunComparison) -> list[str]:
    """Return a sentence for each way in which the runs may not be comparable. Parts are untrusted text."""
    words = (pairing_words(comparison), grading_words(comparison.a.manifest, comparison.b.manifest))
    return [*filter(None, words), *reroll_notes(comparison)]


def reroll_notes(comparison: RunComparison) -> list[str]:
    """Say which of the runs have re-rolls."""
    sides = (("A", comparison.a), ("B", comparison.b))
    counts = ((name, side.overview.fold.rerolled_rollouts) for name, side in sides)
    return [f"{name}: {reroll_words(count)}" for name, count in counts if count]


def served_words(comparison: RunComparison) -> str:
    """Name the known servers of the runs. Parts are untrusted text."""
    a, b = comparison.a, comparison.b
    asked = [manifest.model.model_id for manifest in (a.manifest, b.manifest)]
    return comparison_words(a.overview.fold, b.overview.fold, asked)


def pairing_words(comparison: RunComparison) -> str:
    """Describe how many rollouts in runs of different suites were paired, and how; empty for runs of one suite."""
    pairing, paired = comparison.pairing, len(comparison.pairs)
    if not pairing.is_across_suites:
        return ""
    shares = ", ".join(
        f"{paired} of {paired + only} in {side} ({paired / (paired + only) if paired else 0.0:.0%})"
        for side, only in (("A", comparison.only_a), ("B", comparison.only_b))
    )
    return f"different suites; paired {shares}: {pairing.by_prompt} by what is asked, {pairing.by_id} by case id"


def verdict_words(comparison: RunComparison) -> str:
    """Describe difference, interval, p and conclusion on one line; for a single case, its outcomes."""
    if comparison.single is not None and not comparison.headline:
        a, b = (outcome_word(rollout.outcome) for rollout in (comparison.single.a, comparison.single.b))
        return f"{f'A {a}, B {b}' if a != b else f'both {a}'}; {ONE_CASE}"
    if (look := planned_look(comparison.a, comparison.b)) is not None:
        basis = f"at look {look.number} of {look.of}, after {look.rollouts:,} of {look.planned:,}"
        return f"B − A: {difference_words(look)}, {basis}: {look.decision}"
    difference, show = comparison.counts.difference, number if comparison.headline else rate
    if difference.p is None and not difference.failed_in:
        return "the runs have no graded case in common"
    unit = comparison.a.manifest.units.get(comparison.headline, "")
    score = f"{comparison.headline} ({unit})" if unit else comparison.headline
    name = f"{score} per case" if score else "passed"
    span = bounds(difference.low, difference.high, lambda bound: signed(bound, show))
    words = f"{signed(difference.value, show)} {name}{f', 95 % {span}' if span else ''}"
    tested = "" if difference.p is None else f", {p_text(difference.p)}"
    return f"B − A: {words}{tested}, {'; '.join(filter(None, (difference.words, difference.caution)))}"


def passed_words(case: CasePair) -> tuple[str, str]:
    """Describe the number of passing repeats of a case in A and in B, such as `4/4` and `1/4`."""
    of = len(case.counted)
    in_a, in_b = case.passed
    return f"{in_a}/{of}", f"{in_b}/{of}"


def change_words(pair: CasePair | RolloutPair) -> tuple[str, str]:
    """Describe the change of a case or one of its repeats, and its reason. Parts are untrusted text."""
    if isinstance(pair, CasePair) and len(pair.repeats) > 1 and not pair.is_scored and pair.counted:
        return " → ".join(passed_words(pair)), change_words(pair.telling)[1]
    rollout = _explaining(pair)
    why = sentence(rollout.reason, rollout.subject, rollout.outcome)
    if pair.is_scored and pair.change:
        return "more" if pair.change > 0 else "fewer", f"{signed(pair.change, number)}, {why}"
    return pair.outcome.value, f"was: {why}" if rollout is pair.a else why


def repeat_reasons(case: CasePair) -> list[str]:
    """Return what to say about each repeat of a case below it. Parts are untrusted text.

    A repeat with the reason of its case is described by the message of its verdict, and one that passed twice not at
    all. Words that all of them share are said once.
    """
    of_case = change_words(case)[1]
    reasons: list[str] = []
    for pair in case.repeats:
        reason = change_words(pair)[1]
        said = _explaining(pair).message if reason == of_case else reason
        reasons.append("" if pair.outcome is PairOutcome.BOTH else said)
    if len(set(filter(None, reasons))) == 1:
        place = next(place for place, reason in enumerate(reasons) if reason)
        reasons[place + 1 :] = [""] * (len(reasons) - place - 1)
    return reasons


def _explaining(pair: CasePair | RolloutPair) -> Rollout:
    """Return the rollout whose reason explains a change: B, or A if B has overcome its failure."""
    was_overcome = pair.outcome is PairOutcome.GAINED and pair.a.reason and pair.b.reason != pair.a.reason
    return pair.a if was_overcome and not (pair.is_scored and pair.change) else pair.b
