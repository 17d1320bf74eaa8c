"""Builds a reply from a message that is put together while it arrives; each API says how.

What all of them share stands here: errors in mid-stream, proof that the message is whole, secrets, live text.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, cast

import msgspec

from console.config.redaction import Redactor
from console.core.chat import Reply
from console.core.fault import Fault, FaultKind
from console.llm.transport.faults import fault_of, provider_error_of, reports_error
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.provider_api import OnText
from console.llm.wires.surrogates import FLAG, repair_surrogates


class Assembly(Protocol):
    """How the chunks of one API become its message."""

    @property
    def message(self) -> dict[str, Any] | None:
        """The finished message; None while it goes on."""
        ...

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Whether this is a chunk of a message: its fields that elsewhere explain an error mean something else."""
        ...

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add a chunk and show its new text; return whether there was any."""
        ...


class MessageBuilder:
    """Collects one answer of an API other than chat completions."""

    def __init__(
        self, assembly: Assembly, read: Callable[[Mapping[str, Any]], Reply], on_text: OnText, redact: Redactor
    ) -> None:
        """Start an empty answer; `read` makes a reply of the finished message, or a fault."""
        self.redact = redact
        self._assembly, self._read = assembly, read
        self._live = LiveTexts(on_text, redact)
        self._flags: set[str] = set()
        self._is_marked = False

    @property
    def is_complete(self) -> bool:
        return self._assembly.message is not None

    @property
    def partial(self) -> str:
        return self._live.partial

    def flag(self, oddity: str) -> None:
        self._flags.add(oddity)

    def mark_end(self) -> None:
        self._is_marked = True

    def add_chunk(self, chunk: object) -> bool:
        if not isinstance(chunk, dict):
            if reports_error(chunk):
                raise fault_of(provider_error_of(self.redact.value(chunk)))
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is no part of an answer")
        fields = cast(dict[str, Any], chunk)
        if fields.get("error") or (not self._assembly.is_chunk(fields) and reports_error(fields)):
            raise fault_of(provider_error_of(self.redact.value(fields)))
        with _malformed_is_bad_answer():
            return self._assembly.add(fields, self._live)

    def check_complete(self) -> None:
        if self._assembly.message is None:
            kind = FaultKind.TRUNCATED if self.partial or self._is_marked else FaultKind.BAD_ANSWER
            raise Fault(kind, "the answer ended before the server said that it is whole")

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        self.check_complete()
        self._live.end()
        message = self.redact.known_value(_repaired(self._assembly.message, self._flags))
        if message != self._assembly.message and FLAG not in self._flags:
            self._flags.add("a secret was taken out")
        try:
            with _malformed_is_bad_answer():
                reply = self._read(message)
        except Fault as fault:
            fault.message = self.redact(fault.message)
            fault.args = (fault.message,)
            raise
        flags = tuple(sorted(self._flags | set(reply.flags)))
        return msgspec.structs.replace(reply, latency_s=latency_s, first_token_s=first_token_s, flags=flags)


def is_of_type(chunk: Mapping[str, Any], *beginnings: str) -> bool:
    """Whether a chunk names a type that begins like one of these."""
    kind = chunk.get("type")
    return isinstance(kind, str) and kind.startswith(beginnings)


@contextmanager
def _malformed_is_bad_answer() -> Generator[None]:
    """Raise `bad_answer` for an answer whose parts are of other types than its API says."""
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        name = type(error).__name__
        raise Fault(FaultKind.BAD_ANSWER, f"the answer is not what its API says ({name})") from None


def _repaired(value: Any, flags: set[str]) -> Any:
    """Return a value whose texts are all valid Unicode."""
    if isinstance(value, str):
        text, replaced = repair_surrogates(value)
        if replaced:
            flags.add(FLAG)
        return text
    if isinstance(value, dict):
        return {key: _repaired(inner, flags) for key, inner in cast(dict[str, Any], value).items()}
    return [_repaired(item, flags) for item in cast(list[Any], value)] if isinstance(value, list) else value
