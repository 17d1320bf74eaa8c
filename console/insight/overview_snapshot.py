"""Serialized overviews, restored without reading the journal. Pure: `store` keeps the bytes."""

from array import array
from collections.abc import Sequence
from sys import byteorder
from zlib import crc32

import msgspec

from console import __version__
from console.core.case import Key, Slot
from console.core.case_counts import CaseCounts, ClusterCounts
from console.core.key_numbers import SavedNumbers
from console.core.ready_type import ready_type
from console.core.record import Finished, Steered
from console.core.run import COUNTING, Tally
from console.core.spending import RoleSpending
from console.core.tally import Counted, RunFold
from console.insight.executed_code import Confinement
from console.insight.overview import LatestEndings, Overview, Problem
from console.insight.rollout import Rollout, Track
from console.insight.rollouts import PORTION, Rollouts, SavedRollouts

_FORM = f"portions of {PORTION} decoded when needed"
"""Version of the byte layout."""


class _Snapshot(msgspec.Struct, array_like=True):
    fold: RunFold
    """The fold, without data derivable from the rollouts."""
    rollouts: SavedRollouts
    others: list[Finished]
    """Endings that differ from those in their rollouts."""
    category_of: dict[str, str] | None
    """None if it can be derived from the rollouts."""
    case_counts: tuple[bytes, bytes, bytes]
    """For each graded case: index of one of its rollouts, number of passed and of graded rollouts."""
    running: list[Slot]
    failures: list[Rollout]
    """Failures in order of finish; superseded ones are stored only here."""
    problems: list[Problem]
    problem_count: int
    track_names: dict[str, float | None]
    steered: list[Steered]
    opened_at: float
    confinement: Confinement | None
    spending: dict[str, RoleSpending]
    unsettled: list[tuple[Key, dict[str, RoleSpending]]]


def layout() -> int:
    """Return an identifier of the snapshot layout: program version and fields."""
    names = [__version__, byteorder, _FORM, str(COUNTING)]
    for kind in (
        _Snapshot, SavedRollouts, SavedNumbers, Finished, Steered, Tally, RunFold, CaseCounts, ClusterCounts, Rollout,
        Track, RoleSpending,
    ):  # fmt: skip
        names += kind.__struct_fields__
    for kind in (Problem, Confinement):
        names += kind.__dataclass_fields__
    return crc32(" ".join(names).encode())


def encode_overview(overview: Overview) -> bytes:
    """Serialize an overview without the state reported by an engine."""
    fold, cases = overview.fold, overview.rollouts.cases()
    return msgspec.msgpack.encode(
        _Snapshot(
            msgspec.structs.replace(
                fold, latest={}, category_of={}, unsettled={}, cases=msgspec.structs.replace(fold.cases, by_case={})
            ),
            overview.rollouts.saved(),
            [_record(ended) for ended in overview.endings.others.values()],
            None if fold.category_of == _categories(overview.rollouts, cases) else fold.category_of,
            _encode_counts(fold.cases, cases),
            list(overview.running),
            list(overview.failures),
            list(overview.problems),
            overview.problem_count,
            overview.track_names,
            overview.steered,
            overview.opened_at,
            overview.confinement,
            overview.spending,
            list(overview.fold.unsettled.items()),
        )
    )


def decode_overview(data: bytes | memoryview) -> Overview:
    """Restore an overview; its rollouts are decoded on demand.

    Raises:
        ValueError: the bytes have another format.
    """
    try:
        return _decoded(data)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"not an overview snapshot: {error}") from None


def _decoded(data: bytes | memoryview) -> Overview:
    kept, overview = msgspec.msgpack.decode(data, type=ready_type(_Snapshot)), Overview()
    rollouts = overview.rollouts = Rollouts.restored(kept.rollouts)
    overview.endings = LatestEndings(rollouts, {ended.key.slot: ended for ended in kept.others})
    cases = rollouts.cases()
    overview.fold = kept.fold
    overview.fold.latest = overview.endings
    overview.fold.category_of = _categories(rollouts, cases) if kept.category_of is None else kept.category_of
    overview.fold.cases.by_case = _decode_counts(kept.case_counts, cases)
    for slot in kept.running:
        if (rollout := rollouts.to_change(slot)) is not None:
            overview.running[slot] = rollout
    overview.failures.extend(kept.failures)
    overview.problems.extend(kept.problems)
    overview.problem_count, overview.opened_at = kept.problem_count, kept.opened_at
    overview.track_names, overview.steered = kept.track_names, kept.steered
    overview.confinement, overview.spending = kept.confinement, kept.spending
    overview.fold.unsettled = dict(kept.unsettled)
    return overview


def _record(ended: Counted) -> Finished:
    """Return the ending of a rollout if the rollout itself lacks it, or belongs to a later attempt."""
    if isinstance(ended, Finished):
        return ended
    names = set(Finished.__struct_fields__) - {"output"}
    return Finished(**{name: getattr(ended, name) for name in names})


def _categories(rollouts: Rollouts, cases: Sequence[str]) -> dict[str, str]:
    return {case: rollouts.kind_at(number).category for case, number in _one_of_each(cases).items()}


def _one_of_each(cases: Sequence[str]) -> dict[str, int]:
    """Return the index of one rollout of each case, given the case of each rollout."""
    return dict(zip(cases, range(len(cases)), strict=True))


def _encode_counts(counts: CaseCounts, cases: Sequence[str]) -> tuple[bytes, bytes, bytes]:
    number_of = _one_of_each(cases)
    passed, graded = zip(*counts.by_case.values(), strict=True) if counts.by_case else ((), ())
    numbers = [number_of[case] for case in counts.by_case]
    return array("I", numbers).tobytes(), array("I", passed).tobytes(), array("I", graded).tobytes()


def _decode_counts(encoded: tuple[bytes, bytes, bytes], cases: Sequence[str]) -> dict[str, tuple[int, int]]:
    numbers, passed, graded = (array("I", column) for column in encoded)
    counts = zip(numbers, zip(passed, graded, strict=True), strict=True)
    shared: dict[tuple[int, int], tuple[int, int]] = {}
    return {cases[number]: shared.setdefault(count, count) for number, count in counts}
