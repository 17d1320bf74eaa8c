"""`compare A B --fail-if-worse` and `run --baseline`: exit code, sentence, and what CI reads."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from support.graded_runs import graded_run

CASES = 200
COUNTS = {"base": 120, "worse": 80, "better": 150, "close": 117}


@pytest.fixture
def runs(tmp_path):
    root = tmp_path / "runs"
    for name, passed in COUNTS.items():
        graded_run(root, name, {f"c{n}": "p" if n < passed else "f" for n in range(CASES)})
    graded_run(root, "same", {f"c{n}": "p" if n < 120 else "f" for n in range(CASES)})
    graded_run(root, "unfinished", {f"c{n}": "p" for n in range(50)}, planned=CASES, close=False)
    graded_run(root, "one left", {f"c{n}": "p" for n in range(CASES - 1)}, planned=CASES, close=False)
    graded_run(root, "broken", {f"c{n}": "b" if n < 30 else "p" for n in range(CASES)})
    graded_run(root, "few broken", {f"c{n}": "b" if n < 10 else "p" for n in range(CASES)})
    graded_run(root, "elsewhere", {f"d{n}": "p" for n in range(5)})
    graded_run(root, "few-a", {f"c{n}": "pf"[n % 2] for n in range(8)})
    graded_run(root, "few-b", {f"c{n}": "fp"[n % 2] for n in range(8)})
    return root


@pytest.fixture
def gate(console, runs):
    def answer(a, b, *options):
        done = console("compare", a, b, "--runs", str(runs), "--fail-if-worse", *options)
        return done.code, done.out, done.err

    return answer


@pytest.mark.parametrize(
    ("b", "options", "code", "words"),
    [
        ("worse", (), 1, "worse: −20 points passed"),
        ("same", (), 0, "not worse: 0 points passed"),
        ("better", (), 0, "not worse: +15 points passed"),
        ("close", (), 0, "not worse: −1.5 points passed"),
        ("close", ("--margin", "1pt"), 3, "too wide to exclude a loss of more than 1 point"),
        ("close", ("--margin", "0.05"), 0, "not worse: −1.5 points"),
        ("worse", ("--margin", "25pt"), 3, "too wide"),
        ("worse", ("--margin", "5%"), 1, "below the margin of 5 points"),
        ("unfinished", (), 3, "inconclusive: B has not finished: 150 of 200 rollouts are left"),
        ("one left", (), 3, "inconclusive: B has not finished: 1 of 200 rollouts are left"),
        ("few broken", (), 0, "not worse: "),  # a twentieth, which is the limit
        ("broken", (), 3, "inconclusive: 30 of 200 rollouts of B broke or are undecided"),
    ],
)
def test_the_answer_is_the_exit_code_with_a_sentence_why(gate, b, options, code, words):
    found, out, _ = gate("base", b, *options)
    assert found == code
    assert words in out


def test_few_cases_prove_nothing(gate):
    code, out, _ = gate("few-a", "few-b")
    assert code == 3
    assert "too wide to exclude a loss of more than 5 points" in out


def test_json_holds_the_answer(gate):
    code, out, _ = gate("base", "worse", "--json", "--margin", "1pt")
    answer = json.loads(out)["gate"]
    assert (code, answer["exit"], answer["verdict"], answer["metric"], answer["margin"]) == (
        1,
        1,
        "worse",
        "passed",
        0.01,
    )
    difference = json.loads(out)["table"]["difference"]
    assert (difference["cases"], difference["rollouts"], difference["clusters"]) == (200, 200, 200)
    assert difference["method"] == "newcombe"


@pytest.mark.parametrize(("b", "tag"), [("worse", "failure"), ("same", "system-out"), ("unfinished", "error")])
def test_junit_fails_where_the_gate_does(gate, b, tag):
    _, out, _ = gate("base", b, "--format", "junit")
    suite = ElementTree.fromstring(out)
    assert [child.tag for child in suite[0]] == [tag]
    assert suite.get("failures") == str(int(tag == "failure"))
    assert suite.get("errors") == str(int(tag == "error"))


def test_markdown_begins_with_the_answer(gate):
    _, out, _ = gate("base", "worse", "--format", "markdown")
    assert out.splitlines()[2].startswith("❌ **worse: −20 points passed")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--margin", "x"), "is not a margin"),
        (("--margin", "-1"), "is not a margin"),
        (("--margin", "120%"), "does not fit passed"),
        (("--margin", "1"), "does not fit passed"),
        (("--metric", "answers"), "no metric 'answers'"),
    ],
)
def test_a_bad_option_is_refused_with_what_to_write(gate, options, words):
    code, _, err = gate("base", "same", *options)
    assert code == 2
    assert words in err


def test_options_of_the_gate_need_the_gate(console, runs):
    for arguments in (("compare", "base", "same", "--margin", "1pt"), ("run", "--fail-if-worse")):
        done = console(*arguments, "--runs", str(runs))
        assert done.code == 2
        assert "Add --" in done.err


def test_a_new_run_is_held_against_its_baseline(console, tmp_path):
    runs = ("--runs", str(tmp_path / "runs"))
    play = ("-s", "bfcl-starter/simple_python", "--yes", "--quiet", *runs)
    assert console("run", "-m", "sim/careful", "--name", "base", *play).code == 0
    done = console("run", "-m", "sim/broken", *play, "--baseline", "base", "--fail-if-worse")
    assert done.code == 3
    assert "inconclusive: " in done.out
    same = console("run", "-m", "sim/careful", *play, "--baseline", "base")
    assert same.code == 0
    assert "B − A:" in same.out
    missing = console("run", "-m", "sim/careful", *play, "--baseline", "nowhere")
    assert missing.code == 2
    assert "no run is named 'nowhere'" in missing.err
