"""Allow the code of a suite's folder to run in its present version; changed code must be allowed again.

A folder whose suite.toml names a module is a suite in Python. It runs inside this program, with your rights and keys,
so read it first. It is tried once in a separate process before it is allowed.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.suites.allowed import RUNS_WHERE, allow, revoke
from console.suites.catalog import has_code, open_folder_suite
from console.suites.code_trial import Trial, try_code
from console.suites.folder_code import FolderCode
from console.suites.suite import SuiteEntry

ALLOWED_SUITE = JsonKind(
    "allowed_suite",
    "allow",
    "A suite whose code may run in its present version.",
    {
        "suite": "its name",
        "is_allowed": "false after --revoke",
        "digest": "optional: digest of its files",
        "files": "optional: files covered by the digest",
        "cases": "optional: number of cases",
    },
)


class AllowArguments(Arguments):
    suite: str
    revoke: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="a suite whose folder contains code")
    parser.add_argument("--revoke", action="store_true", help="withdraw the permission")


def run(args: AllowArguments) -> int:
    """Try the code, then record its digest."""
    entry = args.catalog.entry(args.suite)
    if not has_code(entry):
        raise UsageError(
            f"the suite {entry.name} has no code of its own: there is nothing to allow", where=str(entry.folder)
        )
    code = FolderCode(entry)
    if args.revoke:
        was_allowed = revoke(code)
        if args.json:
            args.output.data(ALLOWED_SUITE, {"suite": entry.name, "is_allowed": False})
        else:
            args.output.text(f"{entry.name}: {'no longer allowed' if was_allowed else 'was not allowed'}")
        return Exit.OK
    trial = try_code(entry) if entry.module else _listed(entry)
    allow(code)
    if args.json:
        files = {"digest": code.digest, "files": list(code.sources), "cases": trial.cases}
        args.output.data(ALLOWED_SUITE, {"suite": entry.name, "is_allowed": True, **files})
        return Exit.OK
    if trial.printed:
        args.output.info(f"it printed: {trial.printed}")
    args.output.text(f"{entry.name}: allowed, {trial.cases} cases. {RUNS_WHERE}")
    for name, source in code.sources.items():
        args.output.text(f"  {name}  {len(source.splitlines())} lines")
    args.output.prose(f"  digest {code.digest[:16]}; after any change of these files the code must be allowed again")
    args.output.text("  other files of the folder are data, which may change freely", "faint")
    return Exit.OK


def _listed(entry: SuiteEntry) -> Trial:
    """Count the cases of a suite whose folder names a program."""
    return Trial(cases=sum(category.cases for category in open_folder_suite(entry.folder).categories()))
