"""`OpenedRun`: a run that was read whole, with its suite: each case as it was played and compared.

Reading and comparing may be slow, and a suite may be of another package: call them in threads.
"""

from dataclasses import dataclass
from pathlib import Path

from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.run import Manifest
from console.exchange.run_reader import RunReader
from console.insight.case_in_both import CaseInRun
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.suites.catalog import find_suite
from console.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run's journal, and its suite if that could be opened."""

    reader: RunReader
    suite: Suite | None
    why_no_suite: str
    """Why the suite cannot be opened; what was expected is then not known."""

    @classmethod
    def of(cls, reader: RunReader, data: Path | None) -> "OpenedRun":
        """Open the suite of a run that was read.

        Args:
            reader: the run.
            data: folder of suites, if one was named.
        """
        suite = _suite_of(reader.manifest, data)
        return cls(reader, None, suite) if isinstance(suite, str) else cls(reader, suite, "")

    def read_case(self, rollout: Rollout) -> CaseInRun:
        """Return a case as this run played it, compared by the suite.

        Raises:
            UsageError: the journal is not there any more.
        """
        try:
            conversation = self.reader.conversation(rollout)
        except OSError as error:
            why = f"its journal cannot be read any more: {error.strerror}"
            raise UsageError(why, where=self.reader.folder.name, hint="ctrl+r reads the runs again.") from None
        comparison, fault = _compared(self.suite, conversation, self.reader.manifest)
        return CaseInRun(rollout, conversation, comparison, fault)


def _suite_of(manifest: Manifest, data: Path | None) -> Suite | str:
    """Return the suite of a run, or why it cannot be opened."""
    try:
        return find_suite(manifest, data)
    except UsageError as error:
        return str(error)
    except Exception as error:  # a suite of another package may fail in any way
        return f"the suite cannot be opened: {type(error).__name__}: {error}"


def _compared(suite: Suite | None, conversation: Conversation, manifest: Manifest) -> tuple[Comparison | None, str]:
    """Lay expected beside actual; None when there is nothing to compare, and a text when the suite cannot."""
    case, output, verdict = conversation.case, conversation.output, conversation.verdict
    if suite is None or case is None or verdict is None or output is None:
        return None, ""
    try:
        return suite.compare(case, output, verdict, manifest.setting), ""
    except BaseException as error:  # a suite of another package may fail in any way, even by sys.exit
        return None, f"the suite cannot compare this case: {type(error).__name__}: {error}"
