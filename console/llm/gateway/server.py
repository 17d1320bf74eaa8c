"""The gateway: an HTTP server on loopback that passes calls to our models, each for the rollout whose token it names.

    http://127.0.0.1:PORT/c/TOKEN/v1/…            a rollout's own address
    http://127.0.0.1:PORT/c/TOKEN/r/ROLE/v1/…     the same, of the model that plays a role
    http://127.0.0.1:PORT/r/ROLE/v1/…             one address for all rollouts; a header names the token

A token is random, and expires when its rollout ends: calls with an expired one are held and never answered, so that the
caller neither fails nor continues until it is ended. (Refused calls would count as errors of its case.) Calls without a
token are refused.
"""

import asyncio
import json
import logging
import secrets
import struct
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from console.core.chat import Reply
from console.core.fault import Fault, FaultKind, reason_of
from console.core.json_text import read_json
from console.core.media import check_media
from console.llm.gateway.anthropic_dialect import ANTHROPIC
from console.llm.gateway.chat_dialect import CHAT
from console.llm.gateway.dialect import CannotConvert, Dialect, GatewayCall
from console.llm.gateway.responses_dialect import RESPONSES

ROLLOUT = "x-console-rollout"
_MOST_BYTES = 256 << 20
_UNANSWERED = ("logprobs", "top_logprobs")
"""Settings, in any dialect, that request parts that our replies lack."""
_DIALECTS = {"chat/completions": CHAT, "responses": RESPONSES, "messages": ANTHROPIC}
_EMBEDDING = "embedding"
"""Role for embedding calls, unless their address names another."""


class Answers(NamedTuple):
    """Functions that answer for the models of a rollout, given the role; a `Fault` is reported to the client."""

    ask: Callable[[str, GatewayCall], Awaitable[Reply]]
    embed: Callable[[str, list[str]], Awaitable[list[list[float]]]]
    roles: tuple[str, ...]
    """The roles that have a model."""


_LOG = logging.getLogger(__name__)
_LOG.addFilter(lambda record: not _is_of_client(record))
_Respond = Callable[[web.Request, Dialect, Answers], Awaitable[web.StreamResponse]]


class Held(Exception):
    """Raised in place of an answer that never comes, because its rollout has ended."""


class Gateway:
    """The server of one run, or of one worker."""

    def __init__(self) -> None:
        self._answers: dict[str, Answers] = {}
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()
        self.url = ""

    async def open(self) -> None:
        """Listen on a free port of loopback."""
        app = web.Application(client_max_size=_MOST_BYTES)
        for prefix in ("/c/{token}/r/{role}", "/c/{token}", "/r/{role}", ""):
            app.router.add_post(f"{prefix}/v1/messages/count_tokens", self._handler(ANTHROPIC, _count_tokens))
            for path, dialect in _DIALECTS.items():
                app.router.add_post(f"{prefix}/v1/{path}", self._handler(dialect, _respond))
            app.router.add_post(f"{prefix}/v1/embeddings", self._handler(CHAT, _embed))
        app.router.add_route("*", "/{path:.*}", _not_found)
        self._runner = web.AppRunner(app, access_log=None, logger=_LOG, handle_signals=False, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def admit(self, answers: Answers) -> str:
        """Answer the calls of a rollout from now on; return its token."""
        token = secrets.token_hex(16)
        self._answers[token] = answers
        return token

    def dismiss(self, token: str) -> None:
        """Hold all further calls of a rollout."""
        self._answers.pop(token, None)

    async def aclose(self) -> None:
        """Drop all calls and close."""
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def _admitted(self, token: str) -> Answers:
        try:
            return self._answers[token]
        except KeyError:
            raise Held from None

    def _handler(self, dialect: Dialect, respond: _Respond) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            def refuse(words: str, status: int = 400, kind: str = "bad_request") -> web.Response:
                return web.json_response(dialect.refusal(kind, words), status=status)

            token = request.match_info.get("token") or request.headers.get(ROLLOUT, "")
            if not token:  # before its body is read, which may be large
                words = "eval-console does not know to which case this call belongs: it has no token of a rollout"
                return refuse(words, 403)
            try:
                return await respond(request, dialect, self._admitted(token))
            except Held:
                await self._closing.wait()
                raise web.HTTPServiceUnavailable from None
            except CannotConvert as error:
                return refuse(f"eval-console cannot pass this call on: {error}")
            except web.RequestPayloadError:
                return refuse("eval-console cannot pass this call on: its body ended too early")
            except web.HTTPRequestEntityTooLarge:
                return refuse(f"eval-console cannot pass this call on: it exceeds {_MOST_BYTES >> 20} MiB", 413)
            except Fault as fault:
                return refuse(fault.message, kind="context" if fault.kind is FaultKind.CONTEXT else "bad_request")

        return handle


async def _respond(request: web.Request, dialect: Dialect, answers: Answers) -> web.StreamResponse:
    role = _role(request, answers, "model")
    call = _read(dialect, await request.read())
    reply = await answers.ask(role, call)
    if call.streams:
        return await _stream(request, dialect.events(reply, call))
    return web.json_response(dialect.whole(reply, call), dumps=_dumps)


async def _count_tokens(request: web.Request, _dialect: Dialect, _answers: Answers) -> web.StreamResponse:
    """Estimate the tokens of a body, for clients that ask before sending it."""
    return web.json_response({"input_tokens": len(await request.read()) // 4})


async def _embed(request: web.Request, _dialect: Dialect, answers: Answers) -> web.StreamResponse:
    role = _role(request, answers, _EMBEDDING)
    body = _read_object(await request.read())
    asked = body.get("input")
    texts = [asked] if isinstance(asked, str) else asked
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in cast("list[Any]", texts)):
        raise CannotConvert("`input` is neither a string nor a list of strings")
    if body.get("dimensions") is not None:
        raise CannotConvert("`dimensions` cannot be passed on: models.toml sets them")
    vectors = await answers.embed(role, cast("list[str]", texts))
    is_packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if is_packed else vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return web.json_response({"object": "list", "data": data, "model": str(body.get("model", "")), "usage": usage})


def _role(request: web.Request, answers: Answers, usual: str) -> str:
    """Return the role that a call is for."""
    role = request.match_info.get("role", usual)
    if role not in answers.roles:
        raise CannotConvert(f"its suite has no model for the role {role[:40]!r}, only {', '.join(answers.roles)}")
    if (role == _EMBEDDING) != (usual == _EMBEDDING):
        raise CannotConvert(f"the model in the role {role} does not answer this kind of call")
    return role


def _packed(vector: list[float]) -> str:
    """Return a vector in the format requested by OpenAI's own client: 32-bit floats."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _read_object(data: bytes) -> dict[str, Any]:
    """Read a body."""
    try:
        body = read_json(data)
    except ValueError as error:
        raise CannotConvert(reason_of(error)) from error
    try:
        json.dumps(body, allow_nan=False)
    except ValueError as error:  # sent by Python clients, but valid for no model
        raise CannotConvert("it contains NaN or an infinity, which are not JSON") from error
    if not isinstance(body, dict):
        raise CannotConvert("its body is not a JSON object")
    return cast("dict[str, Any]", body)


def _read(dialect: Dialect, data: bytes) -> GatewayCall:
    """Parse a call, and check the requirements common to all models before any paid call."""
    body = _read_object(data)
    try:
        call = dialect.read(body)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise CannotConvert(f"its body does not have the form of this API ({reason_of(error)})") from error
    _check(call)
    return call


def _check(call: GatewayCall) -> None:
    if not call.messages:
        raise CannotConvert("it has no messages")
    if call.params.get("n") not in (None, 1):
        raise CannotConvert("`n` is not 1: ask once for each answer")
    if (most := call.params.get("max_tokens")) is not None and (type(most) is not int or most < 1):
        raise CannotConvert("the most tokens of an answer are not a whole number above 0")
    if unanswered := [name for name in _UNANSWERED if call.params.get(name)]:
        raise CannotConvert(f"`{unanswered[0]}` cannot be passed on")
    for message in cast("list[Any]", call.messages):
        if not isinstance(message, dict) or not isinstance(cast("dict[str, Any]", message).get("role"), str):
            raise CannotConvert("a message has no role")
        if "native" in message:  # our channel for a model's own output; clients must not use it
            raise CannotConvert("`native` of a message cannot be passed on")
        _check_content(cast("dict[str, Any]", message).get("content"))
    try:
        check_media(call.messages)
    except ValueError as error:
        raise CannotConvert(str(error)) from None
    if not all(isinstance(tool, dict) for tool in cast("list[Any]", call.tools)):
        raise CannotConvert("a tool is not an object")


def _check_content(content: Any) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise CannotConvert("the content of a message is neither text nor a list of parts")
    for part in cast("list[Any]", content):
        fields: dict[str, Any] = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
        kind = fields.get("type")
        if not isinstance(kind, str) or not isinstance(fields.get(kind), str if kind == "text" else object):
            raise CannotConvert("a part of a message's content has no type, or no text")


async def _not_found(request: web.Request) -> web.StreamResponse:
    served = ", ".join(f"/v1/{path}" for path in (*_DIALECTS, "embeddings"))
    words = f"eval-console answers POST to {served}, not {request.method} of {request.path}"
    return web.json_response(CHAT.refusal("not_found", words), status=404)


def _is_of_client(record: logging.LogRecord) -> bool:
    """Return whether a log message is about a client that disconnected or does not speak HTTP."""
    error = record.exc_info[1] if record.exc_info else None
    return isinstance(error, ConnectionError | HttpProcessingError | web.RequestPayloadError)


async def _stream(request: web.Request, events: Iterator[str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    for event in events:
        await response.write(event.encode("utf-8", "backslashreplace"))
    await response.write_eof()
    return response


def _dumps(value: Any) -> str:
    return json.dumps(value)  # ASCII: replies may hold lone surrogates
