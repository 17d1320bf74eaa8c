"""Benchmark declaration of runs that judge pairs of answers."""

from console.suites.benchmark import Benchmark

BENCHMARK = Benchmark(
    "pairwise",
    suite="console.benchmarks.pairwise.suite:PairwiseSuite",
    reasons="console.benchmarks.pairwise.benchmark:REASON_WORDS",
    leaderboard="console.benchmarks.pairwise.leaderboard:RANKING",
    view="console.benchmarks.pairwise.view:PairwiseView",
)
REASON_WORDS = {"worse_answer": "worse answer", "judge_unreadable": "judge reply invalid twice"}
"""Display text by verdict reason."""
