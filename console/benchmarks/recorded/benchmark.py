"""Benchmark declaration of imported runs."""

from console.suites.benchmark import Benchmark

BENCHMARK = Benchmark("recorded", suite="console.benchmarks.recorded.suite:RecordedSuite")
