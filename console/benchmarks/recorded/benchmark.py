"""Benchmark declarations of imported runs and of runs that judge pairs of answers."""

from console.suites.benchmark import Benchmark

BENCHMARKS = (
    Benchmark("recorded", suite="console.benchmarks.recorded.suite:RecordedSuite"),
    Benchmark(
        "pairwise",
        suite="console.benchmarks.recorded.pairwise:PairwiseSuite",
        reasons="console.benchmarks.recorded.benchmark:REASON_WORDS",
        leaderboard="console.benchmarks.recorded.leaderboard:RANKING",
        view="console.benchmarks.recorded.view:PairwiseView",
    ),
)
REASON_WORDS = {"worse_answer": "worse answer", "judge_unreadable": "judge reply invalid twice"}
"""Display text by verdict reason of pairs."""
