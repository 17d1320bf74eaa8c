"""Benchmark declaration of the dialogue format."""

from pathlib import Path

from console.suites.benchmark import Benchmark

BENCHMARK = Benchmark(
    "dialogue",
    suite="console.benchmarks.dialogue.suite:DialogueSuite",
    reasons="console.benchmarks.dialogue.reasons:REASON_WORDS",
    template="console.benchmarks.dialogue.benchmark:TEMPLATE",
    add_row="console.benchmarks.dialogue.data.kept_rows:add_row",
    from_table="console.benchmarks.dialogue.data.proposal:write_from_table",
    view="console.benchmarks.dialogue.view:DialogueView",
)
TEMPLATE = Path(__file__).parent / "template"
