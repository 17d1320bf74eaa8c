"""An overview as bytes, restored without the journal it came from. Pure: `store` keeps the bytes."""

from collections.abc import Iterable, Mapping
from sys import byteorder, intern
from zlib import crc32

import msgspec

from console import __version__
from console.core.case import Key
from console.core.case_counts import CaseCounts, ClusterCounts
from console.core.outcome import Verdict
from console.core.record import Finished, Steered
from console.core.run import Tally
from console.core.tally import PLAIN, RunFold
from console.insight.executed_code import Confinement
from console.insight.overview import Overview, Problem
from console.insight.rollout import NO_SCORES, NO_TRACKS, Rollout, Slot, Track
from console.insight.spending import RoleSpending


class _Snapshot(msgspec.Struct, array_like=True):
    fold: RunFold
    """Without what follows from the rollouts."""
    rollouts: list[Rollout]
    """In order of first start."""
    latest: list[int | Finished]
    """How rollouts ended, in that order: the number of one that says it itself, else the record."""
    category_of: dict[str, str] | None
    """None: follows from the rollouts."""
    running: list[Slot]
    failures: list[Rollout]
    """In order of ending; those that a later attempt has superseded are nowhere else."""
    problems: list[Problem]
    problem_count: int
    track_names: dict[str, float | None]
    steered: list[Steered]
    opened_at: float
    confinement: Confinement | None
    spending: dict[str, RoleSpending]
    unsettled: list[tuple[Key, dict[str, RoleSpending]]]


def layout() -> int:
    """Return what says whether bytes were made by a program that folds as this one does: its version and fields."""
    names = [__version__, byteorder]
    for kind in (_Snapshot, Finished, Steered, Tally, RunFold, CaseCounts, ClusterCounts, Rollout, Track, RoleSpending):
        names += kind.__struct_fields__
    for kind in (Problem, Confinement):
        names += kind.__dataclass_fields__
    return crc32(" ".join(names).encode())


def freeze(overview: Overview) -> bytes:
    """Return everything that an overview took from its journal; what only an engine could say is left out."""
    fold, rollouts = overview.fold, list(overview.rollouts.values())
    number_of = {rollout.slot: number for number, rollout in enumerate(rollouts)}
    latest = [
        number if _ending(rollouts[number := number_of[slot]]) == record else record
        for slot, record in fold.latest.items()
    ]
    return msgspec.msgpack.encode(
        _Snapshot(
            msgspec.structs.replace(fold, latest={}, category_of={}),
            rollouts,
            latest,
            None if fold.category_of == _categories(rollouts) else fold.category_of,
            list(overview.running),
            list(overview.failures),
            list(overview.problems),
            overview.problem_count,
            overview.track_names,
            overview.steered,
            overview.opened_at,
            overview.confinement,
            overview.spending,
            list(overview.unsettled.items()),
        )
    )


def thaw(data: bytes | memoryview, keys: Iterable[Key] = ()) -> Overview:
    """Return the overview; every rollout counts as changed.

    Args:
        data: what `freeze` returned.
        keys: keys of the run that are held already, to be held once.

    Raises:
        msgspec.DecodeError: these are no such bytes.
    """
    kept, overview = msgspec.msgpack.decode(data, type=_Snapshot), Overview()
    held = {key: key for key in keys}
    for rollout in kept.rollouts:
        _share(rollout, held)
    overview.fold = kept.fold
    for item in kept.latest:
        record = item if isinstance(item, Finished) else _ending(kept.rollouts[item])
        if record is not None:
            overview.fold.latest[record.key.case, record.key.rollout] = record
    overview.fold.category_of = _categories(kept.rollouts) if kept.category_of is None else kept.category_of
    overview.rollouts = {rollout.slot: rollout for rollout in kept.rollouts}
    overview.running = {slot: overview.rollouts[slot] for slot in kept.running if slot in overview.rollouts}
    for rollout in kept.failures:
        now = overview.rollouts.get(rollout.slot)
        overview.failures.append(now if now is not None and now.key == rollout.key else rollout)
    overview.problems.extend(kept.problems)
    overview.problem_count, overview.opened_at = kept.problem_count, kept.opened_at
    overview.track_names, overview.steered = kept.track_names, kept.steered
    overview.confinement, overview.spending = kept.confinement, kept.spending
    overview.unsettled = dict(kept.unsettled)
    overview.changed = set(overview.rollouts)
    return overview


def _ending(rollout: Rollout) -> Finished | None:
    """Return the record of how a rollout ended, as counting keeps it, if all of it is in the rollout."""
    if rollout.outcome is None:
        return None
    plain = not rollout.reason and not rollout.scores
    return Finished(
        at=rollout.ended_at,
        key=rollout.key,
        verdict=PLAIN[rollout.outcome]
        if plain
        else Verdict(rollout.outcome, rollout.reason or None, scores=rollout.scores),
        seconds=rollout.seconds,
        input_tokens=rollout.input_tokens,
        output_tokens=rollout.output_tokens,
        cost_usd=rollout.cost_usd,
        calls=rollout.calls,
        cut=rollout.cut,
        model=rollout.model,
    )


def _categories(rollouts: Iterable[Rollout]) -> dict[str, str]:
    return {rollout.key.case: rollout.category for rollout in rollouts if rollout.started_at}


def _share(rollout: Rollout, held: Mapping[Key, Key]) -> None:
    """Hold what rollouts have in common once, as `Overview` does."""
    rollout.key = held.get(rollout.key, rollout.key)
    rollout.category, rollout.reason = intern(rollout.category), intern(rollout.reason)
    rollout.cluster = intern(rollout.cluster)
    rollout.function, rollout.model = intern(rollout.function), intern(rollout.model)
    rollout.tracks, rollout.scores = rollout.tracks or NO_TRACKS, rollout.scores or NO_SCORES
