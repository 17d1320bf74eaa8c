"""One rollout as shown in lists: small enough to keep ten thousand, complete enough to sort and filter."""

import msgspec

from console.core.case import Key, Slot
from console.core.outcome import Outcome, Verdict
from console.core.tally import plain_verdict

RECENT_TEXT_LIMIT = 160
"""Characters kept of the streamed text."""
MESSAGE_LIMIT = 400
"""Characters kept of a verdict's first message."""
SETUP = "setup"
"""Ending of an ungraded rollout that succeeded, such as a memory conversation of BFCL."""


class Track(msgspec.Struct, gc=False):
    """The values of one named score over the turns of a conversation."""

    values: list[float | None] = msgspec.field(default_factory=list[float | None])
    threshold: float | None = None
    role: str = ""
    """Role of the model that gave the values; empty if code measured them."""

    @property
    def last(self) -> float | None:
        """Latest value; None if undetermined or not yet scored."""
        return self.values[-1] if self.values else None


NO_TRACKS: dict[str, Track] = {}
NO_SCORES: dict[str, float] = {}
"""Shared by rollouts without scores and never changed: ten thousand empty dicts take half a megabyte."""


class Rollout(msgspec.Struct, array_like=True, gc=False):
    """The attempt at one rollout that counts. Ids, titles, reasons, messages and streamed text are untrusted."""

    key: Key
    order: int
    """Index in order of first start."""
    category: str = ""
    title: str = ""
    graded: bool = True
    """False for setup cases, whose success proves nothing about the model."""
    outcome: Outcome | None = None
    """None while running and after an interruption."""
    reason: str = ""
    subject: str = ""
    message: str = ""
    """First message of the verdict."""
    function: str = ""
    """Name of the first function the model called."""
    functions: tuple[str, ...] = ()
    """Names of all functions called, and of those that the case expects."""
    model: str = ""
    """Name of the model that answered last, as returned by the server."""
    state: str = ""
    """Current activity as a word; empty when unknown or finished."""
    why: str = ""
    since: float = 0.0
    turn: int = 0
    step: int = 0
    recent_text: str = ""
    """End of the text streamed last."""
    started_at: float = 0.0
    ended_at: float = 0.0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """Cost in USD; None if unknown, which does not mean free."""
    calls: int = 0
    cut: str = ""
    """Cause of a truncated last reply: `length` or `content_filter`."""
    tries: int = 0
    """Number of failed tries of the rollout's calls."""
    earlier: tuple[Key, ...] = ()
    """Keys of previous attempts in order."""
    tracks: dict[str, Track] = msgspec.field(default_factory=lambda: NO_TRACKS)
    """In-play scores by name."""
    scores: dict[str, float] = msgspec.field(default_factory=lambda: NO_SCORES)
    """Scores of the verdict by name."""
    cluster: str = ""
    """Cluster of its case; empty if the case is independent."""
    server: str = ""
    """Providers and fingerprints that served its replies, as in `Finished`."""
    written: str = ""
    """Symptoms of a misconfigured server, as in `Finished`."""
    later: tuple[Key, ...] = ()
    """Keys of attempts after the graded one, which do not count."""

    @property
    def at(self) -> float:
        """Time of its end."""
        return self.ended_at

    @property
    def verdict(self) -> Verdict:
        """Verdict without messages; requires an outcome."""
        assert self.outcome is not None
        return plain_verdict(self.outcome, self.reason or None, self.scores)

    @property
    def attempts(self) -> tuple[Key, ...]:
        """Keys of all attempts in order."""
        return *self.earlier, self.key, *self.later

    @property
    def slot(self) -> Slot:
        """Case id and rollout number, stable across attempts."""
        return self.key.slot

    @property
    def is_running(self) -> bool:
        """True if it has started and not finished."""
        return self.outcome is None

    @property
    def has_grade(self) -> bool:
        """True if it passed or failed, so that it is never played again in its run."""
        return self.outcome is not None and self.outcome.is_graded

    @property
    def is_setup(self) -> bool:
        """True if it is an ungraded rollout that succeeded."""
        return not self.graded and self.outcome is not None and self.outcome.is_graded

    @property
    def counted_as(self) -> str | None:
        """Its outcome, or `setup` if it is ungraded; None while running."""
        return self.outcome if self.graded else SETUP

    @property
    def ending(self) -> str:
        """Ending as a word; empty while running."""
        if self.is_setup:
            return SETUP
        return self.outcome.value.replace("_", " ") if self.outcome else ""

    @property
    def is_failure(self) -> bool:
        """True if it failed, broke or is undecided."""
        return self.outcome in (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)

    def append_text(self, text: str) -> None:
        """Append streamed text, keeping only the end."""
        self.recent_text = (self.recent_text + text)[-RECENT_TEXT_LIMIT:]


def outcome_word(outcome: Outcome | None) -> str:
    """Return the outcome as a word; `interrupted` for None."""
    return outcome.value if outcome else "interrupted"
