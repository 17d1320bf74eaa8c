"""Limits on a worker's resources."""

from dataclasses import asdict, dataclass
from typing import Any

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Caps on one worker, enforced by the kernel or the engine."""

    call_s: float = 120.0
    """Wall time of one call, excluding the engine's answers; answers of kinds named by the caller restart it."""
    start_s: float = 30.0
    """Wall time until the program is ready, including its imports."""
    cpu_s: int = 600
    """CPU time of the whole worker."""
    memory_bytes: int = 2048 * MEBIBYTE
    """Address space; an allocation beyond it raises MemoryError in the code."""
    threads: int = 32
    file_bytes: int = 64 * MEBIBYTE
    """Size of one file, and of the whole scratch folder if it has its own file system."""
    open_files: int = 128
    frame_bytes: int = 4 * MEBIBYTE
    """Size of the longest single message from the worker."""
    call_bytes: int = 16 * MEBIBYTE
    """Total size of messages since the start of a call or the last answer that resets the span."""
    call_messages: int = 2000
    """Number of messages in the same span."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
