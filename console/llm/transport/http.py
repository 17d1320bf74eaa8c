"""HTTP requests to a model's server: address, key, connections, size limits, and faults.

Requests use aiohttp directly. The openai SDK takes several times the CPU for the same POST (`perf/bench_requests.py`
measures both), follows redirects with the key, decompresses anything, and leaks raw decoding errors. Here redirects are
refused, compression is not requested, and answers are limited to 16 MiB.
"""

import errno
import os
import resource
import socket
import ssl
import urllib.request
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from console import __version__
from console.config.model import ModelConfig
from console.config.models import public_address
from console.config.secrets import redactor_for, resolve_key
from console.core.fault import Fault, FaultKind
from console.core.provider import provider_of
from console.llm.transport.faults import fault_of, read_provider_error

LARGEST_BODY = 16 << 20
_LARGEST_ERROR = 64 << 10
_CONNECT_S = 30.0
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
_SHORTAGE_S = 0.5
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
        self._proxy = _proxy_of(self._base)
        self._connect_s = min(_CONNECT_S, model.limits.timeout_s)
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
        try:
            options: dict[str, Any] = {
                "method": method,
                "url": self._url(path),
                "data": body,
                "headers": self._headers | {"content-type": content_type} if content_type else self._headers,
                "allow_redirects": False,
                "proxy": self._proxy,
            }
            async with await self._send(options, on_resent, is_sent_once=is_sent_once) as response:
                reached = True
                await self._check(response)
                yield response
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            raise self._fault(error, reached) from None
        except ValueError as error:
            if reached:
                raise
            raise self._fault(error, reached) from None

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
            use = _ConnectionUse()
            try:
                return await self._open().request(**options, trace_request_ctx=use)
            except aiohttp.ClientConnectionError as error:
                if not (use.is_reused and _is_closed_before_response(error)):
                    raise
            on_resent()
        self._unkept_session = self._unkept_session or self._new_session(keeps_connections=False)
        return await self._unkept_session.request(**options)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = self._new_session()
        return self._session

    def _new_session(self, *, keeps_connections: bool = True) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ttl_dns_cache=300,
                ssl=_tls() if self._base.scheme == "https" else True,
                socket_factory=_new_socket,
                force_close=not keeps_connections,
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_s),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[_reuse_trace()] if keeps_connections else [],
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
            raise ErrorResponse(response.status, response.headers, await read(response, _LARGEST_ERROR, cut=True))
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            named = self.redact(encoding)[:20]
            raise Fault(FaultKind.BAD_ANSWER, f"the server compressed its answer ({named}) without being asked to")

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

    def _fault(self, error: Exception, reached: bool) -> Fault:
        """Return the fault of an error below HTTP."""
        host, netloc, reason = self._base.hostname or "the server", self._base.netloc, self._reason(error)
        hint = "Check base_url, the network and whether the server runs."
        match error:
            case aiohttp.ClientSSLError():
                return Fault(
                    FaultKind.CONNECT, f"cannot establish a trusted TLS connection to {netloc}: {reason}", hint=hint
                )
            case aiohttp.ClientConnectorDNSError():
                return Fault(FaultKind.CONNECT, f"cannot resolve the host {host}", hint=hint)
            case aiohttp.ClientConnectorError(os_error=OSError(errno=number)) if number in _SHORTAGES:
                return _shortage(reason)
            case aiohttp.ClientConnectorError():
                reason = reason or "it hung up" + (" during the TLS handshake" * (self._base.scheme == "https"))
                return Fault(FaultKind.CONNECT, f"cannot connect to {netloc}: {reason}", hint=hint)
            case aiohttp.ServerTimeoutError():
                return Fault(
                    FaultKind.CONNECT, f"could not connect to {netloc} within {self._connect_s:g} s", hint=hint
                )
            case aiohttp.ClientResponseError() | HttpProcessingError():
                return Fault(FaultKind.BAD_ANSWER, f"{netloc} sent an invalid HTTP response: {reason}")
            case aiohttp.InvalidURL() | ValueError():
                return Fault(FaultKind.BAD_REQUEST, f"the request cannot be sent: {reason}", hint=hint)
            case _ if reached:
                return Fault(FaultKind.BROKEN_STREAM, f"the connection to {netloc} was lost: {reason}")
            case _:
                return Fault(FaultKind.CONNECT, f"{netloc} closed the connection without an answer: {reason}")

    def _reason(self, error: Exception) -> str:
        """Return the message of the operating system or the parser, redacted and cut."""
        cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        number = cause.errno if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) else None
        text = os.strerror(number) if number and number > 0 else str(cause)
        return " ".join(self.redact(text).split())[:200]


@dataclass(slots=True)
class _ConnectionUse:
    """How a request was sent; filled by the trace of its session."""

    is_reused: bool = False
    """True if the last connection had carried a request before."""


def _reuse_trace() -> aiohttp.TraceConfig:
    async def reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.is_reused = True

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(reused)
    return trace


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
    return new


def _shortage(reason: str) -> Fault:
    """Return a fault for too many local connections, handled like a rate limit."""
    text = f"this machine allows no more connections at once: {reason}"
    return Fault(
        FaultKind.RATE_LIMIT, text, retry_after_s=_SHORTAGE_S, hint="Raise `ulimit -n`, or lower --concurrency."
    )


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


def _proxy_of(address: SplitResult) -> str | None:
    """Return the proxy that the environment sets for an address."""
    host = address.hostname or ""
    if not host or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(address.scheme)


def _tls() -> ssl.SSLContext:
    """Trust the system's certificates or, if there are none, certifi's."""
    paths = ssl.get_default_verify_paths()
    if (paths.cafile and Path(paths.cafile).exists()) or (paths.capath and any(Path(paths.capath).glob("*"))):
        return ssl.create_default_context()
    try:
        import certifi
    except ImportError:
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())
