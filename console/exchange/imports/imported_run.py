"""Write another tool's results as a run with a single session at the time of the results."""

from collections.abc import Iterable
from pathlib import Path

from console.core.record import AnyRecord, Closed, Opened
from console.core.run import Manifest
from console.store.runs import RunFolder
from console.store.staged_run import StagedRun


def write_run(manifest: Manifest, records: Iterable[AnyRecord], runs_root: Path) -> RunFolder:
    """Write a run and return it; nothing is written if making the records fails.

    Args:
        manifest: manifest of the run; its time is used for the session.
        records: records in order.
        runs_root: folder of runs.

    Raises:
        UsageError: the runs folder cannot be written.
    """
    whole = [Opened(at=manifest.at, pid=0), *records, Closed(at=manifest.at, reason="completed")]
    staged = StagedRun(runs_root, manifest.id)
    try:
        staged.append(whole)
        run = staged.publish(manifest)
    except BaseException:
        staged.discard()
        raise
    run.summary()
    return run
