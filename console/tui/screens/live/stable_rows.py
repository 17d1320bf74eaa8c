"""Rows of running conversations that stay where they are: each lane shows one, and is given to the next when it ends.

Nothing moves under the reader: a finished conversation keeps its lane, with its outcome, until a new one needs it, and
the lane the cursor is on is given away last.
"""

from collections.abc import Collection, Iterable

from console.insight.rollout import Slot


class StableRows:
    """An ordered set of slots; see the module."""

    def __init__(self) -> None:
        """Start without lanes."""
        self._lanes: list[Slot] = []

    @property
    def slots(self) -> list[Slot]:
        """What the lanes show, from the top."""
        return list(self._lanes)

    def update(self, running: Collection[Slot], *, held: Slot | None = None, spare: int = 0) -> bool:
        """Give lanes to what runs now.

        Args:
            running: what runs, in order of start.
            held: the slot under the cursor, which keeps its lane even when it has ended.
            spare: lanes of ended conversations to keep besides.

        Returns:
            Whether any lane changed.
        """
        shown = set(self._lanes)
        fresh = [slot for slot in running if slot not in shown]
        free = [place for place, slot in enumerate(self._lanes) if slot not in running and slot != held]
        for place, slot in zip(free, fresh, strict=False):
            self._lanes[place] = slot
        self._lanes += fresh[len(free) :]
        dropped = self._surplus(free[len(fresh) :], spare)
        for place in reversed(dropped):
            del self._lanes[place]
        return bool(fresh or dropped)

    def _surplus(self, ended: list[int], spare: int) -> list[int]:
        """Return the places of ended conversations beyond those that may stay, the lowest ones first to go."""
        return ended[spare:]

    def show(self, slots: Iterable[Slot]) -> None:
        """Show exactly these, in this order."""
        self._lanes = list(slots)
