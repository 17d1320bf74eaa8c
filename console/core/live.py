"""Frames on a run's socket: all data that never reaches the journal, the only source of facts.

Engine to app: `Began` (a call in flight, with its request), `Deltas` (streamed text, ten times a second, the beginning
of an answer at once), `Status`. App to engine: `Command`. One JSON line each.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from console.core.case import Key
from console.core.wait import slowed_by


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag=str.lower):
    """Common base of all frames."""


class Began(Frame, frozen=True):
    """A call was sent, or was already in flight when the app attached."""

    key: Key
    n: int
    role: str
    turn: int = 0
    step: int = 0
    messages: list[dict[str, Any]] = []
    """New messages of this call, as in its later `Asked` record."""
    at: float = 0.0
    prefix: int = 0
    """Number of leading messages shared with the call `base`."""
    base: int = 0
    """Number of the last call of this role journaled before this one was sent; 0 for the last one known."""


class Delta(msgspec.Struct, frozen=True, array_like=True):
    """New text of one call since the last frame."""

    key: Key
    n: int
    text: str
    kind: str = "text"
    """`text`, `reasoning` or `tool` (arguments while they stream)."""


class Deltas(Frame, frozen=True):
    """All text since the last frame."""

    items: list[Delta]
    begins: bool = False
    """True if it contains the beginning of an answer, which should appear at once."""


class Activity(msgspec.Struct, frozen=True, omit_defaults=True):
    """State of one running conversation."""

    key: Key
    state: str
    """`queued`, `asking`, `streaming`, `judging`, `embedding`, `running code`, `waiting`."""
    since: float = 0.0
    why: str = ""
    """Reason of a wait, such as `rate limited until 12:03:04`."""


class EndpointState(msgspec.Struct, frozen=True, omit_defaults=True):
    """State of the limiter of one endpoint."""

    name: str
    in_flight: int = 0
    limit: int = 0
    waiting: int = 0
    paused_until: float | None = None
    why: str = ""
    throttled: int = 0
    """429 answers so far."""
    faults_in_a_row: int = 0
    """Faults since the last good answer, except those caused by the request; three mark the endpoint as failing."""
    is_slowed: bool = False
    """True if requests wait because rate limits have lowered their number in flight or their pace."""
    is_batched: bool = False
    """True if its calls go through batches, which have no limiter."""


def slowed_words(endpoints: Iterable[EndpointState]) -> str:
    """Return `5/16 · slowed by 12 × 429` if rate limits delay requests; otherwise empty."""
    slowed = [endpoint for endpoint in endpoints if endpoint.is_slowed]
    if not slowed:
        return ""
    in_flight = sum(endpoint.in_flight for endpoint in slowed)
    wanted = in_flight + sum(endpoint.waiting for endpoint in slowed)
    return f"{in_flight}/{wanted}{slowed_by(sum(endpoint.throttled for endpoint in slowed))}"


class WorkerState(msgspec.Struct, frozen=True, omit_defaults=True):
    """State of one worker of a run played by several."""

    name: str
    """Node and process of the worker."""
    state: str = "playing"
    """`starting`, `playing`, `lost`."""
    conversations: int = 0
    """Conversations in flight on the worker."""
    calls: int = 0
    """Calls finished on the worker so far."""
    since: float = 0.0
    """Time the worker became ready."""
    why: str = ""
    """Reason for the loss of the worker."""


class Status(Frame, frozen=True):
    """The engine's state, sent on attach and at most twice a second when it changes."""

    state: str
    """`running`, `pausing`, `paused`, `stopping`, `closed`."""
    concurrency: int
    activities: list[Activity] = []
    endpoints: list[EndpointState] = []
    message: str = ""
    workers: list[WorkerState] = []

    @property
    def waiting(self) -> int:
        """Number of conversations that wait for their server or for a slot."""
        return sum(activity.state == "waiting" for activity in self.activities)


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command from an app to the engine."""

    do: str
    """`pause`, `resume`, `stop` (drain), `kill` (cancel in flight), `concurrency`, `stop_case`, `retry_case`,
    `retry_now` (end a wait that a provider asked for), `state_only` (stop sending text to this client)."""
    key: Key | None = None
    value: int = 0
    text: str = ""


AnyFrame = Began | Deltas | Status
