"""Finish reasons: an answer counts only if its server proves it complete by stating why the model stopped.

A reason counts if it belongs to the API, or if a provider listed here is known to send it. Anything else (an unknown
reason, an error in any format, no reason) is a machinery fault and never an answer. `docs/reliability.md` shows the
same table; a test keeps the two equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from console.core.fault import Fault, FaultKind

STANDARD = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
"""Reasons of the OpenAI chat completions API, and their meaning in a `Reply`."""


class Quirk(NamedTuple):
    """A reason outside that API, with its senders."""

    reason: str
    finish: str
    """Meaning in a `Reply`; empty if the answer continues."""
    provider: str
    why: str


QUIRKS = (
    Quirk("eos", "stop", "Together AI", "names the token that ended the text"),
    Quirk("eos_token", "stop", "text-generation-inference before 2.3", "names the token that ended the text"),
    Quirk("stop_sequence", "stop", "text-generation-inference before 2.3, Anthropic", "a stop text was reached"),
    Quirk("end_turn", "stop", "Anthropic behind gateways, xAI", "the gateway passes on the model's reason"),
    Quirk("tool_use", "tool_calls", "Anthropic behind gateways", "the gateway passes on the model's reason"),
    Quirk("max_tokens", "length", "Anthropic and Gemini behind gateways", "the gateway passes on the model's reason"),
    Quirk("model_length", "length", "Mistral", "the model's own limit was reached, not the request's"),
    Quirk("model_context_window_exceeded", "length", "Anthropic, Z.AI", "the context was full"),
    Quirk("complete", "stop", "Cohere", "its own word for stop"),
    Quirk("refusal", "content_filter", "Anthropic", "the provider's filter stopped the model"),
    Quirk("guardrail_intervened", "content_filter", "Amazon Bedrock", "the account's own filter"),
    Quirk("content_filtered", "content_filter", "Amazon Bedrock", "the provider's filter"),
    Quirk("error_toxic", "content_filter", "Cohere", "the provider's filter"),
    Quirk("sensitive", "content_filter", "Zhipu", "the provider's filter"),
    Quirk("safety", "content_filter", "Gemini", "the provider's filter"),
    Quirk("recitation", "content_filter", "Gemini", "the provider's filter, for copied text"),
    Quirk("blocklist", "content_filter", "Gemini", "the provider's filter, for single words"),
    Quirk("prohibited_content", "content_filter", "Gemini", "the provider's filter"),
    Quirk("spii", "content_filter", "Gemini", "the provider's filter, for personal data"),
    Quirk("null", "", "KoboldCpp before 1.86, Ai00", "the word instead of the value, while the answer continues"),
)
"""Case-insensitive: gateways to Gemini send `STOP`."""

_FAILURES = {
    "error": FaultKind.SERVER,
    "insufficient_system_resource": FaultKind.SERVER,  # DeepSeek
    "abort": FaultKind.SERVER,  # vLLM, SGLang
    "aborted": FaultKind.SERVER,
    "cancelled": FaultKind.SERVER,
    "canceled": FaultKind.SERVER,
    "failed": FaultKind.SERVER,
    "network_error": FaultKind.SERVER,  # Zhipu
    "overloaded": FaultKind.SERVER,
    "server_error": FaultKind.SERVER,
    "timeout": FaultKind.SERVER,
    "incomplete": FaultKind.TRUNCATED,
}
"""Reasons that name a failure."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The finish reasons of one API."""

    finishes: Mapping[str, str]
    """Meaning in a `Reply` of each reason (in lower case) that proves completeness; empty if the answer continues."""
    failures: Mapping[str, FaultKind] = field(default_factory=dict[str, FaultKind])
    unknown: FaultKind = FaultKind.TRUNCATED
    """Fault for all other reasons."""
    marked: bool = False
    """True if streams have an end mark, so that text after a reason can be proven complete."""


CHAT = Ends(
    STANDARD | {quirk.reason: quirk.finish for quirk in QUIRKS}, _FAILURES, unknown=FaultKind.BAD_ANSWER, marked=True
)
ANTHROPIC = Ends(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "content_filter",
    }
)
_GEMINI_FILTERS = (
    *("safety", "recitation", "language", "blocklist", "prohibited_content", "spii", "image_safety"),
    "prompt blocked",  # our name for an answer with `promptFeedback.blockReason` and no candidate
)
GEMINI = Ends({"stop": "stop", "max_tokens": "length", **dict.fromkeys(_GEMINI_FILTERS, "content_filter")})
"""Notably, `OTHER` and `MALFORMED_FUNCTION_CALL` prove nothing."""
RESPONSES = Ends(
    {
        "completed": "stop",
        "incomplete: max_output_tokens": "length",
        "incomplete: content_filter": "content_filter",
    }
)
"""Status of a response, followed by the reason if it is incomplete."""


def finish_of(reason: str, ends: Ends = CHAT) -> str | None:
    """Return the meaning of a finish reason in a `Reply`; None while there is no reason.

    Args:
        reason: as sent by the server, redacted.
        ends: the reasons of its API.

    Raises:
        Fault: the reason does not prove the answer complete.
    """
    word = reason.strip().lower()
    if not word:
        return None
    finish = ends.finishes.get(word)
    if finish is None:
        kind = ends.failures.get(word, ends.unknown)
        text = " ".join(reason.split())[:60]
        raise Fault(kind, f"the server ended the answer with the reason {text!r}, which does not prove it complete")
    return finish or None
