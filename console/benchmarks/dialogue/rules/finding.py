"""The result of a check."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from console.core.comparison import Pair


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check."""

    kind: str
    """Name of the check's field."""
    holds: bool | None
    """None if undecided."""
    expected: str
    """Description of the expected answer. Untrusted text."""
    actual: str = ""
    """The checked text, or the value read from it. Untrusted text."""
    reason: str = ""
    """Reason for the verdict if the check fails; see `reasons`."""
    message: str = ""
    """The reason in a sentence."""
    subject: str = ""
    """Subject of the reason, for grouping."""
    make_pairs: Callable[[], Sequence[Pair]] | None = None
    """Builds a detailed comparison for review, if there is one."""
    scores: dict[str, float] = field(default_factory=dict[str, float])
