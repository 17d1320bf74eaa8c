"""The one way out: what a terminal would obey becomes visible, and JSON is plain ASCII."""

import json
import subprocess
import sys

import pytest

from console.cli.output import Output
from console.cli.verbs.branch import AS_SENT

HOSTILE = "\x1b]52;c;aGk=\x07\x9b2J\u202etxt\rover\x7f\u200b\ud800"


@pytest.mark.parametrize("write", [Output.text, Output.info, Output.warn, Output.file])
def test_foreign_text_is_made_visible(write, capsys):
    write(Output(), HOSTILE)
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert not set("\x1b\x07\x9b\u202e\r\x7f\u200b\ud800") & set(text)
    assert "^[" in text
    assert "‹U+202E›" in text


def test_rows_stay_on_their_line(capsys):
    Output().rows(("a", HOSTILE), [("one\ntwo", HOSTILE), ("x", 1)], right=frozenset({1}))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "^[]52" in lines[0]
    assert lines[1].startswith("one two")


def test_json_is_ascii_and_reads_back(capsys):
    Output(machine=True).data(AS_SENT, {"text": HOSTILE + "grün"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert not set("\x1b\x07\r\x7f") & set(out)
    assert json.loads(out) == {"schema": 2, "kind": "as_sent", "text": HOSTILE + "grün"}


def test_what_was_answered_before_a_failure_is_written(capsys):
    def values():
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        Output().lines(values())
    assert capsys.readouterr().out == "1\n"


def test_the_progress_line_is_rewritten_with_clean_text(capsys):
    Output().rewrite(f"1/2 {HOSTILE}\n", last=True)
    text = capsys.readouterr().err
    assert text.startswith("\r\x1b[K1/2 ^[]52")
    assert not set("\x1b\x07\x9b\u202e\r\x7f") & set(text.removeprefix("\r\x1b[K"))
    assert text.count("\n") == 1


def test_a_file_keeps_its_tabs(capsys):
    Output().file("a\tb\n")
    assert capsys.readouterr().out == "a\tb\n"


FOREIGN = """
import ast, gc, logging, sys, threading, warnings
from console.cli.output import Output, separate_prints

class Dying:
    def __del__(self):
        raise ValueError("\x1b]0;destructor\x07")

def fail():
    raise ValueError("\x9b2Jthread")

with separate_prints():
    ast.parse('f(a="\\\\\x1b")')
    warnings.warn("\x1b[8mwarning")
    logging.getLogger("library").error("\x1b[2Jlogger")
    print("\x1b]52;c;aGk\x07printed")
    print("\u202eprinted", file=sys.stderr)
    Dying()
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    Output().rewrite("ours")
print("as before")
"""


def test_what_interpreter_and_libraries_write_is_cleaned() -> None:
    """A warning about a reply that is parsed quotes it; so do loggers, and errors in threads and destructors."""
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", FOREIGN], capture_output=True, text=True, timeout=60, check=True
    )
    shown = (ended.stdout + ended.stderr).replace("\x1b[Kours", "", 1)  # in text mode, its CR has become LF
    for mark in (
        "\\^[",
        "^[[8mwarning",
        "^[[2Jlogger",
        "^[]52;c;aGk^Gprinted",
        "U+202E",
        "^[]0;destructor",
        "‹9B›2Jthread",
    ):
        assert mark in shown
    assert not set("\x1b\x07\x9b\u202e") & set(shown)
    assert "as before" in shown


def test_no_verb_writes_around_it(console, monkeypatch) -> None:
    """Whatever a verb calls meets the cleaned streams."""

    def foreign(*_: object) -> int:
        sys.stderr.write("\x1b[2Jwritten")
        return 0

    monkeypatch.setattr("console.cli.main._dispatch", foreign)
    ended = console("runs")
    assert "\x1b" not in ended.err
    assert "^[[2Jwritten" in ended.err
