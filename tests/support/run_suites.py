"""Suites of recorded runs for tests: the part of a suite that reviewing and comparing need."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from console.core.case import Setting
from console.core.run import Manifest
from console.suites import run_suite
from console.suites.guard import guard
from console.suites.suite import Report, Result, Suite, SuiteEntry


class ReviewedSuite(Suite):
    """A suite whose cases can be reviewed; one that compares derives from it."""

    def __init__(self) -> None:
        super().__init__(SuiteEntry("reviewed", "", Path(), "Reviewed"))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        return Report(())


def compare_by(monkeypatch: pytest.MonkeyPatch, suite: Any = None, **by_name: Any) -> None:
    """Let every run have one suite, guarded as suites of the catalogue are; or each the one named like its suite."""

    def find_suite(manifest: Manifest, data: Path | None) -> Suite:
        return guard(by_name.get(manifest.suite, suite))

    monkeypatch.setattr(run_suite, "find_suite", find_suite)
