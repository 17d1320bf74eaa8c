"""Code of a suite's folder runs only as it was allowed, and whatever it does costs only itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.folder_suites import CITIES, replaced, write_folder_suite

from console.cli.exitcode import Exit
from console.suites import loading


@pytest.fixture
def play(console: Any, home: Path) -> Any:
    def run(*args: object) -> Any:
        return console("run", "-m", "sim/hasty", "-s", "cities", *args, "--data", home, "--quiet", "--json")

    return run


@pytest.fixture
def allow(console: Any, home: Path) -> Any:
    return lambda *args: console("allow", "cities", *args, "--data", home)


def test_code_runs_only_after_it_was_allowed_and_again_after_a_change(play: Any, allow: Any, home: Path) -> None:
    folder = write_folder_suite(home, code=f"open({str(home / 'ran')!r}, 'w').close()\n{CITIES}")
    refused = play()
    assert refused.code == Exit.USAGE
    assert "has not been allowed to run" in refused.err
    assert f"`eval-console allow cities --data {home}`" in refused.err
    assert not (home / "ran").exists()
    assert allow().code == Exit.OK
    assert (home / "ran").exists()
    assert play().code in (Exit.OK, Exit.BELOW)
    (folder / "rules.py").write_text("x = 1\n")
    changed = play()
    assert changed.code == Exit.USAGE
    assert "has changed since it was allowed" in changed.err
    (folder / "rules.py").unlink()
    assert play().code in (Exit.OK, Exit.BELOW)
    assert allow("--revoke").code == Exit.OK
    assert play().code == Exit.USAGE


def test_two_folders_with_the_same_code_are_two_suites_and_each_is_allowed_by_itself(console: Any, home: Path) -> None:
    for name in ("cities", "towns"):
        folder = write_folder_suite(home, name, f"from . import rules\nNAME = rules.NAME\n{CITIES}")
        (folder / "rules.py").write_text(f"NAME = {name!r}\n")
    assert console("allow", "cities", "--data", home).code == Exit.OK
    assert console("suites", "towns", "--data", home).code == Exit.USAGE
    assert console("allow", "towns", "--data", home).code == Exit.OK
    listed = console("suites", "--data", home, "--json").data["suites"]
    assert {item["name"]: item["cases"] for item in listed if item["format"] == "python"} == {"cities": 4, "towns": 4}


def test_compiled_files_beside_the_code_are_not_run(play: Any, allow: Any, home: Path) -> None:
    folder = write_folder_suite(home, code=f"from . import rules\n{CITIES}")
    (folder / "rules.py").write_text("")
    assert allow().code == Exit.OK
    assert not (folder / "__pycache__").exists()
    (folder / "hidden.pyc").write_bytes(b"no code")
    (folder / "rules.py").write_text("from . import hidden\n")
    refused = allow()
    assert refused.code == Exit.USAGE
    assert "rules.py:1" in refused.err


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("x = 1\nraise RuntimeError('not here')\n", "RuntimeError: not here"),
        ("def f(:\n", "SyntaxError"),
        ("x = 1\n", "has no class with `cases`, `play` and `score`"),
        (f"{CITIES}\nclass Towns(Cities): pass\n", "has 2 suite classes"),
        ("import rules\n", "write `from . import rules`"),
        ("import os\nos._exit(4)\n", "SystemExit: 4"),
        ("import os\nos.kill(os.getpid(), 9)\n", "ended with code -9"),
        (replaced("cases", "return 3"), "it returned 3, not several values of type Case"),
        (replaced("cases", "return [1]"), "one of its values is 1, not a Case"),
        (replaced("cases", "return [Case(7, 'x')]"), "needs strings as id and category"),
    ],
    ids=[
        "exits",
        "raises",
        "no Python",
        "empty",
        "two",
        "absolute",
        "leaves",
        "killed",
        "no cases",
        "no Case",
        "no id",
    ],
)
def test_code_that_cannot_be_loaded_is_one_sentence_with_file_and_line(
    allow: Any, home: Path, code: str, message: str
) -> None:
    folder = write_folder_suite(home, code=code)
    (folder / "rules.py").write_text("")
    refused = allow()
    assert refused.code == Exit.USAGE
    assert message in refused.err
    assert "suite.py" in refused.err
    assert allow().code == Exit.USAGE, "what failed was not allowed"


@pytest.mark.parametrize("code", ["while True: pass\n", replaced("cases", "while True: pass")], ids=["import", "cases"])
def test_code_that_hangs_is_named_with_its_line(
    allow: Any, home: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(loading, "LOAD_S", 0.5)
    folder = write_folder_suite(home, code=code)
    refused = allow()
    assert refused.code == Exit.USAGE
    line = 1 + code.splitlines().index(next(line for line in code.splitlines() if "while True" in line))
    assert f"{folder}/suite.py:{line}" in refused.err
    assert "did not end within 0.5 s" in refused.err


def test_what_code_prints_reaches_the_transcript_and_not_the_output(
    play: Any, allow: Any, console: Any, home: Path
) -> None:
    noisy = CITIES.replace("        people = case.data", '        print("judging")\n        people = case.data')
    write_folder_suite(home, code=f"import sys\nprint('importing')\nsys.stderr.write('loud')\n{noisy}")
    allowed = allow()
    assert allowed.code == Exit.OK
    assert "it printed: importing\nloud" in allowed.err
    ended = play()
    assert ended.data["summary"]["tally"].get("broken", 0) == 0
    assert not ended.err
    shown = console("show", "latest#lyon", "--data", home)
    assert "note printed\n  asked about Lyon" in shown.out
    assert "\n  judging\n" in shown.out


@pytest.mark.parametrize(
    ("part", "body", "message"),
    [
        ("play", "raise KeyError('x')", "KeyError: 'x'"),
        ("play", "import sys; sys.exit(1)", "SystemExit: 1"),
        ("play", "return {1, 2}", "TypeError"),
        ("score", "import sys; sys.exit(1)", "SystemExit: 1"),
        ("score", "return True", "it returned True, not a Verdict"),
        ("score", "return 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_fault_while_playing_is_broken_with_file_and_line(
    play: Any, allow: Any, console: Any, home: Path, part: str, body: str, message: str
) -> None:
    write_folder_suite(home, code=replaced(part, body))
    assert allow().code == Exit.OK
    ended = play("-n", 2)
    assert ended.code == Exit.INCONCLUSIVE
    assert ended.data["summary"]["reasons"] == {"suite": 2}
    shown = console("show", "latest#lyon", "--data", home).out
    assert message in shown
    assert "suite.py:" in shown


def test_check_reads_ids_and_outputs(console: Any, allow: Any, home: Path) -> None:
    write_folder_suite(home)
    allow()
    rows = [
        {"id": "graz", "output": {"text": "302749"}},
        {"id": "graz", "output": {"text": "3"}},
        {"id": "graz", "output": 4},
    ]
    (home / "saved.jsonl").write_text("\n".join(map(json.dumps, rows)))
    right, wrong, fault = console("check", "cities", "saved.jsonl", "--data", home).lines
    assert (right["valid"], wrong["valid"]) == (True, False)
    assert "suite.py:" in fault["error"]


def test_a_suite_without_an_estimate_is_estimated_from_earlier_runs(play: Any, allow: Any, home: Path) -> None:
    write_folder_suite(home)
    allow()
    before = play("--dry-run").data
    assert before["calls"] == 4
    assert before["basis"] == "at least one call per case, as there is no completed run of the suite"
    first = play()
    assert first.data["summary"]["tally"]["calls"] > 8
    after = play("--dry-run", "-n", 2).data
    assert after["calls"] > 4
    assert after["basis"] == f"from 4 rollouts of the simulated run {first.data['run']}"


def test_a_run_is_not_resumed_by_other_code(play: Any, allow: Any, console: Any, home: Path) -> None:
    folder = write_folder_suite(home)
    allow()
    run = play()
    (folder / "suite.py").write_text(f"{CITIES}# changed\n")
    allow()
    refused = console("retry", run.data["run"], "--data", home)
    assert refused.code == Exit.USAGE
    assert "has changed since the run started" in refused.err


def test_tools_are_native_in_every_run_of_a_simple_suite(allow: Any, console: Any, home: Path) -> None:
    write_folder_suite(home)
    allow()
    assert [mode["name"] for mode in console("suites", "cities", "--data", home, "--json").data["modes"]] == ["fc"]
    refused = console("run", "-m", "sim/hasty", "-s", "cities", "--mode", "prompt", "--data", home)
    assert refused.code == Exit.USAGE


def test_data_alone_has_nothing_to_allow(console: Any) -> None:
    refused = console("allow", "bfcl-starter")
    assert refused.code == Exit.USAGE
    assert "has no code" in refused.err
