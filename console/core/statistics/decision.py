"""Decisions on whether B is worse than A: allowed errors and gaps, and the conclusion from an interval."""

from enum import StrEnum

ALPHA = 0.05
"""Probability that any of the looks leads to a wrong claim, on both sides together."""
SHAPE = 0.25
"""Between 0 (O'Brien and Fleming: late stops) and 0.5 (Pocock: early stops, and less power at the end)."""
LEFT_OUT_SHARE = 0.05
"""Largest share of broken and undecided rollouts for which a decision is possible."""


class Decision(StrEnum):
    """Answer to the question whether B is worse than A."""

    NOT_WORSE = "not worse"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"


def decide(low: float, high: float, worse_below: float, not_worse_from: float) -> Decision:
    """Return the decision for an interval of B - A; looks and the gate share this rule.

    Args:
        low: lower bound of the interval.
        high: upper bound.
        worse_below: B is worse if all of the interval lies below this (usually the negative margin).
        not_worse_from: B is not worse if all of the interval lies at or above this.
    """
    if high < worse_below:
        return Decision.WORSE
    return Decision.NOT_WORSE if low >= not_worse_from else Decision.CANNOT_TELL
