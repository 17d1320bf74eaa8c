"""Student's t and the normal distribution, and quantiles of a sample."""

import math
from collections.abc import Sequence
from functools import lru_cache

Z95 = 1.959963984540054
"""97.5 % quantile of the normal distribution."""
_TINY = 1e-300


def normal_quantile(share: float) -> float:
    """Return the value below which this share of the normal distribution lies."""
    from statistics import NormalDist  # imported late: it loads decimal, which startup does not need

    return NormalDist().inv_cdf(share)


@lru_cache(maxsize=4096)
def t_quantile(freedom: float, share: float = 0.975) -> float:
    """Return an upper quantile of Student's t.

    Args:
        freedom: degrees of freedom, above 0; may be fractional.
        share: at least 0.5, below 1.

    Raises:
        ValueError: the arguments are out of range.
    """
    if freedom <= 0 or not 0.5 <= share < 1:
        raise ValueError(f"t has no quantile {share} with {freedom} degrees of freedom")
    tail, low, high = 2 * (1 - share), 0.0, 2.0
    while t_tails(high, freedom) > tail:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_tails(middle, freedom) > tail else (low, middle)
    return (low + high) / 2


def t_tails(value: float, freedom: float) -> float:
    """Return the probability that Student's t lies at least this far from 0, on either side."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction from its front (Lentz), to the precision of a float."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _away_from_zero(1 + even * d), _away_from_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _away_from_zero(1 + odd * d), _away_from_zero(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values by linear interpolation.

    Raises:
        ValueError: no values.
    """
    if not ordered:
        raise ValueError("a quantile needs at least one value")
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
