"""`Rollouts`: the rollouts of a run, packed once they have ended, and lists of them by number.

A run may have a million, so ended ones are compressed in portions of `PORTION` and decoded on demand. Lists contain
numbers. Filters and groups mostly read a few fields shared by many rollouts: their *kind*, a rollout with only these
fields and order -1, stays decoded.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import lru_cache
from itertools import count, repeat
from operator import attrgetter
from sys import intern
from typing import Any, TypeVar, cast, overload
from zlib import compress, decompressobj
from zlib import error as ZlibError

import msgspec

from console.core.case import Key, Slot
from console.core.key_numbers import KeyNumbers, SavedNumbers
from console.core.ready_type import ready_type
from console.insight.rollout import NO_SCORES, NO_TRACKS, Rollout

CountedT = TypeVar("CountedT", bound=Hashable)
PORTION = 256
"""Number of rollouts packed together."""
_MOST_DECODED = 24
"""Number of portions kept decoded."""
_LEVEL, _MOST_BYTES = 1, 64 << 20
"""Compression level, and the size in bytes above which a portion counts as damaged."""
_KIND = Key("")

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ready_type(list[Rollout])).decode
_alike = attrgetter("outcome", "reason", "subject", "category", "graded", "cut", "written")
"""The fields that define a kind."""


class SavedRollouts(msgspec.Struct, array_like=True):
    """Rollouts as saved."""

    numbers: SavedNumbers
    portions: list[bytes]
    kinds: list[Rollout]
    kind_numbers: bytes
    """Index in `kinds` of each rollout."""


def _unpack(portion: bytes) -> list[Rollout]:
    """Decode a portion, which may come from an untrusted file.

    Raises:
        ValueError: the portion is damaged.
    """
    decompressor = decompressobj()
    try:
        data = decompressor.decompress(portion, _MOST_BYTES)
    except ZlibError as error:
        raise ValueError(str(error)) from None
    if not decompressor.eof:
        raise ValueError("a portion is cut or too large")
    rollouts = _decode(data)
    for rollout in rollouts:
        rollout.tracks, rollout.scores = rollout.tracks or NO_TRACKS, rollout.scores or NO_SCORES
    return rollouts


_unpack_again = lru_cache(_MOST_DECODED)(_unpack)


class _Values(ValuesView[Rollout]):
    def __init__(self, rollouts: "Rollouts") -> None:
        super().__init__(rollouts)
        self._rollouts = rollouts

    def __iter__(self) -> Iterator[Rollout]:
        return map(self._rollouts.at, range(len(self._rollouts)))


class Rollouts(Mapping[Slot, Rollout]):
    """The attempt at each rollout that counts, by case and rollout, in order of first start: `Rollout.order`."""

    def __init__(self, listed: Iterable[Rollout] = ()) -> None:
        """Start empty, or with rollouts only for listing, which may be in any order and have no slots."""
        self._numbers = KeyNumbers()
        self._rows = list(listed)
        """Each rollout, or its kind once it is packed."""
        self._cases = [row.key.case for row in self._rows]
        self._portions: dict[int, bytes] = {}
        self._kinds: dict[tuple[Any, ...], Rollout] = {}

    def __getitem__(self, slot: Slot) -> Rollout:
        if (number := self._numbers.get(*slot)) < 0:
            raise KeyError(slot)
        return self.at(number)

    def __contains__(self, slot: object) -> bool:
        return self.number_of(cast(Slot, slot)) >= 0

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._numbers.in_order(lambda case: zip(repeat(case), count(), strict=False), attrgetter("slot")))

    def __len__(self) -> int:
        return len(self._rows)

    def values(self) -> ValuesView[Rollout]:
        """Return all rollouts in order."""
        return _Values(self)

    def number_of(self, slot: Slot) -> int:
        """Return the number of a rollout; -1 if there is none."""
        return self._numbers.get(*slot)

    def at(self, number: int) -> Rollout:
        """Return a rollout by its number; an ended one may be a copy."""
        row = self._rows[number]
        return row if row.order >= 0 else self._unpacked(number, _unpack_again)

    def _unpacked(self, number: int, unpack: Callable[[bytes], list[Rollout]]) -> Rollout:
        """Return a packed rollout, or only its kind if its portion is damaged."""
        try:
            rollout = unpack(self._portions[number // PORTION])[number % PORTION]
            if rollout.order == number:
                return rollout
        except (ValueError, LookupError):
            pass
        kind = self._rows[number]
        key = self._numbers.keys()[number]
        rollout = self._rows[number] = msgspec.structs.replace(kind, key=key, order=number)
        return rollout

    def kind_at(self, number: int) -> Rollout:
        """Return a rollout or its kind."""
        return self._rows[number]

    def kinds_at(self, numbers: Iterable[int]) -> Iterator[Rollout]:
        """Return some rollouts or their kinds."""
        return map(self._rows.__getitem__, numbers)

    def kind_of(self, slot: Slot) -> Rollout:
        """Return a rollout or its kind.

        Raises:
            KeyError: there is no such rollout.
        """
        if (number := self._numbers.get(*slot)) < 0:
            raise KeyError(slot)
        return self._rows[number]

    def cases(self) -> Sequence[str]:
        """Return the case of each rollout so far."""
        return self._cases

    def all(self) -> "RolloutList":
        """Return all rollouts as of now."""
        return RolloutList(self, array("I", range(len(self._rows))))

    # Changes ---------------------------------------------------------------------------------------------------------

    def put(self, rollout: Rollout) -> None:
        """Add a rollout, or replace an earlier attempt; its order must be its number."""
        if rollout.order == len(self._rows):
            self._numbers.add(*rollout.slot)
            self._cases.append(rollout.key.case)
            self._rows.append(rollout)  # last, as another thread may list them
        else:
            self._rows[rollout.order] = rollout

    def to_change(self, slot: Slot) -> Rollout | None:
        """Return a rollout for modification in place, or None."""
        number = self._numbers.get(*slot)
        if number < 0:
            return None
        row = self._rows[number]
        if row.order < 0:  # the decoded one is shared by its readers
            row = self._rows[number] = self._unpacked(number, _unpack)
        return row

    def pack(self, number: int) -> None:
        """Pack the portion of an ended rollout if all of the portion has ended and most of it is not packed."""
        portion = number // PORTION
        rows = self._rows[portion * PORTION : (portion + 1) * PORTION]
        if len(rows) < PORTION or any(row.outcome is None for row in rows):
            return
        if 2 * sum(row.order < 0 for row in rows) > PORTION:
            return
        numbers = range(portion * PORTION, (portion + 1) * PORTION)
        self._portions[portion] = self._packed(numbers)
        self._rows[numbers.start : numbers.stop] = map(self._kind_of, rows)

    def _packed(self, numbers: range) -> bytes:
        return compress(_encode([self.at(number) for number in numbers]), _LEVEL)

    def _kind_of(self, row: Rollout) -> Rollout:
        alike = _alike(row)
        kind = self._kinds.get(alike)
        if kind is None:
            outcome, reason, subject, category, graded, cut, written = alike
            kind = self._kinds[alike] = Rollout(
                _KIND, -1, outcome=outcome, reason=intern(reason), subject=subject, category=intern(category),
                graded=graded, cut=intern(cut), written=intern(written),
            )  # fmt: skip
        return kind

    # Saving ----------------------------------------------------------------------------------------------------------

    def saved(self) -> SavedRollouts:
        """Return the rollouts in serializable form."""
        starts = range(0, len(self._rows), PORTION)
        portions: list[bytes] = []
        for start in starts:
            rows = self._rows[start : start + PORTION]
            is_packed = all(row.order < 0 for row in rows)
            numbers = range(start, start + len(rows))
            portions.append(self._portions[start // PORTION] if is_packed else self._packed(numbers))
        places: dict[int, int] = {}
        kinds = list(map(self._kind_of, self._rows))
        kind_numbers = array("I", [places.setdefault(id(kind), len(places)) for kind in kinds])
        by_id = {id(kind): kind for kind in kinds}
        return SavedRollouts(
            self._numbers.saved(), portions, [by_id[place] for place in places], kind_numbers.tobytes()
        )

    @classmethod
    def restored(cls, saved: SavedRollouts) -> "Rollouts":
        """Return saved rollouts.

        Raises:
            ValueError: they are inconsistent.
        """
        rollouts = cls()
        rollouts._numbers = KeyNumbers.restored(saved.numbers)
        kinds = [msgspec.structs.replace(kind, order=-1, scores=NO_SCORES, tracks=NO_TRACKS) for kind in saved.kinds]
        rollouts._kinds = {_alike(kind): kind for kind in kinds}
        rollouts._rows = [kinds[number] for number in array("I", saved.kind_numbers)]
        rollouts._portions = dict(enumerate(saved.portions))
        length = len(rollouts._rows)
        if length != len(rollouts._numbers) or len(saved.portions) != -(-length // PORTION):
            raise ValueError("the numbers of rollouts differ")
        rollouts._cases = rollouts._numbers.in_order(repeat, attrgetter("case"))
        return rollouts


class RolloutList(Sequence[Rollout]):
    """Some rollouts of a run, decoded on demand."""

    def __init__(self, rollouts: Rollouts, numbers: "array[int]") -> None:
        self.rollouts, self.numbers = rollouts, numbers

    @classmethod
    def of(cls, rollouts: Iterable[Rollout]) -> "RolloutList":
        """Return a list of any rollouts."""
        if isinstance(rollouts, RolloutList):
            return rollouts
        return Rollouts(rollouts).all()

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Rollout: ...
    @overload
    def __getitem__(self, index: slice) -> "RolloutList": ...
    def __getitem__(self, index: int | slice) -> "Rollout | RolloutList":
        if isinstance(index, slice):
            return self.pick(self.numbers[index])
        return self.rollouts.at(self.numbers[index])

    def __iter__(self) -> Iterator[Rollout]:
        return map(self.rollouts.at, self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(cast(Sequence[object], other))

    def kinds(self) -> Iterator[Rollout]:
        """Return each rollout or its kind."""
        return self.rollouts.kinds_at(self.numbers)

    def count_by(self, read: Callable[[Rollout], CountedT]) -> Counter[CountedT]:
        """Count the rollouts by a property of their kinds."""
        kinds = list(self.kinds())
        of_identity = dict(zip(map(id, kinds), kinds, strict=True))
        counts = Counter[CountedT]()
        for identity, number in Counter(map(id, kinds)).items():
            counts[read(of_identity[identity])] += number
        return counts

    def cases(self) -> Iterator[str]:
        """Return the case of each rollout."""
        return map(self.rollouts.cases().__getitem__, self.numbers)

    def pick(self, numbers: Iterable[int]) -> "RolloutList":
        """Return a list of other rollouts of the run, by number."""
        return RolloutList(self.rollouts, array("I", numbers))

    def ordered(self, key: Callable[[Rollout], Any], *, reverse: bool) -> "RolloutList":
        """Return the rollouts sorted by a key; ties keep their order."""
        keys = dict(zip(self.numbers, map(key, self), strict=True))
        return self.pick(sorted(self.numbers, key=keys.__getitem__, reverse=reverse))
