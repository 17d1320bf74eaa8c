"""Exit codes; they are part of the interface and never change."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit code of a verb."""

    OK = 0
    BELOW = 1
    """The score is below --fail-under, the run is worse with --fail-if-worse, or an attack on the sandbox succeeded."""
    USAGE = 2
    """Bad input or configuration; nothing was done."""
    INCONCLUSIVE = 3
    """Broken, undecided or unplayed cases remain, or the gate is inconclusive."""
    BUDGET = 4
    """Stopped by a cap; can be resumed."""
    LOCKED = 5
    """The run is open in another process, or there is nothing to resume."""
    INTERNAL = 70
    """Internal error; details are in a crash file."""
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143
