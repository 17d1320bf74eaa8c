"""Who plays at a place; what a cluster needs is loaded when one is named."""

import contextlib
from collections.abc import Generator
from functools import partial

from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.where import Where


@contextlib.contextmanager
def player_at(where: Where) -> Generator[PlayerFactory]:
    """Yield what makes the players of runs there; a cluster is connected to meanwhile.

    Raises:
        UsageError: Ray is not installed, or there is no such cluster.
    """
    if not where.on:
        yield LocalPlayer
        return
    from console.engine.workers.ray_cluster import RayCluster
    from console.engine.workers.remote_player import RemotePlayer

    cluster = RayCluster(where.on, where.workers)
    try:
        yield partial(RemotePlayer, fleet=cluster)
    finally:
        cluster.close()
