"""Runs in other forms read back with the readers of those forms, and foreign text stays inert in each."""

import csv
import io
import xml.etree.ElementTree as ElementTree

from console.core.case import Key, Setting
from console.core.outcome import Outcome
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.exchange.document import Item, RunDocument
from console.exchange.exports.csv_table import HEADINGS, csv_table
from console.exchange.exports.junit import junit_xml
from console.exchange.exports.markdown import markdown_section
from console.insight.rollout import Rollout
from console.suites.suite import Metric, Report

HOSTILE = '=cmd|"/c calc"!A1 <script>\x1b[2J\u202e</testsuite> | `x` \ud800\ufffe\n]]>'


def rollout(number, outcome, reason="", message=""):
    key = Key(f"case {number}")
    return Rollout(
        key, number, "live", "title", outcome=outcome, reason=reason, message=message, seconds=1.5, input_tokens=3
    )


ROLLOUTS = [
    rollout(0, Outcome.PASSED),
    rollout(1, Outcome.FAILED, "value_error:string", HOSTILE),
    rollout(2, Outcome.BROKEN, "server", "502"),
    rollout(3, Outcome.UNDECIDED, "judge"),
    rollout(4, Outcome.NOT_RUN, "stopped"),
    rollout(5, None),
]
SUMMARY = Summary("run-1", 0.0, "bfcl", HOSTILE, True, 6, Tally(passed=1, failed=1), "stopped", reasons={HOSTILE: 1},
                  simulated_note="simulated")  # fmt: skip
MANIFEST = Manifest("run-1", 0.0, "bfcl", ModelFacts("m", "m", simulated=True), Setting())
DOCUMENT = RunDocument(MANIFEST, SUMMARY, None, [Item(rollout) for rollout in ROLLOUTS])


def test_csv_reads_back_and_holds_no_formula():
    rows = list(csv.DictReader(io.StringIO(csv_table(DOCUMENT))))
    assert tuple(rows[0]) == HEADINGS
    assert [row["outcome"] for row in rows] == ["passed", "failed", "broken", "undecided", "not_run", "interrupted"]
    assert rows[1]["message"].startswith("'=cmd")
    assert rows[0]["simulated"] == "True"
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    assert "\x1b" not in csv_table(DOCUMENT)


def test_junit_reads_back_with_the_right_kinds():
    suite = ElementTree.fromstring(junit_xml(DOCUMENT))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "6",
        "1",
        "2",
        "2",
    )
    assert "simulated" in suite.get("name")
    failure = suite[1][0]
    assert failure.tag == "failure"
    assert failure.get("type") == "value_error:string"
    assert "<script>" in failure.get("message")
    assert [case[0].tag for case in suite[2:]] == ["error", "error", "skipped", "skipped"]


def test_markdown_keeps_foreign_text_in_its_cell():
    metric = Metric("accuracy", 0.5, 0.1, 0.9, 2)
    manifest = Manifest("run-1", 0.0, "bfcl", ModelFacts("m", "m"), Setting())
    items = [Item(rollout) for rollout in ROLLOUTS]
    text = markdown_section(RunDocument(manifest, SUMMARY, Report((metric,), {"live": (metric,)}), items))
    lines = text.splitlines()
    assert "| accuracy | 50.00% | \\[10.0% 90.0%\\] | 2 |" in lines
    assert "| live: accuracy | 50.00% | \\[10.0% 90.0%\\] | 2 |" in lines
    assert "(simulated)" in lines[0]
    assert "\\<script\\>" in text
    assert "\x1b" not in text
    assert all(line.replace("\\|", "").count("|") in (0, 3, 5) for line in lines)
    assert "<details><summary>1 failed · 1 broken · 1 undecided</summary>" in lines
    assert "0 undecided, 4 left, of 6;" in text
    failed = next(line for line in lines if line.startswith("| ❌ |"))
    assert "case 1 | wrong" in failed
    assert any(line.startswith("| ⚠️ | case 2") for line in lines)
    assert not any("case 0" in line for line in lines)
