"""What a selection of cases can show, in words. Pure."""

from console.core.statistics.power import Detectable


def detectable_words(plan: Detectable) -> str:
    """Say the smallest difference between two such runs that can be told from noise, and what more would bring."""
    if not plan.cases:
        return ""
    return f"differences below {points(plan.difference())} will not be told from noise"


def doubling_words(plan: Detectable) -> str:
    """Say what twice the cases and twice the rollouts would bring, and where the figures come from."""
    if not plan.cases:
        return ""
    basis = "as earlier runs differed" if plan.is_measured else f"if {plan.discordance:.0%} of cases end differently"
    cases, rollouts = points(plan.difference(cases=2)), points(plan.difference(rollouts=2))
    return f"twice the cases: {cases}, twice the rollouts: {rollouts} ({basis})"


def points(rate: float) -> str:
    """Return a difference of rates in points: `4.1 points`."""
    return f"{rate * 100:.1f} points"
