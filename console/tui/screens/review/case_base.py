"""`CaseScreen`: a run screen with a current case: what is listed, where the reader is, all that is known of the case.

The suite is opened in a thread; until it is there, and when it cannot be, the case is shown without a comparison.
"""

from collections import OrderedDict
from collections.abc import Iterable

from console.core.annotation import UNREMARKED, Annotation
from console.core.case import Key
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.loops import NOVELTY
from console.insight.rollout import Rollout, Slot
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.suites.suite import Report, Result, Suite
from console.tui.screens.review.triage import Triage
from console.tui.screens.review.views import Subject
from console.tui.screens.run_screen import RunScreen
from console.tui.services import Services

KEPT = 64


class CaseScreen(RunScreen):
    """A screen of one run with a current case; see the module."""

    def __init__(self, services: Services, run: RunFolder, case: str = "") -> None:
        """Show a run, with the cursor on a case if one is named."""
        super().__init__(services, run)
        self.triage = Triage()
        self.notes = Notes(run.path)
        self.current: Slot | None = None
        self.wanted_case = case
        self._suite: Suite | None = None
        self._why = ""
        self._comparisons: OrderedDict[Key, Comparison | str] = OrderedDict()

    @property
    def loops(self) -> bool:
        """Whether this is a run of loops, of which all are read, not only what failed."""
        feed = self.feed
        return feed is not None and (NOVELTY in feed.overview.track_names or "embedding" in feed.manifest.roles)

    @property
    def sums(self) -> bool:
        """Whether this is a run of conversations whose turns are counted: cave-bench, by the names of its modes."""
        return self.feed is not None and self.feed.manifest.setting.mode in ("cave", "json")

    is_searching = False
    """Whether free text is being looked for."""

    # To be answered by the screen ------------------------------------------------------------------------------------

    def relist(self) -> None:
        """Draw the list again because tags, filter or grouping changed."""

    def show_case(self) -> None:
        """Draw the current case again."""

    def go(self, rollout: Rollout | None) -> None:
        """Make a case the current one."""

    def draw_figures(self) -> None:
        """Draw counters and scores again."""

    def step_found(self, by: int) -> bool:
        """Go to another place found in the text; say whether there is a search at all."""
        return False

    # The case --------------------------------------------------------------------------------------------------------

    @property
    def rollout(self) -> Rollout | None:
        """The current rollout."""
        if self.feed is None or self.current is None:
            return None
        return self.feed.overview.rollouts.get(self.current)

    @property
    def annotation(self) -> Annotation:
        """What readers say of the current case."""
        return self.triage.annotation(self.current) if self.current is not None else UNREMARKED

    def subject(self) -> Subject | None:
        """Return everything the views of the current case are drawn from.

        Raises:
            UsageError: the journal cannot be read any more.
        """
        rollout, feed = self.rollout, self.feed
        if rollout is None or feed is None:
            return None
        conversation = feed.conversation(rollout.key)
        found = self._compare(conversation, feed.manifest)
        attempts = [feed.conversation(key) for key in rollout.attempts] if len(rollout.attempts) > 1 else ()
        if isinstance(found, str):
            return Subject(rollout, conversation, None, found, attempts)
        return Subject(rollout, conversation, found, "", attempts)

    def prefetch(self) -> None:
        """Fold and compare the cases next to the current one."""
        if self.feed is None or self.current is None or not self.is_current:
            return
        keys = [it.key for it in self.triage.around(self.current)]
        self.feed.prefetch(keys)
        for key in keys:
            if self.feed.is_kept(key):
                self._compare(self.feed.conversation(key), self.feed.manifest)

    def _compare(self, conversation: Conversation, manifest: Manifest) -> Comparison | str:
        """Return expected beside actual, or why there is none."""
        key = conversation.key
        if self._suite is None:
            return self._why
        if conversation.case is None or conversation.verdict is None:
            return "this case has not been graded"
        if conversation.verdict.outcome is Outcome.BROKEN:
            return "there is no answer to compare"
        if key not in self._comparisons:
            self._comparisons[key] = _compared(self._suite, conversation, manifest)
            while len(self._comparisons) > KEPT:
                self._comparisons.popitem(last=False)
        return self._comparisons[key]

    def listed_rollouts(self) -> Iterable[Rollout]:
        """Return all rollouts of the run, in its order."""
        return self.feed.overview.rollouts.values() if self.feed is not None else ()

    def report(self) -> Report | str:
        """Return the suite's numbers for the run so far, or why there are none."""
        if self.feed is None or self._suite is None:
            return self._why or "the suite is being opened"
        fold, setting = self.feed.overview.fold, self.feed.manifest.setting
        results = [
            Result(case, fold.category_of.get(case, ""), rollout, record.verdict)
            for (case, rollout), record in fold.latest.items()
        ]
        try:
            report = self._suite.report(results, setting)
            return report.fault or report
        except Exception as error:  # a suite of another package may fail in any way
            return f"the suite cannot sum this run up: {type(error).__name__}: {error}"

    # The suite -------------------------------------------------------------------------------------------------------

    def find_suite(self, manifest: Manifest) -> Suite:
        """Open the run's suite; called in a thread.

        Raises:
            UsageError: the suite or its data is not there.
        """
        from console.config.paths import find_data_roots
        from console.suites.catalog import Catalog

        return Catalog(find_data_roots(self.services.paths.data)).open(manifest.suite)

    def open_suite(self) -> None:
        """Begin to open the suite."""
        if self.feed is not None:
            manifest = self.feed.manifest
            self.run_worker(lambda: self._open_suite(manifest), thread=True, group="suite", exit_on_error=False)

    def _open_suite(self, manifest: Manifest) -> None:
        try:
            suite, why = self.find_suite(manifest), ""
        except UsageError as error:
            suite, why = None, f"the suite cannot be opened: {error}"
        except Exception as error:  # a suite of another package may fail in any way
            suite, why = None, f"the suite cannot be opened: {type(error).__name__}: {error}"
        if self.is_running:
            self.services.from_thread(self._take_suite, suite, why)

    def _take_suite(self, suite: Suite | None, why: str) -> None:
        self._suite, self._why = suite, why
        self._comparisons.clear()
        self.show_case()


def _compared(suite: Suite, conversation: Conversation, manifest: Manifest) -> Comparison | str:
    assert conversation.case is not None
    assert conversation.verdict is not None
    try:
        return suite.compare(conversation.case, conversation.output, conversation.verdict, manifest.setting)
    except Exception as error:  # a suite of another package may fail in any way
        return f"the suite cannot compare this case: {type(error).__name__}: {error}"
