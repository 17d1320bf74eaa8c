"""Tables fit the terminal: long texts are cut first, then the least important columns go and are named."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pseudo_terminal import PseudoTerminal

from console.cli.output import Output, fit_columns


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(console, finished, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for verb in (["runs"], ["models"], ["suites"], ["suites", "bfcl-starter"], ["trends"], ["leaderboard"]):
        table = console(*verb).out.splitlines()
        assert max(map(len, table)) <= max(columns, 50), verb


def test_runs_keep_name_score_and_cost_longest(console, finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = console("runs")
    assert ended.out.split("\n")[0].split()[:5] == ["run", "suite", "model", "score", "cost"]
    assert "no room for: " in ended.err
    assert "simulated" in ended.out
    monkeypatch.setenv("COLUMNS", "44")
    assert console("runs").out.split("\n")[0].split() == ["run", "score", "cost"]
    monkeypatch.setenv("COLUMNS", "300")
    wide = console("runs")
    assert finished in wide.out
    assert "no room" not in wide.err
    assert "undecided" not in wide.out, "a column that is zero everywhere"


def test_notes_of_metrics_stand_below_a_table_that_has_no_room_for_them(console, finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    narrow = console("show", finished).out
    assert " *  " in narrow
    assert "\n* " in narrow
    monkeypatch.setenv("COLUMNS", "250")
    wide = console("show", finished).out
    assert "\n* " not in wide
    assert "*\n" not in wide


def test_runs_show_names_of_their_own(console, finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert "name" not in console("runs").out.split("\n")[0].split()
    console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1", "--name", "my own words", "--quiet")
    assert console("runs").out.split("\n")[0].split()[:2] == ["run", "name"]
    assert "my own words" in console("runs").out


def test_eighty_columns_when_nothing_says_how_many(console, finished, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert max(map(len, console("runs").out.splitlines())) <= 80


@pytest.mark.parametrize("columns", [60, 200])
def test_tables_use_the_width_of_a_real_terminal(finished, columns):
    clean = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-m", "console", "runs", "--no-color"]
    terminal = PseudoTerminal(command, (columns, 40), {**clean, "PYTHONPATH": root, "TERM": "xterm-256color"})
    try:
        assert terminal.wait() == 0
    finally:
        terminal.close()
    lines = terminal.output.decode().splitlines()
    assert max(map(len, lines)) <= columns
    assert ("no room for" in terminal.output.decode()) == (columns == 60)
    assert (finished in terminal.output.decode()) == (columns == 200)


def test_one_category_is_named_wherever_its_number_stands(console, tmp_path):
    run = console("run", "-m", "sim/hasty", "-s", "bfcl-starter/multiple", "-n", 2, "--json", "--quiet").data["run"]
    shown = [console(*verb).out for verb in (["runs"], ["show", run], ["export", run, "--format", "markdown"])]
    console("export", run, "--format", "site", "-o", tmp_path / "site")
    console("export", run, "--format", "html", "-o", tmp_path / "run.html")
    shown += [(tmp_path / "site/index.html").read_text(), (tmp_path / "run.html").read_text()]
    assert ["bfcl-starter/multiple" in text.replace("\n", " ") for text in shown] == [True] * 5


def test_names_lose_their_middle_and_prose_its_end(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    Output().rows(
        ("case", "why"), [("a_very_long_identifier_of_a_case_77", "the final state differs from the expected")]
    )
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split("  ")[0].endswith("77")
    assert "…" in line.split("  ")[0]
    assert line.endswith("…")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=9), st.sets(st.integers(0, 8)), st.integers(20, 200))
def test_numbers_are_never_cut_and_the_first_column_stays(widths, right, room):
    order = list(range(len(widths)))[::-1]
    fitted = fit_columns(widths, order, frozenset(right), room)
    assert all(
        width in (0, natural) for n, (width, natural) in enumerate(zip(fitted, widths, strict=True)) if n in right
    )
    assert fitted[order[0]] > 0
    shown = [width for width in fitted if width]
    assert len(shown) == 1 or sum(shown) + 2 * (len(shown) - 1) <= room


def test_what_many_tables_have_no_room_for_is_said_once(console, monkeypatch):
    for _ in range(2):
        console("run", "-m", "sim/hasty", "-s", "bfcl-starter/multiple", "-n", 2)
        console("run", "-m", "sim/careful", "-s", "bfcl-starter/multiple", "-n", 2)
    monkeypatch.setenv("COLUMNS", "80")
    assert console("trends").err.count("no room for") == 1
