"""Converts chat messages to requests of the Gemini API, and its candidates to replies. Pure.

Source: the published API, and what the official BFCL handler sends. An answer's parts, thoughts and their
signatures included, are sent back as they came.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.llm.wires.native_content import native_content
from console.llm.wires.usage import token_count

API = "gemini"
_CONFIG = {"temperature": "temperature", "max_tokens": "maxOutputTokens"}

Part = dict[str, Any]


def gemini_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v1beta/models/MODEL:generateContent`.

    Parameters of the model and the request join `generationConfig`; those of the API's top level, such as
    `safetySettings`, stand beside it.

    Raises:
        Fault: `bad_request`, when arguments of an earlier call are no JSON object.
    """
    settings: dict[str, Any] = {"temperature": model.temperature, "maxOutputTokens": model.max_tokens}
    settings |= model.params | request.params
    settings = {_CONFIG.get(name, name): value for name, value in settings.items() if value is not None}
    top = {name: settings.pop(name) for name in ("safetySettings", "toolConfig", "cachedContent") if name in settings}
    system = "\n\n".join(message.get("content") or "" for message in request.messages if message["role"] == "system")
    body: dict[str, Any] = {"contents": _contents(request.messages)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}], "role": "user"}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool["function"]) for tool in request.tools]}]
    return body | top | ({"generationConfig": settings} if settings else {})


def _declaration(function: Mapping[str, Any]) -> dict[str, Any]:
    return {key: (schema_of(value) if key == "parameters" else value) for key, value in function.items()}


def schema_of(schema: Any) -> Any:
    """Return a JSON schema with its types in capitals, as the API spells them."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], schema).items():
        if key == "type" and isinstance(value, str):
            out[key] = value.upper()
        elif key == "properties" and isinstance(value, dict):
            out[key] = {name: schema_of(inner) for name, inner in cast(dict[str, Any], value).items()}
        else:
            out[key] = schema_of(value)
    return out


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the contents, with the results of one answer in one of the user's, named by the calls they answer."""
    out: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    collecting = False
    for message in messages:
        role, text = message["role"], message.get("content") or ""
        if role == "system":
            continue
        if role == "tool":
            name = message.get("name") or names.get(message.get("tool_call_id", ""), "")
            part: Part = {"functionResponse": {"name": name, "response": {"result": text}}}
            if collecting:
                out[-1]["parts"].append(part)
            else:
                out.append({"parts": [part], "role": "user"})
        elif role == "assistant":
            names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())}
            out.append({"parts": _answer(message), "role": "model"})
        else:
            out.append({"parts": [{"text": text}], "role": role})
        collecting = role == "tool"
    return out


def _answer(message: Message) -> list[Part]:
    parts = native_content(message, API)
    if isinstance(parts, list):
        return parts
    text = message.get("content")
    calls = [
        {"functionCall": {"name": call["function"]["name"], "args": _arguments(call["function"])}}
        for call in message.get("tool_calls", ())
    ]
    return ([{"text": text}] if text or not calls else []) + calls


def _arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Fault(FaultKind.BAD_REQUEST, f"the arguments of an earlier call of {function['name']} are no JSON object")
    return cast(dict[str, Any], value)


def read_candidates(answer: Mapping[str, Any], finish: str) -> Reply:
    """Return the reply that a finished answer holds.

    Raises:
        Fault: it holds no candidate.
    """
    candidates = answer.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return _blocked(answer)
    first = cast(dict[str, Any], candidates[0]) if isinstance(candidates[0], dict) else {}
    content = cast(dict[str, Any], first.get("content") or {})
    parts = [cast(Part, part) for part in cast(list[Any], content.get("parts") or []) if isinstance(part, dict)]
    calls = tuple(
        ToolCall(str(call.get("id") or f"call_{index}"), str(call.get("name", "")), json.dumps(call.get("args") or {}))
        for index, call in enumerate(cast(Part, part["functionCall"]) for part in parts if "functionCall" in part)
    )
    texts = [str(part["text"]) for part in parts if "text" in part and not part.get("thought")]
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(str(part.get("text", "")) for part in parts if part.get("thought")),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=read_usage(answer.get("usageMetadata")),
        model=str(answer.get("modelVersion", "")),
        native={"api": API, "content": parts},
    )


def _blocked(answer: Mapping[str, Any]) -> Reply:
    feedback = answer.get("promptFeedback")
    reason = cast(dict[str, Any], feedback).get("blockReason") if isinstance(feedback, dict) else None
    if reason is None:
        raise Fault(FaultKind.BAD_ANSWER, "the answer holds no candidate")
    flags = (f"refused by the provider's filter: {str(reason)[:40]}",)
    return Reply(None, finish="content_filter", usage=read_usage(answer.get("usageMetadata")), flags=flags)


def read_usage(value: object) -> Usage | None:
    """Return the tokens of an answer, thoughts as output; None when it does not count them, or what cannot be true."""
    if not isinstance(value, dict):
        return None
    usage = cast(dict[str, Any], value)
    sent = token_count(usage.get("promptTokenCount"))
    names = ("candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
    written, thoughts, cached = (token_count(usage.get(name) or 0) for name in names)
    if sent is None or written is None or thoughts is None or cached is None:
        return None
    return Usage(input=sent, output=written + thoughts, cached=cached, reasoning=thoughts)
