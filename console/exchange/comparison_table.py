"""A comparison of two runs in other forms: JSON values, a CSV row for each pair, Markdown for a pull request."""

import csv
import io
from typing import Any

import msgspec

from console.core.statistics.intervals import bounds as interval_fields
from console.core.statistics.paired import Difference
from console.exchange.exports.csv_table import cell
from console.exchange.exports.markdown import escaped, table
from console.exchange.json_kind import JsonKind
from console.insight.comparison import PairCounts, PairOutcome, RolloutPair, RunComparison, Spent
from console.insight.comparison_side import ComparisonSide
from console.insight.gate import Gate, GateVerdict
from console.insight.number_format import bounds, duration, money, number, p_text, plural, rate, signed
from console.insight.reasons import sentence
from console.insight.rollout import Rollout, outcome_word

COMPARISON = JsonKind(
    "comparison",
    "compare A B, run --baseline",
    "Two runs side by side.",
    {
        "simulated": "whether a model of either was a simulated one",
        "a": "the first run",
        "b": "the second run",
        "compared_by": "passing, or the name of a score",
        "same_data": "whether both asked the same cases; null: unknown",
        "same_prompts": "whether both asked in the same words; null: unknown",
        "data": "cases that are the same, and that are not",
        "prompts": "the same of prompts",
        "only_a": "rollouts that only the first has",
        "only_b": "rollouts that only the second has",
        "paired": "how many rollouts were paired by case id, and by what is asked",
        "table": "lost, gained, difference with interval and p",
        "categories": "the same for each category",
        "reasons": "how often each reason occurs in either",
        "scores": "the difference of each score",
        "spent": "time, tokens and cost of either",
        "pairs": "every rollout that both have",
        "gate": "optional: the answer to --fail-if-worse",
    },
    is_stream=True,
)

_GATE_MARKS = {GateVerdict.NOT_WORSE: "✅", GateVerdict.WORSE: "❌", GateVerdict.CANNOT_TELL: "⚠️"}
ONE_CASE = "one case: it shows what changed, not how often"
"""Why a comparison of a single case has no rates and no interval."""
HEADINGS = (
    *("case", "rollout", "category", "change", "outcome_a", "outcome_b", "reason_a", "reason_b"),
    *("score_change", "seconds_a", "seconds_b", "cost_a", "cost_b", "simulated"),
)


def comparison_fields(comparison: RunComparison) -> dict[str, Any]:
    """Return everything as the fields of a `comparison`; pairs in full."""
    return {
        "simulated": comparison.simulated,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "compared_by": comparison.headline or "passing",
        "same_data": comparison.data.verdict,
        "same_prompts": comparison.prompts.verdict,
        "data": {"same": comparison.data.same, "other": comparison.data.other},
        "prompts": {"same": comparison.prompts.same, "other": comparison.prompts.other},
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "paired": {"by_case_id": comparison.pairing.by_id, "by_prompt": comparison.pairing.by_prompt},
        "table": _table(comparison.counts),
        "categories": {name: _table(part) for name, part in comparison.categories.items()},
        "reasons": [{"reason": name, "a": a, "b": b} for name, a, b in comparison.reasons],
        "scores": [
            {"name": score.name, "a": score.a, "b": score.b, "difference": _difference(score.difference)}
            for score in comparison.scores
        ],
        "spent": {"a": _spent(comparison.spent_a), "b": _spent(comparison.spent_b)},
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _side(side: ComparisonSide) -> dict[str, Any]:
    return {
        "run": side.name,
        "model": side.model,
        "suite": side.manifest.suite,
        "simulated": side.manifest.simulated,
        "mode": side.manifest.setting.mode,
        "dataset": side.manifest.dataset,
    }


def _table(part: PairCounts) -> dict[str, Any]:
    counts = {"both": part.both, "lost": part.lost, "gained": part.gained, "neither": part.neither}
    rates = {
        name: {"value": interval.value, **interval_fields(interval)}
        for name, interval in (("a", part.rate_a), ("b", part.rate_b))
        if interval is not None
    }
    return counts | {"left_out": part.left_out, "difference": _difference(part.difference), "rates": rates}


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "value": difference.value,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "cases": difference.cases,
        "rollouts": difference.rollouts,
        "clusters": difference.clusters,
        "method": difference.method,
        "test": difference.test,
        "p_adjusted": difference.adjusted,
        "words": difference.words,
    }


def _spent(spent: Spent) -> dict[str, Any]:
    return {
        "latency_p50": spent.latency_p50,
        "cost_usd": spent.cost_usd,
        "cost_unknown": spent.cost_unknown,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
    }


def _pair(pair: RolloutPair) -> dict[str, Any]:
    return {
        "case": pair.slot[0],
        "rollout": pair.slot[1],
        "category": pair.a.category,
        "change": pair.outcome.value,
        "score_change": pair.change,
        "a": _rollout(pair.a),
        "b": _rollout(pair.b),
    }


def _rollout(rollout: Rollout) -> dict[str, Any]:
    return {
        "outcome": outcome_word(rollout.outcome),
        "reason": rollout.reason,
        "subject": rollout.subject,
        "seconds": rollout.seconds,
        "cost_usd": rollout.cost_usd,
        "scores": msgspec.to_builtins(rollout.scores),
    }


def comparison_csv(comparison: RunComparison) -> str:
    """Return a whole CSV file; what one would take for a formula begins with `'`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    for pair in comparison.pairs:
        a, b = pair.a, pair.b
        values = (
            *(*pair.slot, a.category, pair.outcome.value, outcome_word(a.outcome), outcome_word(b.outcome)),
            *(a.reason, b.reason, pair.change, round(a.seconds, 3), round(b.seconds, 3)),
            *(a.cost_usd, b.cost_usd, comparison.simulated),
        )
        writer.writerow([cell(value) for value in values])
    return out.getvalue()


def comparison_markdown(comparison: RunComparison, gate: Gate | None = None, *, most: int = 50) -> str:
    """Return a section: the gate's answer, numbers, table, categories, reasons, and what changed (at most so many)."""
    mark = " (simulated)" if comparison.simulated else ""
    part = comparison.counts
    basis = plural(part.cases, "case") + (f", {part.compared} rollouts" if part.compared > part.cases else "")
    a, b = comparison.a, comparison.b
    head = f"### A {escaped(a.model)} against B {escaped(b.model)} on {escaped(b.manifest.suite)}{mark}"
    rows = [(name, *values) for name, *values in summary_rows(comparison)]
    parts = [
        head,
        *([f"{_GATE_MARKS[gate.verdict]} **{escaped(gate.sentence)}**"] if gate is not None else []),
        f"A `{escaped(comparison.a.name)}`, B `{escaped(comparison.b.name)}`; {basis} in both"
        + (f", {part.left_out} left out without two grades" if part.left_out else ""),
        *([escaped(words)] if (words := pairing_words(comparison)) else []),
        table(("", "A", "B", "B − A"), rows),
        f"**{verdict_words(comparison)}**",
        *([_square(part)] if not comparison.headline and comparison.single is None else []),
    ]
    if comparison.reasons and comparison.single is None:
        parts.append(table(("reason", "A", "B"), [(name, str(a), str(b)) for name, a, b in comparison.reasons[:20]]))
    if len(comparison.categories) > 1:
        rows = [
            (name, str(counts.compared), str(counts.lost), str(counts.gained))
            for name, counts in comparison.categories.items()
        ]
        parts.append(table(("category", "compared", "lost", "gained"), rows))
    changes = comparison.changes()
    if changes:
        parts.append(
            table(("case", "change", "why"), [(str(pair.a.key), *change_words(pair)) for pair in changes[:most]])
        )
    if len(changes) > most:
        parts.append(f"… and {len(changes) - most} more.")
    return "\n\n".join(parts) + "\n"


def _square(part: PairCounts) -> str:
    rows = [("A passed", str(part.both), str(part.lost)), ("A failed", str(part.gained), str(part.neither))]
    return table(("", "B passed", "B failed"), rows)


def summary_rows(comparison: RunComparison) -> list[tuple[str, str, str, str]]:
    """Return (name, A, B, B − A) of everything that has a number on both sides, ready to be shown."""
    part, a, b = comparison.counts, comparison.spent_a, comparison.spent_b
    rows: list[tuple[str, str, str, str]] = []
    if part.rate_a is not None and part.rate_b is not None and comparison.single is None:
        rows.append(("passed", rate(part.rate_a.value), rate(part.rate_b.value), signed(part.difference.value, rate)))
    for score in comparison.scores:
        rows.append((score.name, number(score.a), number(score.b), signed(score.difference.value, number)))
    if a.latency_p50 is not None and b.latency_p50 is not None:
        change = signed(b.latency_p50 - a.latency_p50, duration)
        rows.append(("latency p50", duration(a.latency_p50), duration(b.latency_p50), change))
    is_priced = not a.cost_unknown and not b.cost_unknown
    rows.append(("cost", _cost(a), _cost(b), signed(b.cost_usd - a.cost_usd, money) if is_priced else "—"))
    for name, in_a, in_b in (
        ("tokens in", a.input_tokens, b.input_tokens),
        ("tokens out", a.output_tokens, b.output_tokens),
    ):
        rows.append(
            (name, f"{in_a:,}".replace(",", " "), f"{in_b:,}".replace(",", " "), f"{in_b - in_a:+,}".replace(",", " "))
        )
    return rows


def _cost(spent: Spent) -> str:
    cost = spent.cost_usd if spent.cost_usd or not spent.cost_unknown else None
    return money(cost, at_least=bool(spent.cost_unknown))


def pairing_words(comparison: RunComparison) -> str:
    """Say what part of two runs of different suites could be paired, and how; empty for runs of one suite."""
    pairing, paired = comparison.pairing, len(comparison.pairs)
    if not pairing.is_across_suites:
        return ""
    shares = ", ".join(
        f"{paired} of {paired + only} in {side} ({paired / (paired + only) if paired else 0.0:.0%})"
        for side, only in (("A", comparison.only_a), ("B", comparison.only_b))
    )
    return f"different suites; paired {shares}: {pairing.by_prompt} by what is asked, {pairing.by_id} by case id"


def verdict_words(comparison: RunComparison) -> str:
    """Return difference, interval, p and what may be concluded, in one line; of a single case how it ended."""
    if comparison.single is not None and not comparison.headline:
        a, b = (outcome_word(rollout.outcome) for rollout in (comparison.single.a, comparison.single.b))
        return f"{f'A {a}, B {b}' if a != b else f'both {a}'}; {ONE_CASE}"
    difference, show = comparison.counts.difference, number if comparison.headline else rate
    if difference.p is None:
        return "the runs have no graded case in common"
    name = f"{comparison.headline} per case" if comparison.headline else "passed"
    span = bounds(difference.low, difference.high, lambda bound: signed(bound, show))
    words = f"{signed(difference.value, show)} {name}{f', 95 % {span}' if span else ''}"
    return f"B − A: {words}, {p_text(difference.p)}, {difference.words}"


def change_words(pair: RolloutPair) -> tuple[str, str]:
    """Return how a pair changed, and why; parts are foreign text."""
    if pair.is_scored and pair.change:
        why = sentence(pair.b.reason, pair.b.subject, pair.b.outcome)
        return "more" if pair.change > 0 else "fewer", f"{signed(pair.change, number)}, {why}"
    if pair.outcome is PairOutcome.GAINED and pair.a.reason and pair.b.reason != pair.a.reason:
        return pair.outcome.value, f"was: {sentence(pair.a.reason, pair.a.subject, pair.a.outcome)}"
    return pair.outcome.value, sentence(pair.b.reason, pair.b.subject, pair.b.outcome)
