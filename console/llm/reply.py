"""Builds a reply from an answer that is put together while it arrives; the assembly of each API says how.

What all APIs share is here: errors in mid-stream, the proof that the answer is whole, secrets, surrogates, live text.
"""

from typing import Any, cast

import msgspec

from console.config.redaction import Redactor
from console.core.chat import Reply
from console.core.fault import Fault, FaultKind
from console.llm.transport.faults import fault_of, provider_error_of, reports_error
from console.llm.wires.completeness import finish_of
from console.llm.wires.live_texts import LiveTexts, OnText
from console.llm.wires.provider_api import Assembly
from console.llm.wires.surrogates import FLAG, repair_surrogates


class ReplyBuilder:
    """Collects one answer, chunk by chunk or whole, and makes a reply of it once it is proven complete."""

    def __init__(self, assembly: Assembly, on_text: OnText, redact: Redactor) -> None:
        """Start an empty answer.

        Args:
            assembly: joins the chunks of one answer.
            on_text: sees new text at once.
            redact: knows the secrets that were sent with the request.
        """
        self.redact = redact
        self._assembly = assembly
        self._live = LiveTexts(on_text, redact)
        self._flags: set[str] = set()
        self._reason: str | None = None
        self._finish: str | None = None
        self._went_on = self._is_marked = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing of an answer has arrived."""
        return self._live.is_empty

    @property
    def is_complete(self) -> bool:
        """Whether the server has proven that the answer is whole.

        It has said why the model stopped. Some gateways to Gemini say so with every chunk: where text came after the
        reason and the API marks the end of a stream, only that mark is a proof.
        """
        return self._finish is not None and (self._is_marked or not self._went_on)

    @property
    def partial(self) -> str:
        """What has arrived, without secrets."""
        return self._live.partial

    def flag(self, oddity: str) -> None:
        """Note an oddity worth showing, such as a missing end mark."""
        self._flags.add(oddity)

    def mark_end(self) -> None:
        """Note that the server has marked the end of its stream."""
        self._is_marked = True

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error, or is no part of an answer, or ends the answer for a reason that proves nothing.
        """
        assembly, live = self._assembly, self._live
        if not isinstance(chunk, dict):
            if reports_error(chunk):
                raise fault_of(provider_error_of(self.redact.value(chunk)))
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is no part of an answer")
        fields = cast(dict[str, Any], chunk)
        if fields.get("error") or (not assembly.is_chunk(fields) and reports_error(fields)):
            raise fault_of(provider_error_of(self.redact.value(fields)))
        had_ended, shown = self._finish is not None, live.count
        try:
            is_new = assembly.add(fields, live)
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise _malformed(error) from None
        if had_ended and live.count > shown and assembly.ends.marked:
            self._went_on = True
        if assembly.reason != self._reason:
            self._reason = assembly.reason
            self.finish_with(assembly.reason or "")
        return is_new

    def finish_with(self, reason: str) -> None:
        """Note why the server says that the model stopped.

        Raises:
            Fault: for this reason no answer is whole.
        """
        self._finish = finish_of(self.redact(reason), self._assembly.ends) or self._finish

    def check_complete(self) -> None:
        """Refuse an answer that has not been proven whole.

        Raises:
            Fault: `bad_answer` with nothing in it, `truncated` without the reason why the model stopped.
        """
        if self.is_complete:
            return
        if self.is_empty and self._finish is None:
            raise Fault(FaultKind.BAD_ANSWER, "the answer holds nothing")
        if self._finish is None and self._is_marked:
            raise Fault(FaultKind.TRUNCATED, "the answer ended without saying why the model stopped (no finish_reason)")
        raise Fault(FaultKind.TRUNCATED, "the answer ended before the server said that it is whole")

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        """Return the whole reply, without secrets.

        Raises:
            Fault: the answer has not been proven whole, or is not what its API says.
        """
        self.check_complete()
        self._live.end()
        repaired = _repaired(self._assembly.message(), self._flags)
        message = self.redact.known_value(repaired)
        if message != repaired:
            self._flags.add("a secret was taken out")
        try:
            reply = self._assembly.read(message, self._finish or "")
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise _malformed(error) from None
        if reply.finish == "tool_calls" and reply.content is None and not (reply.tool_calls or reply.reasoning):
            raise Fault(FaultKind.BAD_ANSWER, "the answer holds calls that it does not hold")
        flags = tuple(sorted(self._flags | set(reply.flags)))
        return msgspec.structs.replace(reply, latency_s=latency_s, first_token_s=first_token_s, flags=flags)


def _malformed(error: Exception) -> Fault:
    """Return the fault of an answer whose parts are of other types than its API says."""
    return Fault(FaultKind.BAD_ANSWER, f"the answer is not what its API says ({type(error).__name__})")


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
