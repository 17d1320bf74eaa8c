"""Log probabilities of tokens: whether a request asks for them, and their formats in the answers of several APIs.

A suite asks in the format of OpenAI's chat API, `{"logprobs": True, "top_logprobs": 5}`, for any API.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

import msgspec

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply, TokenLogprob
from console.core.fault import Fault, FaultKind
from console.llm.wires.parts import objects_in, unread

_ASKING = ("logprobs", "top_logprobs", "responseLogprobs")
_INCLUDED = "message.output_text.logprobs"
_LOWEST = -9999.0
"""Sent by servers for a probability of 0, and used in place of numbers that JSON cannot hold."""
_DIGITS = 6
UNREADABLE = "unreadable logprobs"
"""Flag of a reply whose log probabilities were dropped."""
Tokens = list[tuple[str, float, list[tuple[str, float]]]]
"""Tokens, each with its log probability and the most probable ones at its position."""
Read = tuple[tuple[TokenLogprob, ...], tuple[str, ...]]
"""Tokens and flags of a reply."""


def asks_logprobs(model: ModelConfig, request: ChatRequest) -> bool:
    """Return whether a request, or the settings of its model, ask for log probabilities."""
    params = model.params | request.params
    return any(params.get(name) for name in _ASKING) or _INCLUDED in (params.get("include") or ())


def no_logprobs(provider: str) -> Fault:
    """Return the fault of a request for log probabilities to an API without them."""
    hint = "Play it with a model of provider openai, responses, gemini, completions or litellm."
    return Fault(FaultKind.BAD_REQUEST, f"provider {provider} gives no logprobs, which this suite needs", hint=hint)


def for_responses(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of the Responses API with its own parameters for log probabilities."""
    if not isinstance(body.get("logprobs"), bool):
        return body
    is_asked = body.pop("logprobs")
    included = [*(body.get("include") or ()), *([_INCLUDED] if is_asked else [])]
    return body | {"include": included} if included else body


def for_gemini(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the generation settings of Gemini with its own parameters for log probabilities."""
    if not isinstance(settings.get("logprobs"), bool):
        return settings
    settings["responseLogprobs"] = settings.pop("logprobs")
    top = settings.pop("top_logprobs", None)
    return settings if top is None else settings | {"logprobs": top}


def for_completions(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a text completion with its own parameter: the number of alternatives."""
    if not isinstance(body.get("logprobs"), bool):
        return body
    is_asked, top = body.pop("logprobs"), body.pop("top_logprobs", 1)
    return body | {"logprobs": top} if is_asked else body


def read_logprobs(fragments: Sequence[object], read: Callable[[Mapping[str, Any]], Tokens]) -> Read:
    """Return the tokens in the fragments of an answer; no tokens but a flag if they cannot be read.

    Args:
        fragments: objects of one API with log probabilities, in order.
        read: returns the tokens of a fragment, or raises a fault.
    """
    try:
        tokens = [token for fragment in fragments for token in read(_object(fragment))]
    except Fault:
        return (), (UNREADABLE,)
    return tuple(TokenLogprob(text, number, tuple(top)) for text, number, top in tokens), ()


def without_logprobs(reply: Reply) -> Reply:
    """Return a reply without log probabilities that were not requested."""
    flags = tuple(flag for flag in reply.flags if flag != UNREADABLE)
    return msgspec.structs.replace(reply, logprobs=(), flags=flags)


def openai_tokens(logprobs: Mapping[str, Any]) -> Tokens:
    """Return the tokens of a chat choice, a part of a response, or a text completion."""
    if "tokens" in logprobs:
        return _completion_tokens(logprobs)
    return [
        (*_pair(item, "logprob"), [_pair(other, "logprob") for other in objects_in(item, "top_logprobs")])
        for item in objects_in(logprobs, "content")
    ]


def gemini_tokens(result: Mapping[str, Any]) -> Tokens:
    """Return the tokens of a candidate's `logprobsResult`."""
    chosen, top = objects_in(result, "chosenCandidates"), objects_in(result, "topCandidates")
    if len(top) not in (0, len(chosen)):
        raise unread("the logprobs do not match the tokens")
    return [
        (
            *_pair(item, "logProbability"),
            [_pair(other, "logProbability") for other in objects_in(step or {}, "candidates")],
        )
        for item, step in zip_longest(chosen, top)
    ]


def _completion_tokens(logprobs: Mapping[str, Any]) -> Tokens:
    """Return the tokens of a text completion, which come as parallel lists."""
    texts, numbers, tops = (_list(logprobs.get(name)) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if len(texts) != len(numbers) or len(tops) not in (0, len(texts)):
        raise unread("the logprobs do not match the tokens")
    return [
        (_text(text), _number(number), [(name, _number(other)) for name, other in _object(top).items()])
        for text, number, top in zip_longest(texts, numbers, tops)
    ]


def _pair(item: Mapping[str, Any], name: str) -> tuple[str, float]:
    return _text(item.get("token")), _number(item.get(name))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise unread("a logprob has no token")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list | None):
        raise unread("the logprobs are not a list")
    return cast("list[object]", value) if value is not None else []


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict | None):
        raise unread("a logprob is not an object")
    return cast("dict[str, Any]", value) if value is not None else {}


def _number(value: object) -> float:
    """Return a log probability; null means none, as for the first token of an echoed prompt."""
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise unread("a logprob is not a number")
    return _LOWEST if value is None or not math.isfinite(value) else max(_LOWEST, min(0.0, round(value, _DIGITS)))
