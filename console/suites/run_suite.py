"""`RunSuite`: the suite that a run was played with: what it says of cases and run, or why it cannot be opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Finished
from console.core.run import Manifest
from console.suites.catalog import find_suite
from console.suites.suite import Report, Result, Suite
from console.suites.summing import summed_up


@dataclass(frozen=True, slots=True)
class RunSuite:
    """A run's suite; what its code fails to do is said in what is returned (`guard`). It may be slow."""

    setting: Setting
    """How the run was played."""
    suite: Suite | None
    why: str = ""
    """Why the suite cannot be opened. May be foreign text."""

    @property
    def format(self) -> str:
        """The suite's format; empty when the suite cannot be opened."""
        return self.suite.entry.format if self.suite is not None else ""

    def compare(self, case: Case | None, finished: Finished | None) -> Comparison | None:
        """Lay expected beside actual; None without a suite, and where a case has no answer."""
        if self.suite is None or case is None or finished is None:
            return None
        if finished.output is None and finished.verdict.outcome is Outcome.BROKEN:
            return None
        return self.suite.compare(case, finished.output, finished.verdict, self.setting)

    def report(self, results: Sequence[Result]) -> Report | None:
        """Sum the run up by the benchmark's own formula; None without a suite."""
        return summed_up(self.suite, results, self.setting) if self.suite is not None else None


def open_run_suite(manifest: Manifest, data: Path | None) -> RunSuite:
    """Open the suite of a run.

    Args:
        manifest: of the run.
        data: folder of suites, if one was named.
    """
    try:
        return RunSuite(manifest.setting, find_suite(manifest, data))
    except UsageError as error:
        return RunSuite(manifest.setting, None, str(error))
