"""Lookup of leaderboard rules: the suite's own, or those of its benchmark."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b

import msgspec

from console.core.fault import UsageError
from console.core.run import Manifest, Summary, Tally
from console.suites.benchmark import built_in
from console.suites.benchmarks import find_benchmark
from console.suites.leaderboard import MISSING, Cell, LeaderboardRules, PassRates, Played, ScoreMeans

_NUMBERS: dict[bytes, Cell] = {}
"""Cached ranking numbers by their basis: lists need many at once, and an official one takes milliseconds."""
_MOST_NUMBERS = 10_000


def rules_for(
    own: LeaderboardRules | None,
    suite_format: str,
    categories: Collection[str],
    headline: str,
    further: Sequence[str] = (),
) -> LeaderboardRules:
    """Return the leaderboard rules for the runs of one suite.

    Args:
        own: `Suite.leaderboard`, if any.
        suite_format: the format recorded in the runs; empty if unknown, so that all built-in ones are tried.
        categories: categories of the suite, or of the counted runs if the suite is not installed.
        headline: headline score of the runs; empty for the pass rate.
        further: additional headlines, whose columns come next.
    """
    why = ""
    for rules in (own, *_rules_of(suite_format)):
        if rules is not None and rules.score == headline:
            misfit = rules.misfit([category for category in categories if rules.counts(category)])
            if not misfit:
                return rules
            why = why or f"ranked by pass rate: {misfit}"
    return ScoreMeans(headline, first=tuple(further)) if headline else PassRates(why, further)


def number_of_run(
    run: Summary | Manifest, headline: str, categories: Mapping[str, Tally], scores: Mapping[str, float]
) -> Cell:
    """Return the ranking number of a run by the rules of its benchmark: that of its category if there is only one.

    Args:
        run: the run; if it does not record the cases of its suite, nothing is marked as incomplete.
        headline: headline score of the run; empty for the pass rate.
        categories: counts by category.
        scores: mean scores.
    """
    basis = (run.format, run.category, headline, categories, run.suite_cases, scores)
    key = blake2b(msgspec.msgpack.encode(basis), digest_size=16).digest()
    if key not in _NUMBERS:
        if len(_NUMBERS) == _MOST_NUMBERS:
            _NUMBERS.clear()
        _NUMBERS[key] = _number_of_run(run, headline, categories, scores)
    return _NUMBERS[key]


def is_count(suite_format: str, score: str) -> bool:
    """Return whether a score is a count by the rules of its benchmark, so that it is no rate even if all are 0 or 1.

    Args:
        suite_format: the format recorded in the run.
        score: name of the score.
    """
    return any(rules.is_count and rules.score == score for rules in _rules_of(suite_format))


def _number_of_run(
    run: Summary | Manifest, headline: str, categories: Mapping[str, Tally], scores: Mapping[str, float]
) -> Cell:
    cases = run.suite_cases
    rules = rules_for(None, run.format, cases or categories, headline)
    played = {name: tally for name, tally in categories.items() if name and rules.counts(name)}
    for each in (rules, PassRates()):
        with suppress(Exception):  # benchmarks of other packages may raise anything
            if cells := each.cells(Played(played, cases, scores)):  # none where rows are players
                only = run.category or (next(iter(played)) if len(played) == 1 else "")  # as in the run's label
                return cells.get(only) or next(iter(cells.values()))
    return MISSING


def _rules_of(suite_format: str) -> Iterator[LeaderboardRules]:
    """Yield the rules of the benchmark with this format, if it can be loaded."""
    if not suite_format:
        yield from (benchmark.load("leaderboard") for benchmark in built_in() if benchmark.leaderboard)
        return
    try:
        benchmark = find_benchmark(suite_format, "leaderboard")
        if benchmark is not None:
            yield benchmark.load("leaderboard")
    except UsageError:
        return
