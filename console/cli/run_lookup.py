"""Summaries of all runs and facts about their suites, for verbs that look at every run."""

from collections.abc import Mapping

from console.cli.parser import Arguments
from console.core.fault import UsageError
from console.insight.trends import ListedRun
from console.store.run_list import read_summaries
from console.suites.catalog import WITHOUT_FOLDER
from console.suites.leaderboard import LeaderboardRules


def listed_runs(args: Arguments) -> list[ListedRun]:
    """Return all readable runs, newest first; report the others on stderr."""
    runs: list[ListedRun] = []
    for listed in read_summaries(args.runs_root):
        try:
            if listed.summary is not None:
                runs.append(ListedRun(listed.summary, listed.folder.manifest()))
            else:
                args.output.warn(listed.mistake)
        except UsageError as error:
            args.output.warn(str(error))
    return runs


def suite_facts(
    runs: list[ListedRun], args: Arguments
) -> tuple[Mapping[str, Mapping[str, int]], Mapping[str, LeaderboardRules]]:
    """Return category sizes and ranking rules of the suites that still exist."""
    catalog = args.catalog
    cases: dict[str, Mapping[str, int]] = {}
    rules: dict[str, LeaderboardRules] = {}
    for name in dict.fromkeys(run.summary.suite for run in runs if run.manifest.format not in WITHOUT_FOLDER):
        try:
            suite = catalog.open(name)
            cases[name] = {category.name: category.cases for category in suite.categories()}
        except UsageError:
            args.output.info(f"the suite {name} no longer exists: incomplete runs cannot be detected")
            continue
        if suite.leaderboard is not None:
            rules[name] = suite.leaderboard
    return cases, rules
