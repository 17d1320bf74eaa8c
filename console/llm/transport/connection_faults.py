"""Faults of connections to a server, in our words: the texts of libraries name their own parts, not the cause."""

import errno
import os
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import SplitResult

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from console.core.fault import Fault, FaultKind
from console.llm.transport.network import Proxy

_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
_SHORTAGE_S = 0.5
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""Errors of OpenSSL on a port without TLS."""


@dataclass(slots=True)
class Connection:
    """What a connection was meant to reach."""

    address: SplitResult
    connect_s: float
    proxy: Proxy | None = None

    @property
    def server(self) -> str:
        """Host and port, without user and password."""
        return self.address.netloc.rpartition("@")[2]

    def fault(self, error: Exception, *, is_reached: bool) -> Fault:
        """Return the fault of an error below HTTP.

        Args:
            error: the error.
            is_reached: True if the head of a response had arrived.
        """
        match error:
            case aiohttp.ClientHttpProxyError():
                return self.refused_by_proxy(error.status)
            case aiohttp.ClientConnectorError() | aiohttp.ServerTimeoutError() | ssl.SSLError() if not is_reached:
                return self._not_connected(error)
            case aiohttp.ClientPayloadError():
                text = f"the connection to {self.server} was lost before the announced end of the response"
                return Fault(FaultKind.BROKEN_STREAM, text)
            case aiohttp.ClientResponseError() | HttpProcessingError():
                why = ": its headers are too large" if isinstance(_cause(error), LineTooLong) else ""
                return Fault(FaultKind.BAD_ANSWER, f"{self.server} sent an invalid HTTP response{why}")
            case aiohttp.InvalidURL() | ValueError():
                text = "the request cannot be sent: its address or one of its headers is not valid in HTTP"
                return Fault(FaultKind.BAD_REQUEST, text, hint="Check base_url, the key and the headers.")
            case _ if is_reached:
                return Fault(FaultKind.BROKEN_STREAM, f"the connection to {self.server} was lost{_reason(error)}")
            case _:
                text = f"{self.server} closed the connection without an answer{_reason(error)}"
                fault = Fault(FaultKind.CONNECT, text, hint=self._hint)
                fault.is_sent = True
                return fault

    def refused_by_proxy(self, status: int) -> Fault:
        text = f"the proxy {self.proxy} refuses the connection to {self.server} (HTTP {status})"
        if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            hint = "Put user and password into its address: http://USER:PASSWORD@HOST:PORT."
            return Fault(FaultKind.AUTH, text, hint=hint)
        kind = FaultKind.CONNECT if status >= HTTPStatus.INTERNAL_SERVER_ERROR else FaultKind.BAD_REQUEST
        return Fault(kind, text, hint=self._exception_hint)

    def _not_connected(self, error: Exception) -> Fault:
        text, hint, why = f"cannot connect to {self.server}", self._hint, _reason(error)
        match error:
            case aiohttp.ClientSSLError() | ssl.SSLError():
                text, hint = f"cannot establish a trusted TLS connection to {self.server}", _tls_hint(error) or hint
            case aiohttp.ClientProxyConnectionError():
                text, hint = f"cannot connect to the proxy {self.proxy}", self._exception_hint
            case aiohttp.ClientConnectorDNSError():
                text, why = f"cannot resolve the host {self.address.hostname}", ""
            case aiohttp.ServerTimeoutError():
                text, why = f"could not connect to {self.server} within {self.connect_s:g} s", ""
            case aiohttp.ClientConnectorError(os_error=OSError(errno=number)) if number in _SHORTAGES:
                return _shortage(why)
            case _:
                why = why or ": it hung up" + (" during the TLS handshake" * (self.address.scheme == "https"))
        return Fault(FaultKind.CONNECT, text + why, hint=hint)

    @property
    def _hint(self) -> str:
        through = f" Requests go through the proxy {self.proxy}." if self.proxy is not None else ""
        return f"Check base_url, the network and whether the server runs.{through}"

    @property
    def _exception_hint(self) -> str:
        return f"Check the proxy, or add {self.address.hostname} to NO_PROXY if it is reached without one."


def _cause(error: Exception) -> BaseException:
    """Return the error of TLS, of the system or of the parser behind a library's error."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return error.certificate_error
        case aiohttp.ClientConnectorError():
            return error.os_error
        case _:
            return error.__cause__ if isinstance(error, aiohttp.ClientResponseError) and error.__cause__ else error


def _reason(error: Exception) -> str:
    """Return the reason of the operating system or of TLS, to follow other words; empty if neither gave one."""
    match _cause(error):
        case ssl.SSLCertVerificationError(verify_message=str(message)) if message:
            return f": {message}"
        case ssl.SSLError(reason=str(reason)):
            return f": {reason.replace('_', ' ').lower()}"
        case OSError(errno=int(number)) if number > 0:
            return f": {os.strerror(number)}"
        case _:
            return ""


def _tls_hint(error: Exception) -> str:
    """Return how to trust a server, or how to reach one without TLS; empty if neither helps."""
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return "If you trust it, put the certificate of its authority into a PEM file, and its path into SSL_CERT_FILE."
    if isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
        return "If the server has no TLS, begin base_url with http://."
    return ""


def _shortage(why: str) -> Fault:
    """Return a fault for too many local connections, handled like a rate limit."""
    text = f"this machine allows no more connections at once{why}"
    return Fault(
        FaultKind.RATE_LIMIT, text, retry_after_s=_SHORTAGE_S, hint="Raise `ulimit -n`, or lower --concurrency."
    )
