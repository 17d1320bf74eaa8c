"""Sample runs: runs of a few cases in a folder of their own, which is kept from growing."""

import os
import shutil
from pathlib import Path

from console.store.runs import RunFolder

KEPT = 9
"""So many of the newest trials stay, however old they are."""
KEPT_S = 86_400.0
"""So long every trial stays, in seconds."""


def prune_sample_runs(folder: Path, now: float) -> int:
    """Delete all but the newest sample runs when they are older than a day; return how many were deleted.

    Only run folders are touched, and none that an engine plays. What cannot be deleted stays for the next time.
    """
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return 0
    aged = sorted((_changed_at(Path(entry.path)), entry.name) for entry in entries)
    old = [folder / name for changed, name in aged[: max(0, len(aged) - KEPT)] if now - changed > KEPT_S]
    return sum(_delete(RunFolder(path)) for path in old)


def _changed_at(path: Path) -> float:
    """Return when a run was last written to; a folder that is no run counts as new and so stays."""
    run = RunFolder(path)
    try:
        made_at = run.manifest_path.stat().st_mtime
    except OSError:
        return float("inf")
    try:
        return max(made_at, run.journal_path.stat().st_mtime)
    except OSError:
        return made_at


def _delete(run: RunFolder) -> bool:
    try:
        if run.is_live:
            return False
        shutil.rmtree(run.path)
    except OSError:
        return False
    return True
