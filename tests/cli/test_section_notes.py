"""A long table of scenarios fits the terminal: rows differ, and its notes take a few lines."""

from console.cli.output import Output
from console.cli.sections import show_section
from console.insight.report import report_sections
from console.suites.suite import Metric, Report

MEASURES = {
    "success rate": "turns; few clusters: the interval is rough",
    "conversations passed": "all turns succeeded",
    "missing calls": "as cave-bench counts: functions never called",
    "missing calls (true)": "required, unanswered",
}


def test_rows_of_long_scenario_names_differ_and_notes_stay_short(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "70")
    name = "matrix_cumulative_function_calling_with_a_long_name"
    metrics = tuple(Metric(measure, 0.5, low=0.2, high=0.7, count=9, note=note) for measure, note in MEASURES.items())
    categories = {f"{name}_{number}": metrics for number in range(12)}
    (section,) = report_sections(Report(metrics=metrics, categories=categories), None)
    show_section(Output(), section)
    lines = capsys.readouterr().out.splitlines()
    named = [line.split("  50.00%")[0] for line in lines if "50.00%" in line]
    assert len(set(named)) == len(named) == 4 * 13
    assert all(len(line) <= 70 for line in lines)
    assert len(lines) - 1 - len(named) <= 8
