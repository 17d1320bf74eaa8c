"""Show one case in all runs and models, newest run first, by the name of its suite and its id.

The column `data` shows whether the case, including its ground truth, was the same as in the newest run.
"""

import argparse
from typing import Any

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.cli.search_index import IndexHeld, use_search
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.exchange.search.case_history import CaseRun, case_history
from console.exchange.search.hits import Search
from console.insight.number_format import moment
from console.insight.reasons import reason_words
from console.insight.rollout import outcome_word

HISTORY = JsonKind(
    "history",
    "history",
    "One case in all runs, newest first.",
    {
        "suite": "name of the suite",
        "case": "id of the case",
        "runs": "run, model, time, outcomes and reasons of all repeats, and the digest of the case as played",
    },
)


class HistoryArguments(Arguments):
    suite: str
    case: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="name of the suite")
    parser.add_argument("case", metavar="CASE", help="id of the case")


def run(args: HistoryArguments) -> int:
    """List the runs."""
    try:
        runs, suites = use_search(args.runs_root, args.output, lambda search: _read(search, args))
    except IndexHeld as held:
        return args.output.error(str(held), Exit.LOCKED)
    if not runs:
        hint = f"There are runs of: {', '.join(suites[:8])}." if suites else "Start one with `eval-console run`."
        raise UsageError(f"no run has played the case {args.case!r} of {args.suite!r}", hint=hint)
    if args.json:
        rows = [_as_json(case_run) for case_run in runs]
        args.output.data(HISTORY, {"suite": args.suite, "case": args.case, "runs": rows})
        return Exit.OK
    headings = ("run", "when", "model", "outcome", "passed", "data", "reason")
    rows = [_row(case_run, runs[0].digest) for case_run in runs]
    args.output.rows(headings, rows, first=("run", "outcome", "passed", "model", "data", "when"))
    return Exit.OK


def _read(search: Search, args: HistoryArguments) -> tuple[list[CaseRun], list[str]]:
    """Return the runs of the case or, if there are none, the suites of all runs."""
    runs = case_history(search, args.suite, args.case)
    return runs, [] if runs else search.suites()


def _row(case_run: CaseRun, newest: str) -> tuple[object, ...]:
    count = f"{case_run.passed}/{case_run.graded}" if len(case_run.rollouts) > 1 else ""
    words = [outcome_word(rollout.outcome) for rollout in case_run.rollouts]
    outcome = words[0] if len(set(words)) == 1 else "mixed"
    reasons = dict.fromkeys(
        reason_words(rollout.reason, rollout.outcome) for rollout in case_run.rollouts if rollout.reason
    )
    data = "same" if case_run.digest == newest else "other"
    facts = case_run.facts
    return case_run.folder.name, moment(facts.at), facts.model, outcome, count, data, ", ".join(reasons)


def _as_json(case_run: CaseRun) -> dict[str, Any]:
    return {
        "run": case_run.folder.name,
        "model": case_run.facts.model,
        "at": case_run.facts.at,
        "digest": case_run.digest,
        "rollouts": [
            {
                "rollout": rollout.key.rollout,
                "attempt": rollout.key.attempt,
                "outcome": outcome_word(rollout.outcome),
                "reason": rollout.reason,
            }
            for rollout in case_run.rollouts
        ],
    }
