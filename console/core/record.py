"""Journal records: the one event stream folded by live view, replay and review.

A record is one JSON line; `t` names its kind. Records are facts and never change; a later attempt supersedes an
earlier one that has no grade, without deleting it. Times are seconds since the epoch (UTC); order is the order of
lines, not of times.
"""

import hashlib
from typing import Any

import msgspec

from console.core.case import Case, Key, Slot
from console.core.chat import Reply
from console.core.fault import UNCHARGED
from console.core.looks import Look
from console.core.outcome import Verdict
from console.core.ranges import Amount, Count, Duration, Moment

SCHEMA = 1
"""Version written into every line. Readers accept this and older ones."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag=str.lower, gc=False):
    """Common base of all records; contains only JSON and so no cycles, which spares the garbage collector."""

    at: Moment


class Opened(Record, frozen=True):
    """An engine opened the journal; several in one journal are resumes."""

    pid: Count
    host: str = ""
    version: str = ""
    epoch: Count = 0
    """Number of this session of the run, from 1; 0 in imports and in journals older than the numbering."""


class Started(Record, frozen=True):
    """A conversation began. Without a later `Finished` it was interrupted."""

    key: Key
    case: Case
    forks: bool = False
    """True if its calls may belong to several conversations (`core.call_tree`)."""


class Asked(Record, frozen=True):
    """One finished model call (the effect `ask`)."""

    key: Key
    n: Count
    """Number of the call within the conversation, from 1, in the order the calls were issued."""
    digest: str
    """sha256 prefix of the whole request; only an equal request replays this reply."""
    reply: Reply
    role: str = "model"
    turn: Count = 0
    step: Count = 0
    prefix: Count = 0
    """Number of leading messages shared with the previous `Asked` of this role in this conversation."""
    messages: list[dict[str, Any]] = []
    """Messages after the prefix, every key as sent."""
    tools: list[dict[str, Any]] | None = None
    """None for the same tools as the previous `Asked` of this role."""
    params: dict[str, Any] = {}
    address: str = ""
    """Address of the model that answered; empty if the model has only one."""
    kept: bool = False
    """True if the reply was reused from an earlier play of the conversation, at no cost."""
    cost_usd: Amount | None = None
    """Cost in USD when it was asked; None if unknown, or in journals of earlier versions."""
    cost_at_least: bool = False
    """True if the cost is a lower bound."""


class Embedded(Record, frozen=True):
    """One finished embedding call."""

    key: Key
    n: Count
    digest: str
    texts: list[str]
    vectors: list[bytes]
    """Little-endian float64 (base64 in the file), so that a resumed run computes with identical numbers."""
    role: str = "embedding"
    model: str = ""
    tokens: Count | None = None
    address: str = ""
    """Address of the embedding model that answered, as in `Asked`."""
    kept: bool = False
    sent_twice: bool = False
    """True if a request was sent again after its connection was closed; both may have been charged."""


class Performed(Record, frozen=True):
    """Any other finished effect: a sandboxed execution, a page fetch, a clock reading."""

    key: Key
    n: Count
    digest: str
    kind: str
    request: Any = None
    result: Any = None


class Tried(Record, frozen=True):
    """One failed try of a call, retried or not."""

    key: Key
    n: Count
    kind: str
    """A `FaultKind` value."""
    message: str
    role: str = "model"
    partial: str = ""
    wait_s: Duration | None = None
    """Seconds until the next try; None if the call was given up."""
    address: str = ""
    """Address that was called; empty if the model has only one."""
    charges: Count = 0
    """Number of requests that the provider may have charged for; see `possible_charges`."""
    cut_usd: Amount = 0.0
    """Their highest cost, if the run has a cap."""

    @property
    def possible_charges(self) -> int:
        """Number of requests that the provider may have charged for, also in journals of earlier versions."""
        return self.charges or self.kind not in UNCHARGED


class Lost(Record, frozen=True):
    """The worker of this conversation was lost; its records stay valid and another worker continues."""

    key: Key
    worker: str
    """Name of the worker: node and process."""
    why: str = ""


class Scored(Record, frozen=True):
    """A number that a suite gave during the conversation, such as the coherence of one answer."""

    key: Key
    name: str
    value: Amount | None
    """The number; None if it could not be determined."""
    threshold: Amount | None = None
    turn: Count = 0
    role: str = ""
    """Role of the model that gave it; empty if code measured it."""


class Noted(Record, frozen=True):
    """A suite's note for the transcript: a tool result, a state change, a decoded call."""

    key: Key
    kind: str
    data: Any = None
    turn: Count = 0
    step: Count = 0


MAIN_REPLIES = "replies of the main conversation"
"""Kind of the note with the digests of the main conversation's replies (`core.call_tree.message_digest`)."""


GREETING = "greeting"
"""Kind of the note with an opening that is attributed to the model but was not written by it."""


class Finished(Record, frozen=True):
    """A conversation ended with a verdict; the last record of an attempt."""

    key: Key
    verdict: Verdict
    output: Any = None
    """The output that was scored, in the suite's format; scoring it again gives the same verdict."""
    seconds: Duration = 0.0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: Amount | None = None
    """Cost in USD; None if unknown, which does not mean free."""
    calls: Count = 0
    cut: str = ""
    """`length` or `content_filter` if the last reply was cut off; the reply is judged as it is."""
    model: str = ""
    """Name that the server gave for the model of the last reply in the role `model`."""
    server: str = ""
    """Providers and fingerprints that served the replies in the role `model`, each once, joined by `; `."""
    written: str = ""
    """Symptoms of a misconfigured server (`core.symptoms`), joined by `; `; `<tool_call>` means a call as text."""


THOUGHTS = "thoughts in the text"
ONLY_THOUGHTS = "thoughts without an answer"
SPECIAL_TOKENS = "special tokens in the text"
ENCODED_TWICE = "arguments encoded twice"
REPEATED = "arguments sent twice"
"""Also the flag of a reply whose arguments arrived more than once and were read once."""
UNREAD_TOOLS = "tools not read"
SYMPTOMS = frozenset({THOUGHTS, ONLY_THOUGHTS, SPECIAL_TOKENS, ENCODED_TWICE, REPEATED, UNREAD_TOOLS})
"""Symptoms in `Finished.written` other than the notation of a call written as text, such as `<tool_call>`."""


def call_notation(written: str) -> str:
    """Return the notation of a call written as text among a rollout's symptoms; empty if there is none."""
    return next((name for name in written.split("; ") if name not in SYMPTOMS), "") if written else ""


class Looked(Record, frozen=True):
    """A look was taken because the first rollouts in planned order had all ended; it is never repeated."""

    look: Look
    beyond: tuple[Slot, ...] = ()
    """If decided against a baseline: number of graded rollouts that had started but were not part of the look."""


class Steered(Record, frozen=True):
    """A user steered the run (paused, resumed, changed concurrency, stopped a case), or the clock was set."""

    what: str
    """A command of `core.live`, or `CLOCK`."""
    value: str = ""


CLOCK = "clock"
"""Value of `what` after the system clock was set or the machine slept; `value` is the jump in seconds.

The times before and after are not comparable.
"""


class Batched(Record, frozen=True):
    """A step of a batch of calls: planned, sent, accepted (with an id), then its progress, then its end."""

    name: str
    """Unique name for finding a batch that was submitted without being journaled."""
    model: str
    """Name of the model in models.toml."""
    total: Count
    id: str = ""
    """The provider's id; empty until it has confirmed the batch."""
    done: Count = 0
    calls: tuple[str, ...] = ()
    """Ids of its calls, in the first record only; see `call_name`."""
    planned_at: Moment = 0.0
    submitted_at: Moment = 0.0
    """Time at which it was sent or, once the provider has confirmed it, accepted; 0 before."""
    missing: bool = False
    """True if the provider lacked the batch, or readable answers, when last asked; `--resubmit` then abandons it."""
    ended: str = ""
    """How the batch ended, such as `completed` or `expired`; set once all of its answers are journaled."""


def call_name(run: str, request: str) -> str:
    """Return the id of a call in batches, without its number among equal ones; `request` is a `ChatRequest.name`."""
    return hashlib.sha256(f"{run}/{request}".encode("utf-8", "backslashreplace")).hexdigest()[:32]


class Closed(Record, frozen=True):
    """The engine closed the journal in order."""

    reason: str
    """`completed`, `decided` (by a look, as planned), `stopped`, `budget` or `halted` (with the fault in `message`)."""
    message: str = ""
    cut_usd: Amount = 0.0
    """Highest cost of the calls that this session cut off, which the provider may have charged."""


AnyRecord = (
    Opened
    | Started
    | Asked
    | Embedded
    | Performed
    | Tried
    | Lost
    | Scored
    | Noted
    | Finished
    | Looked
    | Steered
    | Batched
    | Closed
)
