"""The player factory for a compute target; cluster code is only imported if needed."""

import contextlib
from collections.abc import Generator
from functools import partial

from console.engine.compute_target import ComputeTarget
from console.engine.player import LocalPlayer, PlayerFactory


@contextlib.contextmanager
def player_factory(target: ComputeTarget) -> Generator[PlayerFactory]:
    """Yield the factory of players for a target, connected to its cluster meanwhile.

    Raises:
        UsageError: Ray is not installed, or there is no such cluster.
    """
    if not target.on:
        yield LocalPlayer
        return
    from console.engine.workers.ray_cluster import RayCluster
    from console.engine.workers.remote_player import RemotePlayer

    cluster = RayCluster(target.on, target.workers)
    try:
        yield partial(RemotePlayer, fleet=cluster)
    finally:
        cluster.close()
