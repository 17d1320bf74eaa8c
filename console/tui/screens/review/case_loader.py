"""`CaseLoader`: loads cases with comparisons, and the suite's report on the run.

Suites may be slow, hang or fail, so their code runs in a thread. The event loop waits only a moment for a result;
later results are drawn when they are available.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Protocol

from console.core.annotation import Annotation
from console.core.case import Key, Slot
from console.core.comparison import Comparison
from console.core.looks import latest_look
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.report import Section
from console.insight.rollout import Rollout
from console.suites.report import results_of
from console.suites.run_suite import RunSuite
from console.suites.suite import Report
from console.tui.data.case_reads import WAIT_S, CaseReads, LateReads
from console.tui.suite_views.suite_view import ReviewedCase

if TYPE_CHECKING:
    from console.insight.deciding import Branch


class ReviewedRun(Protocol):
    """The run under review, such as a `RunFeed`."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def overview(self) -> Overview:
        """Records read so far."""
        ...

    @property
    def is_live(self) -> bool: ...

    @property
    def is_read(self) -> bool:
        """True if the journal has been read to its end."""
        ...

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation.

        Raises:
            UsageError: the journal can no longer be read.
        """
        ...

    def prefetch(self, keys: Sequence[Key]) -> None: ...

    def is_kept(self, key: Key) -> bool: ...


class CaseLoader:
    """Loads cases of one run."""

    def __init__(
        self,
        in_loop: Callable[[Callable[[], None]], object],
        changed: Callable[[], None],
        read_apart: Callable[[], Section | None] = lambda: None,
        read_branches: "Callable[[], Mapping[str, Sequence[Branch]]]" = dict,
        when_idle: Callable[[Callable[[], None]], object] = lambda call: call(),
    ) -> None:
        """Start without a suite; cases have no comparison until `use_suite`.

        Args:
            in_loop: schedules a call in the event loop; thread-safe.
            changed: called in that loop when a delayed result is available.
            read_apart: returns the run's scores by decided keys and by people's labels; called in a thread.
            read_branches: returns the branches of the run by case; called in a thread.
            when_idle: schedules a call after the case has been drawn.
        """
        self.suite: RunSuite | None = None
        """The run's suite; None while it is being opened."""
        self._in_loop, self._changed = in_loop, changed
        self._comparisons = CaseReads[Key, Comparison | None](in_loop, lambda _: changed())
        self._apart = CaseReads[object, Section | None](in_loop, lambda _: changed())
        self._read_apart = read_apart
        self._branches = LateReads[None, "Mapping[str, Sequence[Branch]]"](
            lambda _: read_branches(), {}, when_idle, in_loop, changed
        )
        self._report: tuple[object, Report | None] | None = None
        """The last report, and the progress of the run at that time."""
        self._reporting: Future[Report | None] | None = None

    def use_suite(self, suite: RunSuite) -> None:
        self.suite = suite
        self._comparisons.forget()
        self._report = self._reporting = None

    @property
    def format_name(self) -> str:
        """Format of the run's suite; empty if unknown."""
        return self.suite.format if self.suite is not None else ""

    def close(self) -> None:
        self._comparisons.close()
        self._apart.close()
        self._branches.close()

    def case(self, run: ReviewedRun, rollout: Rollout) -> ReviewedCase:
        """Return a case with everything that its views need.

        Raises:
            UsageError: the journal can no longer be read.
        """
        conversation = run.conversation(rollout.key)
        attempts = [run.conversation(key) for key in rollout.attempts] if len(rollout.attempts) > 1 else ()
        comparison, why = None, self._why_uncompared(conversation)
        if not why:
            comparison = self._comparisons.get(conversation.key, partial(self._compare, conversation))
            why = comparison.fault if comparison is not None else "comparing expected and actual …"
        branches = self.branches(rollout.key.case)
        return ReviewedCase(rollout, conversation, None if why else comparison, why, attempts, branches)

    def branches(self, case: str) -> "Sequence[Branch]":
        """Return the branches of a case read so far, newest first."""
        return self._branches.get(None).get(case, ())

    def forget_branches(self) -> None:
        """Read the branches again when next requested; until then the old ones are returned."""
        self._branches.forget()

    def prefetch(self, run: ReviewedRun, keys: Sequence[Key]) -> None:
        run.prefetch(keys)
        for conversation in [run.conversation(key) for key in keys if run.is_kept(key)]:
            if not self._why_uncompared(conversation):
                self._comparisons.prefetch(conversation.key, partial(self._compare, conversation))

    @property
    def _why_no_suite(self) -> str:
        """Reason why the run's suite is unavailable; empty if it is available."""
        if self.suite is None:
            return "the suite is being opened"
        return f"the suite cannot be opened: {self.suite.why}" if self.suite.why else ""

    def _why_uncompared(self, conversation: Conversation) -> str:
        """Return the reason that a case cannot be compared; empty if it can."""
        if self._why_no_suite:
            return self._why_no_suite
        if conversation.case is None or conversation.verdict is None:
            return "this case has not been graded"
        return "there is no answer to compare" if conversation.verdict.outcome is Outcome.BROKEN else ""

    def _compare(self, conversation: Conversation) -> Comparison | None:
        assert self.suite is not None
        return self.suite.compare(conversation.case, conversation.finished)

    def report(self, run: ReviewedRun) -> Report | str:
        """Return the suite's report on the run so far, or why there is none."""
        suite, fold = self.suite, run.overview.fold
        if suite is None or suite.why:
            return self._why_no_suite
        stamp = (fold.tally.finished, fold.last_at)
        if (self._report is None or self._report[0] != stamp) and self._reporting is None:
            results = results_of(fold)
            look, by_look = latest_look(fold.looks), fold.is_shown_by_look(run.manifest, live=run.is_live)
            future = self._comparisons.thread.start(lambda: suite.report(results, look, by_look=by_look))
            try:
                self._report = stamp, future.result(WAIT_S)
            except TimeoutError:
                self._reporting = future
                future.add_done_callback(lambda future: self._in_loop(partial(self._keep_report, stamp, future)))
        report = self._report[1] if self._report is not None else None
        return report.fault or report if report is not None else "the report is being computed"

    def scores_apart(self, run: ReviewedRun, annotations: Mapping[Slot, Annotation]) -> Section | None:
        """Return the run's scores by corrected keys and by people's labels; None without any, or while reading."""
        people = tuple(
            (slot, *(verdict.word for verdict in (each.people, *each.rounds.values()) if verdict is not None))
            for slot, each in annotations.items()
            if each.people or each.rounds
        )
        return self._apart.get((run.overview.fold.tally.finished, people), self._read_apart)

    def _keep_report(self, stamp: object, future: Future[Report | None]) -> None:
        if future is self._reporting:
            self._reporting = None
            self._report = stamp, future.result()
            self._changed()
