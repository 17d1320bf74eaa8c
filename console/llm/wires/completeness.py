"""When an answer counts: only when its server has proven that it is whole, by saying why the model stopped.

A reason counts if its API has it, or if a provider that is named here is known to send it. Everything else
(a reason nobody has heard of, an error in whatever form, none at all) is a fault of machinery and never an answer.
`docs/reliability.md` shows the same table to readers; a test holds the two equal.
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
"""The reasons of the OpenAI chat completions API, and what each stands for in a `Reply`."""


class Quirk(NamedTuple):
    """A reason outside of that API, and who is known to send it."""

    reason: str
    finish: str
    """What it stands for; empty: the answer goes on."""
    provider: str
    why: str


QUIRKS = (
    Quirk("eos", "stop", "Together AI", "names the token that ended the text"),
    Quirk("eos_token", "stop", "text-generation-inference before 2.3", "names the token that ended the text"),
    Quirk("stop_sequence", "stop", "text-generation-inference before 2.3, Anthropic", "a stop text was reached"),
    Quirk("end_turn", "stop", "Anthropic behind gateways, xAI", "the gateway passes the model's own word on"),
    Quirk("tool_use", "tool_calls", "Anthropic behind gateways", "the gateway passes the model's own word on"),
    Quirk("max_tokens", "length", "Anthropic and Gemini behind gateways", "the gateway passes the model's own word on"),
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
    Quirk("null", "", "KoboldCpp before 1.86, Ai00", "the word instead of the value, while the text goes on"),
)
"""Upper and lower case do not matter: gateways to Gemini send `STOP`."""

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
"""Reasons that say themselves what failed."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The reasons with which the servers of one API end an answer."""

    finishes: Mapping[str, str]
    """What each that proves an answer whole stands for in a `Reply`, in lower case; empty: the answer goes on."""
    failures: Mapping[str, FaultKind] = field(default_factory=dict[str, FaultKind])
    unknown: FaultKind = FaultKind.TRUNCATED
    """The fault of any other reason."""
    marked: bool = False
    """Whether a mark ends each stream, so that text behind a reason can still be proven whole."""


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
    "prompt blocked",  # our word for an answer with `promptFeedback.blockReason` in place of a candidate
)
GEMINI = Ends({"stop": "stop", "max_tokens": "length", **dict.fromkeys(_GEMINI_FILTERS, "content_filter")})
"""`OTHER` and `MALFORMED_FUNCTION_CALL`, too, prove nothing."""
RESPONSES = Ends(
    {
        "completed": "stop",
        "incomplete: max_output_tokens": "length",
        "incomplete: content_filter": "content_filter",
    }
)
"""The status of a response, with the reason for an incomplete one behind it."""


def finish_of(reason: str, ends: Ends = CHAT) -> str | None:
    """Return what a finish reason stands for in a `Reply`; None while the server has not said why the model stopped.

    Args:
        reason: as the server sent it, without secrets.
        ends: the reasons of the server's API.

    Raises:
        Fault: it proves no whole answer.
    """
    word = reason.strip().lower()
    if not word:
        return None
    finish = ends.finishes.get(word)
    if finish is None:
        kind = ends.failures.get(word, ends.unknown)
        text = " ".join(reason.split())[:60]
        raise Fault(kind, f"the server ended the answer with the reason {text!r}, which does not prove it whole")
    return finish or None
