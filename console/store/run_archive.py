"""Archiving of runs: their journals are compressed and lists omit them, but everything else opens them as before."""

from collections.abc import Callable
from contextlib import suppress

from console.core.fault import Fault, UsageError
from console.store.journal import unsynced_path
from console.store.journal_file import archive_journal, unpack_journal
from console.store.lock import RunLock, RunLocked
from console.store.runs import RunFolder


def archive_run(run: RunFolder) -> None:
    """Compress the journal of a run that is not being played.

    Raises:
        UsageError: it is live, queued, was never played, or cannot be written; it remains unchanged.
    """
    if run.is_queued:
        raise UsageError("the run waits in the queue", where=run.name, hint="Let it play first, or dequeue it.")
    if not run.has_journal:
        raise UsageError("the run was never played, so there is nothing to archive", where=run.name)
    _alone(run, lambda: archive_journal(run.journal_path), "archived")
    with suppress(OSError):  # the copy is synced, so no part is unconfirmed
        unsynced_path(run.journal_path).unlink(missing_ok=True)


def restore_run(run: RunFolder) -> None:
    """Unpack the journal of an archived run; resuming one does this by itself.

    Raises:
        UsageError: it cannot be written, or the archive is damaged.
    """
    _alone(run, lambda: unpack_journal(run.journal_path), "unpacked")


def _alone(run: RunFolder, act: Callable[[], object], done: str) -> None:
    """Keep engines from opening the run during the block."""
    try:
        with RunLock(run.lock_path):
            act()
    except RunLocked as error:
        raise UsageError(f"the run cannot be {done}: {error}", where=run.name, hint="Stop it, or wait.") from None
    except Fault as fault:
        raise UsageError(fault.message, where=run.name, hint=fault.hint) from None
    except OSError as error:
        raise UsageError(f"the run cannot be {done}: {error.strerror or error}", where=str(run.path)) from None
