"""Looks at a run while it plays, and the rules by which they may end it without biasing its numbers.

A group-sequential design after Wang and Tsiatis (1987): the looks are fixed beforehand, and at a share t of the plan an
estimate must lie further from the limit than c * t^(shape - 1/2) standard errors. c is computed so that a true null
hypothesis is rejected at any of the looks with probability alpha. The interval of an estimate is the inversion of this
boundary (repeated confidence interval, Jennison and Turnbull 1989), which covers the truth at all looks together. A
comparison that is looked at once, at its end, is the same design with a single look.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from console.core.statistics.decision import ALPHA, SHAPE, Decision, decide
from console.core.statistics.distributions import normal_quantile, t_quantile
from console.core.statistics.intervals import Interval, wilson
from console.core.statistics.sample import Observation, Sample, sample_of

LOOKS = 20
LEAST_CLUSTERS, LEAST_CASES = 10, 30
"""Minimum sample for a look, as the standard error of fewer is too rough for a decision."""
WIDTH_FIRST, WIDTH_STEP = 40, 20
"""Cases at the first look of a run that ends at a given width, and between looks."""
_NODES = 20


@lru_cache(maxsize=256)
def boundary_constant(shares: tuple[float, ...], alpha: float = ALPHA, shape: float = SHAPE) -> float:
    """Return c of the boundary c * t^(shape - 1/2) for looks at these increasing shares of the plan, the last being 1.

    Found by integrating the density of the process that has not crossed yet from look to look (Armitage, McPherson and
    Rowe 1969) with Gauss-Legendre quadrature; the crossing probability falls steadily with c.
    """
    low = normal_quantile(1 - alpha / 2)
    high = normal_quantile(1 - alpha / 2 / len(shares))  # Bonferroni's correction is an upper bound
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _crossing(middle, shares, shape) > alpha else (low, middle)
    return (low + high) / 2


def _crossing(constant: float, shares: Sequence[float], shape: float) -> float:
    """Return the probability that a Brownian motion leaves the boundary at one of the looks."""
    values, weights = _legendre(_NODES)
    points: list[float] = []
    masses: list[float] = []  # density times weight; the process is symmetric, so one half suffices
    before = 0.0
    for share in shares:
        limit, spread = constant * share**shape, math.sqrt(share - before)
        scale = 1 / (spread * math.sqrt(2 * math.pi))
        at = [limit * (1 + value) / 2 for value in values]
        if points:
            density = [
                scale * math.fsum(
                    mass * (math.exp(-(((x - y) / spread) ** 2) / 2) + math.exp(-(((x + y) / spread) ** 2) / 2))
                    for y, mass in zip(points, masses, strict=True)
                )
                for x in at
            ]  # fmt: skip
        else:
            density = [scale * math.exp(-((x / spread) ** 2) / 2) for x in at]
        points, before = at, share
        masses = [limit / 2 * weight * value for weight, value in zip(weights, density, strict=True)]
    return 1 - 2 * math.fsum(masses)


@lru_cache(maxsize=4)
def _legendre(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return nodes and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method."""
    nodes: list[float] = []
    weights: list[float] = []
    for number in range(count):
        x = math.cos(math.pi * (number + 0.75) / (count + 0.5))
        slope = 1.0
        for _ in range(100):
            now, last = x, 1.0
            for degree in range(2, count + 1):
                now, last = ((2 * degree - 1) * x * now - (degree - 1) * last) / degree, now
            slope = count * (x * now - last) / (x * x - 1)
            x -= (step := now / slope)
            if abs(step) < 1e-15:
                break
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return tuple(nodes), tuple(weights)


@dataclass(frozen=True, slots=True)
class Boundary:
    """Critical values of a series of looks."""

    shares: tuple[float, ...] = (1.0,)
    """Share of the plan at each look, increasing to 1; a single look is an ordinary test."""
    alpha: float = ALPHA
    shape: float = SHAPE

    @property
    def constant(self) -> float:
        return boundary_constant(self.shares, self.alpha, self.shape)

    def critical(self, number: int, clusters: int) -> float:
        """Return the number of standard errors required at a look.

        Args:
            number: number of the look, from 1.
            clusters: clusters of the sample, at least 2; Student's t with one degree of freedom fewer replaces the
                normal distribution at an equal tail probability.
        """
        z = self.constant * self.shares[number - 1] ** (self.shape - 0.5)
        return t_quantile(clusters - 1, 1 - math.erfc(z / math.sqrt(2)) / 2)

    def interval(self, sample: Sample, number: int) -> tuple[float, float]:
        """Return the repeated confidence interval of a mean at a look; infinite with fewer than two clusters."""
        if sample.cluster_count < 2:
            return -math.inf, math.inf
        reach = self.critical(number, sample.cluster_count) * spread_of(sample)
        return sample.mean - reach, sample.mean + reach


def spread_of(sample: Sample) -> float:
    """Return the clustered standard error; if there is no spread, one exception among the clusters is assumed."""
    return sample.standard_error or 1 / sample.cluster_count


def even_looks(units: Sequence[int], *, least_units: int = 0, least_cases: int = 0) -> list[tuple[int, float]]:
    """Return cases and share of the plan at each of `LOOKS` equal steps of the number of units.

    Args:
        units: cases of each unit (a cluster, or an independent case) in planned order.
        least_units: units before the first look, if there are as many.
        least_cases: cases before the first look, if there are as many.
    """
    count, total = len(units), sum(units)
    looks: dict[int, float] = {}
    reached = done = 0
    for step in range(1, LOOKS + 1):
        due = max(1, count * step // LOOKS) if count else 0
        reached += sum(units[done:due])
        done = max(done, due)
        if done == count or (done >= least_units and reached >= least_cases):
            looks.setdefault(reached, done / count if count else 1.0)
    return list(looks.items()) if total else []


def width_looks(units: Sequence[int]) -> list[int]:
    """Return the cases at each look of a run that ends at a given width: every 20 starting at 40, in whole units."""
    looks: list[int] = []
    due, reached = WIDTH_FIRST, 0
    for number, size in enumerate(units, 1):
        reached += size
        if reached >= due or number == len(units):
            looks.append(reached)
            due = reached - (reached - WIDTH_FIRST) % WIDTH_STEP + WIDTH_STEP
    return looks


def is_narrow(interval: Interval | None, half_width: float) -> bool:
    """Return whether an interval reaches at most `half_width` to each side."""
    if interval is None or interval.low is None or interval.high is None:
        return False
    return (interval.high - interval.low) / 2 <= half_width


@dataclass(frozen=True, slots=True)
class Standing:
    """One model in a race at a look."""

    name: str
    is_out: bool
    difference: float = 0.0
    """Mean of the model minus the leader's."""
    low: float = 0.0
    high: float = 0.0


def race(
    values: Mapping[str, Sequence[Observation]], boundary: Boundary, number: int
) -> tuple[str, dict[str, Standing]]:
    """Compare each model with the leader at a look, and return the leader and the standings.

    Args:
        values: results of each model that still runs, on the same cases.
        boundary: at alpha over the number of comparisons planned.
        number: number of the look, from 1.
    """
    means = {name: sample_of(listed).mean if listed else -math.inf for name, listed in values.items()}
    leader = max(means, key=lambda name: (means[name], name))
    standings = {leader: Standing(leader, is_out=False)}
    for name, listed in values.items():
        if name != leader:
            sample = sample_of(paired(values[leader], listed))
            low, high = boundary.interval(sample, number)
            is_out = decide(low, high, 0.0, math.inf) is Decision.WORSE
            standings[name] = Standing(name, is_out, sample.mean, low, high)
    return leader, standings


def paired(a: Sequence[Observation], b: Sequence[Observation]) -> list[Observation]:
    """Return the difference B - A of the means over rollouts, for each common case."""
    of_a, of_b = _case_means(a), _case_means(b)
    return [
        mean._replace(value=mean.value - other.value)
        for case, mean in of_b.items()
        if (other := of_a.get(case)) is not None
    ]


def _case_means(observations: Sequence[Observation]) -> dict[tuple[str, str], Observation]:
    values: dict[tuple[str, str], list[Observation]] = {}
    for observation in observations:
        values.setdefault((observation.category, observation.case), []).append(observation)
    return {
        case: listed[0]._replace(value=math.fsum(item.value for item in listed) / len(listed))
        for case, listed in values.items()
    }


def expected_cases(looks: Sequence[tuple[int, float]], boundary: Boundary, shift: float, variance: float) -> float:
    """Estimate the number of cases that a run will play until it is decided.

    Assumes a normal estimate at each look, and that a run continues as long as its least favorable look so far.

    Args:
        looks: cases and share of the plan at each look.
        boundary: of these looks.
        shift: true difference plus margin; its sign does not matter.
        variance: of the difference of one case.
    """
    going_on, expected, before = 1.0, 0.0, 0
    for number, (cases, _) in enumerate(looks, 1):
        expected += (cases - before) * going_on
        before = cases
        error = math.sqrt(max(variance, 1e-9) / cases)
        reached = (abs(shift) / error - boundary.critical(number, max(cases, 2))) / math.sqrt(2)
        going_on = min(going_on, math.erfc(reached) / 2)
    return expected


def cases_for_width(rate: float, half_width: float, looks: Sequence[int]) -> int:
    """Return the number of cases at the first look with a narrow enough interval of a rate; all if there is none."""
    for cases in looks:
        low, high = wilson(rate * cases, cases)
        if (high - low) / 2 <= half_width:
            return cases
    return looks[-1] if looks else 0
