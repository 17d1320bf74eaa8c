"""An overview as bytes, to be taken up again without the journal it came from. Pure: `store` keeps the bytes."""

from zlib import crc32

import msgspec

from console import __version__
from console.core.record import Finished, Steered
from console.core.run import Tally
from console.core.tally import RunFold
from console.insight.overview import Overview, Problem
from console.insight.ran_code import Confinement
from console.insight.rollout import Rollout, Slot


class _Snapshot(msgspec.Struct, array_like=True):
    fold: RunFold
    rollouts: list[Rollout]
    """In order of first start."""
    running: list[Slot]
    failures: list[Rollout]
    """In order of ending; those that a later attempt has superseded are nowhere else."""
    problems: list[Problem]
    problem_count: int
    track_names: dict[str, float | None]
    steered: list[Steered]
    opened_at: float
    confinement: Confinement | None


def layout() -> int:
    """Return what says whether bytes were made by a program that folds as this one does: its version and fields."""
    names: list[str] = [__version__]
    for kind in (_Snapshot, Finished, Steered, Tally, RunFold):
        names += kind.__struct_fields__
    for kind in (Rollout, Problem, Confinement):
        names += kind.__dataclass_fields__
    return crc32(" ".join(names).encode())


def freeze(overview: Overview) -> bytes:
    """Return everything that an overview took from its journal; what only an engine could say is left out."""
    return msgspec.msgpack.encode(
        _Snapshot(
            overview.fold,
            list(overview.rollouts.values()),
            list(overview.running),
            list(overview.failures),
            list(overview.problems),
            overview.problem_count,
            overview.track_names,
            overview.steered,
            overview.opened_at,
            overview.confinement,
        )
    )


def thaw(data: bytes) -> Overview:
    """Return the overview; every rollout counts as changed.

    Raises:
        msgspec.DecodeError: these are no such bytes.
    """
    kept, overview = msgspec.msgpack.decode(data, type=_Snapshot), Overview()
    overview.fold = kept.fold
    overview.rollouts = {rollout.slot: rollout for rollout in kept.rollouts}
    overview.running = {slot: overview.rollouts[slot] for slot in kept.running if slot in overview.rollouts}
    for rollout in kept.failures:
        now = overview.rollouts.get(rollout.slot)
        overview.failures.append(now if now is not None and now.key == rollout.key else rollout)
    overview.problems.extend(kept.problems)
    overview.problem_count, overview.opened_at = kept.problem_count, kept.opened_at
    overview.track_names, overview.steered = kept.track_names, kept.steered
    overview.confinement = kept.confinement
    overview.changed = set(overview.rollouts)
    return overview
