"""`CaseLoader`: a case with its comparison, and the suite's numbers for the run. Suites' code runs in a thread.

A suite of another package may be slow, hang or fail in any way: its code never runs on the interface's loop, which
waits for it only for a moment, so that what is quick is there at once. What comes later is drawn when it comes.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from console.core.case import Key, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.rollout import Rollout
from console.suites.catalog import find_suite
from console.suites.suite import Report, Result, Suite
from console.suites.summing import summed_up
from console.tui.data.suite_thread import SuiteThread
from console.tui.suite_views.registry import load_view
from console.tui.suite_views.suite_view import ReviewedCase

T = TypeVar("T")
KEPT = 64
"""Comparisons that are kept."""
WAIT_S = 0.1
"""Longest time that drawing waits for a suite."""


class ReviewedRun(Protocol):
    """The run under review: a `RunFeed`."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def overview(self) -> Overview:
        """What is known of it so far."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether the journal has been read to its end."""
        ...

    def conversation(self, key: Key) -> Conversation:
        """Return one conversation.

        Raises:
            UsageError: the journal cannot be read any more.
        """
        ...

    def prefetch(self, keys: Sequence[Key]) -> None:
        """Read some conversations before they are needed."""
        ...

    def is_kept(self, key: Key) -> bool:
        """Whether a conversation is at hand."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedSuite:
    """A run's suite, or why it cannot be opened."""

    suite: Suite | None
    why: str = ""
    format_name: str = ""
    view_fault: str = ""
    """Why the view that another package offers for the format cannot be shown; said once for each format."""


def open_suite(data: Path | None, manifest: Manifest) -> OpenedSuite:
    """Open a run's suite and load the view of its format; slow, so call it in a thread."""
    try:
        suite = find_suite(manifest, data)
    except UsageError as error:
        return OpenedSuite(None, f"the suite cannot be opened: {error}")
    except Exception as error:  # a suite of another package may fail in any way
        return OpenedSuite(None, f"the suite cannot be opened: {type(error).__name__}: {error}")
    try:
        format_name = suite.entry.format
    except Exception:  # a suite of another package may lack anything
        format_name = ""
    return OpenedSuite(suite, "", format_name, load_view(format_name) if format_name else "")


class CaseLoader:
    """Reads cases of one run."""

    def __init__(self, in_loop: Callable[[Callable[[], None]], object], changed: Callable[[], None]) -> None:
        """Read cases without a comparison until `take_suite`.

        Args:
            in_loop: has a function called in the interface's loop; may be called from any thread.
            changed: told, in that loop, when something is there that drawing did not wait for.
        """
        self.format_name = ""
        """Format of the run's suite; empty while it is not known."""
        self._suite: Suite | None = None
        self._why = ""
        self._in_loop, self._changed = in_loop, changed
        self._thread = SuiteThread()
        self._comparisons: OrderedDict[Key, Comparison | str] = OrderedDict()
        self._under_way: dict[Key, Future[Comparison | str]] = {}
        """Comparisons that were not there at once."""
        self._awaited: set[Key] = set()
        """Those of them that were to be drawn."""
        self._report: tuple[object, Report | str] | None = None
        """The last report, and how far the run was then."""
        self._reporting: Future[Report | str] | None = None

    def take_suite(self, opened: OpenedSuite) -> None:
        """Compare by this suite from now on."""
        self._suite, self._why, self.format_name = opened.suite, opened.why, opened.format_name
        self._comparisons.clear()
        self._under_way.clear()
        self._awaited.clear()
        self._report = self._reporting = None

    @property
    def has_suite(self) -> bool:
        """Whether the run's suite is open."""
        return self._suite is not None

    def close(self) -> None:
        self._thread.close()

    def case(self, run: ReviewedRun, rollout: Rollout) -> ReviewedCase:
        """Return everything the views of a case are drawn from.

        Raises:
            UsageError: the journal cannot be read any more.
        """
        conversation = run.conversation(rollout.key)
        attempts = [run.conversation(key) for key in rollout.attempts] if len(rollout.attempts) > 1 else ()
        comparison = self._compare(conversation, run.manifest)
        if isinstance(comparison, str):
            return ReviewedCase(rollout, conversation, None, comparison, attempts)
        return ReviewedCase(rollout, conversation, comparison, "", attempts)

    def prefetch(self, run: ReviewedRun, keys: Sequence[Key]) -> None:
        """Read and compare cases before they are looked at."""
        run.prefetch(keys)
        for key in keys:
            if run.is_kept(key):
                self._compare(run.conversation(key), run.manifest, wait_s=0.0)

    def report(self, run: ReviewedRun) -> Report | str:
        """Return the suite's numbers for the run so far, or why there are none."""
        suite, setting, fold = self._suite, run.manifest.setting, run.overview.fold
        if suite is None:
            return self._why or "the suite is being opened"
        stamp = (fold.tally.finished, fold.last_at)
        if self._report is not None and self._report[0] == stamp:
            return self._report[1]
        if self._reporting is None:
            results = [
                Result(
                    case,
                    fold.category_of.get(case, ""),
                    rollout,
                    record.verdict,
                    fold.cases.cluster(case),
                    case not in fold.ungraded,
                )
                for (case, rollout), record in fold.latest.items()
            ]
            future = self._thread.start(lambda: _reported(suite, results, setting))
            try:
                self._report = stamp, future.result(WAIT_S)
            except TimeoutError:
                self._reporting = future
                future.add_done_callback(lambda future: self._in_loop(partial(self._take_report, stamp, future)))
        return self._report[1] if self._report is not None else "the run is being summed up"

    def _take_report(self, stamp: object, future: "Future[Report | str]") -> None:
        if future is self._reporting:
            self._reporting = None
            self._report = stamp, future.result()
            self._changed()

    def _compare(self, conversation: Conversation, manifest: Manifest, wait_s: float = WAIT_S) -> Comparison | str:
        """Return expected beside actual, or why there is none."""
        key, suite = conversation.key, self._suite
        if suite is None:
            return self._why
        if conversation.case is None or conversation.verdict is None:
            return "this case has not been graded"
        if conversation.verdict.outcome is Outcome.BROKEN:
            return "there is no answer to compare"
        if key in self._comparisons:
            return self._comparisons[key]
        future = self._under_way.get(key) or self._thread.start(lambda: _compared(suite, conversation, manifest))
        try:
            comparison = future.result(wait_s)
        except TimeoutError:
            if key not in self._under_way:
                self._under_way[key] = future
                future.add_done_callback(lambda future: self._in_loop(partial(self._arrive, suite, key, future)))
            if wait_s:
                self._awaited.add(key)
            return "expected and actual are being compared"
        self._under_way.pop(key, None)
        self._keep(key, comparison)
        return comparison

    def _arrive(self, suite: Suite, key: Key, future: "Future[Comparison | str]") -> None:
        """Take a comparison that was not there at once."""
        if suite is not self._suite or self._under_way.pop(key, None) is None:
            return
        self._keep(key, future.result())
        if key in self._awaited:
            self._awaited.discard(key)
            self._changed()

    def _keep(self, key: Key, comparison: Comparison | str) -> None:
        self._comparisons[key] = comparison
        while len(self._comparisons) > KEPT:
            self._comparisons.popitem(last=False)


def _compared(suite: Suite, conversation: Conversation, manifest: Manifest) -> Comparison | str:
    assert conversation.case is not None
    assert conversation.verdict is not None
    try:
        return suite.compare(conversation.case, conversation.output, conversation.verdict, manifest.setting)
    except BaseException as error:  # a suite of another package may fail in any way, even by sys.exit
        return f"the suite cannot compare this case: {type(error).__name__}: {error}"


def _reported(suite: Suite, results: Sequence[Result], setting: Setting) -> Report | str:
    try:
        report = summed_up(suite, results, setting)
        return report.fault or report
    except BaseException as error:  # a suite of another package may fail in any way, even by sys.exit
        return f"the suite cannot sum this run up: {type(error).__name__}: {error}"
