"""What the exit codes mean; they are part of the interface and do not change."""

from enum import IntEnum


class Exit(IntEnum):
    """How a verb ended."""

    OK = 0
    BELOW = 1
    """The score is below --fail-under, or the run is worse than the other with --fail-if-worse."""
    USAGE = 2
    """Bad input or configuration; nothing was done."""
    INCONCLUSIVE = 3
    """Broken, undecided or unplayed cases remain, or the gate cannot tell."""
    BUDGET = 4
    """Stopped by a cap; resumable."""
    LOCKED = 5
    """The run is open elsewhere, or there is nothing to resume."""
    INTERNAL = 70
    """A fault of this program; a crash file says where."""
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143
