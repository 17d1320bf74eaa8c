"""Builds a reply from the chunks of an answer, with the assembly of its API.

Shared by all APIs: errors in mid-stream, the proof that the answer is complete, secrets, surrogates, live text.
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
    """Collects one answer, in chunks or whole, and returns it once it is proven complete."""

    def __init__(self, assembly: Assembly, on_text: OnText, redact: Redactor) -> None:
        """Start an empty answer.

        Args:
            assembly: joins the chunks.
            on_text: receives new text.
            redact: removes the secrets sent with the request.
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
        """True until part of an answer has arrived."""
        return self._live.is_empty

    @property
    def is_complete(self) -> bool:
        """True if the server has proven that the answer is complete by stating why the model stopped.

        Some gateways to Gemini state it with every chunk: if text follows the reason and the API has an end mark, only
        that mark is proof.
        """
        return self._finish is not None and (self._is_marked or not self._went_on)

    @property
    def partial(self) -> str:
        """Redacted partial answer."""
        return self._live.partial

    def flag(self, oddity: str) -> None:
        """Add a flag to the reply, such as a missing end mark."""
        self._flags.add(oddity)

    def mark_end(self) -> None:
        """Record the end mark of the stream."""
        self._is_marked = True

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return True if it added to the answer.

        Raises:
            Fault: it reports an error, is not part of an answer, or ends the answer for a reason that proves nothing.
        """
        assembly, live = self._assembly, self._live
        if not isinstance(chunk, dict):
            if reports_error(chunk):
                raise fault_of(provider_error_of(self.redact.value(chunk)))
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is not part of an answer")
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
        """Record the finish reason.

        Raises:
            Fault: the reason means that the answer is incomplete.
        """
        self._finish = finish_of(self.redact(reason), self._assembly.ends) or self._finish

    def check_complete(self) -> None:
        """Raise a fault unless the answer is proven complete.

        Raises:
            Fault: `bad_answer` if it is empty, else `truncated`.
        """
        if self.is_complete:
            return
        if self.is_empty and self._finish is None:
            raise Fault(FaultKind.BAD_ANSWER, "the answer is empty")
        if self._finish is None and self._is_marked:
            raise Fault(FaultKind.TRUNCATED, "the answer ended without a finish_reason")
        raise Fault(FaultKind.TRUNCATED, "the answer ended before the server marked it complete")

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        """Return the redacted reply.

        Raises:
            Fault: the answer is not proven complete, or does not follow its API.
        """
        self.check_complete()
        self._live.end()
        repaired = _repaired(self._assembly.message(), self._flags)
        message = self.redact.known_value(repaired)
        if message != repaired:
            self._flags.add("a secret was removed")
        try:
            reply = self._assembly.read(message, self._finish or "")
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise _malformed(error) from None
        if reply.finish == "tool_calls" and reply.content is None and not (reply.tool_calls or reply.reasoning):
            raise Fault(FaultKind.BAD_ANSWER, "the finish reason is tool_calls, but there are no calls")
        flags = tuple(sorted(self._flags | set(reply.flags)))
        return msgspec.structs.replace(reply, latency_s=latency_s, first_token_s=first_token_s, flags=flags)


def _malformed(error: Exception) -> Fault:
    """Return the fault of an answer with parts of unexpected types."""
    return Fault(FaultKind.BAD_ANSWER, f"the answer does not follow its API ({type(error).__name__})")


def _repaired(value: Any, flags: set[str]) -> Any:
    """Return a decoded value with valid Unicode in all strings."""
    if isinstance(value, str):
        text, replaced = repair_surrogates(value)
        if replaced:
            flags.add(FLAG)
        return text
    if isinstance(value, dict):
        return {key: _repaired(inner, flags) for key, inner in cast(dict[str, Any], value).items()}
    return [_repaired(item, flags) for item in cast(list[Any], value)] if isinstance(value, list) else value
