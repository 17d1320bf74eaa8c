"""Numbers for the conversations of a run, in a few bytes each where cases are repeated: a run may have a million."""

from array import array
from collections.abc import Callable, Iterable
from itertools import count, repeat
from typing import TypeVar, cast

import msgspec

from console.core.case import Key

MadeT = TypeVar("MadeT")
_MOST_SKIPPED = 64
"""Maximum gap in the repeats of a case; numbers beyond it are stored one by one."""


class SavedNumbers(msgspec.Struct, array_like=True):
    """Numbers as saved."""

    of_case: dict[str, int | bytes]
    others: list[tuple[Key, int]]


class KeyNumbers:
    """Numbers keys from 0 in order of first appearance."""

    def __init__(self) -> None:
        self._of_case: dict[str, int | array[int]] = {}
        """For first attempts: number of a case without repeats, or numbers by rollout with -1 for those to come."""
        self._others: dict[Key, int] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, case: str, rollout: int, attempt: int = 1) -> int:
        """Return the number of a key; -1 if it has not appeared."""
        if attempt == 1:
            numbers = self._of_case.get(case, -1)
            if isinstance(numbers, int):
                if rollout == 0:
                    return numbers
            elif rollout < len(numbers):
                return numbers[rollout]
        return self._others.get(Key(case, rollout, attempt), -1) if self._others else -1

    def add(self, case: str, rollout: int, attempt: int = 1) -> int:
        """Return the number of a key, assigning the next free one at its first appearance."""
        number = self.get(case, rollout, attempt)
        if number >= 0:
            return number
        number, numbers = self._count, self._of_case.get(case)
        if attempt > 1 or rollout > _MOST_SKIPPED + (len(numbers) if isinstance(numbers, array) else 0):
            self._others[Key(case, rollout, attempt)] = number
        elif numbers is None and rollout == 0:
            self._of_case[case] = number
        else:
            if not isinstance(numbers, array):
                numbers = self._of_case[case] = array("i", () if numbers is None else (numbers,))
            numbers.extend([-1] * (rollout + 1 - len(numbers)))
            numbers[rollout] = number
        self._count = number + 1  # last, as another thread may be in `in_order`
        return number

    def in_order(self, of_case: Callable[[str], Iterable[MadeT]], of_key: Callable[[Key], MadeT]) -> list[MadeT]:
        """Build an object for each key, and return them in order of first appearance.

        Keys added meanwhile by another thread are omitted.

        Args:
            of_case: builds those of a case's first attempts, by rollout; endless.
            of_key: builds one of any other key.

        Raises:
            ValueError: saved numbers are inconsistent.
        """
        end = self._count
        made: list[MadeT | None] = [None] * end
        for case, numbers in list(self._of_case.items()):
            for number, each in zip((numbers,) if isinstance(numbers, int) else numbers, of_case(case), strict=False):
                if 0 <= number < end:
                    made[number] = each
        for key, number in list(self._others.items()):
            if 0 <= number < end:
                made[number] = of_key(key)
        if None in made:
            raise ValueError("a number stands twice, or is too large")
        return cast(list[MadeT], made)

    def keys(self) -> list[Key]:
        """Return all keys in order of first appearance."""
        return self.in_order(lambda case: map(Key, repeat(case), count()), lambda key: key)

    def saved(self) -> SavedNumbers:
        """Return the numbers in the form in which they are saved."""
        numbers = self._of_case.items()
        return SavedNumbers(
            {case: of if isinstance(of, int) else of.tobytes() for case, of in numbers}, list(self._others.items())
        )

    @classmethod
    def restored(cls, saved: SavedNumbers) -> "KeyNumbers":
        """Restore saved numbers, using their dict without copying it.

        Raises:
            ValueError: they have another format.
        """
        numbers = cls()
        arrays = {case: array("i", of) for case, of in saved.of_case.items() if not isinstance(of, int)}
        numbers._of_case = cast("dict[str, int | array[int]]", saved.of_case)
        numbers._of_case.update(arrays)
        numbers._others = dict(saved.others)
        numbers._count = len(numbers._of_case) - len(arrays) + len(numbers._others)
        numbers._count += sum(len(of) - of.count(-1) for of in arrays.values())
        return numbers
