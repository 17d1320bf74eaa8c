"""Exports of a comparison of two runs: JSON, CSV with a row per pair, Markdown, and JUnit for CI."""

import csv
import io
from dataclasses import asdict
from typing import Any

import msgspec

from console.core.grading import grading_differences
from console.core.statistics.decision import Decision
from console.core.statistics.intervals import bounds as interval_fields
from console.core.statistics.paired import Difference
from console.exchange.exports.csv_table import cell
from console.exchange.exports.junit import safe_xml
from console.exchange.exports.markdown import escaped, section_parts, table
from console.exchange.json_kind import JsonKind
from console.insight.comparison import CasePair, PairCounts, PairOutcome, RolloutPair, RunComparison
from console.insight.comparison_report import (
    change_words,
    comparability_notes,
    comparison_sections,
    served_words,
    verdict_words,
)
from console.insight.comparison_side import ComparisonSide
from console.insight.gate import Gate
from console.insight.number_format import plural
from console.insight.rollout import Rollout, outcome_word
from console.insight.servers import server_words

COMPARISON = JsonKind(
    "comparison",
    "compare A B, run --baseline",
    "Two runs side by side.",
    {
        "simulated": "whether either run used a simulated model",
        "a": "the first run",
        "b": "the second run",
        "compared_by": "passing, or the name of a score",
        "same_data": "whether both runs have the same cases; null: unknown",
        "same_prompts": "whether both runs have the same prompts; null: unknown",
        "data": "counts of equal and of different cases",
        "prompts": "counts of equal and of different prompts",
        "graded_differently": "how the graders of the runs differ, in words; empty if they are equal or not recorded",
        "only_a": "number of rollouts only in the first run",
        "only_b": "number of rollouts only in the second run",
        "paired": "counts of rollouts paired by case id and by prompt",
        "table": "counts of cases lost and gained, difference with interval and p",
        "categories": "the same for each category",
        "reasons": "number of cases with each failure reason in both runs",
        "scores": "the difference of each score",
        "spent": "time, tokens and cost of both runs",
        "pairs": "rollouts that both runs have",
        "corrected": "optional: for a and b, scores by decided keys and by people's labels; never compared",
        "gate": "optional: result of --fail-if-worse",
    },
    is_stream=True,
)

_GATE_MARKS = {Decision.NOT_WORSE: "✅", Decision.WORSE: "❌", Decision.CANNOT_TELL: "⚠️"}
HEADINGS = (
    *("case", "rollout", "category", "change", "outcome_a", "outcome_b", "reason_a", "reason_b"),
    *("score_change", "seconds_a", "seconds_b", "cost_a", "cost_b", "simulated"),
)


def comparison_fields(comparison: RunComparison) -> dict[str, Any]:
    """Return the fields of a `comparison`, with all pairs."""
    return {
        "simulated": comparison.simulated,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "compared_by": comparison.headline or "passing",
        "same_data": comparison.data.verdict,
        "same_prompts": comparison.prompts.verdict,
        "data": {"same": comparison.data.same, "other": comparison.data.other},
        "prompts": {"same": comparison.prompts.same, "other": comparison.prompts.other},
        "graded_differently": grading_differences(comparison.a.manifest, comparison.b.manifest),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "paired": {"by_case_id": comparison.pairing.by_id, "by_prompt": comparison.pairing.by_prompt},
        "table": _table(comparison.counts),
        "categories": {name: _table(part) for name, part in comparison.categories.items()},
        "reasons": [{"reason": name, "a": a, "b": b} for name, a, b in comparison.reasons],
        "scores": [
            {"name": score.name, "a": score.a, "b": score.b, "difference": difference_fields(score.difference)}
            for score in comparison.scores
        ],
        "spent": {"a": asdict(comparison.spent_a), "b": asdict(comparison.spent_b)},
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _side(side: ComparisonSide) -> dict[str, Any]:
    return {
        "run": side.name,
        "model": side.model,
        "served_by": server_words(side.overview.fold),
        "suite": side.manifest.suite,
        "simulated": side.manifest.simulated,
        "mode": side.manifest.setting.mode,
        "dataset": side.manifest.dataset,
        "rerolled": side.overview.fold.rerolled_rollouts,
    }


def _table(part: PairCounts) -> dict[str, Any]:
    counts = {"both": part.both, "lost": part.lost, "gained": part.gained, "neither": part.neither}
    counts |= {"as_often": part.as_often}
    rates = {
        name: {"value": interval.value, **interval_fields(interval)}
        for name, interval in (("a", part.rate_a), ("b", part.rate_b))
        if interval is not None
    }
    return counts | {"left_out": part.left_out, "difference": difference_fields(part.difference), "rates": rates}


def difference_fields(difference: Difference) -> dict[str, Any]:
    """Return a difference with its interval and test as JSON values."""
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
    """Return the CSV file; cells that look like a formula are prefixed with `'`."""
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
    """Return a section with the gate's verdict, numbers, tables, and at most `most` changed cases."""
    mark = f" ({comparison.simulated_note})" if comparison.simulated else ""
    part = comparison.counts
    basis = plural(part.cases, "case") + (f", {part.rollouts} rollouts" if part.rollouts > part.cases else "")
    a, b = comparison.a, comparison.b
    head = f"### A {escaped(a.model)} against B {escaped(b.model)} on {escaped(b.manifest.suite)}{mark}"
    parts = [
        head,
        *([f"{_GATE_MARKS[gate.verdict]} **{escaped(gate.sentence)}**"] if gate is not None else []),
        f"A `{escaped(comparison.a.name)}`, B `{escaped(comparison.b.name)}`; {basis} in both"
        + (f", {part.left_out} left out without two grades" if part.left_out else ""),
        *map(escaped, filter(None, (served_words(comparison), *comparability_notes(comparison)))),
        f"**{verdict_words(comparison)}**",
        *(part for section in comparison_sections(comparison) for part in section_parts(section)),
    ]
    changes = comparison.changes()
    if changes:
        parts.append(table(("case", "change", "why"), [(case.name, *change_words(case)) for case in changes[:most]]))
    if len(changes) > most:
        parts.append(f"… and {len(changes) - most} more.")
    return "\n\n".join(parts) + "\n"


_TAGS = {Decision.WORSE: "failure", Decision.CANNOT_TELL: "error"}


def comparison_junit(comparison: RunComparison, gate: Gate | None) -> str:
    """Return the JUnit file: one test case for the gate, and one for every lost case.

    Lost cases are marked as skipped, because only the gate decides whether they matter.
    """
    lost = comparison.with_outcome(PairOutcome.LOST)
    tags = [] if gate is None else [_TAGS.get(gate.verdict, "")]
    counts = f'failures="{tags.count("failure")}" errors="{tags.count("error")}" skipped="{len(lost)}"'
    mark = f" ({comparison.simulated_note})" if comparison.simulated else ""
    name = safe_xml(f"{comparison.b.name} against {comparison.a.name}{mark}")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="{name}" tests="{len(lost) + len(tags)}" {counts}>',
        *([] if gate is None else [_gate_case(comparison, gate)]),
        *(_lost_case(comparison, pair) for pair in lost),
        f"  <system-out>{safe_xml(verdict_words(comparison))}</system-out>",
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _gate_case(comparison: RunComparison, gate: Gate) -> str:
    suite = safe_xml(comparison.b.manifest.suite)
    head = f'  <testcase classname="{suite}" name="{safe_xml(f"{gate.metric} is not worse")}"'
    tag = _TAGS.get(gate.verdict)
    if tag is None:
        return f"{head}><system-out>{safe_xml(gate.sentence)}</system-out></testcase>"
    return f'{head}><{tag} type="{safe_xml(gate.verdict)}" message="{safe_xml(gate.sentence)}"/></testcase>'


def _lost_case(comparison: RunComparison, pair: CasePair) -> str:
    place = safe_xml(f"{comparison.b.manifest.suite}.{pair.b.category}")
    words = safe_xml("; ".join(change_words(pair)))
    return f'  <testcase classname="{place}" name="{safe_xml(pair.name)}"><skipped message="{words}"/></testcase>'
