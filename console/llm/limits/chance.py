"""Refusals by chance: rate limits that some providers return at any load, so that sending fewer calls does not help.

A call is *light* if it is sent while clearly fewer calls are allowed than when one was refused. The refused share of
light calls is due to chance; about twice as many refusals are accepted without consequences. Several calls in a row
that are refused, in the order of sending, are never chance.
"""

from collections import deque
from typing import NamedTuple

_TOGETHER = 3
"""Consecutive refusals that are never chance if refusals by chance are rare."""
_TOGETHER_PER_SHARE = 10.0
"""Additional consecutive refusals allowed per share of refusals by chance: at a fifth, four in a row may be chance."""
_MEMORY = 50.0
"""Number of calls after which earlier ones count for little."""
_DOUBT = 4.0
"""Number of calls assumed to have been accepted before any was sent."""
_LEAST_FALL = 0.5
"""Refusal rate of light calls, relative to that of other calls, below which load explains all refusals."""
_MOST = 0.25
"""Maximum share of refusals attributed to chance."""
NEGLIGIBLE = 0.03
"""Share of refusals by chance that is too small to matter."""
_TOLERANCE = 2.0
"""Accepted refusals, as a multiple of those expected by chance."""
_SLACK, _MOST_SLACK = 40.0, 4.0
"""Additional accepted refusals: per share, and at most."""
_REMEMBERED = 32
"""Number of refusals searched for consecutive ones."""


class Refusal(NamedTuple):
    """A rate limit, as passed to the learner."""

    cuts: int
    """Rate-limit episodes known when the call was sent."""
    is_light: bool
    """True if the call was light."""
    row: int
    """Number of consecutive refusals, including this one."""


def are_together(row: int, share: float) -> bool:
    """Return whether this many consecutive refusals exceed chance at this share."""
    return row >= _TOGETHER + _TOGETHER_PER_SHARE * share


class Chance:
    """Estimates the share of calls refused by chance."""

    def __init__(self) -> None:
        self._light = self._light_refused = self._heavy = self._heavy_refused = 0.0

    @property
    def share(self) -> float:
        """Share of calls refused by chance; 0 if fewer calls in flight have clearly helped."""
        light, heavy = self._light + _DOUBT, self._heavy + _DOUBT
        if (self._light_refused + 1.0) / light < _LEAST_FALL * self._heavy_refused / heavy:
            return 0.0
        return min(_MOST, self._light_refused / light)

    def sent(self, light: int, heavy: int) -> None:
        """Record calls that were sent under light and under heavy load."""
        kept = (1.0 - 1.0 / _MEMORY) ** light
        self._light, self._light_refused = self._light * kept + light, self._light_refused * kept
        kept = (1.0 - 1.0 / _MEMORY) ** heavy
        self._heavy, self._heavy_refused = self._heavy * kept + heavy, self._heavy_refused * kept

    def refused(self, light: int, heavy: int) -> None:
        """Record calls that were refused."""
        self._light_refused += light
        self._heavy_refused += heavy

    def follow(self, share: float) -> None:
        """Adopt a share estimated elsewhere."""
        self._light = _MEMORY / 2
        self._light_refused = share * (self._light + _DOUBT)


class Tolerance:
    """Accepts about as many refusals as chance explains."""

    def __init__(self) -> None:
        self._excess = 0.0

    def sent(self, share: float) -> None:
        """Record that a call was sent while this share of calls is refused by chance."""
        self._excess = max(0.0, self._excess - _TOLERANCE * share)

    def accepts(self, row: int, share: float) -> bool:
        """Record a refusal that follows others in a row; return whether it may be chance."""
        self._excess += 1.0
        slack = min(_MOST_SLACK, _SLACK * max(0.0, share - NEGLIGIBLE))
        if self._excess < 1.0 + slack and not are_together(row, share):
            return True
        self._excess = 0.0
        return False


class RefusedCalls:
    """Refused calls of a process by their numbers, in the order of sending."""

    def __init__(self) -> None:
        self._numbers = deque[int](maxlen=_REMEMBERED)
        self._light: list[int] = []
        """Light calls among them that no later answer has followed yet."""

    def add(self, number: int, *, is_light: bool) -> int:
        """Add a call; return the refusals in a row around it."""
        self._numbers.append(number)
        if is_light:
            self._light.append(number)
        return self._row(number)

    def answered(self, number: int, share: float) -> int:
        """Return the number of light calls refused by chance, now that a later call was answered."""
        earlier = [light for light in self._light if light < number]
        if earlier:
            self._light = [light for light in self._light if light > number]
        return sum(not are_together(self._row(light), share) for light in earlier)

    def paused(self) -> None:
        """Record that all calls wait, so that a later answer does not prove a refusal to be chance."""
        self._light.clear()

    def _row(self, number: int) -> int:
        first = last = number
        while first - 1 in self._numbers:
            first -= 1
        while last + 1 in self._numbers:
            last += 1
        return last - first + 1
