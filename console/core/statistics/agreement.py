"""Agreement of two judges: Cohen's kappa with its interval."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from console.core.statistics.distributions import Z95

_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Two judges' verdicts on the same items, compared."""

    pairs: int
    agreed: float
    """Share of equal pairs."""
    kappa: float | None
    """Cohen's kappa: agreement beyond chance, at most 1; None if chance alone would always agree."""
    low: float | None
    """95 % interval of kappa; None if there is too little data for the formula."""
    high: float | None


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> JudgeAgreement | None:
    """Return Cohen's kappa (1960) with the large-sample interval of Fleiss, Cohen and Everitt (1969).

    Args:
        pairs: verdicts of the first and the second judge on each item. Returns None if there are no pairs.
    """
    if not pairs:
        return None
    count, joint = len(pairs), Counter(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    labels = list(dict.fromkeys([*first, *second]))
    agreed = sum(joint[label, label] for label in labels) / count
    chance = math.fsum(first[label] * second[label] for label in labels) / count**2
    if chance >= 1:
        return JudgeAgreement(count, agreed, None, None, None)
    kappa = (agreed - chance) / (1 - chance)
    on = math.fsum(
        joint[label, label] / count * (1 - (first[label] + second[label]) / count * (1 - kappa)) ** 2
        for label in labels
    )
    off = (1 - kappa) ** 2 * math.fsum(
        share / count * ((second[a] + first[b]) / count) ** 2 for (a, b), share in joint.items() if a != b
    )
    variance = (on + off - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2 / count
    if variance < _NO_SPREAD:
        bound = 1.0 if kappa > 1 - _NO_SPREAD else None
        return JudgeAgreement(count, agreed, kappa, bound, bound)
    half = Z95 * math.sqrt(variance)
    return JudgeAgreement(count, agreed, kappa, max(-1.0, kappa - half), min(1.0, kappa + half))
