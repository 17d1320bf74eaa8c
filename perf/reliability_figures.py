"""Run the trials behind docs/reliability.md and write how many there were, and how many ended wrong, into its table.

    python perf/reliability_figures.py                 all rows; twenty minutes on two busy cores
    python perf/reliability_figures.py signals keys    only rows whose name contains one of the words; only printed

Each row is a pytest command of its own. A test that tries many things says how many, and how many of them ended wrong
(`record_property("trials", …)`, `"wrong"`); any other test is one trial, and wrong if it fails. Skipped tests are
counted on their own: official data that is not there, or programs that are not installed.
"""

import datetime
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

OPTIONS = '-n 2 -m ""'
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- perf/reliability_figures.py writes from here -->\n", "<!-- to here -->\n"
ROWS = (
    (
        "signals at named points of a run of every suite, then resumed",
        "the results of an undisturbed run, nothing paid twice but calls in flight",
        "EVAL_CONSOLE_KILLS=all pytest --timeout 0 tests/engine/test_kill.py tests/engine/test_kill_suites.py",
    ),
    (
        "faults of an HTTP server",
        "no score, every other case right",
        "pytest tests/reliability/test_every_http_fault.py",
    ),
    (
        "streams and bodies cut or changed at any byte",
        "an answer only where it is proven whole",
        "EVAL_CONSOLE_STREAMS=40 pytest --timeout 0 tests/llm/test_stream_fuzz.py",
    ),
    (
        "replies of every API with one damaged part",
        "the same reply or a fault",
        "EVAL_CONSOLE_FUZZ=3 pytest --timeout 0 tests/llm/test_damaged_replies.py",
    ),
    (
        "keys echoed by a server",
        "no piece of 12 characters in a file, an export or on a screen",
        "pytest tests/reliability/test_echoed_key.py tests/reliability/test_echoed_key_native.py"
        " tests/llm/test_echoes.py",
    ),
    (
        "damaged journals, summaries, manifests",
        "what is sound is read, the damage is named, every screen opens",
        "pytest tests/reliability/test_damaged_runs.py tests/tui/test_crafted_journals.py",
    ),
    (
        "command lines and screens over hostile texts",
        "no control byte reaches the terminal, nothing is obeyed",
        "EVAL_CONSOLE_UNICODE=5 pytest tests/cli/test_hostile_names.py tests/reliability/test_hostile_content.py"
        " tests/tui/test_hostile_text.py",
    ),
    (
        "verdicts, BFCL: the official checker's",
        "the same verdict and error type",
        "pytest tests/benchmarks/bfcl/test_conformance.py",
    ),
    (
        "verdicts, AidanBench: the reference's",
        "the same numbers to 1e-9",
        "pytest tests/benchmarks/aidanbench/test_conformance.py",
    ),
    (
        "verdicts, cave-bench: the reference's",
        "the same verdict, metrics and schemas",
        "pytest tests/benchmarks/cavebench/test_conformance.py",
    ),
    (
        "verdicts, cases of our own, one for each rule",
        "the verdict that the rule demands",
        "pytest tests/benchmarks/bfcl/test_checker_cases.py::test_a_rule"
        " tests/benchmarks/aidanbench/test_loop_cases.py tests/benchmarks/cavebench/test_matching_cases.py",
    ),
    (
        "mutations of the program",
        "killed by a test (wrong: survived)",
        "pytest perf/mutations.py",
    ),
)
"""Name, what must hold, and command of each row."""


@dataclass
class Figures:
    """What the trials of one row came to."""

    trials: int = 0
    wrong: int = 0
    skipped: int = 0


def run(command: str) -> Figures:
    """Run a row's command, slow tests included, and count what its tests report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = f"{shlex.quote(sys.executable)} -m pytest -q {OPTIONS} --junitxml={report}"
        subprocess.run(command.replace("pytest", options, 1), shell=True, cwd=ROOT, check=False)
        return count(ElementTree.parse(report).getroot())


def count(report: ElementTree.Element) -> Figures:
    """Add up the tests of a JUnit report."""
    figures = Figures()
    for test in report.iter("testcase"):
        if test.find("skipped") is not None:
            figures.skipped += 1
            continue
        said = [(it.get("name"), int(it.get("value", "0"))) for it in test.iter("property")]
        has_failed = test.find("failure") is not None or test.find("error") is not None
        figures.trials += sum([value for name, value in said if name == "trials"] or [1])
        figures.wrong += max(sum(value for name, value in said if name == "wrong"), has_failed)
    return figures


def main() -> int:
    """Print the table and, if it is whole, write it into the page; return 1 if a trial ended wrong."""
    words, wrong = sys.argv[1:], 0
    made = "| what | trials | wrong | skipped tests | what must hold | command | seconds |\n|" + "---|" * 7 + "\n"
    for name, holds, command in ROWS:
        if words and not any(word in name for word in words):
            continue
        start = time.monotonic()
        it = run(command)
        took = time.monotonic() - start
        wrong += it.wrong
        made += f"| {name} | {it.trials:,} | {it.wrong} | {it.skipped} | {holds} | `{command}` | {took:.0f} |\n"
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    text = (
        f"Made by `python perf/reliability_figures.py` at commit {git.stdout.strip()} on"
        f" {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, each command with `{OPTIONS}`,"
        f" {os.cpu_count()} cores:\n\n{made}\n"
    )
    print(f"\n{text}")
    if not words:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
