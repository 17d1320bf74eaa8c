"""One rollout as lists show it: small enough to keep ten thousand, complete enough to sort and filter."""

import msgspec

from console.core.case import Key, Slot
from console.core.outcome import Outcome, Verdict
from console.core.tally import plain_verdict

RECENT_TEXT_LIMIT = 160
"""Characters kept of the streamed text."""
MESSAGE_LIMIT = 400
"""Characters kept of a verdict's first message."""
SETUP = "setup"
"""The name of the end of a rollout that ended well and is not graded, such as BFCL's memory conversations."""


class Track(msgspec.Struct, gc=False):
    """The values of one named score over the turns of a conversation."""

    values: list[float | None] = msgspec.field(default_factory=list[float | None])
    threshold: float | None = None

    @property
    def last(self) -> float | None:
        """The latest value; None when it could not be determined, or there is none yet."""
        return self.values[-1] if self.values else None


NO_TRACKS: dict[str, Track] = {}
NO_SCORES: dict[str, float] = {}
"""Of rollouts without any, all the same, and never to be changed: ten thousand empty ones are half a megabyte."""


class Rollout(msgspec.Struct, array_like=True, gc=False):
    """The latest attempt at one rollout of a case. Ids, titles, reasons, messages and words said are foreign text."""

    key: Key
    order: int
    """Place in the order of first starts."""
    category: str = ""
    title: str = ""
    graded: bool = True
    """False: played for what others build on; that it ended well says nothing of the model."""
    outcome: Outcome | None = None
    """None while it is being played, and after an interruption."""
    reason: str = ""
    subject: str = ""
    message: str = ""
    """First message of the verdict."""
    function: str = ""
    """Name of the first function the model called."""
    model: str = ""
    """Name of the model that answered last, as the server gave it."""
    state: str = ""
    """What it is doing, in a word; empty when nothing is known or it has ended."""
    why: str = ""
    since: float = 0.0
    turn: int = 0
    step: int = 0
    recent_text: str = ""
    """The end of the text that is streamed, or was last."""
    started_at: float = 0.0
    ended_at: float = 0.0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: unknown, which is not free."""
    calls: int = 0
    cut: str = ""
    """What ended the last reply in the model's stead: `length` or `content_filter`."""
    tries: int = 0
    """Failed tries of calls."""
    earlier: tuple[Key, ...] = ()
    """Keys of the attempts before this one, in order."""
    tracks: dict[str, Track] = msgspec.field(default_factory=lambda: NO_TRACKS)
    """Scores given while playing, by name."""
    scores: dict[str, float] = msgspec.field(default_factory=lambda: NO_SCORES)
    """Scores of the verdict, by name."""
    cluster: str = ""
    """What its case shares with others of the category; empty: nothing."""

    @property
    def at(self) -> float:
        """When it ended."""
        return self.ended_at

    @property
    def verdict(self) -> Verdict:
        """How it ended, without the words; only when it has."""
        assert self.outcome is not None
        return plain_verdict(self.outcome, self.reason or None, self.scores)

    @property
    def attempts(self) -> tuple[Key, ...]:
        """Keys of all attempts in order; the last is `key`."""
        return *self.earlier, self.key

    @property
    def slot(self) -> Slot:
        """The case id and rollout number, which stay the same across attempts."""
        return self.key.case, self.key.rollout

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        return self.outcome is None

    @property
    def is_setup(self) -> bool:
        """Whether it ended well and is not graded."""
        return not self.graded and self.outcome is not None and self.outcome.is_graded

    @property
    def ending(self) -> str:
        """How it ended, in a word; empty while it is being played."""
        if self.is_setup:
            return SETUP
        return self.outcome.value.replace("_", " ") if self.outcome else ""

    @property
    def is_failure(self) -> bool:
        """Whether a reader would look at it first: the model was wrong, or something broke, or nobody could tell."""
        return self.outcome in (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)

    def append_text(self, text: str) -> None:
        """Append streamed text; only the end is kept."""
        self.recent_text = (self.recent_text + text)[-RECENT_TEXT_LIMIT:]


def outcome_word(outcome: Outcome | None) -> str:
    """Return the outcome in a word; `interrupted` when there is none."""
    return outcome.value if outcome else "interrupted"
