"""The smallest difference between two runs that a given number of cases and rollouts can show."""

import math
from dataclasses import dataclass

from console.core.statistics.distributions import normal_quantile

DISCORDANCE = 0.2
"""Share of cases whose outcome differs between two runs, assumed if there are no earlier runs."""
WITHIN_SHARE = 0.5
"""Part of the discordance due to sampling, assumed if there are no earlier runs; only it falls with more rollouts."""
POWER = 0.8
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Detectable:
    """Detectable difference between two runs that both play a selection of cases."""

    cases: int
    rollouts: int
    discordance: float = DISCORDANCE
    within_share: float = WITHIN_SHARE
    is_measured: bool = False
    """True if the discordance was measured on earlier runs."""
    is_simulated: bool = False
    """True if all of these runs were played by simulated models."""

    def difference(self, cases: int = 1, rollouts: int = 1) -> float:
        """Return the smallest detectable difference of rates at a multiple of cases and rollouts; 1 without cases."""
        return detectable_difference(self.cases * cases, self.rollouts * rollouts, self.discordance, self.within_share)


def detectable_difference(
    cases: int,
    rollouts: int = 1,
    discordance: float = DISCORDANCE,
    within_share: float = WITHIN_SHARE,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
) -> float:
    """Return the smallest paired difference of two rates that is detected with the given power.

    (z of 1 - alpha/2 + z of power) * sqrt(variance / cases); the discordance is the variance of a case's difference
    with one rollout each, and its sampling part falls with the number of rollouts (Miller 2024, section 5).

    Args:
        cases: number of cases that both runs play.
        rollouts: per case, in each run.
        discordance: share of cases that single rollouts of both runs end differently.
        within_share: part of it that is sampling and not a difference between the models.
        power: probability of detecting a real difference.
        alpha: probability of reporting a difference that does not exist.
    """
    if not cases:
        return 1.0
    variance = discordance * (1 - within_share + within_share / max(rollouts, 1))
    return min(1.0, (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * math.sqrt(variance / cases))
