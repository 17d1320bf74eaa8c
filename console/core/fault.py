"""Machinery faults: errors between the program and a model's answer, and how each kind is handled.

    Fault
    ├── halting    auth, quota, not_found, bad_request, bad_tool_schema: retrying cannot help
    ├── final      context, refused_by_us, data, suite, worker, internal, unanswered: the rollout ends broken
    └── retryable  rate_limit, server, connect, no_first_token, stalled, deadline, broken_stream, truncated, bad_answer

A fault is never the model's answer and never a score (specs: reliability §1.3–1.4).
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum


class FaultKind(StrEnum):
    """All kinds of machinery failure."""

    AUTH = "auth"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    BAD_TOOL_SCHEMA = "bad_tool_schema"
    CONTEXT = "context"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    CONNECT = "connect"
    SILENT = "no_first_token"
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
    """Every worker that ran the rollout was lost."""
    INTERNAL = "internal"
    UNANSWERED = "unanswered"
    """A conversation that repeats a recorded one makes a request that was never answered."""


HALTING = frozenset(
    {FaultKind.AUTH, FaultKind.QUOTA, FaultKind.NOT_FOUND, FaultKind.BAD_REQUEST, FaultKind.BAD_TOOL_SCHEMA}
)
UNCHARGED = HALTING | {FaultKind.RATE_LIMIT, FaultKind.SERVER, FaultKind.CONNECT, FaultKind.CONTEXT}
"""Kinds of faults that come instead of an answer. After others, the provider may charge for what was cut off."""
_CUT_BY_GATEWAY = frozenset({408, 504, 524})
"""Statuses of gateways that gave up on a server, which may go on with its answer."""
RETRYABLE = frozenset(
    {
        FaultKind.RATE_LIMIT,
        FaultKind.SERVER,
        FaultKind.CONNECT,
        FaultKind.SILENT,
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
        """Create a fault.

        Args:
            kind: what failed.
            message: one sentence for the reader, without secrets.
            partial: text that had arrived before the fault.
            retry_after_s: waiting time requested by the provider, in seconds from now.
            status: HTTP status, where there was one.
            hint: how to fix it, if known.
        """
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.partial = partial
        self.retry_after_s = retry_after_s
        self.status = status
        self.hint = hint
        self.is_silent = False
        """True if the server took the request, but sent no part of an answer in time."""
        self.at_once: int | None = None
        """Requests that the server works on at once, if it says so; the others wait in its queue."""
        self.is_sent = False
        """True if the request was sent and its connection was closed without an answer."""
        self.role = "model"
        """Role of the failing model in the run; set by the stage."""
        self.is_of_endpoint = False
        """True if the endpoint has never answered, or did not answer within the waiting time; set by llm."""

    @property
    def advice(self) -> str:
        """Message and hint, as sentences."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message

    @property
    def may_be_charged(self) -> bool:
        """True if the provider may charge for an answer that did not arrive."""
        return self.is_sent or self.kind not in UNCHARGED or self.status in _CUT_BY_GATEWAY

    @property
    def is_retryable(self) -> bool:
        """True if the same request may be sent again."""
        return self.kind in RETRYABLE

    @property
    def is_halting(self) -> bool:
        """True if three in a row stop a new run: a mistyped key costs 3 calls, not 3,000."""
        return self.kind in HALTING or self.is_of_endpoint


class UsageError(Exception):
    """Bad input: one message with what, where and how to fix it, and exit code 2."""

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        """Create an error; `where` is file:line or a key, `hint` an imperative sentence."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """Join location, message and hint."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}" + (f"\n  {self.hint}" if self.hint else "")


_OF_DAMAGED_DATA = frozenset({"zlib", "lzma", "_lzma", "zipfile", "tarfile", "gzip", "binascii"})
"""Modules whose errors mean that data is damaged."""


def reason_of(error: BaseException) -> str:
    """Return why something failed, to follow a colon, without the phrases and addresses of libraries."""
    match error:
        case UsageError():
            return str(error)
        case Fault():
            return error.message
        case UnicodeError():
            return "it is not UTF-8"
        case SyntaxError():
            return error.msg + (f", line {error.lineno}" if error.lineno else "")
        case RecursionError():
            return "it is nested too deeply"
        case MemoryError():
            return "there is not enough memory"
        case KeyError() | EOFError():
            return f"{error.args[0]} is missing" if isinstance(error, KeyError) and error.args else "it ends too early"
        case _ if type(error).__module__ in _OF_DAMAGED_DATA:
            return "its data is damaged"
        case json.JSONDecodeError():
            return f"{error.msg}, line {error.lineno}, column {error.colno}"
        case _:
            return _reason_of_system(error)


def _reason_of_system(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or "the system gives no reason"
    if (seconds := getattr(error, "timeout", None)) is not None:  # of a subprocess
        return f"it takes longer than {seconds:.3g} s"
    return str(error) or type(error).__name__


@contextmanager
def os_errors_as(message: str, *, where: object = "", hint: str = "") -> Generator[None]:
    """Raise errors of the operating system as a UsageError that ends with the system's reason."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{message}: {reason_of(error)}", where=str(where), hint=hint) from None
