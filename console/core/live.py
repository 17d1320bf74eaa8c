"""Frames on a run's socket. Facts are read from the journal; the socket adds only what never reaches the disk.

Engine to app: `Began` (a call in flight, with what was asked), `Deltas` (text as it arrives, ten a second, the
beginning of an answer at once), `Status`. App to engine: `Command`. One JSON line each. The journal stays the only
source of finished facts, so what is shown and what is kept cannot differ (an improvement on sending every record
twice).
"""

from typing import Any

import msgspec

from console.core.case import Key


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag=str.lower):
    """Common head of all frames."""


class Began(Frame, frozen=True):
    """A call was sent, or was already in flight when the app attached."""

    key: Key
    n: int
    role: str
    turn: int = 0
    step: int = 0
    messages: list[dict[str, Any]] = []
    """New messages of this call, as in the `Asked` record to come."""
    at: float = 0.0


class Delta(msgspec.Struct, frozen=True, array_like=True):
    """New text of one call since the last frame."""

    key: Key
    n: int
    text: str
    kind: str = "text"
    """`text`, `reasoning` or `tool` (arguments as they are written)."""


class Deltas(Frame, frozen=True):
    """All text since the last frame."""

    items: list[Delta]
    begins: bool = False
    """Whether it holds the beginning of an answer, which a reader waits for."""


class Activity(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one running conversation is doing."""

    key: Key
    state: str
    """`queued`, `asking`, `streaming`, `judging`, `embedding`, `running code`, `waiting`."""
    since: float = 0.0
    why: str = ""
    """Reason of a wait, such as `rate limited until 12:03:04`."""


class EndpointState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The limiter of one endpoint."""

    name: str
    in_flight: int = 0
    limit: int = 0
    waiting: int = 0
    paused_until: float | None = None
    why: str = ""
    throttled: int = 0
    """429 answers so far."""
    faults_in_a_row: int = 0
    """Faults since the last good answer, without those that are a request's own; three mark the endpoint as failing."""


class WorkerState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One worker of a run that is played by several."""

    name: str
    """Its node and process."""
    state: str = "playing"
    """`starting`, `playing`, `lost`."""
    conversations: int = 0
    """In flight there."""
    calls: int = 0
    """Finished there so far."""
    since: float = 0.0
    """When it was ready."""
    why: str = ""
    """How it was lost."""


class Status(Frame, frozen=True):
    """The engine's state, sent on attach and at most twice a second when it changed."""

    state: str
    """`running`, `pausing`, `paused`, `stopping`, `closed`."""
    concurrency: int
    activities: list[Activity] = []
    endpoints: list[EndpointState] = []
    message: str = ""
    workers: list[WorkerState] = []


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an app asks of the engine."""

    do: str
    """`pause`, `resume`, `stop` (drain), `kill` (cancel in flight), `concurrency`, `stop_case`, `retry_case`,
    `retry_now` (end a wait that a provider has asked for), `state_only` (send the sender no text any more)."""
    key: Key | None = None
    value: int = 0
    text: str = ""


AnyFrame = Began | Deltas | Status
