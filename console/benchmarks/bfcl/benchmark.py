"""Benchmark declaration of BFCL v4."""

from pathlib import Path

from console.suites.benchmark import Benchmark, OfficialData

BENCHMARK = Benchmark(
    "bfcl",
    suite="console.benchmarks.bfcl.suite:BfclSuite",
    reasons="console.benchmarks.bfcl.reasons:REASON_WORDS",
    leaderboard="console.benchmarks.bfcl.leaderboard:BFCL_LEADERBOARD",
    pull="console.benchmarks.bfcl.benchmark:OFFICIAL_DATA",
    template="console.benchmarks.bfcl.benchmark:TEMPLATE",
    exports="console.benchmarks.bfcl.files.exports:EXPORTS",
    imports="console.benchmarks.bfcl.files.imports:IMPORTS",
    verbs="console.benchmarks.bfcl.verbs:VERBS",
    view="console.benchmarks.bfcl.view:BfclView",
)
TEMPLATE = Path(__file__).parent / "template"
OFFICIAL_DATA = OfficialData(
    "bfcl", "BFCL v4, the official function-calling data", "console.benchmarks.bfcl.data.pull:pull"
)
