"""Lookup of leaderboard rules: the suite's own, or those of its benchmark."""

from collections.abc import Collection, Iterator, Sequence

from console.core.fault import UsageError
from console.suites.benchmark import built_in
from console.suites.benchmarks import find_benchmark
from console.suites.leaderboard import LeaderboardRules, PassRates, ScoreMeans


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
        suite_format: the format recorded in the runs; empty: unknown, so all built-in ones are tried.
        categories: categories of the suite, or of the counted runs if the suite is not installed.
        headline: headline score of the runs; empty: the pass rate.
        further: further headlines, whose columns come next.
    """
    why = ""
    for rules in (own, *_rules_of(suite_format)):
        if rules is not None and rules.score == headline:
            misfit = rules.misfit([category for category in categories if rules.counts(category)])
            if not misfit:
                return rules
            why = why or f"ranked by pass rate: {misfit}"
    return ScoreMeans(headline, first=tuple(further)) if headline else PassRates(why, further)


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
