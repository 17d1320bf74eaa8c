"""`OpenedRun`: a run's journal together with its suite, to read and compare its cases.

Reading either may be slow, so do it in a thread.
"""

from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.run_reader import RunReader
from console.insight.case_in_run import CaseInRun
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run's journal and its suite."""

    reader: RunReader
    suite: RunSuite

    def read_case(self, rollout: Rollout) -> CaseInRun:
        """Return a case as played in this run, with the suite's comparison.

        Raises:
            UsageError: the journal is gone.
        """
        try:
            conversation = self.reader.conversation(rollout.key)
        except OSError as error:
            why = f"its journal can no longer be read: {error.strerror}"
            raise UsageError(why, where=self.reader.folder.name, hint="ctrl+r reloads the runs.") from None
        comparison = self.suite.compare(conversation.case, conversation.finished)
        return CaseInRun(rollout, conversation, comparison, self.reader.manifest.simulated_note)


def open_run(folder: RunFolder, data: Path | None) -> OpenedRun:
    """Read a run and open its suite.

    Args:
        folder: the run's folder.
        data: the user's data folder, if given.

    Raises:
        UsageError: the folder is not a run.
    """
    reader = RunReader(folder)
    return OpenedRun(reader, open_run_suite(reader.manifest, data))
