"""Results of another tool written down as a run: one session, opened and closed at the time of the results."""

from collections.abc import Iterable
from pathlib import Path

from console.core.record import AnyRecord, Closed, Opened
from console.core.run import Manifest
from console.store.runs import RunFolder
from console.store.staged_run import StagedRun


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
    staged = StagedRun(runs_root, manifest.id)
    try:
        staged.append(whole)
        run = staged.publish(manifest)
    except BaseException:
        staged.discard()
        raise
    run.summary()
    return run
