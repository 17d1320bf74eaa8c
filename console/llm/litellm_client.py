"""Providers with their own APIs, through litellm; slow and large, so it is loaded only if a model names it.

Values invented by litellm are not trusted: a `finish_reason` that the provider never sent means a cut stream, zero
usage means unknown usage, and reasons that litellm maps to `stop` (`network_error`, anything unknown) are kept. Its
network call and terminal handler at import are switched off, as are its retries, so that faults, deadlines and limits
are the same as for all other endpoints.
"""

import asyncio
import importlib
import logging
import os
import re
import warnings
from typing import Any, cast

import msgspec

from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.config.secrets import redactor_for, resolve_key
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.llm.embedding.vectors import VectorReader, tokens_of
from console.llm.endpoint import Watch
from console.llm.limits.limiter import limiter_of
from console.llm.reply import ReplyBuilder
from console.llm.transport.deadlines import Deadlines, TimeLimits
from console.llm.transport.faults import ProviderError, fault_of, hint_for, provider_error_of
from console.llm.wires.chat import ChatAssembly
from console.llm.wires.completeness import finish_of
from console.llm.wires.returned_fields import with_returned

_TABLE = "_FINISH_REASON_MAP"
_PROVEN_VERSION = "1.106"
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_PREFIX = re.compile(r"^(?:litellm\.)?\w+(?:Error|Exception):\s*(?:\w+(?:Error|Exception)\s*[-:]\s*)*")
_KINDS = {
    "ContextWindowExceededError": FaultKind.CONTEXT,
    "AuthenticationError": FaultKind.AUTH,
    "PermissionDeniedError": FaultKind.AUTH,
    "PaymentRequiredError": FaultKind.QUOTA,
    "NotFoundError": FaultKind.NOT_FOUND,
    "LiteLLMUnknownProvider": FaultKind.BAD_REQUEST,
    "UnsupportedParamsError": FaultKind.BAD_REQUEST,
    "Timeout": FaultKind.STALLED,
    "APIConnectionError": FaultKind.CONNECT,
    "APIResponseValidationError": FaultKind.BAD_ANSWER,
}
_NO_ANSWER = re.compile(r"JSONDecodeError|Expecting value|is not valid JSON|Unable to (?:parse|get json)|<html", re.I)
_NO_CONNECTION = re.compile(r"Connection error|Cannot connect to host|Name or service not known", re.IGNORECASE)
_BROKE_OFF = re.compile(r"peer closed|RemoteProtocolError|ReadError|Connection reset|incomplete", re.IGNORECASE)


def load_litellm() -> Any:
    """Import litellm without its network call, its terminal handler, and its hints on stdout."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for noisy in ("litellm", "pydantic"):
        warnings.filterwarnings("ignore", module=rf"{noisy}(\.|$)")
    module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True
    module.telemetry = False
    module.num_retries = 0
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False
    _record_finish_reasons()
    return module


class _RawReasons(dict[str, str]):
    """Our replacement for litellm's table of finish reasons, which maps network errors to `stop`."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the normalized reason; an inconclusive one is kept, so that `ReplyBuilder` rejects it."""
        try:
            return finish_of(key) or key
        except Fault:
            return key


def _record_finish_reasons() -> None:
    """Replace litellm's table of finish reasons."""
    module: Any = importlib.import_module("litellm.litellm_core_utils.core_helpers")
    if not isinstance(getattr(module, _TABLE, None), dict):
        text = "this version of litellm does not report finish reasons"
        raise Fault(FaultKind.BAD_REQUEST, text, hint=f"Install litellm {_PROVEN_VERSION} or newer.")
    setattr(module, _TABLE, _RawReasons())


class LitellmClient:
    """A model at one address, through litellm."""

    def __init__(self, model: ModelConfig) -> None:
        """Look up the key; litellm is loaded with the first request."""
        self._model = model
        self._key = resolve_key(model)
        self._redact = redactor_for([model])
        self._vectors = VectorReader()
        self._limits = TimeLimits(model.limits)
        address = model.base_url or f"litellm:{model.model_id.split('/')[0]}"
        self.limiter = limiter_of(model, address, self._key)

    async def aclose(self) -> None:
        """Do nothing, since litellm keeps its own connections until the process ends."""

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        litellm = await asyncio.to_thread(load_litellm)
        builder = ReplyBuilder(ChatAssembly(), watch.on_text, self._redact, self._model.accept)
        deadlines = Deadlines(self._limits.current, streamed=True, partial=lambda: builder.partial)
        try:
            async with deadlines:
                stream = await litellm.acompletion(**self._settings(), **self._request_body(request))
                is_reported_usage = await _receive(stream, builder, deadlines)
            reply = builder.reply(deadlines.elapsed_s, deadlines.first_token_s)
        except Fault as fault:
            self._limits.learn(fault)
            raise self._completed_fault(fault, builder) from None
        except Exception as error:
            if _is_filter(error):
                return Reply(None, finish="content_filter", flags=("refused by the provider's filter",))
            raise self._completed_fault(fault_from(error, self._redact, begun=not builder.is_empty), builder) from None
        return reply if is_reported_usage else msgspec.structs.replace(reply, usage=None)

    async def embed(self, texts: list[str], watch: Watch) -> list[list[float]]:
        litellm = await asyncio.to_thread(load_litellm)
        try:
            async with Deadlines(self._model.limits, streamed=False):
                embedded = await litellm.aembedding(**self._settings(), input=texts, **self._model.params)
            answer = embedded.model_dump()
            vectors = self._vectors.read(answer, len(texts))
        except Fault as fault:
            raise self._completed_fault(fault, None) from None
        except Exception as error:
            raise self._completed_fault(fault_from(error, self._redact, begun=False), None) from None
        if (tokens := tokens_of(answer)) is not None:
            watch.on_tokens(tokens)
        return vectors

    def _settings(self) -> dict[str, Any]:
        settings = {
            "model": self._model.model_id,
            "api_key": self._key,
            "api_base": self._model.base_url,  # litellm's embeddings ignore `base_url` and send the key elsewhere
            "extra_headers": self._model.headers or None,
            "timeout": self._limits.current.timeout_s,
            "max_retries": 0,
        }
        return {name: value for name, value in settings.items() if value is not None}

    def _request_body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": with_returned(request.messages, self._model.omit),
            "temperature": self._model.temperature,
            "max_tokens": self._model.max_tokens,
            **self._model.params,
            **request.params,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            # Without this, litellm requires its optional MCP packages for any request with tools.
            body |= {"tools": request.tools, "_skip_mcp_handler": True}
        return {name: value for name, value in body.items() if value is not None}

    def _completed_fault(self, fault: Fault, builder: ReplyBuilder | None) -> Fault:
        partial = fault.partial or (builder.partial if builder is not None else "")
        completed = Fault(
            fault.kind,
            fault.message,
            partial=partial,
            retry_after_s=fault.retry_after_s,
            status=fault.status,
            hint=fault.hint or hint_for(fault.kind, self._model),
        )
        completed.is_silent = fault.is_silent
        return completed


async def _receive(stream: Any, builder: ReplyBuilder, deadlines: Deadlines) -> bool:
    """Read the stream; return True if its usage comes from the provider."""
    async for chunk in stream:
        deadlines.check()
        if builder.add_chunk(_plain(chunk)):
            deadlines.content()
    builder.mark_end()
    finish = getattr(stream, "received_finish_reason", None) or getattr(stream, "intermittent_finish_reason", None)
    if builder.is_empty and (finish is None or not _usage_seen(stream)):
        raise Fault(FaultKind.BAD_ANSWER, "the stream has no answer")
    if finish is None:
        raise Fault(FaultKind.TRUNCATED, "the stream ended before the answer did")
    builder.finish_with(str(finish))
    builder.check_complete()
    return _usage_seen(stream)


def _plain(chunk: Any) -> dict[str, Any]:
    return cast(dict[str, Any], chunk.model_dump(exclude_none=True))


def _usage_seen(stream: Any) -> bool:
    """Return True if the provider sent usage; otherwise litellm counts by itself."""
    chunks = getattr(stream, "chunks", None)
    return chunks is None or any(getattr(chunk, "usage", None) is not None for chunk in chunks)


def _is_filter(error: Exception) -> bool:
    """Return True if the provider's filter refused the prompt; litellm also reports this for 400s about a policy."""
    cause: BaseException | None = error
    status, is_named = None, type(error).__name__ == "ContentPolicyViolationError"
    while cause is not None:
        attributes: Any = cause
        status = getattr(attributes, "status_code", None) or status
        body: Any = getattr(attributes, "body", None)
        is_named = is_named or (isinstance(body, dict) and provider_error_of(body).is_filtered(400))
        cause = cause.__cause__ or cause.__context__
    return is_named and status == 400


def _reason_of_system(error: Exception) -> str:
    """Return why the system broke a connection, to follow other words; empty if it was not the system."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return f": {cause.strerror}"
        cause = cause.__cause__ or cause.__context__
    return ""


def fault_from(error: Exception, redact: Redactor, *, begun: bool) -> Fault:
    """Return the fault for an exception of litellm's.

    Args:
        error: the exception.
        redact: removes the secrets sent with the request.
        begun: True if part of an answer had arrived.
    """
    attributes: Any = error
    message = _PREFIX.sub("", str(getattr(error, "message", None) or error)) or type(error).__name__
    message = " ".join(redact(message).split())[:400]
    name = type(error).__name__
    status = getattr(attributes, "status_code", None)
    headers: Any = getattr(attributes, "litellm_response_headers", None)
    if begun and (name == "MidStreamFallbackError" or _BROKE_OFF.search(message)):
        return Fault(FaultKind.BROKEN_STREAM, f"the connection was lost{_reason_of_system(error)}")
    if _NO_ANSWER.search(message):
        return Fault(FaultKind.BAD_ANSWER, "the answer is not JSON")
    if _NO_CONNECTION.search(message):
        return Fault(FaultKind.CONNECT, f"no connection{_reason_of_system(error)}")
    body: Any = getattr(attributes, "body", None)
    provider_error = (
        provider_error_of(redact.value(body)) if isinstance(body, dict) and body else ProviderError(message)
    )
    fault = fault_of(provider_error, status if isinstance(status, int) else None, dict(headers or ()))
    kind = _KINDS.get(name)
    if kind is None or fault.kind in (FaultKind.CONTEXT, FaultKind.QUOTA):
        return fault
    return Fault(kind, fault.message, status=fault.status, retry_after_s=fault.retry_after_s)
