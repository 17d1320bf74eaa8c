"""Results of another tool written down as a run: one session, opened and closed at the time of the results."""

from collections.abc import Iterable
from pathlib import Path

from console.core.record import AnyRecord, Closed, Opened
from console.core.run import Manifest
from console.store.journal import JournalWriter
from console.store.lock import RunLock
from console.store.runs import RunFolder, create_run


def write_run(manifest: Manifest, records: Iterable[AnyRecord], runs_root: Path) -> RunFolder:
    """Write a run and return it; nothing is written when the records cannot all be made.

    Args:
        manifest: of the run; its time is that of the session.
        records: what happened in it, in order.
        runs_root: where runs are kept.

    Raises:
        UsageError: the runs folder cannot be written.
    """
    whole = [Opened(at=manifest.at, pid=0), *records, Closed(at=manifest.at, reason="completed")]
    run = create_run(runs_root, manifest)
    with RunLock(run.lock_path):
        journal = JournalWriter(run.journal_path)
        try:
            for record in whole:
                journal.append(record)
        finally:
            journal.close()
    run.summary()
    return run
