"""Machinery faults: what went wrong between us and an answer, and what may be done about it.

    Fault
    ├── halting    auth, quota, not_found, bad_request, bad_tool_schema: asking again cannot help
    ├── final      context, refused_by_us, data, suite, worker, internal: this rollout ends broken, the run goes on
    └── retryable  rate_limit, server, connect, stalled, deadline, broken_stream, truncated, bad_answer

A fault is never the model's answer and never a score (specs: reliability §1.3–1.4).
"""

from enum import StrEnum


class FaultKind(StrEnum):
    """Every way in which machinery can fail, named for the reader."""

    AUTH = "auth"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    BAD_TOOL_SCHEMA = "bad_tool_schema"
    CONTEXT = "context"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    CONNECT = "connect"
    STALLED = "stalled"
    DEADLINE = "deadline"
    BROKEN_STREAM = "broken_stream"
    TRUNCATED = "truncated"
    BAD_ANSWER = "bad_answer"
    SANDBOX = "sandbox"
    DATA = "data"
    DISK = "disk"
    CANCELLED = "cancelled"
    SUITE = "suite"
    WORKER = "worker"
    """Every worker that played it was lost."""
    INTERNAL = "internal"


HALTING = frozenset(
    {FaultKind.AUTH, FaultKind.QUOTA, FaultKind.NOT_FOUND, FaultKind.BAD_REQUEST, FaultKind.BAD_TOOL_SCHEMA}
)
RETRYABLE = frozenset(
    {
        FaultKind.RATE_LIMIT,
        FaultKind.SERVER,
        FaultKind.CONNECT,
        FaultKind.STALLED,
        FaultKind.DEADLINE,
        FaultKind.BROKEN_STREAM,
        FaultKind.TRUNCATED,
        FaultKind.BAD_ANSWER,
    }
)


class Fault(Exception):
    """One machinery fault, already redacted and safe to record."""

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        partial: str = "",
        retry_after_s: float | None = None,
        status: int | None = None,
        hint: str = "",
    ) -> None:
        """Make a fault.

        Args:
            kind: what failed.
            message: one sentence for the reader, without secrets.
            partial: text that had arrived before the fault.
            retry_after_s: the provider's own waiting time, in seconds from now.
            status: HTTP status, where there was one.
            hint: how to fix it, if we know.
        """
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.partial = partial
        self.retry_after_s = retry_after_s
        self.status = status
        self.hint = hint
        self.role = "model"
        """Which of the run's models it befell; set by the stage."""
        self.is_of_endpoint = False
        """Whether its endpoint has never given an answer, or none for longer than is waited for; set by llm."""

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may be sent again."""
        return self.kind in RETRYABLE

    @property
    def is_halting(self) -> bool:
        """Whether three in a row on a fresh run must stop the run (a mistyped key costs 3 calls, not 3,000)."""
        return self.kind in HALTING or self.is_of_endpoint


class UsageError(Exception):
    """Bad input of the user's: one clear message — what, where, how to fix it — and exit code 2."""

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        """Make an error; `where` is file:line or a key, `hint` a sentence in the imperative."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """Join place, message and hint to the one text that is shown."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}" + (f"\n  {self.hint}" if self.hint else "")
