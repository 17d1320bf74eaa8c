"""Pruning of sample runs, short test runs kept in a folder of their own."""

import os
import shutil
from pathlib import Path

from console.store.runs import RunFolder

KEPT = 9
"""Number of newest sample runs kept regardless of age."""
KEPT_S = 86_400.0
"""Minimum age, in seconds, at which sample runs are deleted."""


def prune_sample_runs(folder: Path, now: float) -> int:
    """Delete sample runs older than a day, except the newest few; return how many were deleted.

    Only run folders without a live engine are deleted; failures are retried the next time.
    """
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return 0
    aged = sorted((_changed_at(Path(entry.path)), entry.name) for entry in entries)
    old = [folder / name for changed, name in aged[: max(0, len(aged) - KEPT)] if now - changed > KEPT_S]
    return sum(_delete(RunFolder(path)) for path in old)


def _changed_at(path: Path) -> float:
    """Return the time of a run's last write; folders that are not runs count as new and are kept."""
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
