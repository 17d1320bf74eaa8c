"""The rules that rank a suite's models: the suite's own, or those of our formats where a suite is not there to say."""

from collections.abc import Collection

from console.benchmarks.aidanbench.leaderboard import AIDANBENCH_LEADERBOARD
from console.benchmarks.bfcl.leaderboard import BFCL_LEADERBOARD
from console.suites.leaderboard import LeaderboardRules, PassRates, ScoreMeans

PASS_RATES = PassRates()
_RULES: dict[str, LeaderboardRules] = {"aidanbench": AIDANBENCH_LEADERBOARD, "bfcl": BFCL_LEADERBOARD}
"""By format."""


def rules_for(own: LeaderboardRules | None, form: str, categories: Collection[str], headline: str) -> LeaderboardRules:
    """Return the rules for the runs of one suite.

    Args:
        own: what the suite says, if it is there and says something.
        form: format of the suite as its runs name it; empty: not known, and all of ours are tried.
        categories: that were played in any run that counts.
        headline: score that stands for the runs in place of passing; empty: passing does.
    """
    ours = [rules for name, rules in _RULES.items() if form in (name, "")]
    for rules in (own, *ours):
        if rules is not None and rules.score == headline and rules.fits(categories):
            return rules
    return ScoreMeans(headline) if headline else PASS_RATES
