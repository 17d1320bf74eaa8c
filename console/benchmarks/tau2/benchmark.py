"""Benchmark declaration of τ²-bench."""

from console.suites.benchmark import Benchmark, OfficialData

BENCHMARK = Benchmark(
    "tau2",
    suite="console.benchmarks.tau2.suite:Tau2Suite",
    reasons="console.benchmarks.tau2.reasons:REASON_WORDS",
    pull="console.benchmarks.tau2.benchmark:OFFICIAL_DATA",
    doctor="console.benchmarks.tau2.doctor:check_editions",
)
OFFICIAL_DATA = OfficialData(
    "tau2", "tau2-bench, agents and users with tools", "console.benchmarks.tau2.data.pull:pull"
)
