"""What a check found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from console.core.comparison import Pair


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether one check holds, and why not."""

    kind: str
    """The field that names the check."""
    holds: bool | None
    """None: it could not be decided."""
    expected: str
    """What would be right, in words. Foreign text."""
    actual: str = ""
    """What was looked at, or what was read from it. Foreign text."""
    reason: str = ""
    """Why it does not hold, a key of `reason_words`."""
    message: str = ""
    """The same in a sentence."""
    subject: str = ""
    """What the reason is about, for grouping."""
    make_pairs: Callable[[], Sequence[Pair]] | None = None
    """Makes the lines of expected and actual where there is more to compare; only a review needs them."""
    scores: dict[str, float] = field(default_factory=dict[str, float])
