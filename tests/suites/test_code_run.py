"""Code of a model in the sandbox: tests one by one, expected and got, lines, limits, and tests that stay hidden."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from console.core.fault import UsageError
from console.suites.code_run import parse_tests, run_code
from console.testing.stage import MemoryStage

CODE = """\
import os

def double(x):
    return x * 2

def broken():
    return 1 / 0

def leave():
    os._exit(0)
"""
TESTS = """\
def test_right(): assert double(2) == 4
def test_wrong(): assert double(2) == SECRET
def test_raises(): broken()
def test_leaves(): leave()
def test_after(): pass
SECRET = 5
"""


async def test_each_test_has_a_result_and_the_journal_has_no_test() -> None:
    stage = MemoryStage("case")
    result = await stage.run_code(CODE, tests=TESTS, timeout=60)
    right, wrong, raises, leaves, after = result.tests
    assert (result.passed, right.passed) == (False, True)
    assert (wrong.expected, wrong.got) == ("5", "4")
    assert (raises.error, raises.line) == ("ZeroDivisionError: division by zero", 7)
    assert not leaves.passed
    assert (after.passed, after.error) == (False, "not run")
    assert "SECRET" not in str(stage.journal)
    again = MemoryStage("case", journal=stage.journal)
    assert await again.run_code(CODE, tests=TESTS, timeout=60) == result
    assert again.new == 0


async def test_files_and_input_are_there_and_the_hidden_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "tests.py").write_text("assert True")
    code = f"print(input(), open('a/b.txt').read())\nopen({str(tmp_path / 'tests.py')!r})"
    result = await run_code(MemoryStage("case"), code, stdin="hello", files={"a/b.txt": "there"}, hidden=tmp_path)
    assert result.stdout == "hello there\n"
    assert result.line == 2
    assert "Error" in result.error


async def test_wheels_of_a_folder_can_be_imported(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "def half(n):\n    return n / 2\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Name: tiny\nVersion: 1.0\n")
    code, tests = "from tiny import half\n", "assert half(3) == 1.5"
    assert (await MemoryStage("case").run_code(code, tests=tests, packages=tmp_path, timeout=60)).passed
    assert "No module" in (await MemoryStage("case").run_code(code, tests=tests, timeout=60)).error


def test_statements_are_tests_where_there_is_no_function() -> None:
    setup, parts = parse_tests("values = [1]\ndef check(f):\n    assert f(1) == 2\nassert values\ncheck(double)")
    assert [name for name, _ in parts] == ["assert values", "check(double)"]
    assert "raise _Mismatch" in setup
    for source in ("x = 1", "def f(:"):
        with pytest.raises(UsageError):
            parse_tests(source)
