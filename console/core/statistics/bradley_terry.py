"""Bradley–Terry strengths from comparisons of two answers each, with intervals by bootstrap over clusters.

The log-odds that one player beats another are the difference of their strengths. With length control, they also have a
term for the excess length of its answer, so that strengths apply to equally long answers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from console.core.statistics.intervals import BOOTSTRAP, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DRAWS = 500
"""Bootstrap resamples of the clusters."""
MIDDLE, POINTS = 1000.0, 400.0
"""Mean of all strengths, and the difference at which the odds are 10 to 1, as on Elo's scale."""
_STEPS, _EXACT = 50, 1e-7
_NO_SPREAD = 1e-6
_FEWEST_PLAYERS = 2


class Duel(NamedTuple):
    """One comparison."""

    first: int
    """Number of a player, from 0."""
    second: int
    won: float
    """Result of the first player: 1, 0, or in between, such as one half for a tie."""
    cluster: str = ""
    """Prompt, or a group of dependent ones."""
    longer: float = 0.0
    """Length of the first answer minus that of the second, over their sum."""


class Strengths(NamedTuple):
    """Strengths of all players."""

    players: tuple[Interval, ...]
    """Strength of each player, on Elo's scale."""
    rates: tuple[Interval, ...]
    """Expected win rate of each player against an average of the others, at equal length with length control."""
    length: float | None = None
    """Log-odds gained by an answer that is one standard deviation longer; None without length control."""


def strengths(duels: Sequence[Duel], players: int, *, length_control: bool = False) -> Strengths | None:
    """Return the strength of each player with its interval, or None if there are no duels.

    Every pair of players that met also counts one tie, so that a player who won all duels has a finite strength.

    Args:
        duels: all comparisons.
        players: number of players.
        length_control: fit the effect of length too, and remove it.
    """
    import numpy as np  # slow to import

    if not duels or players < _FEWEST_PLAYERS:
        return None
    design, won = _design(duels, players, length_control=length_control)
    ties = len(won) - len(duels)
    groups = np.unique([duel.cluster for duel in duels], return_inverse=True)[1]
    count, always = int(groups.max()) + 1, np.ones(ties)
    start = np.zeros(design.shape[1], dtype=np.float64)
    best = _fit(design, won, np.ones(len(won)), start)
    source = np.random.default_rng(0)
    scales, rates = np.empty((DRAWS, players)), np.empty((DRAWS, players))
    for draw in range(DRAWS):
        times = np.bincount(source.integers(count, size=count), minlength=count)[groups]
        fitted = _fit(design, won, np.append(times, always).astype(np.float64), best)[:players]
        scales[draw], rates[draw] = _on_scale(fitted), _rates(fitted)
    length = float(best[players]) if best.size > players else None
    strong = best[:players]
    return Strengths(
        _intervals(_on_scale(strong), scales, duels, count), _intervals(_rates(strong), rates, duels, count), length
    )


def _intervals(values: "Floats", drawn: "Floats", duels: Sequence[Duel], clusters: int) -> tuple[Interval, ...]:
    """Return a value of each player with its percentiles, which need clusters that disagree."""
    import numpy as np

    bounds = np.quantile(drawn, [0.025, 0.975], axis=0)
    intervals: list[Interval] = []
    for player, value in enumerate(values):
        own = sum(player in (duel.first, duel.second) for duel in duels)
        low, high = float(bounds[0, player]), float(bounds[1, player])
        if high - low > _NO_SPREAD:
            intervals.append(Interval(float(value), low, high, own, own, clusters, BOOTSTRAP))
        else:
            intervals.append(Interval(float(value), None, None, own, own, clusters))
    return tuple(intervals)


def _design(duels: Sequence[Duel], players: int, *, length_control: bool) -> "tuple[Floats, Floats]":
    """Return a row for each duel with its result, then a tie for each pair of players that met."""
    import numpy as np

    met = sorted({(min(duel.first, duel.second), max(duel.first, duel.second)) for duel in duels})
    pairs = [*((duel.first, duel.second) for duel in duels), *met]
    longer = np.array([*(duel.longer for duel in duels), *(0.0 for _ in met)], dtype=np.float64)
    spread = float(longer[: len(duels)].std())
    has_length = length_control and spread > 0
    design = np.zeros((len(pairs), players + has_length))
    for place, (first, second) in enumerate(pairs):
        design[place, first] += 1
        design[place, second] -= 1
    if has_length:
        design[:, players] = longer / spread
    return design, np.array([*(duel.won for duel in duels), *(0.5 for _ in met)], dtype=np.float64)


def _fit(design: "Floats", won: "Floats", weights: "Floats", start: "Floats") -> "Floats":
    """Return the coefficients of a logistic regression without an intercept, by Newton's method."""
    import numpy as np

    beta = start.copy()
    tiny = 1e-6 * np.eye(beta.size)  # only differences of strengths are determined
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-np.clip(design @ beta, -35, 35)))
        gradient = design.T @ (weights * (won - expected)) - tiny @ beta
        curvature = (design * (weights * expected * (1 - expected))[:, None]).T @ design + tiny
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        beta = beta + (step if longest <= 1 else step / longest)
        if longest < _EXACT:
            break
    return beta


def _on_scale(log_odds: "Floats") -> "Floats":
    import numpy as np

    return MIDDLE + POINTS / np.log(10) * (log_odds - log_odds.mean())


def _rates(log_odds: "Floats") -> "Floats":
    """Return the mean expected result of each player against the others."""
    import numpy as np

    won = 1 / (1 + np.exp(-(log_odds[:, None] - log_odds[None, :])))
    return (won.sum(axis=1) - 0.5) / (len(log_odds) - 1)
