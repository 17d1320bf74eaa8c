"""How a rollout ended. The vocabulary is closed, and a machinery fault is never a score."""

from enum import StrEnum
from typing import Any

import msgspec

from console.core.ranges import Amount


class Outcome(StrEnum):
    """The five endings; only `passed` and `failed` say something about the model."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    NOT_RUN = "not_run"

    @property
    def is_graded(self) -> bool:
        """Whether the outcome enters a score."""
        return self in (Outcome.PASSED, Outcome.FAILED)


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the grader says of one rollout."""

    outcome: Outcome
    reason: str | None = None
    """Official error type (`value_error:string`), or the fault kind when broken."""
    subject: str = ""
    """What the reason is about, for grouping: a parameter, function or class name."""
    messages: tuple[str, ...] = ()
    """Why, in words, the official wording first where there is one."""
    scores: dict[str, Amount] = {}
    """Named numbers; averaged per name over rollouts."""
    official: str | None = None
    """The official verdict where ours differs, such as `passed` for an inference error in irrelevance."""
    detail: dict[str, Any] = {}
    """JSON-safe particulars that the suite's own comparison needs."""
