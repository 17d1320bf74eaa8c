"""Builds a reply from the chunks of an answer, with the assembly of its API.

Covers what all APIs share: mid-stream errors, proof that the answer is complete and consistent, secrets, surrogates,
and live text.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

import msgspec

from console.config.redaction import Redactor
from console.core.chat import Reply
from console.core.fault import Fault, FaultKind
from console.llm.transport.faults import fault_of, provider_error_of, reports_error
from console.llm.wires.completeness import agreed_finish, check, finish_of
from console.llm.wires.live_texts import LiveTexts, OnText
from console.llm.wires.parts import Accepted
from console.llm.wires.provider_api import Assembly
from console.llm.wires.surrogates import FLAG, repair_surrogates
from console.llm.wires.usage import credible_usage

_PROVIDER_HEADERS = ("x-inference-provider", "x-portkey-provider", "x-litellm-model-id", "x-ms-region")
"""Headers in which gateways name the provider or deployment behind them."""
_LONGEST_NAME = 60
_BREAKS = re.compile(r"[\s;]+")


class ReplyBuilder:
    """Collects one answer, in chunks or whole, and returns it once it is proven complete."""

    def __init__(self, assembly: Assembly, on_text: OnText, redact: Redactor, accepted: Collection[str] = ()) -> None:
        """Start an empty answer.

        Args:
            assembly: joins the chunks.
            on_text: receives new text.
            redact: removes the secrets sent with the request.
            accepted: finish reasons and types of parts that the user accepts in addition to those of the API.
        """
        self.redact = redact
        self._accepted = Accepted(accepted, redact)
        self._assembly = assembly
        self._live = LiveTexts(on_text, redact)
        self._flags: set[str] = set()
        self._reason: str | None = None
        self._finish: str | None = None
        self._went_on = self._is_marked = False
        self._provider = self._fingerprint = ""

    @property
    def is_empty(self) -> bool:
        """True until part of an answer has arrived."""
        return self._live.is_empty

    @property
    def is_complete(self) -> bool:
        """True if the server has proven that the answer is complete by stating why the model stopped.

        Some gateways to Gemini send a reason with every chunk: if text follows it, only the end is proof.
        """
        return self._finish is not None and (self._is_marked or not self._went_on)

    @property
    def partial(self) -> str:
        """Redacted partial answer."""
        return self._live.partial

    def read_headers(self, headers: Mapping[str, str]) -> None:
        """Read the provider that a gateway names in its headers."""
        for name in _PROVIDER_HEADERS:
            if (provider := headers.get(name)) is not None and not self._provider:
                self._provider = self._name(provider)

    def _name(self, value: object) -> str:
        """Return the name of a provider or fingerprint as one word; empty unless it is a string."""
        return _BREAKS.sub("_", self.redact(value).strip())[:_LONGEST_NAME] if isinstance(value, str) else ""

    def flag(self, oddity: str) -> None:
        """Add a flag to the reply, such as a missing end mark."""
        self._flags.add(oddity)

    def mark_end(self) -> None:
        """Record the end mark of the stream."""
        self._is_marked = True

    def mark_end_of_body(self) -> None:
        """Record that the body ended properly, which is the end mark of APIs that have no other."""
        self._is_marked = self._is_marked or not self._assembly.ends.marked

    def add_texts(self, events: Iterable[bytes]) -> int:
        """Add the leading events that contain only a piece of text, and return their number."""
        return self._assembly.add_texts(events, self._live)

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return True if it added to the answer.

        Raises:
            Fault: it reports an error, cannot be read, or ends the answer for an inconclusive reason.
        """
        assembly, live = self._assembly, self._live
        if not isinstance(chunk, dict):
            if reports_error(chunk):
                raise fault_of(provider_error_of(self.redact.value(chunk)))
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is not part of an answer")
        fields = cast(dict[str, Any], chunk)
        if reports_error(fields, in_answer=assembly.is_chunk(fields)):
            raise fault_of(provider_error_of(self.redact.value(fields)))
        if "system_fingerprint" in fields and not self._fingerprint:
            self._fingerprint = self._name(fields["system_fingerprint"])
        if "provider" in fields:
            self._provider = self._name(fields["provider"]) or self._provider
        had_ended, shown = self._finish is not None, live.count
        is_new = assembly.add(fields, live)
        if had_ended and live.count > shown:
            self._went_on = True
        if assembly.reason != self._reason:
            self._reason = assembly.reason
            self.finish_with(assembly.reason or "")
        return is_new

    def finish_with(self, reason: str) -> None:
        """Record the finish reason.

        Raises:
            Fault: the reason means that the answer is incomplete, or contradicts an earlier one.
        """
        finish = finish_of(self.redact(reason), self._assembly.ends, self._accepted)
        if finish is not None:
            self._finish = agreed_finish(self._finish, finish)

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
            Fault: the answer is not proven complete, cannot be read, or contradicts itself.
        """
        self.check_complete()
        self._live.end()
        assembly, finish = self._assembly, self._finish or ""
        repaired = _repaired(assembly.message(), self._flags)
        reply = assembly.read(repaired, finish, self._accepted)
        check(reply, self._live.said)
        message = self.redact.known_value(repaired)
        if message != repaired:
            self._flags.add("a secret was removed")
            reply = assembly.read(message, finish, self._accepted)
        if (tokens := "".join(token.token for token in reply.logprobs)) != self.redact(tokens):
            reply = msgspec.structs.replace(reply, logprobs=())
            self._flags.add("logprobs with a secret were removed")
        flags = tuple(sorted(self._flags | set(reply.flags)))
        return msgspec.structs.replace(
            reply,
            usage=credible_usage(reply),
            latency_s=latency_s,
            first_token_s=first_token_s,
            flags=flags,
            provider=self._provider,
            fingerprint=self._fingerprint,
        )


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
