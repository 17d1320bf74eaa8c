"""A comparison as JUnit XML for CI: whether B is worse is one test case, and every case that was lost another."""

from console.exchange.comparison_table import change_words, verdict_words
from console.exchange.exports.junit import safe_xml
from console.insight.comparison import PairOutcome, RolloutPair, RunComparison
from console.insight.gate import Gate, GateVerdict

_TAGS = {GateVerdict.WORSE: "failure", GateVerdict.CANNOT_TELL: "error"}


def comparison_junit(comparison: RunComparison, gate: Gate | None) -> str:
    """Return a whole file; lost cases are marked as skipped, as only the gate says whether they matter."""
    lost = comparison.with_outcome(PairOutcome.LOST)
    tags = [] if gate is None else [_TAGS.get(gate.verdict, "")]
    counts = f'failures="{tags.count("failure")}" errors="{tags.count("error")}" skipped="{len(lost)}"'
    mark = " (simulated)" if comparison.simulated else ""
    name = safe_xml(f"{comparison.b.name} against {comparison.a.name}{mark}")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="{name}" tests="{len(lost) + len(tags)}" {counts}>',
        *([] if gate is None else [_gate(comparison, gate)]),
        *(_lost(comparison, pair) for pair in lost),
        f"  <system-out>{safe_xml(verdict_words(comparison))}</system-out>",
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _gate(comparison: RunComparison, gate: Gate) -> str:
    suite = safe_xml(comparison.b.manifest.suite)
    head = f'  <testcase classname="{suite}" name="{safe_xml(f"{gate.metric} is not worse")}"'
    tag = _TAGS.get(gate.verdict)
    if tag is None:
        return f"{head}><system-out>{safe_xml(gate.sentence)}</system-out></testcase>"
    return f'{head}><{tag} type="{safe_xml(gate.verdict)}" message="{safe_xml(gate.sentence)}"/></testcase>'


def _lost(comparison: RunComparison, pair: RolloutPair) -> str:
    place = safe_xml(f"{comparison.b.manifest.suite}.{pair.b.category}")
    words = safe_xml("; ".join(change_words(pair)))
    return f'  <testcase classname="{place}" name="{safe_xml(str(pair.b.key))}"><skipped message="{words}"/></testcase>'
