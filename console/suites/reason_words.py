"""Display text for verdict reasons, by benchmark, also for journals whose suite is missing.

A reason without display text is shown as recorded.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from console.suites.benchmark import built_in
from console.suites.benchmarks import loaded_parts


@cache
def own_words() -> Mapping[str, str]:
    """Return the display text of the built-in benchmarks' reasons."""
    return _joined(benchmark.load("reasons") for benchmark in built_in() if benchmark.reasons)


@cache
def all_words() -> Mapping[str, str]:
    """Return the display text of all benchmarks' reasons; slow, as it loads other packages."""
    return _joined(loaded_parts("reasons"))


def _joined(tables: Iterable[Mapping[str, str]]) -> Mapping[str, str]:
    return {reason: words for table in tables for reason, words in table.items()}
