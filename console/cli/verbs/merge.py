"""Merge runs of one plan, such as its shards, into one run; the old ones are not changed.

A rollout in several runs is taken from the one that had its answer first. Rollouts missing in all of them can be played
with `resume`.
"""

import argparse

from console.cli.history import read_history, report_of
from console.cli.parser import Arguments
from console.cli.run_report import exit_code, show_report, threshold
from console.config.paths import find_data_roots, find_runs_root
from console.engine.merging import Merged, merge
from console.store.run_list import find_run
from console.suites.catalog import find_suite

SHOWN = 5
"""Maximum number of damaged lines and missing rollouts listed."""


class MergeArguments(Arguments):
    which: list[str]
    name: str
    fail_under: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="+", help="name, part of the name, or path of each run")
    parser.add_argument("--name", default="", metavar="TEXT", help="name of the new run")
    parser.add_argument("--fail-under", metavar="X", help="exit 1 if the headline score is below X (0.8 or 80%%)")


def run(args: MergeArguments) -> int:
    """Create the merged run and report on it."""
    root = find_runs_root(args.runs, may_be_new=True)
    folders = [find_run(root, which) for which in args.which]
    least = None
    if args.fail_under is not None:
        plan = folders[0].manifest()
        least = threshold(args.fail_under, [(find_suite(plan, args.data), plan.setting)])
    merged = merge(folders, find_data_roots(args.data), root, args.name)
    _show(args, merged)
    history = read_history(merged.folder)
    report = report_of(history, args.data)
    show_report(args.output, history, report)
    return exit_code(history.summary, report, least)


def _show(args: MergeArguments, merged: Merged) -> None:
    for damage in merged.damages[:SHOWN]:
        args.output.warn(damage)
    if len(merged.damages) > SHOWN:
        args.output.warn(f"{len(merged.damages) - SHOWN} more damaged lines; `eval-console doctor --deep` lists them")
    if merged.doubled:
        args.output.info(f"{merged.doubled} rollouts were in several runs; the first answer to each counts")
    if merged.missing:
        named = ", ".join(case if not rollout else f"{case} r{rollout + 1}" for case, rollout in merged.missing[:SHOWN])
        more = ", …" if len(merged.missing) > SHOWN else ""
        args.output.warn(
            f"{len(merged.missing)} of {merged.rollouts} rollouts were not run ({named}{more}); "
            f"`eval-console resume {merged.folder.name}` plays them"
        )
