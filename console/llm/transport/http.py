"""HTTP requests to a model's server: address, key, connections, size limits, and faults.

Requests use aiohttp directly. The openai SDK takes several times the CPU for the same POST (`perf/bench_requests.py`
measures both), follows redirects with the key, decompresses anything, and leaks raw decoding errors. Here redirects are
refused, compression is not requested, and answers are limited to 16 MiB.
"""

import errno
import os
import resource
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from console import __version__
from console.config.model import ModelConfig
from console.config.models import public_address
from console.config.secrets import redactor_for, resolve_key
from console.core.fault import Fault, FaultKind
from console.core.provider import provider_of
from console.llm.transport.connection_faults import Connection
from console.llm.transport.faults import fault_of, looks_like_html, read_provider_error
from console.llm.transport.network import Proxy, proxy_of, tls_context

LARGEST_BODY = 16 << 20
_LARGEST_ERROR = 64 << 10
_CONNECT_S = 30.0
_OPENED: ContextVar[list[socket.socket] | None] = ContextVar("opened", default=None)
"""The sockets opened for a request; none if its connection was kept. aiohttp's own traces cost a tenth of a call."""
_RESERVED = 4
"""File descriptors reserved for everything but connections, such as modules imported while cases play."""


class ErrorResponse(Exception):
    """A response with an error status, before it is turned into a fault."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


class HttpSession:
    """Connections to one server with one key."""

    def __init__(self, model: ModelConfig, headers: Callable[[str], Mapping[str, str]]) -> None:
        """Look up the key; nothing is sent.

        Args:
            model: the model whose address and limits are used.
            headers: returns the headers that carry a key.

        Raises:
            UsageError: the model's key is missing.
        """
        self.key = resolve_key(model)
        address = model.base_url or provider_of(model.provider).address
        self._base = urlsplit(address)
        self.address = public_address(address)
        self.model_list = provider_of(model.provider).model_list or "models"
        """Path of the list of the server's models."""
        self.redact = redactor_for([model])
        """Redactor that removes the secrets of requests from responses."""
        self._headers = {
            "user-agent": f"eval-console/{__version__}",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        self._headers |= headers(self.key) if self.key is not None else {}
        self._headers |= {name.lower(): value for name, value in model.headers.items()}
        self._connect_s = min(_CONNECT_S, model.limits.timeout_s)
        self._connection = Connection(self._base, self._connect_s)
        self._session: aiohttp.ClientSession | None = None
        self._unkept_session: aiohttp.ClientSession | None = None
        """Opens a new connection for each request."""

    @asynccontextmanager
    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = "",
        on_resent: Callable[[], None] = lambda: None,
        *,
        is_sent_once: bool = False,
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Send a request and yield the head of the response; the caller reads the body.

        Args:
            method: HTTP method.
            path: path and query below the model's address.
            body: body, in JSON unless `content_type` differs.
            content_type: type of another body.
            on_resent: called if the server closed a kept connection and the request is sent again on a new one.
            is_sent_once: True if it must not be sent twice; it is sent on a new connection at once.

        Raises:
            ErrorResponse: error status.
            Fault: no HTTP response, or a broken connection.
        """
        reached = False
        proxy = self._connection.proxy = self._proxy
        try:
            options: dict[str, Any] = {
                "method": method,
                "url": self._url(path),
                "data": body,
                "headers": self._headers | {"content-type": content_type} if content_type else self._headers,
                "allow_redirects": False,
                "proxy": proxy.address if proxy is not None else None,
            }
            async with await self._send(options, on_resent, is_sent_once=is_sent_once) as response:
                reached = True
                await self._check(response)
                yield response
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            raise self._connection.fault(error, is_reached=reached) from error
        except ValueError as error:
            if reached:
                raise
            raise self._connection.fault(error, is_reached=reached) from error

    async def aclose(self) -> None:
        for session in (self._session, self._unkept_session):
            if session is not None:
                await session.close()
        self._session = self._unkept_session = None

    async def _send(
        self, options: dict[str, Any], on_resent: Callable[[], None], *, is_sent_once: bool
    ) -> aiohttp.ClientResponse:
        """Return the head of the response.

        A server may close a kept connection at any time, even when it has just read the next request. If that happens
        before any byte of a response, the request is sent once more, on a new connection.
        """
        if not is_sent_once:
            opened: list[socket.socket] = []
            _OPENED.set(opened)
            try:
                return await self._open().request(**options)
            except aiohttp.ClientConnectionError as error:
                if opened or not _is_closed_before_response(error):
                    raise
            on_resent()
        self._unkept_session = self._unkept_session or self._new_session(keeps_connections=False)
        return await self._unkept_session.request(**options)

    @cached_property
    def _proxy(self) -> Proxy | None:
        return proxy_of(self._base)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = self._new_session()
        return self._session

    def _new_session(self, *, keeps_connections: bool = True) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ttl_dns_cache=300,
                ssl=tls_context() if self._base.scheme == "https" else True,
                socket_factory=_new_socket,
                force_close=not keeps_connections,
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_s),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def _url(self, path: str) -> str:
        base, (path, _, query) = self._base, path.partition("?")
        query = "&".join(filter(None, (base.query, query)))
        return urlunsplit((base.scheme, base.netloc, f"{base.path.rstrip('/')}/{path}", query, ""))

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        if 300 <= response.status < 400:
            raise self._redirected(response)
        if response.status < 300 and response.status != 200:
            reason = f"{self._base.netloc} answered with the status {response.status} instead of 200"
            raise Fault(FaultKind.BAD_ANSWER, reason, status=response.status)
        if response.status != 200:
            body = await read(response, _LARGEST_ERROR, cut=True)
            if self._is_from_proxy(response.status, body):
                raise self._connection.refused_by_proxy(response.status)
            raise ErrorResponse(response.status, response.headers, body)
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            named = self.redact(encoding)[:20]
            raise Fault(FaultKind.BAD_ANSWER, f"the server compressed its answer ({named}) without being asked to")

    def _is_from_proxy(self, status: int, body: bytes) -> bool:
        """Return whether an error of a request without TLS is the proxy's: servers of models send no web pages."""
        if self._connection.proxy is None or self._base.scheme != "http":
            return False
        return status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED or looks_like_html(body)

    def _redirected(self, response: aiohttp.ClientResponse) -> Fault:
        """Return the fault of a redirect; redirects are never followed."""
        target = response.headers.get("Location", "")
        address = _redirect_target(f"{self.address}/", target)
        if address is None:
            shown = " ".join(self.redact(target).split())[:100]
            problem = f"to {shown!r}, which is not an address" if shown else "without an address"
            return Fault(FaultKind.BAD_ANSWER, f"{self.address} redirects {problem}", status=response.status)
        return Fault(
            FaultKind.NOT_FOUND,
            f"{self.address} redirects to {self.redact(address)[:200]}; the key is not sent there",
            status=response.status,
            hint="Put the final address into base_url.",
        )

    def fault_of_response(self, error_response: ErrorResponse) -> Fault:
        """Return the redacted fault of an error response."""
        provider_error = read_provider_error(error_response.body, self.redact)
        return fault_of(provider_error, error_response.status, error_response.headers)


def _is_closed_before_response(error: aiohttp.ClientConnectionError) -> bool:
    """Return True unless there was no connection, or part of a response had arrived."""
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ServerTimeoutError):
        return False
    return not isinstance(error, aiohttp.ServerDisconnectedError) or isinstance(error.message, str)


async def read(response: aiohttp.ClientResponse, largest: int = LARGEST_BODY, *, cut: bool = False) -> bytes:
    """Return a whole body.

    Args:
        response: the response to read.
        largest: maximum number of bytes.
        cut: True to return the beginning of a larger body instead of a fault.

    Raises:
        Fault: the body is too large.
    """
    parts: list[bytes] = []
    size = 0
    while piece := await response.content.readany():
        size += len(piece)
        parts.append(piece)
        if size > largest:
            if cut:
                return b"".join(parts)[:largest]
            raise too_large()
    return b"".join(parts)


def too_large() -> Fault:
    """Return the fault of an oversized answer."""
    return Fault(FaultKind.BAD_ANSWER, f"the answer is larger than {LARGEST_BODY >> 20} MiB")


def _new_socket(address: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
    """Return a new socket; raise an error, as if no file descriptors were left, when only the reserved ones are."""
    family, kind, protocol, *_ = address
    new = socket.socket(family, kind, protocol)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and new.fileno() >= most - _RESERVED:
        new.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    if (opened := _OPENED.get()) is not None:
        opened.append(new)
    return new


def _redirect_target(base: str, location: str) -> str | None:
    """Return the public part of a redirect's address, or None if it is invalid."""
    if not location.strip() or not location.isprintable():
        return None
    try:
        target = location if urlsplit(location).scheme else urljoin(base, location)
        parts = urlsplit(target)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # such as a port of letters, or half an IPv6 address
        return None
    return public_address(target) if is_address else None
