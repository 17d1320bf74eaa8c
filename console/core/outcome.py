"""Outcomes of a rollout: a closed vocabulary in which a machinery fault is never a score."""

from enum import StrEnum
from typing import Any

import msgspec

from console.core.ranges import Amount


class Outcome(StrEnum):
    """The five outcomes; only `passed` and `failed` are evidence about the model."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    NOT_RUN = "not_run"

    @property
    def is_graded(self) -> bool:
        """True if the outcome enters a score."""
        return self in _GRADED


_GRADED = frozenset({Outcome.PASSED, Outcome.FAILED})
BLAME_PREFIX = "blame: "
"""Prefix of a score of 1 that names the party a failure is due to, by the suite's rules.

For suites in which parties other than the model can fail: the simulated user, the judge, the data.
"""


SETUP_DEPENDENCY = "setup_dependency"
"""Reason of a setup case abandoned before it began; no other record marks it as setup."""

OWN_SCORES = "scorers"
"""Key of `Verdict.detail` with another harness's scores, by scorer: value, answer and explanation."""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The grader's verdict on one rollout."""

    outcome: Outcome
    reason: str | None = None
    """Official error type (`value_error:string`), or the fault kind when broken."""
    subject: str = ""
    """Subject of the reason, for grouping: a parameter, function or class name."""
    messages: tuple[str, ...] = ()
    """Explanations, the official wording first if there is one."""
    scores: dict[str, Amount] = {}
    """Named numbers; averaged by name over rollouts."""
    official: str | None = None
    """The official verdict if ours differs, such as `passed` for an inference error in irrelevance."""
    detail: dict[str, Any] = {}
    """JSON-safe details needed by the suite's comparison."""
