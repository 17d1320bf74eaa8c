"""The official metrics of repeated trials: mean reward and pass^k. Pure."""

from collections import defaultdict
from typing import Any

import msgspec

from console.core.statistics.repeats import pass_all

LOST = "infrastructure_error"


class Simulation(msgspec.Struct, frozen=True):
    """One trial of a task."""

    task: str
    trial: int
    reward: float | None
    termination_reason: str


class Trials(msgspec.Struct, frozen=True):
    """All trials of a run."""

    num_trials: int
    """Trials per task, as configured."""
    simulations: list[Simulation]


def metrics(trials: Trials) -> dict[str, Any]:
    """Compute the official metrics, excluding trials that failed by a machinery fault."""
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    for item in trials.simulations:
        if item.termination_reason != LOST:
            rewards[item.task].append(item.reward or 0.0)
    counted = [reward for own in rewards.values() for reward in own]
    passed = [(sum(abs(reward - 1) <= 1e-6 for reward in own), len(own)) for own in rewards.values()]
    most = min(trials.num_trials, *(count for _, count in passed)) if passed else 0
    pass_hat = {str(k): sum(pass_all(k, *counts) for counts in passed) / len(passed) for k in range(1, most + 1)}
    return {
        "avg_reward": sum(counted) / len(counted) if counted else 0.0,
        "pass_hat": pass_hat,
        "total_simulations": len(counted),
        "total_tasks": len(rewards),
        "infra_error_count": len(trials.simulations) - len(counted),
    }
