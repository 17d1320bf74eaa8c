"""What the engine and its workers say to each other: lines of JSON, cut into pieces that fit any transport.

JSON and not a binary form, because a record must come out of it as it would come out of the journal.
"""

from typing import Any

import msgspec

from console.config.model import ModelConfig
from console.core.case import Case, Key
from console.core.fault import Fault, FaultKind
from console.core.live import Began, EndpointState
from console.core.record import AnyRecord, Finished
from console.core.run import Manifest
from console.llm.limits.keeper import FromKeeper, ToKeeper
from console.store.journal_line import as_json

PIECE_BYTES = 64 << 10
"""Longest piece; larger ones would go through object stores, which fill up and block."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="m", tag=str.lower):
    """Common head of all messages."""


class FaultFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault as it travels."""

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
        """Take down a fault."""
        return cls(**{name: getattr(fault, name) for name in cls.__struct_fields__})

    def fault(self) -> Fault:
        """Return the fault again."""
        made = Fault(self.kind, self.message, partial=self.partial, retry_after_s=self.retry_after_s,
                     status=self.status, hint=self.hint)  # fmt: skip
        made.role, made.is_of_endpoint = self.role, self.is_of_endpoint
        return made


# From the engine to a worker.


class Play(Message, frozen=True):
    """Play this conversation."""

    job: int
    """Number of the handing out, never used twice: what still comes of an earlier one is refused."""
    case: Case
    key: Key
    records: list[AnyRecord] = []
    """What is known of it already, in order."""
    outputs: dict[str, Any] = {}
    """What the cases returned that it depends on."""


class Cancel(Message, frozen=True):
    """Give a conversation up; nothing of it is awaited any more."""

    job: int


class Answer(Message, frozen=True):
    """What a worker has asked for is granted."""

    job: int
    call: int


class PauseCalls(Message, frozen=True):
    """Make no new call while there is a reason."""

    why: str = ""


class Watched(Message, frozen=True):
    """Send texts as they arrive, or not."""

    on: bool


class RetryNow(Message, frozen=True):
    """End every wait that a provider has asked for."""


class KeeperFound(Message, frozen=True):
    """There is a keeper of an endpoint's limits, a new one perhaps."""

    endpoint: str


class KeeperAnswer(Message, frozen=True):
    """What the keeper of an endpoint's limits sends to its worker."""

    endpoint: str
    message: FromKeeper


class KeeperGone(Message, frozen=True):
    """There is no keeper: so many workers have an even part of the limits."""

    endpoint: str
    processes: int


ToWorker = Play | Cancel | Answer | PauseCalls | Watched | RetryNow | KeeperFound | KeeperAnswer | KeeperGone


# From a worker to the engine.


class Recorded(Message, frozen=True):
    """Something happened in a conversation."""

    job: int
    record: AnyRecord


class Proven(Message, frozen=True):
    """The model of a role has begun to answer."""

    job: int
    role: str


class Activity(Message, frozen=True):
    """What a conversation is doing."""

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
    """May a call be made that may cost so much?"""

    job: int
    call: int
    n: int
    cost: float
    tokens: int


class Release(Message, frozen=True):
    """A call has ended for which something was reserved."""

    job: int
    n: int


class WaitToRetry(Message, frozen=True):
    """A call has failed and waits for its next try: let others have its slot meanwhile."""

    job: int
    call: int
    seconds: float


class PauseRun(Message, frozen=True):
    """A provider asks for a wait that holds the whole run."""

    job: int
    call: int
    fault: FaultFacts


class Ended(Message, frozen=True):
    """A conversation has its verdict."""

    job: int
    finished: Finished
    fault: FaultFacts | None = None


class Failed(Message, frozen=True):
    """A conversation could not be settled, by a mistake of ours."""

    job: int
    text: str


class Endpoints(Message, frozen=True):
    """The limiters of a worker."""

    states: list[EndpointState]
    is_suspect: bool = False


class KeeperWanted(Message, frozen=True):
    """A worker asks an endpoint whose limits are kept where the engine is."""

    endpoint: str


class KeeperRequest(Message, frozen=True):
    """What a worker sends to the keeper of an endpoint's limits."""

    endpoint: str
    message: ToKeeper


ToEngine = (
    Recorded
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
    | Endpoints
    | KeeperWanted
    | KeeperRequest
)


# Before the first conversation.


class Setup(msgspec.Struct, frozen=True):
    """What a worker is to play: never a key, which it takes from its own environment."""

    epoch: int
    manifest: Manifest
    models: dict[str, ModelConfig]
    """By role."""
    data: str
    """Folder that was named with --data; empty: the usual ones of the worker's machine."""
    host: str
    """Where the engine is."""
    is_capped: bool
    """Whether money or tokens are capped, so that every call asks before it is made."""
    data_digest: str = ""
    """Of data that the engine sends (see `data_copy`) in place of those of `data`; empty: it sends none."""


def write_setup(setup: Setup) -> bytes:
    """Return a setup as it travels."""
    return msgspec.json.encode(setup, enc_hook=str)  # a path


def read_setup(data: bytes) -> Setup:
    """Read a setup.

    Raises:
        ValueError: it is none.
    """
    return msgspec.json.decode(data, type=Setup, dec_hook=lambda kind, value: kind(value))


class WorkerFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker has, to be compared with what the engine has."""

    name: str
    host: str
    versions: dict[str, str] = {}
    dataset: dict[str, str] = {}
    cases: str = ""
    """Digest of all cases of the run."""
    sandbox: str = ""
    """Confinement that is reached there; empty: it is the engine's own machine."""
    missing: str = ""
    """The first thing that it lacks, in a sentence; empty: nothing."""
    weights: dict[str, str] = {}
    """Digests of the local embedding's files, if the run embeds with them."""
    lacks_data: bool = False
    """Whether what is missing is data, which the engine can send."""
    has_unpacked: bool = False
    """Whether it has unpacked what the engine has sent; on each node one worker does."""


class Piece(msgspec.Struct, frozen=True):
    """Part of a stream of lines."""

    epoch: int
    number: int
    """From 0, without gaps: pieces that arrive in another order are put in order again."""
    data: bytes


_decode_to_worker = msgspec.json.Decoder(ToWorker).decode
_decode_to_engine = msgspec.json.Decoder(ToEngine).decode


class NotUnderstood(Exception):
    """The other side said what is no message."""


class LineReader:
    """Puts pieces in order and cuts them into lines."""

    def __init__(self, epoch: int) -> None:
        """Take pieces of one epoch only."""
        self._epoch = epoch
        self._next = 0
        self._early: dict[int, bytes] = {}
        self._rest = bytearray()

    def feed(self, piece: Piece) -> list[bytes]:
        """Return the lines that are whole now.

        Raises:
            NotUnderstood: the piece is of another epoch.
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
    """Collects lines and gives them out in pieces."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._number = 0
        self._data = bytearray()

    def __len__(self) -> int:
        """Bytes that wait."""
        return len(self._data)

    def add(self, message: Message) -> None:
        """Add a message."""
        self._data += as_json(message) + b"\n"

    def pop_piece(self) -> Piece:
        """Return the next piece, which may be empty."""
        data = bytes(self._data[:PIECE_BYTES])
        del self._data[:PIECE_BYTES]
        piece = Piece(self._epoch, self._number, data)
        self._number += 1
        return piece


def to_worker(line: bytes) -> ToWorker:
    """Read a message for a worker.

    Raises:
        NotUnderstood: it is none.
    """
    return _read(_decode_to_worker, line)


def to_engine(line: bytes) -> ToEngine:
    """Read a message for the engine.

    Raises:
        NotUnderstood: it is none.
    """
    return _read(_decode_to_engine, line)


def _read(decode: Any, line: bytes) -> Any:
    try:
        return decode(line)
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(str(error)) from None
