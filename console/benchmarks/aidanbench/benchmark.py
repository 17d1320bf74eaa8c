"""Entry points of AidanBench."""

from pathlib import Path

from console.suites.benchmark import Benchmark, OfficialData

BENCHMARK = Benchmark(
    "aidanbench",
    suite="console.benchmarks.aidanbench.suite:AidanBenchSuite",
    reasons="console.benchmarks.aidanbench.reasons:REASON_WORDS",
    leaderboard="console.benchmarks.aidanbench.leaderboard:AIDANBENCH_LEADERBOARD",
    pull="console.benchmarks.aidanbench.benchmark:OFFICIAL_DATA",
    template="console.benchmarks.aidanbench.benchmark:TEMPLATE",
    exports="console.benchmarks.aidanbench.files.exports:EXPORTS",
    imports="console.benchmarks.aidanbench.files.imports:IMPORTS",
    view="console.benchmarks.aidanbench.view.review:AidanBenchView",
)
TEMPLATE = Path(__file__).parent / "template"
OFFICIAL_DATA = OfficialData(
    "aidanbench", "AidanBench, the official questions and wording", "console.benchmarks.aidanbench.data.pull:pull"
)
