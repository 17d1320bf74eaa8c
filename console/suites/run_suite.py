"""`RunSuite`: the suite of a recorded run, or the reason why it cannot be opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair
from console.core.fault import FaultKind, UsageError
from console.core.looks import Look
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.core.run import Manifest
from console.suites.catalog import find_suite
from console.suites.planned_order import first_results
from console.suites.report import build_report
from console.suites.suite import Report, Result, Suite


@dataclass(frozen=True, slots=True)
class RunSuite:
    """The suite of a run. Its methods return the errors of suite code in their results (`guard`), and may be slow."""

    manifest: Manifest
    """Plan of the run."""
    suite: Suite | None
    why: str = ""
    """Error from opening the suite. May contain untrusted text."""

    @property
    def setting(self) -> Setting:
        return self.manifest.setting

    @property
    def format(self) -> str:
        """Format of the suite; empty if it cannot be opened."""
        return self.suite.entry.format if self.suite is not None else ""

    def compare(self, case: Case | None, finished: Finished | None) -> Comparison | None:
        """Compare expected with actual; None if there is no suite or output."""
        if self.suite is None or case is None or finished is None:
            return None
        if finished.output is None and finished.verdict.outcome is Outcome.BROKEN:
            return _both_requests(finished.verdict)
        return self.suite.compare(case, finished.output, finished.verdict, self.setting)

    def contradiction(self, case: Case | None) -> str:
        """Return the reason that no answer can pass a case, according to the suite. Untrusted text."""
        return self.suite.contradiction(case, self.setting) if self.suite is not None and case is not None else ""

    def judged_answer(self, finished: Finished | None, turn: int) -> str:
        """Return the part of a reply that a judge graded in a turn of a loop; empty if unknown. Untrusted text."""
        if self.suite is None or finished is None:
            return ""
        return self.suite.judged_answer(finished.output, turn)

    def report(self, results: Sequence[Result], look: Look | None = None, *, by_look: bool = False) -> Report | None:
        """Return the suite's report on the run; None if there is no suite.

        Args:
            results: all finished results.
            look: newest look at the run.
            by_look: report only on results that the look covers, since the rest is not a fair sample; for
                a run in progress, or one ended by a look.
        """
        if self.suite is None:
            return None
        if by_look:
            results = first_results(self.suite, results, self.manifest, look)
        return build_report(self.suite, results, self.setting)


def _both_requests(verdict: Verdict) -> Comparison | None:
    """Return both requests of a conversation that cannot be graded again; None for other broken ones."""
    asks, asked = verdict.detail.get("asks"), verdict.detail.get("asked")
    if verdict.reason != FaultKind.UNANSWERED or not isinstance(asks, list) or not isinstance(asked, list):
        return None
    was, now = (
        msgspec.json.format(msgspec.json.encode(part), indent=2).decode() for part in cast("list[Any]", [asked, asks])
    )
    pair = Pair(Mark.DIFFERS, was, now, kind="result", note="expected: what was asked; actual: what is asked now")
    return Comparison(verdict.messages[0] if verdict.messages else "", (pair,))


def open_run_suite(manifest: Manifest, data: Path | None) -> RunSuite:
    """Open the suite of a run; `data` is the folder given with --data."""
    try:
        return RunSuite(manifest, find_suite(manifest, data))
    except UsageError as error:
        return RunSuite(manifest, None, str(error))
