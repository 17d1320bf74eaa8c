"""Chat requests and replies in the format of the OpenAI chat API, which all adapters translate to and from."""

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict

import msgspec

from console.core.ranges import Amount, Count, Duration


class ToolFunction(TypedDict):
    """The function part of a tool call in a message."""

    name: str
    arguments: str


class MessageToolCall(TypedDict):
    """One tool call inside an assistant message, in the OpenAI format."""

    id: str
    type: str
    function: ToolFunction


class Native(TypedDict):
    """Content that one API must get back unchanged, such as signed thinking blocks."""

    content: list[Any] | str | dict[str, Any]
    """The whole content, or fields that are added to the message in tool loops."""
    api: NotRequired[str]
    """`responses`, `anthropic`, `gemini`, `bedrock`, `cohere`, `chat` or `ollama`."""
    wire: NotRequired[str]
    """Old name of `api` in journals; kept because request digests cover it."""


class Message(TypedDict):
    """One chat message exactly as sent; no keys are added."""

    role: str
    content: NotRequired[str | list[dict[str, Any]] | None]
    """Text, or content parts (see `core.media`)."""
    tool_calls: NotRequired[list[MessageToolCall]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]
    native: NotRequired[Native]
    """Sent instead of the other fields to the API it came from; ignored by all others."""


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One native tool call of a reply; `arguments` is the JSON string exactly as the model wrote it."""

    id: str
    name: str
    arguments: str

    def for_message(self) -> MessageToolCall:
        """Return the call in the format of an assistant message."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens of one call as the provider reported them; calls without a report have no Usage."""

    input: Count = 0
    output: Count = 0
    cached: Count = 0
    reasoning: Count = 0
    cost_usd: Amount | None = None
    """Cost reported by the provider itself, if any."""
    written: Count = 0
    """Input tokens written to the provider's cache."""
    written_1h: Count = 0
    """Those that it keeps for an hour."""
    unpriced: Count = 0
    """Tokens and searches with rates of their own, such as audio, or of an unknown kind; the cost is then inexact."""


class TokenLogprob(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One token of an answer with its log probability; an array in journals."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    """The most probable tokens at this position with their log probabilities, as the server sent them."""


SENT_TWICE = "sent twice"
"""Flag of a reply whose request was sent again after its connection was closed; both may have been charged."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One complete answer of a model. Incomplete answers are faults with a `partial`."""

    content: str | None
    """Text of the answer; None if the model sent none, which differs from an empty string."""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: str = "stop"
    """`stop`, `length`, `tool_calls` or `content_filter`."""
    usage: Usage | None = None
    model: str = ""
    """Model name the server answered with."""
    provider: str = ""
    """Provider or deployment that a gateway named."""
    fingerprint: str = ""
    """The server's `system_fingerprint`."""
    latency_s: Duration = 0.0
    first_token_s: Duration | None = None
    tries: Count = 1
    flags: tuple[str, ...] = ()
    """Oddities worth showing, such as `surrogates replaced`."""
    simulated: bool = False
    native: Native | None = None
    """Content the API must get back with this reply; None if the plain message is enough."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Tokens of the answer with their log probabilities, if they were requested and the server provides them."""
    tier: str = ""
    """Service tier that the server named, such as `flex`."""

    @property
    def server(self) -> str:
        """Provider and fingerprint that served it; empty if unknown."""
        return f"{self.provider} {self.fingerprint}".strip()

    def message(self) -> Message:
        """Return the assistant message that carries this reply in later requests."""
        out: Message = {"role": "assistant", "content": self.content}
        if self.tool_calls:
            out["tool_calls"] = [call.for_message() for call in self.tool_calls]
        if self.native is not None:
            out["native"] = self.native
        return out


class Utterance(msgspec.Struct, frozen=True):
    """A possible answer: text, or calls as (name, arguments) pairs."""

    content: str | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


class ScriptedAnswers(msgspec.Struct, frozen=True):
    """A suite's answers for the simulated models: one right and several plausible wrong ones."""

    right: Utterance
    wrong: tuple[Utterance, ...] = ()
    recorded: Utterance | None = None
    """The recorded answer of another model at this point, which every simulated model repeats."""


class ChatRequest(msgspec.Struct, frozen=True):
    """One request to a model, before the adapter adds the model's configuration."""

    messages: list[Message]
    tools: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    params: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Overrides of the model's parameters, such as temperature; JSON values."""
    name: str = ""
    """Conversation and digest of the request, equal after a resume. Never sent."""
    seed: str = ""
    """Seed of this call for the simulated models, which makes them deterministic. Never sent."""
    prefers: str = ""
    """Address that answered this conversation last, as recorded in the journal; empty for no preference."""
    scripted: Callable[[], ScriptedAnswers] | None = None
    """Answers for the simulated models. Never sent or recorded."""
