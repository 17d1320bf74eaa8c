"""The face of runs that another tool recorded."""

from console.suites.benchmark import Benchmark

BENCHMARK = Benchmark("recorded", suite="console.benchmarks.recorded.suite:RecordedSuite")
