"""A suite of somebody's own from a template, and looking one over before anything is paid."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.folder_suites import CITIES, replaced, write_folder_suite
from support.quick_rows import first_quick

from console.cli.exitcode import Exit
from console.config.paths import find_data_roots
from console.suites.catalog import Catalog
from console.suites.new_folder import template_kinds
from console.testing import check_suite


@pytest.mark.parametrize("kind", first_quick(sorted(template_kinds(), key="program".__eq__), 5))
def test_every_template_runs_at_once_and_keeps_what_suites_must(console: Any, home: Path, kind: str) -> None:
    written = console("new", "mine", "--kind", kind, "--json")
    assert written.code == Exit.OK
    assert Path(written.data["folder"]) == home / "data" / "mine"
    ended = console("run", "-m", "sim/careful", "-s", "mine", "--json", "--quiet")
    tally = ended.data["summary"]["tally"]
    assert tally.get("broken", 0) == 0
    assert sum(tally.get(end, 0) for end in ("passed", "failed", "undecided")) == ended.data["summary"]["planned"]
    if kind != "cavebench":  # it runs code, which only an engine's sandbox may
        check_suite(Catalog(find_data_roots()).open("mine"), cases=2)
    checked = console("suites", "check", "mine", "--json")
    assert checked.code == Exit.OK, checked.data
    assert checked.data["run"]["calls"] > 0


def test_nothing_is_written_over(console: Any, home: Path) -> None:
    assert console("new", "mine", "--kind", "python").code == Exit.OK
    suite = home / "data" / "mine" / "suite.py"
    suite.write_text("mine")
    again = console("new", "mine", "--kind", "bfcl")
    assert again.code == Exit.USAGE
    assert "a folder of that name exists" in again.err
    assert suite.read_text() == "mine"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("../mine",), "cannot be the name of a new suite"),
        (("",), "cannot be the name of a new suite"),
        (("mine", "--kind", "pyhton"), "Did you mean python?"),
        (("mine", "--kind", "bfcl", "--from", "x.csv"), "a table can only become a suite of kind dialogue, not bfcl"),
        (("mine", "--from", "x.csv"), "x.csv: cannot be read"),
    ],
)
def test_names_and_kinds_that_cannot_be(console: Any, home: Path, args: tuple[str, ...], message: str) -> None:
    refused = console("new", *args)
    assert refused.code == Exit.USAGE
    assert message in refused.err
    assert not (home / "data").exists()


def test_a_changed_template_must_be_allowed(console: Any, home: Path) -> None:
    console("new", "mine", "--kind", "python")
    suite = home / "data" / "mine" / "suite.py"
    suite.write_text(suite.read_text() + "\n")
    refused = console("run", "-m", "sim/careful", "-s", "mine")
    assert refused.code == Exit.USAGE
    assert "`eval-console allow mine`" in refused.err


@pytest.fixture
def check(console: Any, home: Path) -> Any:
    def run(code: str) -> Any:
        write_folder_suite(home / "data", code=code)
        assert console("allow", "cities").code == Exit.OK
        return console("suites", "check", "cities")

    return run


def test_a_check_says_how_answers_end_and_what_a_run_would_cost(check: Any, console: Any, home: Path) -> None:
    (home / "models.toml").write_text(
        '[m]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:1/v1"\nprice = {in = 1, out = 2}\n'
    )
    checked = check(CITIES)
    assert checked.code == Exit.OK
    assert "cities: 4 cases in 2 categories" in checked.out
    assert checked.out.count("right answer passed, wrong answer failed") == 4, (
        "a case of each category, and of few categories all there are"
    )
    assert checked.out.startswith("cities: 4 cases"), "what the suite prints stands with its cases"
    assert "it printed: asked about Lyon" in checked.out
    first, *_ = console("suites", "check", "cities", "--json").data["played"]
    assert "asked about Lyon" in first["printed"]
    assert "4 cases: about 16 calls" in checked.out
    assert "m  about $0.00" in checked.out


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (replaced("play", "raise KeyError('x')"), "KeyError: 'x'"),
        (replaced("score", "return 1 / 0"), "ZeroDivisionError"),
        (replaced("score", "return verdict(False)"), "its scripted right answer fails: wrong_answer"),
        (replaced("score", "return verdict(True, scores={'size': 'big'})"), "its score 'size' is 'big', not a number"),
        (CITIES.replace('("user",)', "()"), "it calls the role user, which `needs_roles` of the suite does not name"),
        (CITIES.replace("city.lower()", "'city'"), "two cases with the id 'city'"),
    ],
)
def test_a_check_names_what_does_not_hold(check: Any, code: str, message: str) -> None:
    checked = check(code)
    assert checked.code == Exit.USAGE
    assert message in checked.out + checked.err


def test_a_check_warns_of_a_grader_that_takes_anything(check: Any) -> None:
    checked = check(replaced("score", "return verdict(True)"))
    assert checked.code == Exit.OK
    assert "a wrong answer passes too" in checked.out


def test_a_check_warns_of_a_score_that_no_answer_has(check: Any, console: Any) -> None:
    code = replaced("score", "return verdict(True, scores={'size': 1.5})")
    declared = "    headline = ('sise', 'passed')\n    units = {'size': 'm'}\n    needs_roles"
    checked = check(code.replace("    needs_roles", declared))
    assert checked.code == Exit.OK
    warning = "headline: no answer tried here has a score 'sise'; they have size"
    assert checked.out.splitlines()[-1] == warning
    assert console("suites", "check", "cities", "--json").data["warnings"] == [warning]


def test_a_check_warns_of_a_right_answer_that_fails_where_a_score_decides(check: Any) -> None:
    code = replaced("score", "return verdict(False, scores={'size': 1.5})")
    checked = check(code.replace("    needs_roles", "    headline = 'size'\n    needs_roles"))
    assert checked.code == Exit.OK
    assert "its scripted right answer fails: wrong_answer" in checked.out


def test_a_check_warns_of_a_tool_that_reports_an_error_to_the_right_answer(check: Any) -> None:
    checked = check(
        CITIES.replace("return PEOPLE[city]", "return POEPLE[city]").replace("PEOPLE =", "POEPLE = {}\nPEOPLE =")
    )
    assert checked.out.count("a tool reports an error to the right answer: KeyError: 'Lyon'") == 1


def test_a_signal_ends_a_check_and_is_no_fault_of_the_suite(home: Path) -> None:
    write_folder_suite(home / "data", code=replaced("play", "__import__('os').kill(__import__('os').getpid(), 15)"))
    for line in (("allow", "cities"), ("suites", "check", "cities")):
        done = subprocess.run(
            [sys.executable, "-m", "console", *line], cwd=home, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 143, done.stderr
    assert "not played" not in done.stdout
    assert done.stdout.startswith("cities: 4 cases")


def test_a_check_warns_of_a_misspelled_key_of_the_suite_file(console: Any, home: Path) -> None:
    write_folder_suite(home / "data", toml='module = "suite.py"\ntitel = "Cities"\nmine = 1\n')
    assert console("allow", "cities").code == Exit.OK
    checked = console("suites", "check", "cities")
    assert checked.out.endswith("suite.toml: nothing reads the key 'titel'; did you mean title?\n")


def test_other_words_get_the_nearest(console: Any) -> None:
    assert "Did you mean `suites check mine`?" in console("suites", "chek", "mine").err
    assert "there is no format 'nothing'" in console("suites", "schema", "nothing").err
