"""The rules that rank a suite's models: those of its benchmark, or the suite's own."""

from collections.abc import Collection, Iterator

from console.core.fault import UsageError
from console.suites.benchmark import built_in
from console.suites.benchmarks import find_benchmark
from console.suites.leaderboard import LeaderboardRules, PassRates, ScoreMeans

PASS_RATES = PassRates()


def rules_for(own: LeaderboardRules | None, form: str, categories: Collection[str], headline: str) -> LeaderboardRules:
    """Return the rules for the runs of one suite.

    Args:
        own: what the suite says, if it is there and says something.
        form: format of the suite as its runs name it; empty: not known, and all of ours are tried.
        categories: that were played in any run that counts.
        headline: score that stands for the runs in place of passing; empty: passing does.
    """
    for rules in (own, *_rules_of(form)):
        if rules is not None and rules.score == headline and rules.fits(categories):
            return rules
    return ScoreMeans(headline) if headline else PASS_RATES


def _rules_of(form: str) -> Iterator[LeaderboardRules]:
    """Yield the rules of the benchmark with this format; what another package offers and is broken ranks nobody."""
    if not form:
        yield from (benchmark.load("leaderboard") for benchmark in built_in() if benchmark.leaderboard)
        return
    try:
        benchmark = find_benchmark(form, "leaderboard")
        if benchmark is not None:
            yield benchmark.load("leaderboard")
    except UsageError:
        return
