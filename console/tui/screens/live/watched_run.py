"""`WatchedRun`: what the Live screen reads of a run, whether an engine plays it, it is over, or it is replayed."""

from typing import Protocol

from console.core.case import Key
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.overview import Overview


class WatchedRun(Protocol):
    """A run as far as it is read; `RunFeed` and `Replay` are such."""

    @property
    def overview(self) -> Overview:
        """Its rollouts and figures."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What was to be played."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether it is being played."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether the journal was read to its end once."""
        ...

    @property
    def damages(self) -> int:
        """Journal lines that could not be read."""
        ...

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation as far as it is known.

        Raises:
            UsageError: the journal is gone.
        """
        ...

    def now(self) -> float:
        """Return the time by which it is shown, seconds since the epoch."""
        ...
