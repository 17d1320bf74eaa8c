"""Rows of running conversations that stay where they are: a row is given to the next conversation when its own ends.

Nothing moves under the reader: a finished conversation keeps its row, with its outcome, until a new one needs it, and
the row the cursor is on is given away last.
"""

from collections.abc import Collection

from console.insight.rollout import Slot


class StableRows:
    """The rollout of each row, from the top."""

    def __init__(self) -> None:
        """Start without rows."""
        self._rows: list[Slot] = []

    @property
    def slots(self) -> list[Slot]:
        """The rollouts of all rows, from the top."""
        return list(self._rows)

    def update(self, running: Collection[Slot], *, kept: Slot | None = None, spare: int = 0) -> bool:
        """Give rows to what runs now.

        Args:
            running: what runs, in order of start.
            kept: the rollout under the cursor, which keeps its row even when it has ended.
            spare: rows of ended conversations to keep besides.

        Returns:
            Whether any row changed.
        """
        shown = set(self._rows)
        begun = [slot for slot in running if slot not in shown]
        free = [row for row, slot in enumerate(self._rows) if slot not in running and slot != kept]
        for row, slot in zip(free, begun, strict=False):
            self._rows[row] = slot
        self._rows += begun[len(free) :]
        surplus = free[len(begun) :][spare:]
        for row in reversed(surplus):
            del self._rows[row]
        return bool(begun or surplus)
