"""Run the trials behind docs/reliability.md and write how many there were, and how many ended wrong, into its table.

    python perf/reliability_figures.py                 all rows; twenty minutes on two busy cores
    python perf/reliability_figures.py signals keys    only rows whose name contains one of the words; the others stay

Each row is a pytest command of its own. A test that tries many things says how many, and how many of them ended wrong
(`record_property("trials", …)`, `"wrong"`); any other test is one trial, and wrong if it fails. Skipped tests are
counted on their own: official data that is not there, or programs that are not installed.
"""

import datetime
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
HEAD = "| what | trials | wrong | skipped tests | what must hold | seconds | made |\n|" + "---|" * 7 + "\n"
ROWS = (
    (
        "signals at named points of a run of every suite, then resumed",
        "the results of an undisturbed run, nothing paid for twice except calls in flight",
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
        "EVAL_CONSOLE_STREAMS=10 pytest --timeout 0 tests/llm/test_stream_fuzz.py",
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
    """Write the rows into the page as they are made; return 1 if a trial ended wrong."""
    words, wrong = sys.argv[1:], 0
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    made = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d} {git.stdout.strip()}"
    for name, holds, command in ROWS:
        if words and not any(word in name for word in words):
            continue
        start = time.monotonic()
        it = run(command)
        took = time.monotonic() - start
        wrong += it.wrong
        row = f"| {name} | {it.trials:,} | {it.wrong} | {it.skipped} | {holds} | {took:.0f} | {made} |\n"
        print(f"\n{row}")
        write(name, row)
    return int(wrong > 0)


def write(name: str, row: str) -> None:
    """Put a row in its place in the page's table."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table, after = rest.split(END)
    rows = {line.split(" | ")[0].removeprefix("| "): line + "\n" for line in table.splitlines()} | {name: row}
    table = HEAD + "".join(rows[one] for one, _, _ in ROWS if one in rows)
    PAGE.write_text(before + BEGIN + table + END + after, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
