"""What is asked of a model and what it answers, as in the OpenAI chat API; all adapters translate to and from it."""

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict

import msgspec

from console.core.ranges import Amount, Count, Duration


class ToolFunction(TypedDict):
    """The function part of a tool call in a message."""

    name: str
    arguments: str


class MessageToolCall(TypedDict):
    """One tool call inside an assistant message, as the OpenAI API has it."""

    id: str
    type: str
    function: ToolFunction


class Native(TypedDict):
    """What one API must be sent back as it came, such as signed thoughts."""

    content: list[Any] | str
    api: NotRequired[str]
    """`responses`, `anthropic` or `gemini`."""
    wire: NotRequired[str]
    """The same in journals of earlier versions; kept as it is, as the digests of their requests are made of it."""


class Message(TypedDict):
    """One chat message exactly as it is sent; unknown keys are never added."""

    role: str
    content: NotRequired[str | None]
    tool_calls: NotRequired[list[MessageToolCall]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]
    native: NotRequired[Native]
    """Only read by the API it came from, which is sent it in place of the rest."""


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One native tool call of a reply; `arguments` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str

    def for_message(self) -> MessageToolCall:
        """Return the call in the form an assistant message carries."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens of one call as the provider reported them; a call without a report has no Usage at all."""

    input: Count = 0
    output: Count = 0
    cached: Count = 0
    reasoning: Count = 0
    cost_usd: Amount | None = None
    """Cost reported by the provider itself, if any."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One complete answer of a model. Incomplete ones are faults with a `partial`."""

    content: str | None
    """The text; None when the model sent none, which is not the same as an empty text."""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: str = "stop"
    """`stop`, `length`, `tool_calls` or `content_filter`."""
    usage: Usage | None = None
    model: str = ""
    """Model name the server answered with."""
    latency_s: Duration = 0.0
    first_token_s: Duration | None = None
    tries: Count = 1
    flags: tuple[str, ...] = ()
    """Oddities worth showing, such as `surrogates replaced`."""
    simulated: bool = False
    native: Native | None = None
    """What the API must be sent back with this reply; None where the plain message says it all."""

    def message(self) -> Message:
        """Return the assistant message that carries this reply in a following request."""
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
    """Scripted answers of a suite for the simulated models: a right one and plausible wrong ones."""

    right: Utterance
    wrong: tuple[Utterance, ...] = ()


class ChatRequest(msgspec.Struct, frozen=True):
    """One question to a model, before an adapter adds what it was configured with."""

    messages: list[Message]
    tools: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    params: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Overrides of the model's own parameters, such as temperature; JSON values."""
    seed: str = ""
    """Names this call within the run; makes the simulated models deterministic. Never sent."""
    prefers: str = ""
    """Which of its model's addresses answered this conversation last, as journals name it; empty: no matter."""
    scripted: Callable[[], ScriptedAnswers] | None = None
    """Only read by the simulated models. Never sent or recorded."""
