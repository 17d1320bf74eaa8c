"""Statistical power of a selection of cases, as text. Pure."""

from console.core.statistics.power import Detectable


def detectable_words(plan: Detectable) -> str:
    """Describe the smallest detectable difference between two such runs, and ways to improve it."""
    if not plan.cases:
        return ""
    return f"differences below {points(plan.difference())} cannot be distinguished from noise"


def doubling_words(plan: Detectable) -> str:
    """Describe the effect of doubling cases or rollouts, and the basis of these numbers."""
    if not plan.cases:
        return ""
    earlier = f"as earlier {'simulated ' if plan.is_simulated else ''}runs differed"
    basis = earlier if plan.is_measured else f"if {plan.discordance:.0%} of cases end differently"
    cases, rollouts = points(plan.difference(cases=2)), points(plan.difference(rollouts=2))
    return f"twice the cases: {cases}, twice the rollouts: {rollouts} ({basis})"


def points(rate: float) -> str:
    """Format a difference of rates in points: `4.1 points`."""
    return f"{rate * 100:.1f} points"
