"""The official metrics of repeated trials: mean reward and pass^k. Pure."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from console.core.statistics.repeats import pass_all

LOST = "infrastructure_error"


class Simulation(msgspec.Struct, frozen=True):
    """One trial of a task."""

    task: str
    trial: int
    reward: float | None
    termination_reason: str


class Metrics(msgspec.Struct, frozen=True):
    """Metrics of a run; trials lost to machinery are in none of them."""

    avg_reward: float
    pass_hat: dict[int, float]
    total_simulations: int
    total_tasks: int
    infra_error_count: int


def metrics(simulations: Iterable[Simulation], trials: int) -> Metrics:
    """Compute the metrics.

    Args:
        simulations: all trials.
        trials: trials per task, as configured.
    """
    every = list(simulations)
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    for item in every:
        if item.termination_reason != LOST:
            rewards[item.task].append(item.reward or 0.0)
    counted = [reward for own in rewards.values() for reward in own]
    most = min([trials, *(len(own) for own in rewards.values())], default=0) if rewards else 0
    pass_hat = {
        k: sum(pass_all(k, sum(abs(reward - 1) <= 1e-6 for reward in own), len(own)) for own in rewards.values())
        / len(rewards)
        for k in range(1, most + 1)
    }
    mean = sum(counted) / len(counted) if counted else 0.0
    return Metrics(mean, pass_hat, len(counted), len(rewards), len(every) - len(counted))
