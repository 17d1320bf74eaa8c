"""Run the trials behind docs/reliability.md and print as a table how many there were and how many ended wrong.

    python perf/reliability_figures.py            every signal at every point; takes a quarter of an hour or more
    python perf/reliability_figures.py --short    the part of the kill matrix that `make test-all` plays

A test that tries many things says how many (`record_property("trials", …)`) and how many of them ended wrong; any other
test counts as one trial. A test that fails without saying how many were wrong counts as one wrong trial. Skipped tests
are counted on their own: data that are not beside the checkout, or programs that are not installed.
"""

import argparse
import datetime
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "signals at named points of a run, then resumed": ("engine/test_kill_suites.py", "engine/test_kill.py"),
    "faults of an HTTP server": ("reliability/test_every_http_fault.py",),
    "streams and bodies cut or changed at any byte": ("llm/test_stream_fuzz.py",),
    "replies of every API with one damaged part": ("llm/test_damaged_replies.py",),
    "keys echoed by a server": (
        "reliability/test_echoed_key.py", "reliability/test_echoed_key_native.py", "llm/test_echoes.py"
    ),
    "damaged journals, summaries and manifests": ("reliability/test_damaged_runs.py", "tui/test_crafted_journals.py"),
    "hostile texts": ("reliability/test_hostile_content.py", "tui/test_hostile_text.py", "cli/test_hostile_names.py"),
    "verdicts against official ones": ("benchmarks/bfcl/test_conformance.py",),
}  # fmt: skip
"""Test files below `tests` by what they try."""


@dataclass
class Figures:
    """What the trials of one kind came to."""

    trials: int = 0
    wrong: int = 0
    skipped: int = 0
    seconds: float = 0.0


class Counter:
    """Pytest plug-in that adds up what tests report."""

    def __init__(self) -> None:
        """Start at zero for every kind."""
        self.figures = {kind: Figures() for kind in KINDS}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test."""
        file = report.nodeid.partition("::")[0].removeprefix("tests/")
        figures = next(self.figures[kind] for kind, files in KINDS.items() if file in files)
        figures.seconds += report.duration
        if report.skipped:
            figures.skipped += 1
        elif report.when == "call":
            said = dict(report.user_properties)
            wrong = int(str(said.get("wrong", 0)))
            figures.trials += int(str(said.get("trials", 1)))
            figures.wrong += max(wrong, 1) if report.failed else wrong
        elif report.failed:  # before or after the test itself
            figures.wrong += 1


def main() -> int:
    """Run the tests and print the table; return pytest's exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="play the covering part of the kill matrix")
    parser.add_argument("--only", metavar="WORD", default="", help="only kinds whose name contains it")
    args = parser.parse_args()
    os.chdir(ROOT)
    if not args.short:
        os.environ["EVAL_CONSOLE_KILLS"] = "all"
    counter = Counter()
    files = [f"tests/{file}" for kind, some in KINDS.items() if args.only in kind for file in some]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "-m", "", *files], plugins=[counter])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout
    print(f"\n`{' '.join(['python', 'perf/reliability_figures.py', *sys.argv[1:]])}`, commit {commit.strip()}, "
          f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}:\n")  # fmt: skip
    print("| what | trials | wrong | skipped tests | seconds |\n|---|---|---|---|---|")
    for kind, it in counter.figures.items():
        if args.only in kind:
            print(f"| {kind} | {it.trials:,} | {it.wrong} | {it.skipped} | {it.seconds:.0f} |")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
