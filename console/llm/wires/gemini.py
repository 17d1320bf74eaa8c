"""The Gemini API: `POST /models/MODEL:streamGenerateContent`, streamed part by part.

Source: the published API, and the requests of the official BFCL handler. The parts of a reply, including its thoughts
and their signatures, are sent back unchanged.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.json_text import as_object
from console.llm.transport.events import SseReader
from console.llm.wires.completeness import CUT, GEMINI
from console.llm.wires.content_parts import MediaData, mapped, text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.logprobs import for_gemini, gemini_tokens, read_logprobs
from console.llm.wires.parts import (
    NONE_ACCEPTED,
    Accepted,
    Choices,
    name_in,
    object_in,
    objects_in,
    refuse_other_roles,
    refuse_unknown,
    text_in,
    unread,
)
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, call_arguments, native_content
from console.llm.wires.usage import Counts, media_tokens, tier_of, token_count

NATIVE = "gemini"
_NAME = "the Gemini API"
_CONFIG = {"temperature": "temperature", "max_tokens": "maxOutputTokens"}
_CHUNK_FIELDS = frozenset({"candidates", "promptFeedback", "usageMetadata"})
"""Every chunk has at least one of them."""
_MERGED = ({"text"}, {"text", "thought"})
"""Fields of parts that are joined; a part with other fields, such as a signature, stays separate."""

_SILENT_PARTS = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
"""Parts added by the provider; parts with other fields and neither text nor call may be answers."""
_KNOWN_FIELDS = ("text", "functionCall", "thought", "thoughtSignature")
Part = dict[str, Any]


def gemini_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v1beta/models/MODEL:generateContent`.

    Parameters of the model and the request join `generationConfig`, except those of the API's top level, such as
    `safetySettings`.

    Raises:
        Fault: `bad_request`, if the arguments of an earlier call are not a JSON object.
    """
    settings: dict[str, Any] = {"temperature": model.temperature, "maxOutputTokens": model.max_tokens}
    settings = for_gemini(settings | model.params | request.params)
    settings = {_CONFIG.get(name, name): value for name, value in settings.items() if value is not None}
    top = {name: settings.pop(name) for name in ("safetySettings", "toolConfig", "cachedContent") if name in settings}
    system = "\n\n".join(text_only(message, _NAME) for message in request.messages if message["role"] == "system")
    body: dict[str, Any] = {"contents": _contents(request.messages)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}], "role": "user"}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool["function"]) for tool in request.tools]}]
    return body | top | ({"generationConfig": settings} if settings else {})


def _declaration(function: Mapping[str, Any]) -> dict[str, Any]:
    return {key: (_schema(value) if key == "parameters" else value) for key, value in function.items()}


def _schema(schema: Any) -> Any:
    """Return a JSON schema with its types in capitals, as the API spells them."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], schema).items():
        if key == "type" and isinstance(value, str):
            out[key] = value.upper()
        elif key == "properties" and isinstance(value, dict):
            out[key] = {name: _schema(inner) for name, inner in cast(dict[str, Any], value).items()}
        else:
            out[key] = _schema(value)
    return out


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the contents; the tool results of one step share a user content and include their functions' names."""
    out: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    collecting = False
    for message in messages:
        role = message["role"]
        if role == "system":
            continue
        if role == "tool":
            name = message.get("name") or names.get(message.get("tool_call_id", ""), "")
            part: Part = {"functionResponse": {"name": name, "response": {"result": text_only(message, _NAME)}}}
            if collecting:
                out[-1]["parts"].append(part)
            else:
                out.append({"parts": [part], "role": "user"})
        elif role == "assistant":
            names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())}
            out.append({"parts": _answer(message), "role": "model"})
        else:
            out.append({"parts": mapped(message, _text, _media, _NAME), "role": role})
        collecting = role == "tool"
    return out


def _text(text: str) -> Part:
    return {"text": text}


def _media(part: MediaData) -> Part | None:
    return None if part.is_link else {"inlineData": {"mimeType": part.media_type, "data": part.data}}


def _answer(message: Message) -> list[Part]:
    parts = native_content(message, NATIVE)
    if isinstance(parts, list):
        return parts
    text = text_only(message, _NAME)
    calls = [
        {"functionCall": {"name": call["function"]["name"], "args": call_arguments(call["function"])}}
        for call in message.get("tool_calls", ())
    ]
    return ([{"text": text}] if text or not calls else []) + calls


def read_candidates(message: Mapping[str, Any], finish: str, accepted: Accepted = NONE_ACCEPTED) -> Reply:
    """Return the reply in a complete answer.

    Raises:
        Fault: the answer has no readable candidate.
    """
    first = next(iter(objects_in(message, "candidates")), None)
    if first is None:
        return _blocked(message)
    parts: list[Part] = objects_in(object_in(first, "content") or {}, "parts")
    calls: list[ToolCall] = []
    texts: dict[bool, list[str]] = {False: [], True: []}
    """Texts, keyed by whether they are thoughts."""
    for part in parts:
        call, text = object_in(part, "functionCall"), text_in(part, "text")
        if call is not None and text:
            raise unread("a part of the answer is both a text and a call")
        if call is not None:
            calls.append(_call(call, len(calls)))
        elif text is not None:
            texts[_is_thought(part)].append(text)
        elif _SILENT_PARTS.isdisjoint(part):
            if not (kinds := [field for field in part if field not in _KNOWN_FIELDS]):
                raise unread("the answer has a part without text or call")
            accepted.skip(kinds[0])
    logprobs, flags = read_logprobs(message.get("logprobs", ()), gemini_tokens)
    return Reply(
        content="".join(texts[False]) if texts[False] or not calls else None,
        tool_calls=tuple(calls),
        reasoning="".join(texts[True]),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=_usage(message.get("usageMetadata")),
        model=str(message.get("modelVersion", "")),
        flags=flags,
        native={"api": NATIVE, "content": parts},
        logprobs=logprobs,
        tier=_tier(message),
    )


def _call(call: dict[str, Any], number: int) -> ToolCall:
    """Return a call; missing arguments mean an empty object, unless unread fields may contain them."""
    if call.get("willContinue") is True:
        raise unread("the arguments of a call come in pieces, which are not read")
    if not call.get("args"):
        refuse_unknown(call, {"id", "name", "args"}, "a call without args")
    identity = text_in(call, "id") or f"call_{number}"
    return ToolCall(identity, name_in(call, "name"), json.dumps(object_in(call, "args") or {}))


def _is_thought(part: Part) -> bool:
    is_thought = part.get("thought")
    if is_thought is not None and not isinstance(is_thought, bool):
        raise unread("the answer has a part that may be a thought")
    return bool(is_thought)


def _blocked(message: Mapping[str, Any]) -> Reply:
    reason = _block_reason(message)
    if reason is None:
        raise unread("the answer has no candidate")
    flags = (f"refused by the provider's filter: {reason[:40]}",)
    return Reply(None, finish="content_filter", usage=_usage(message.get("usageMetadata")), flags=flags)


def _block_reason(message: Mapping[str, Any]) -> str | None:
    return text_in(object_in(message, "promptFeedback") or {}, "blockReason")


def _usage(value: object) -> Usage | None:
    """Return the token counts, or None if they are implausible; thoughts count as output."""
    usage = as_object(value)
    sent = token_count(usage.get("promptTokenCount"))
    names = ("candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount")
    written, thoughts, cached, of_tools = (token_count(usage.get(name) or 0) for name in names)
    if sent is None or written is None or thoughts is None or cached is None or of_tools is None:
        return None
    sent, total = sent + of_tools, token_count(usage.get("totalTokenCount"))
    media = sum(media_tokens(usage.get(f"{name}TokensDetails")) for name in ("prompt", "candidates", "toolUsePrompt"))
    if total != sent + written:  # in some replies, thoughts are part of the candidates
        written += thoughts
    return Counts(sent, written, cached, reasoning=thoughts, unpriced=media, total=total).usage()


def _tier(message: Mapping[str, Any]) -> str:
    usage = as_object(message.get("usageMetadata"))
    return tier_of(usage.get("serviceTier"), message.get("serviceTier"), usage.get("trafficType")).removeprefix(
        "on_demand_"
    )


class _ContentAssembly:
    ends = GEMINI
    read = staticmethod(read_candidates)

    def __init__(self) -> None:
        self.reason: str | None = None
        self._choices = Choices(by_place=False)
        self._candidate: dict[str, Any] | None = None
        self._has_content = False
        self._parts: list[dict[str, Any]] = []
        self._pieces: list[str] = []
        """Pieces of the last part's text, joined once the part is complete."""
        self._rest: dict[str, Any] = {}
        self._logprobs: list[object] = []

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return not _CHUNK_FIELDS.isdisjoint(chunk)

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        self._rest |= {key: value for key, value in chunk.items() if key != "candidates"}
        candidate, blocked = self._choices.first_of(objects_in(chunk, "candidates")), _block_reason(chunk)
        if blocked is not None:
            self.reason = f"prompt blocked: {blocked}"
        if candidate is None:
            return False
        if blocked is not None:
            raise unread("the prompt is blocked, but there is an answer")
        self._candidate = candidate
        if (logprobs := candidate.get("logprobsResult")) is not None:
            self._logprobs.append(logprobs)
        content, is_new = object_in(candidate, "content"), False
        if content:
            self._has_content = True
            refuse_other_roles(content)
            if not content.get("parts"):
                refuse_unknown(content, {"role", "parts"}, "content without parts")
            for part in objects_in(content, "parts"):
                is_new = self._add_part(part, live) or is_new
        if reason := text_in(candidate, "finishReason"):
            self.reason = reason
        return is_new or bool(reason)

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        return 0

    def message(self) -> dict[str, Any]:
        if self._candidate is None:
            return self._rest
        self._choices.check_ended()
        if not self._has_content and GEMINI.finishes.get((self.reason or "").lower()) not in CUT:
            raise unread("the candidate has no content")
        self._join()
        candidate = self._candidate | {"content": {"parts": self._parts, "role": "model"}}
        return self._rest | {"candidates": [candidate], "logprobs": self._logprobs}

    def _join(self) -> None:
        if self._pieces:
            self._parts[-1]["text"] = "".join(self._pieces)

    def _add_part(self, part: dict[str, Any], live: LiveTexts) -> bool:
        last, text = self._parts[-1] if self._parts else {}, text_in(part, "text")
        is_merged = text is not None and set(part) in _MERGED
        if text is not None and is_merged and set(last) == set(part) and last.get("thought") == part.get("thought"):
            self._pieces.append(text)
        else:
            self._join()
            self._parts.append(dict(part))
            self._pieces = [text] if text is not None and is_merged else []
        if (call := object_in(part, "functionCall")) is not None:
            return live.show("tool", json.dumps(call))
        return live.show("reasoning" if _is_thought(part) else "text", text)


GEMINI_API = ProviderApi(
    path="models/{model}:streamGenerateContent?alt=sse",
    body=lambda model, request: as_accepted(model, gemini_body(model, request)),
    headers=lambda key: {"x-goog-api-key": key},
    events=SseReader,
    assembly=_ContentAssembly,
    always_streams=True,
    gives_logprobs=True,
)
