"""Checkers for the lines of `check`: by a function for each row, or by `Suite.score`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import msgspec

from console.core.case import Case, Setting
from console.core.fault import Fault, UsageError
from console.core.outcome import Outcome
from console.core.suggestion import suggest
from console.suites.modes import find_mode
from console.suites.suite import Row, Suite


class RowChecker:
    """Judges each row independently."""

    def __init__(self, judge: Callable[[Row], Row]) -> None:
        """Store the function that judges a row, or raises `UsageError`."""
        self._judge = judge

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def check(self, rows: Sequence[Row]) -> list[Row | UsageError]:
        return [self._answer(row) for row in rows]

    def _answer(self, row: Row) -> Row | UsageError:
        try:
            return self._judge(row)
        except UsageError as error:
            return error
        except Exception as error:  # arbitrary suite code
            return UsageError(f"the suite's code failed: {type(error).__name__}: {error}")


class OutputChecker(RowChecker):
    """Judges rows of `id` and `output`, with optional `mode` and `options`, by `Suite.score`."""

    def __init__(self, suite: Suite) -> None:
        """Store the suite; its cases are read on first use."""
        super().__init__(self._score)
        self._suite = suite
        self._defaults = {option.name: option.default for option in suite.options}
        self._cases: dict[bytes, dict[str, Case]] = {}
        """Cases by encoded setting, then by id."""

    def _score(self, row: Row) -> Row:
        case_id, options = row.get("id"), row.get("options", {})
        if not isinstance(case_id, str) or "output" not in row:
            raise UsageError("a line needs `id` (a string) and `output`")
        if not isinstance(options, Mapping) or not isinstance(row.get("mode"), str | None):
            raise UsageError("`options` must be an object and `mode` a string")
        setting = Setting(mode=find_mode(self._suite, row.get("mode")), options={**self._defaults, **options})
        try:
            verdict = self._suite.score(self._case(case_id, setting), row["output"], setting)
        except Fault as fault:
            raise UsageError(fault.message, hint=fault.hint) from fault
        passed: dict[str, Any] = {"valid": verdict.outcome is Outcome.PASSED} if verdict.outcome.is_graded else {}
        return {"id": case_id, **passed, **msgspec.to_builtins(verdict)}

    def _case(self, case_id: str, setting: Setting) -> Case:
        key = msgspec.json.encode(setting)
        if key not in self._cases:
            self._cases[key] = {case.id: case for case in self._suite.cases((), setting)}
        case = self._cases[key].get(case_id)
        if case is None:
            hint = suggest(case_id, self._cases[key])
            raise UsageError(f"{self._suite.entry.name} has no case {case_id!r}", hint=hint)
        return case
