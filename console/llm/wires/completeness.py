"""Decides whether an answer counts: its server must state why the model stopped, and send nothing that contradicts it.

A reason counts if it belongs to the API, if a provider listed here is known to send it, or if the user accepts it.
Anything else (an unknown reason, an error in any format, no reason) is a machinery fault and never an answer.
`docs/models.md` shows the same table; a test keeps the two equal. The streamed text, the end
of the answer and the reply must agree; unreadable parts are faults where they are read (`parts`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from console.core.chat import Reply
from console.core.fault import Fault, FaultKind
from console.core.json_text import DEEPEST, TooDeepError, read_json
from console.llm.paused_turns import PAUSED
from console.llm.wires.parts import NONE_ACCEPTED, Accepted, unread
from console.llm.wires.repeated_arguments import check_split, read_once

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
    Quirk("stop_sequence", "stop", "text-generation-inference before 2.3, Anthropic", "a stop sequence was reached"),
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
_NATIVE_FAILURES = frozenset({"malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "other"})
"""Additional failures of Gemini, passed on as `stop` by gateways."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The finish reasons of one API."""

    finishes: Mapping[str, str]
    """Meaning in a `Reply` of each reason (in lower case) that proves completeness; empty if the answer continues."""
    failures: Mapping[str, FaultKind] = field(default_factory=dict[str, FaultKind])
    marked: bool = False
    """True if streams have an end mark; text after a reason is proven complete by it, else by the end of the body."""


CHAT = Ends(STANDARD | {quirk.reason: quirk.finish for quirk in QUIRKS}, _FAILURES, marked=True)
ANTHROPIC = Ends(
    {
        "pause_turn": PAUSED,
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
    *(f"prompt blocked: {reason}" for reason in ("safety", "blocklist", "prohibited_content", "image_safety")),
)
"""Content filters of Gemini; prefixed ones are our names for `promptFeedback.blockReason` without a candidate."""
GEMINI = Ends({"stop": "stop", "max_tokens": "length", **dict.fromkeys(_GEMINI_FILTERS, "content_filter")})
"""Reasons of Gemini; notably, `OTHER` and `MALFORMED_FUNCTION_CALL` prove nothing."""
OLLAMA = Ends({"stop": "stop", "length": "length"})
"""Reasons of Ollama; `load` and `unload` are not answers."""
RESPONSES = Ends(
    {
        "completed": "stop",
        "incomplete: max_output_tokens": "length",
        "incomplete: content_filter": "content_filter",
    }
)
"""Status of a response, followed by the reason if it is incomplete."""


CUT = ("length", "content_filter")
"""Meanings of the reasons after which the model's last words may be incomplete."""


def finish_of(reason: str, ends: Ends = CHAT, accepted: Accepted = NONE_ACCEPTED) -> str | None:
    """Return the meaning of a finish reason in a `Reply`; None while there is no reason.

    Args:
        reason: as sent by the server, redacted.
        ends: the reasons of its API.
        accepted: further reasons that count as `stop`, except those that name a failure.

    Raises:
        Fault: the reason does not prove the answer complete.
    """
    word = reason.strip().lower()
    if not word:
        return None
    finish = ends.finishes.get(word)
    if finish is not None:
        return finish or None
    sentence = "the server ended the answer with the reason {}, which does not prove it complete"
    if word in ends.failures:
        raise Fault(ends.failures[word], sentence.format(repr(word)))
    accepted.require(reason, sentence, "it does")
    return "stop"


def check_native(reason: str, native: str | None) -> None:
    """Compare a finish reason with that of the model's own provider, as passed on by OpenRouter.

    Raises:
        Fault: `bad_answer`, if the latter names a failure, or a cut that the former hides.
    """
    word = (native or "").strip().lower()
    hides_cut = CHAT.finishes.get(word) in CUT and CHAT.finishes.get(reason.strip().lower()) not in CUT
    if hides_cut or word in CHAT.failures or word in _NATIVE_FAILURES:
        raise unread(f"the server ended the answer with {reason[:60]!r}, the model's provider with {word!r}")


def agreed_finish(before: str | None, now: str) -> str:
    """Return the common meaning of two reasons of one answer; servers may end calls with `stop` and also `tool_calls`.

    Raises:
        Fault: they contradict each other.
    """
    if before is None or before == now:
        return now
    if before in CUT or now in CUT:
        raise unread(f"the server ended the answer both with {before} and with {now}")
    return "tool_calls"


COMMENTARY = "commentary"
"""Flag of a reply whose commentary is kept with its thoughts, though it was streamed as text."""


def check(reply: Reply, streamed: Callable[[str], str]) -> None:
    """Compare a reply with its finish reason and with the streamed text.

    Args:
        reply: the reply, not redacted.
        streamed: returns the text of a kind (`text`, `reasoning`, `tool`) that arrived in pieces.

    Raises:
        Fault: `bad_answer`, if they disagree.
    """
    calls = reply.tool_calls
    if not calls and reply.finish == "tool_calls":
        raise unread("the finish reason is tool_calls, but there are no calls")
    if not calls and streamed("tool"):
        raise unread("the server streamed calls, but its final message has none")
    if not all(call.name for call in calls):
        raise unread("a tool call has no name")
    if len(set(calls)) < len(calls):
        raise unread("a tool call is there twice")
    is_cut = reply.finish in CUT
    if any(read_once(call.arguments, is_cut=is_cut) != call.arguments for call in calls):
        raise unread("the arguments of a call were sent twice")
    if not is_cut:
        if any(_is_deep(call.arguments) for call in calls):
            raise unread("the arguments of a tool call are nested too deeply")
        check_split([call.arguments for call in calls])
    if COMMENTARY in reply.flags:
        is_same = "".join(streamed("text").split()).endswith("".join((reply.content or "").split()))
        is_same = is_same or not streamed("text")
    else:
        is_same = agree(streamed("text"), reply.content or "") and agree(streamed("reasoning"), reply.reasoning)
    if not is_same:
        raise unread("what the server streamed differs from its final message")


def agree(said: str, whole: str) -> bool:
    """Return whether two versions of a text agree, apart from spaces; a missing text agrees with any other."""
    return not said or said == whole or "".join(said.split()) == "".join(whole.split())


def _is_deep(arguments: str) -> bool:
    """Return whether arguments are nested too deeply; any other mistake in them is the model's."""
    if arguments.count("[") + arguments.count("{") <= DEEPEST:
        return False  # the usual case
    try:
        read_json(arguments)
    except TooDeepError:
        return True
    except ValueError:
        return False
    return False
