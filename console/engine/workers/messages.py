"""Protocol between the engine and its workers: JSON lines, cut into pieces that fit any transport.

JSON rather than a binary format, because records must decode exactly as from the journal.
"""

from typing import Any

import msgspec

from console.config.model import ModelConfig
from console.core.case import Case, Key
from console.core.fault import Fault, FaultKind
from console.core.live import Began, EndpointState
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Finished
from console.core.run import Manifest
from console.llm.limits.keeper import FromKeeper, ToKeeper
from console.store.journal_line import as_json

PIECE_BYTES = 64 << 10
"""Maximum size of a piece; larger ones would go through object stores, which can fill up and block."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="m", tag=str.lower):
    """Common base of all messages."""


class FaultFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault in serializable form."""

    kind: FaultKind
    message: str
    partial: str = ""
    retry_after_s: float | None = None
    status: int | None = None
    hint: str = ""
    role: str = "model"
    is_of_endpoint: bool = False

    @classmethod
    def of(cls, fault: Fault) -> "FaultFacts":
        return cls(**{name: getattr(fault, name) for name in cls.__struct_fields__})

    def fault(self) -> Fault:
        made = Fault(self.kind, self.message, partial=self.partial, retry_after_s=self.retry_after_s,
                     status=self.status, hint=self.hint)  # fmt: skip
        made.role, made.is_of_endpoint = self.role, self.is_of_endpoint
        return made


# From the engine to a worker.


class Play(Message, frozen=True):
    """Play a conversation."""

    job: int
    """Number of this assignment, never reused; messages of an earlier assignment are refused."""
    case: Case
    key: Key
    records: list[AnyRecord] = []
    """The conversation's records so far, in order."""
    outputs: dict[str, Any] = {}
    """Outputs of the cases it depends on, by id."""


class Cancel(Message, frozen=True):
    """Stop a conversation; its messages are no longer expected."""

    job: int


class Answer(Message, frozen=True):
    """Grant a worker's request."""

    job: int
    call: int


class PauseCalls(Message, frozen=True):
    """Make no new calls while there is a reason."""

    why: str = ""


class Watched(Message, frozen=True):
    """Start or stop sending streamed text."""

    on: bool


class RetryNow(Message, frozen=True):
    """End every wait that a provider asked for."""


class KeeperFound(Message, frozen=True):
    """An endpoint's limit keeper is available, possibly a new one."""

    endpoint: str


class KeeperAnswer(Message, frozen=True):
    """A message from an endpoint's limit keeper to a worker."""

    endpoint: str
    message: FromKeeper


class KeeperGone(Message, frozen=True):
    """There is no limit keeper; each of this many workers takes an equal part of the limits."""

    endpoint: str
    processes: int


ToWorker = Play | Cancel | Answer | PauseCalls | Watched | RetryNow | KeeperFound | KeeperAnswer | KeeperGone


# From a worker to the engine.


class Recorded(Message, frozen=True):
    """A conversation produced a record."""

    job: int
    record: AnyRecord


class KeptFiles(Message, frozen=True):
    """A conversation sends pictures, sound or files, which are kept in the run's folder."""

    job: int
    contents: dict[str, bytes]
    """Bytes by reference."""


class Proven(Message, frozen=True):
    """The model of a role has started to answer."""

    job: int
    role: str


class Activity(Message, frozen=True):
    """State of a conversation."""

    job: int
    state: str
    why: str = ""


class CallBegan(Message, frozen=True):
    """A call was sent."""

    job: int
    frame: Began


class CallText(Message, frozen=True):
    """New text of a call."""

    job: int
    n: int
    kind: str
    text: str


class Reserve(Message, frozen=True):
    """Request for a call of this worst-case cost."""

    job: int
    call: int
    n: int
    usd: float
    tokens: int
    is_limited: bool
    role: str


class Release(Message, frozen=True):
    """A call with a reservation has ended."""

    job: int
    n: int


class WaitToRetry(Message, frozen=True):
    """A failed call waits for its next try and gives up its slot."""

    job: int
    call: int
    seconds: float


class PauseRun(Message, frozen=True):
    """A provider asked for a wait that pauses the whole run."""

    job: int
    call: int
    fault: FaultFacts


class Ended(Message, frozen=True):
    """A conversation ended with its verdict."""

    job: int
    finished: Finished
    fault: FaultFacts | None = None


class Failed(Message, frozen=True):
    """A conversation failed by an internal error."""

    job: int
    text: str


class Endpoints(Message, frozen=True):
    """States of a worker's limiters."""

    states: list[EndpointState]
    is_suspect: bool = False


class Notice(Message, frozen=True):
    """A sentence for the user who started the run."""

    text: str


class KeeperWanted(Message, frozen=True):
    """A worker uses an endpoint whose limit keeper runs on the engine's machine."""

    endpoint: str


class KeeperRequest(Message, frozen=True):
    """A message from a worker to an endpoint's limit keeper."""

    endpoint: str
    message: ToKeeper


ToEngine = (
    Recorded
    | KeptFiles
    | Proven
    | Activity
    | CallBegan
    | CallText
    | Reserve
    | Release
    | WaitToRetry
    | PauseRun
    | Ended
    | Failed
    | Notice
    | Endpoints
    | KeeperWanted
    | KeeperRequest
)


# Before the first conversation.


class Setup(msgspec.Struct, frozen=True):
    """The run for a worker to play. Never a key: workers read keys from their own environment."""

    epoch: int
    manifest: Manifest
    models: dict[str, ModelConfig]
    """Models by role."""
    data: str
    """Folder given with --data; empty for the defaults on the worker's machine."""
    host: str
    """Host of the engine."""
    is_capped: bool
    """True if money or tokens are capped, so that every call needs a reservation."""
    data_digest: str = ""
    """Digest of data sent by the engine (see `data_copy`), used in place of `data`; empty if none is sent."""


def write_setup(setup: Setup) -> bytes:
    """Serialize a setup."""
    return msgspec.json.encode(setup, enc_hook=str)  # a path


def read_setup(data: bytes) -> Setup:
    """Parse a setup.

    Raises:
        ValueError: the data is invalid.
    """
    return msgspec.json.decode(data, type=ready_type(Setup), dec_hook=lambda kind, value: kind(value))


class WorkerFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """A worker's versions and data, for comparison with the engine's."""

    name: str
    host: str
    versions: dict[str, str] = {}
    dataset: dict[str, str] = {}
    cases: str = ""
    """Digest of all cases of the run."""
    sandbox: str = ""
    """Level of confinement on its machine; empty on the engine's own machine."""
    missing: str = ""
    """The first missing prerequisite, in a sentence; empty if none."""
    weights: dict[str, str] = {}
    """Digests of the local embedding model's files, if the run uses it."""
    lacks_data: bool = False
    """True if the missing prerequisite is data, which the engine can send."""
    has_unpacked: bool = False
    """True if it unpacked the engine's data; one worker on each node does."""


class Piece(msgspec.Struct, frozen=True):
    """Part of a stream of lines."""

    epoch: int
    number: int
    """Number from 0, without gaps, for restoring the order."""
    data: bytes


_decode_to_worker = msgspec.json.Decoder(ready_type(ToWorker)).decode
_decode_to_engine = msgspec.json.Decoder(ready_type(ToEngine)).decode


class NotUnderstood(Exception):
    """The other side sent an invalid message."""


class LineReader:
    """Reorders pieces and splits them into lines."""

    def __init__(self, epoch: int) -> None:
        """Accept pieces of one epoch only."""
        self._epoch = epoch
        self._next = 0
        self._early: dict[int, bytes] = {}
        self._rest = bytearray()

    def feed(self, piece: Piece) -> list[bytes]:
        """Return the lines completed by a piece.

        Raises:
            NotUnderstood: the piece belongs to another epoch.
        """
        if piece.epoch != self._epoch:
            raise NotUnderstood(f"it is of session {piece.epoch}, this is {self._epoch}")
        self._early[piece.number] = piece.data
        while (data := self._early.pop(self._next, None)) is not None:
            self._rest += data
            self._next += 1
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        return [bytes(line) for line in lines]


class LineWriter:
    """Buffers lines and returns them in pieces."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._number = 0
        self._data = bytearray()

    def __len__(self) -> int:
        """Return the number of buffered bytes."""
        return len(self._data)

    def add(self, message: Message) -> None:
        self._data += as_json(message) + b"\n"

    def pop_piece(self) -> Piece:
        """Return the next piece, which may be empty."""
        data = bytes(self._data[:PIECE_BYTES])
        del self._data[:PIECE_BYTES]
        piece = Piece(self._epoch, self._number, data)
        self._number += 1
        return piece


def to_worker(line: bytes) -> ToWorker:
    """Decode a message for a worker.

    Raises:
        NotUnderstood: the line is invalid.
    """
    return _read(_decode_to_worker, line)


def to_engine(line: bytes) -> ToEngine:
    """Decode a message for the engine.

    Raises:
        NotUnderstood: the line is invalid.
    """
    return _read(_decode_to_engine, line)


def _read(decode: Any, line: bytes) -> Any:
    try:
        return decode(line)
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(str(error)) from None
