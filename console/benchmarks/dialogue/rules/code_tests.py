"""The check with hidden tests: finds the code in an answer, and compares the results of its tests."""

import re
from collections.abc import Iterable
from typing import Any

from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import PythonTests
from console.core.comparison import Mark, Pair
from console.suites.code_run import CodeResult, TestResult

SCORE = "tests"
"""Name of the score: the share of passed tests."""
_PYTHON = ("python", "py", "python3")
_BLOCK = re.compile(
    r"(?:^[^\S\n]*```[^\S\n]*([^\s`]*)[^`\n]*|```(py(?:thon3?)?)[^\S\n]*)\n(.*?)(?:^[^\S\n]*```|```[^\S\n]*$|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""A code block with its language; a Python block may begin after text on the same line."""


def has_tests(expect: Iterable[dict[str, Any]]) -> bool:
    """Return whether any check has tests, without parsing it."""
    return any("python_tests" in part for check in expect for part in (check, *check.get("any", ())))


def code_in(answer: str) -> str:
    """Return the first code block marked as Python, else the first unmarked, else the first, else the whole answer."""
    blocks = [((block[1] or block[2] or "").lower(), block[3]) for block in _BLOCK.finditer(answer) if block[3].strip()]
    ranked = sorted(blocks, key=lambda block: 0 if block[0] in _PYTHON else 1 if not block[0] else 2)
    return ranked[0][1] if ranked else answer


def check_code(check: PythonTests, result: CodeResult | None, answer: str) -> Finding:
    """Check that all tests passed."""
    expected = f"all tests of {check.python_tests} pass"
    if result is None:
        return Finding("python_tests", None, expected, answer, "not_run", "the code was not run: this needs a run")
    passed = sum(test.passed for test in result.tests)
    scores = {SCORE: passed / len(result.tests) if result.tests else 0.0}

    def make_pairs() -> list[Pair]:
        broken = [Pair(Mark.DIFFERS, "the code runs", _placed(result.error, result.line), kind="check")]
        return [*(broken if result.error else []), *map(_pair, result.tests)]

    if result.passed:
        return Finding("python_tests", True, expected, code_in(answer), make_pairs=make_pairs, scores=scores)
    if result.error:
        message, subject = _placed(result.error, result.line), result.error.partition(":")[0]
        return Finding("python_tests", False, expected, "", "code_failed", message, subject, make_pairs, scores)
    failed = next(test for test in result.tests if not test.passed)
    message = f"{passed} of {len(result.tests)} tests pass; {failed.name}: {_what(failed)}"
    return Finding("python_tests", False, expected, "", "tests_failed", message, failed.name, make_pairs, scores)


def _what(test: TestResult) -> str:
    if test.got or test.expected:
        return f"expected {test.expected}, got {test.got}"
    return _placed(test.error, test.line)


def _placed(error: str, line: int) -> str:
    return f"{error} (line {line} of the code)" if line else error


def _pair(test: TestResult) -> Pair:
    mark = Mark.SAME if test.passed else Mark.DIFFERS
    expected = f"{test.name}: {test.expected}" if test.expected else test.name
    actual = "passed" if test.passed else test.got or _placed(test.error, test.line)
    note = f"{test.seconds:.2g} s" if test.seconds >= 0.1 else ""
    return Pair(mark, expected, actual, note=note, kind="check")
