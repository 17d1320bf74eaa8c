"""What a worker may use, and what it may read."""

from dataclasses import asdict, dataclass
from typing import Any

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one worker; the kernel or the engine ends what exceeds them."""

    call_s: float = 120.0
    """Wall time of one call, without what the engine takes for its answers; those that the caller names give a new
    span."""
    start_s: float = 30.0
    """Wall time until the program is ready, its own imports included."""
    cpu_s: int = 600
    """Processor time of the whole worker."""
    memory_bytes: int = 2048 * MEBIBYTE
    """Address space; an allocation beyond it raises MemoryError in the code."""
    threads: int = 32
    file_bytes: int = 64 * MEBIBYTE
    """Size of one file, and of the whole scratch folder where it is a file system of its own."""
    open_files: int = 128
    frame_bytes: int = 4 * MEBIBYTE
    """Longest single message from the worker."""
    call_bytes: int = 16 * MEBIBYTE
    """All messages of a call, from its beginning or from the last answer that gives it a new span."""
    call_messages: int = 2000
    """Their number, counted likewise."""

    def as_json(self) -> dict[str, Any]:
        """Return the limits as they travel to the worker."""
        return asdict(self)
