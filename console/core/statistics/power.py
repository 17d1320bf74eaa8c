"""Before a run: the smallest difference between two runs that so many cases and rollouts can show."""

import math
from dataclasses import dataclass

from console.core.statistics.distributions import normal_quantile

DISCORDANCE = 0.2
"""Share of cases that two runs end differently, where no earlier runs tell."""
WITHIN_SHARE = 0.5
"""Part of the discordance that is sampling, where no earlier runs tell: more rollouts take away this part only."""
POWER = 0.8
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Detectable:
    """What a selection of cases can show of two runs that both play it."""

    cases: int
    rollouts: int
    discordance: float = DISCORDANCE
    within_share: float = WITHIN_SHARE
    is_measured: bool = False
    """Whether the discordance was taken from earlier runs."""

    def difference(self, cases: int = 1, rollouts: int = 1) -> float:
        """Return the smallest difference of rates, with so many times the cases and rollouts; 1 without cases."""
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
    """Return the smallest paired difference of two rates that is distinguishable from noise with this power.

    (z of 1 - alpha/2 + z of power) * sqrt(variance / cases); of the discordance, which is the variance of a case's
    difference with one rollout each, the sampled part falls with the number of rollouts (Miller 2024, section 5).

    Args:
        cases: that both runs play.
        rollouts: of each case, in each run.
        discordance: share of cases that single rollouts of both runs end differently.
        within_share: part of it that is sampling and not a difference between the models.
        power: how likely the difference is found.
        alpha: how likely one is found where there is none.
    """
    if not cases:
        return 1.0
    variance = discordance * (1 - within_share + within_share / max(rollouts, 1))
    return min(1.0, (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * math.sqrt(variance / cases))
