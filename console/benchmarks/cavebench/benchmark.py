"""Entry points of cave-bench."""

from pathlib import Path

from console.suites.benchmark import Benchmark, OfficialData

BENCHMARK = Benchmark(
    "cavebench",
    suite="console.benchmarks.cavebench.suite:CaveBenchSuite",
    reasons="console.benchmarks.cavebench.reasons:REASON_WORDS",
    pull="console.benchmarks.cavebench.benchmark:OFFICIAL_DATA",
    template="console.benchmarks.cavebench.benchmark:TEMPLATE",
    exports="console.benchmarks.cavebench.files.exports:EXPORTS",
    imports="console.benchmarks.cavebench.files.imports:IMPORTS",
    doctor="console.benchmarks.cavebench.doctor:check_sandbox",
    view="console.benchmarks.cavebench.view:CaveBenchView",
)
TEMPLATE = Path(__file__).parent / "template"
OFFICIAL_DATA = OfficialData(
    "cavebench", "cave-bench, the official scenarios", "console.benchmarks.cavebench.data.pull:pull"
)
