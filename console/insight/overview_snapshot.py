"""Serialized overviews, restored without reading the journal. Pure: `store` keeps the bytes."""

from array import array
from collections.abc import Iterable, Sequence
from sys import byteorder, intern
from zlib import compress, crc32, decompressobj
from zlib import error as ZlibError

import msgspec

from console import __version__
from console.core.case import Key, Slot
from console.core.case_counts import CaseCounts, ClusterCounts
from console.core.ready_type import ready_type
from console.core.record import Finished, Steered
from console.core.run import Tally
from console.core.spending import RoleSpending
from console.core.tally import Counted, RunFold
from console.insight.executed_code import Confinement
from console.insight.overview import Overview, Problem
from console.insight.rollout import NO_SCORES, NO_TRACKS, Rollout, Track

PORTION = 2_000
"""Rollouts decoded at a time, to limit memory for texts they share."""
_FORM = "compressed portions, endings by number"
"""Changes with the layout of the bytes."""
_LEVEL, _MOST_BYTES = 1, 64 << 20
"""Level of compression, and bytes of a chunk beyond which the journal is read instead."""


class _Snapshot(msgspec.Struct, array_like=True):
    fold: RunFold
    """Without what can be derived from the rollouts."""
    rollouts: list[bytes]
    """In order of first start, compressed in chunks of `PORTION`, as little of the file is to be in memory at once."""
    latest: list[int | Finished]
    """Ending of each rollout, in the same order: index of a rollout that contains it, or the record."""
    category_of: dict[str, str] | None
    """None if it follows from the rollouts."""
    case_counts: tuple[bytes, bytes, bytes]
    """Of each graded case: index of one of its rollouts, passed and graded rollouts."""
    running: list[Slot]
    failures: list[Rollout]
    """In order of finish; superseded ones are stored nowhere else."""
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
    names = [__version__, byteorder, _FORM]
    for kind in (_Snapshot, Finished, Steered, Tally, RunFold, CaseCounts, ClusterCounts, Rollout, Track, RoleSpending):
        names += kind.__struct_fields__
    for kind in (Problem, Confinement):
        names += kind.__dataclass_fields__
    return crc32(" ".join(names).encode())


def encode_overview(overview: Overview) -> bytes:
    """Serialize an overview without the state reported by an engine."""
    fold, rollouts = overview.fold, list(overview.rollouts.values())
    number_of = {id(rollout): number for number, rollout in enumerate(rollouts)}
    latest = [number_of[id(ended)] if id(ended) in number_of else _record(ended) for ended in fold.latest.values()]
    return msgspec.msgpack.encode(
        _Snapshot(
            msgspec.structs.replace(
                fold, latest={}, category_of={}, unsettled={}, cases=msgspec.structs.replace(fold.cases, by_case={})
            ),
            [
                compress(_encode(rollouts[start : start + PORTION]), _LEVEL)
                for start in range(0, len(rollouts), PORTION)
            ],
            latest,
            None if fold.category_of == _categories(rollouts) else fold.category_of,
            _encode_counts(fold.cases, rollouts),
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


def decode_overview(data: bytes | memoryview, keys: Iterable[Key] = ()) -> Overview:
    """Restore an overview; every rollout counts as changed.

    Args:
        data: result of `encode_overview`.
        keys: keys of the run already in memory, to be reused.

    Raises:
        ValueError: the bytes have another format.
    """
    try:
        return _decoded(data, keys)
    except (LookupError, TypeError, AttributeError, ZlibError) as error:
        raise ValueError(f"not an overview snapshot: {error}") from None


def _decoded(data: bytes | memoryview, keys: Iterable[Key]) -> Overview:
    kept, overview = msgspec.msgpack.decode(data, type=ready_type(_Snapshot)), Overview()
    sharing = _Sharing(keys)
    kept.rollouts.reverse()
    while kept.rollouts:  # dropped one by one: the peak of memory is that of a portion
        for rollout in _decode(_decompressed(kept.rollouts.pop())):
            sharing.share(rollout)
            overview.rollouts[rollout.slot] = rollout
    del sharing
    overview.fold = kept.fold
    slots, rollouts = list(overview.rollouts), list(overview.rollouts.values())
    for item in kept.latest:
        if isinstance(item, Finished):
            overview.fold.latest[item.key.slot] = item
        else:
            overview.fold.latest[slots[item]] = rollouts[item]
    del slots
    overview.fold.category_of = _categories(rollouts) if kept.category_of is None else kept.category_of
    overview.fold.cases.by_case = _decode_counts(kept.case_counts, rollouts)
    overview.running = {slot: overview.rollouts[slot] for slot in kept.running if slot in overview.rollouts}
    for rollout in kept.failures:
        now = overview.rollouts.get(rollout.slot)
        overview.failures.append(now if now is not None and now.key == rollout.key else rollout)
    overview.problems.extend(kept.problems)
    overview.problem_count, overview.opened_at = kept.problem_count, kept.opened_at
    overview.track_names, overview.steered = kept.track_names, kept.steered
    overview.confinement, overview.spending = kept.confinement, kept.spending
    overview.fold.unsettled = dict(kept.unsettled)
    overview.changed = set(overview.rollouts)
    return overview


def _record(ended: Counted) -> Finished:
    """Return the ending of a rollout if the rollout itself lacks it, or belongs to a later attempt."""
    if isinstance(ended, Finished):
        return ended
    names = set(Finished.__struct_fields__) - {"output"}
    return Finished(**{name: getattr(ended, name) for name in names})


def _categories(rollouts: Iterable[Rollout]) -> dict[str, str]:
    return {rollout.key.case: rollout.category for rollout in rollouts if rollout.started_at}


def _decompressed(portion: bytes) -> bytes:
    """Decompress a chunk, whose file may have been written by anybody."""
    decompressor = decompressobj()
    data = decompressor.decompress(portion, _MOST_BYTES)
    if not decompressor.eof:
        raise ValueError("a chunk is cut or too large")
    return data


def _encode_counts(counts: CaseCounts, rollouts: Sequence[Rollout]) -> tuple[bytes, bytes, bytes]:
    number_of = {rollout.key.case: number for number, rollout in enumerate(rollouts)}
    passed, graded = zip(*counts.by_case.values(), strict=True) if counts.by_case else ((), ())
    numbers = [number_of[case] for case in counts.by_case]
    return array("I", numbers).tobytes(), array("I", passed).tobytes(), array("I", graded).tobytes()


def _decode_counts(encoded: tuple[bytes, bytes, bytes], rollouts: Sequence[Rollout]) -> dict[str, tuple[int, int]]:
    numbers, passed, graded = (array("I", column) for column in encoded)
    counts = zip(numbers, zip(passed, graded, strict=True), strict=True)
    shared: dict[tuple[int, int], tuple[int, int]] = {}
    return {rollouts[number].key.case: shared.setdefault(count, count) for number, count in counts}


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ready_type(list[Rollout])).decode


class _Sharing:
    """Deduplicates values that rollouts share, as `Overview` does."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = {key: key for key in keys}
        self._texts: dict[str, str] = {}
        self._functions: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._numbers: dict[int, int] = {}
        self._costs: dict[float | None, float | None] = {}

    def share(self, rollout: Rollout) -> None:
        rollout.key = self._keys.get(rollout.key, rollout.key)
        rollout.title, rollout.message = self._text(rollout.title), self._text(rollout.message)
        rollout.subject, rollout.recent_text = self._text(rollout.subject), self._text(rollout.recent_text)
        rollout.category, rollout.reason = intern(rollout.category), intern(rollout.reason)
        rollout.cluster = intern(rollout.cluster)
        rollout.function, rollout.model = intern(rollout.function), intern(rollout.model)
        rollout.functions = self._functions.setdefault(rollout.functions, rollout.functions)
        rollout.input_tokens = self._numbers.setdefault(rollout.input_tokens, rollout.input_tokens)
        rollout.output_tokens = self._numbers.setdefault(rollout.output_tokens, rollout.output_tokens)
        rollout.cost_usd = self._costs.setdefault(rollout.cost_usd, rollout.cost_usd)
        rollout.since = rollout.since or 0.0
        rollout.tracks, rollout.scores = rollout.tracks or NO_TRACKS, rollout.scores or NO_SCORES

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)
