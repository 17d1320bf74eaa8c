"""Reasons of verdicts in words, as each benchmark says them: for readers of a journal whose suite is not there.

A reason that no benchmark words is shown as it was recorded, so it may be plain words.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from console.suites.benchmark import built_in
from console.suites.benchmarks import loaded_parts


@cache
def own_words() -> Mapping[str, str]:
    """Return the words of the benchmarks that come with the program, by reason."""
    return _joined(benchmark.load("reasons") for benchmark in built_in() if benchmark.reasons)


@cache
def all_words() -> Mapping[str, str]:
    """Return the words of all benchmarks by reason, also of other packages: slow, so only for what ours do not word."""
    return _joined(loaded_parts("reasons"))


def _joined(tables: Iterable[Mapping[str, str]]) -> Mapping[str, str]:
    return {reason: words for table in tables for reason, words in table.items()}
