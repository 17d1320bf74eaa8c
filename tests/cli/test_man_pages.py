"""Pages for man come from the parsers of --help, and man shows them."""

import shutil
import subprocess

import pytest

from console.cli.exitcode import Exit
from console.cli.parser import HIDDEN, own_verbs


def shown(page: str) -> str:
    """Return what man shows of a page, in one line."""
    formatted = subprocess.run(
        ["man", "-l", "-"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
        env={"MANWIDTH": "400", "PATH": "/usr/bin:/bin"},
    )
    assert not formatted.stderr
    return " ".join(formatted.stdout.replace("‐", "-").split())


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_man_shows_every_option_that_help_shows(console):
    page = shown(console("help", "--man", "run").out)
    assert "eval-console-run - run a suite with a model" in page
    assert "-m NAME, --model NAME a model; may be repeated" in page
    assert "--fail-under X exit 1 if the headline score is below X (0.8 or 80%)" in page
    whole = shown(console("help", "--man").out)
    assert "compare two or more runs" in whole
    assert "eval-console-run(1)" in whole
    assert not any(f" {verb} " in whole for verb in HIDDEN)
    assert "--partial-eval" in shown(console("help", "--man", "bfcl", "evaluate").out)


def test_all_pages_are_written_to_a_folder(console, tmp_path):
    assert console("help", "--man", "-o", tmp_path).code == 0
    assert {path.stem for path in tmp_path.glob("*.1")} == {
        "eval-console",
        *(f"eval-console-{verb}" for verb in own_verbs()),
    }


def test_text_that_roff_would_read_as_a_request_is_shown(console):
    page = console("help", "--man", "export").out
    assert not [
        line
        for line in page.splitlines()
        if line[:1] in ".'" and line.split()[0] not in (".TH", ".SH", ".B", ".TP", ".PP", ".BR")
    ]


def test_bad_use_of_help_is_refused(console, tmp_path):
    for words in (
        ("--man", "rnu"),
        ("--man", "-o", tmp_path / "nowhere"),
        ("-o", tmp_path),
        ("--man", "run", "-o", tmp_path),
    ):
        ended = console("help", *words)
        assert ended.code == Exit.USAGE
        assert ended.err.startswith("eval-console: ")
