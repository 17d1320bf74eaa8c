"""Benchmark declarations of the harnesses whose tasks can be played."""

from pathlib import Path

from console.suites.benchmark import Benchmark

_SUITE = "console.benchmarks.harness.suite:HarnessSuite"
_REASONS = "console.benchmarks.harness.verdict:REASON_WORDS"
TEMPLATE = Path(__file__).parent / "template"
BENCHMARKS = (
    Benchmark(
        "inspect",
        suite=_SUITE,
        reasons=_REASONS,
        from_task="console.benchmarks.harness.new_folder:from_inspect",
        runs_programs=True,
    ),
    Benchmark(
        "verifiers",
        suite=_SUITE,
        reasons=_REASONS,
        from_task="console.benchmarks.harness.new_folder:from_verifiers",
        runs_programs=True,
    ),
    Benchmark(
        "program",
        suite=_SUITE,
        reasons=_REASONS,
        template="console.benchmarks.harness.benchmark:TEMPLATE",
        runs_programs=True,
    ),
)
