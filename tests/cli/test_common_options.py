"""Options that all verbs share stand before the verb or after it; nonsense among options is refused."""

import pytest

from console.cli.exitcode import Exit
from console.cli.parser import HIDDEN, own_verbs, parse

SHARED = ("--ascii", "--json", "--quiet", "--no-color", "--yes", "--no-mouse", "--theme=nord", "--runs=r", "--data=d")


@pytest.mark.parametrize("verb", ["runs", "show", "watch", "models"])
def test_before_and_after_the_verb_is_the_same(verb):
    before, after = vars(parse([*SHARED, verb])), vars(parse([verb, *SHARED]))
    assert before == after
    assert before["ascii"]
    assert before["theme"] == "nord"


def test_ascii_holds_for_text(console, finished):
    assert not console("doctor", "--offline").out.isascii()
    for line in (
        ("runs", "--ascii"),
        ("--ascii", "show", finished),
        ("trends", "--ascii"),
        ("doctor", "--offline", "--ascii"),
    ):
        ended = console(*line)
        assert (ended.out + ended.err).isascii(), line


@pytest.mark.parametrize(("word", "close"), [("--fail-udner", "--fail-under"), ("--model-name", "--model")])
def test_a_mistyped_option_names_the_nearest(console, word, close):
    ended = console("run", word, "1")
    assert ended.code == Exit.USAGE
    assert f"Did you mean {close}?" in ended.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--fail-under", "80", "run"), "unknown option '--fail-under'\n  Put a verb's options after it."),
        (("--jsno", "runs"), "unknown option '--jsno'\n  Did you mean --json?"),
        (("runs", "--runs"), "--runs needs a value"),
        (("compare",), "RUN is required"),
    ],
)
def test_what_is_wrong_with_an_option_is_said_in_few_words(console, line, words):
    ended = console(*line)
    assert ended.code == Exit.USAGE
    assert words in ended.err


def test_an_option_is_not_guessed_from_its_beginning(console):
    assert console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "--fail-u", "1").code == Exit.USAGE


@pytest.mark.parametrize("verb", [verb for verb in own_verbs() if verb != "help"])
def test_help_of_a_verb_is_its_help(console, verb):
    assert console("help", verb).out == console(verb, "--help").out != ""


def test_help_of_nothing_and_of_a_phase(console):
    assert console("help").out == console("--help").out
    assert console("help", "bfcl", "evaluate").out == console("bfcl", "evaluate", "--help").out
    assert "did you mean show?" in console("help", "shwo").err
    assert not set(HIDDEN) & set(console("help").out.split())


@pytest.mark.parametrize("text", ["80", "120%", "-0.1", "nan", "inf"])
def test_a_threshold_that_no_rate_can_have_is_refused(console, home, text):
    ended = console("run", "-m", "sim/careful", "-s", "bfcl-starter", "-n", "1", f"--fail-under={text}")
    assert ended.code == Exit.USAGE
    assert "--fail-under" in ended.err
    assert not (home / "runs").exists()


def test_a_percentage_of_what_is_no_rate_is_refused(console):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--fail-under", "80%")
    assert (ended.code, "not a rate" in ended.err) == (Exit.USAGE, True)


def test_a_folder_of_runs_that_is_not_there_is_refused_where_runs_are_read(console, home):
    for line in (["runs"], ["show"], ["leaderboard"], ["queue"], ["trends"]):
        ended = console(*line, "--runs", home / "nowhere")
        assert (ended.code, "does not exist" in ended.err) == (Exit.USAGE, True), line
    made = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--runs", home / "new", "--json")
    assert made.code == Exit.OK
