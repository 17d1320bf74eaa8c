"""Journal records: the one event stream that live view, replay and review all fold.

A record is one JSON line; `t` names its kind. Records are facts and never change; a later attempt supersedes an
earlier one without deleting it. Times are seconds since the epoch (UTC); order is the order of lines, not of times.
"""

from typing import Any

import msgspec

from console.core.case import Case, Key
from console.core.chat import Reply
from console.core.outcome import Verdict
from console.core.ranges import Amount, Count, Duration, Moment

SCHEMA = 1
"""Version written into every line. Readers accept this and older ones."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag=str.lower, gc=False):
    """Common head of all records. Made of JSON, so never part of a cycle: Python need not look for one."""

    at: Moment


class Opened(Record, frozen=True):
    """An engine opened the journal; several in one journal mean resumes."""

    pid: Count
    host: str = ""
    version: str = ""
    epoch: Count = 0
    """Which session of the run this is, from 1; 0: written before they were numbered, or by an import."""


class Started(Record, frozen=True):
    """A conversation began. Without a later `Finished` it was interrupted."""

    key: Key
    case: Case


class Asked(Record, frozen=True):
    """One finished model call (the effect `ask`)."""

    key: Key
    n: Count
    """Number of the call within the conversation, from 1, in the order the calls were issued."""
    digest: str
    """sha256 prefix of the whole request; a resumed play must ask the same to get this reply."""
    reply: Reply
    role: str = "model"
    turn: Count = 0
    step: Count = 0
    prefix: Count = 0
    """How many leading messages are those of the previous `Asked` of this role in this conversation."""
    messages: list[dict[str, Any]] = []
    """The messages after the prefix, every key as it was sent."""
    tools: list[dict[str, Any]] | None = None
    """None: the same tools as the previous `Asked` of this role."""
    params: dict[str, Any] = {}
    address: str = ""
    """Which of its model's addresses answered; empty where it has one."""


class Embedded(Record, frozen=True):
    """One finished embedding call."""

    key: Key
    n: Count
    digest: str
    texts: list[str]
    vectors: list[bytes]
    """Little-endian float64 (base64 in the file), so that a resumed run computes with the very same numbers."""
    role: str = "embedding"
    model: str = ""
    tokens: Count | None = None
    address: str = ""
    """As in `Asked`."""


class Performed(Record, frozen=True):
    """Any other finished effect: a sandboxed execution, a page fetch, a clock reading."""

    key: Key
    n: Count
    digest: str
    kind: str
    request: Any = None
    result: Any = None


class Tried(Record, frozen=True):
    """One try of a call that failed and was (or was not) repeated."""

    key: Key
    n: Count
    kind: str
    """A FaultKind value."""
    message: str
    role: str = "model"
    partial: str = ""
    wait_s: Duration | None = None
    """Seconds until the next try; None when given up."""
    address: str = ""
    """Which of its model's addresses was asked; empty where it has one."""


class Lost(Record, frozen=True):
    """A worker was lost that played this conversation; what had arrived of it counts, and another goes on with it."""

    key: Key
    worker: str
    """Name of the worker: its node and process."""
    why: str = ""


class Scored(Record, frozen=True):
    """A number that a suite gave while playing, such as coherence of one answer."""

    key: Key
    name: str
    value: Amount | None
    """None: could not be determined."""
    threshold: Amount | None = None
    turn: Count = 0


class Noted(Record, frozen=True):
    """Something a suite wants shown in the transcript: a tool result, a state change, a decoded call."""

    key: Key
    kind: str
    data: Any = None
    turn: Count = 0
    step: Count = 0


class Finished(Record, frozen=True):
    """A conversation ended with a verdict; the last thing written of an attempt."""

    key: Key
    verdict: Verdict
    output: Any = None
    """What was scored, in the suite's form: scoring it again gives the verdict again."""
    seconds: Duration = 0.0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: Amount | None = None
    """None: unknown, which is not free."""
    calls: Count = 0
    cut: str = ""
    """`length` or `content_filter`, when that and not the model ended its last reply; what there was is judged."""
    model: str = ""
    """Name that the server gave for what answered last in the role `model`."""


class Steered(Record, frozen=True):
    """Somebody steered the run: paused, resumed, changed concurrency, stopped a case. Or the clock was set."""

    what: str
    """A command of `core.live`, or `CLOCK`."""
    value: str = ""


CLOCK = "clock"
"""`what` of the record that is written after the machine's clock was set, or the machine slept; `value` is by how many
seconds. The time before it and the time after it do not follow on one another."""


class Closed(Record, frozen=True):
    """The engine closed the journal in order."""

    reason: str
    """`completed`, `stopped`, `budget` or `halted` (with the fault in `message`)."""
    message: str = ""


AnyRecord = (
    Opened | Started | Asked | Embedded | Performed | Tried | Lost | Scored | Noted | Finished | Steered | Closed
)
