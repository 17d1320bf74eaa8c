"""Proxies and trusted certificates, as the environment of other programs names them.

`HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` name proxies, `NO_PROXY` exceptions: hosts, domains, addresses and networks
(`10.0.0.0/8`), each with or without a port. `SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` name files or
folders of certificate authorities, which then replace those of the system.
"""

import ipaddress
import os
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from console.config.models import public_address
from console.core.fault import Fault, FaultKind

_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Proxy(NamedTuple):
    """A proxy, and where it is named."""

    address: str
    """Address, possibly with a user and a password."""
    variable: str
    """Environment variable that names it, as it is spelled there."""

    def __str__(self) -> str:
        """Return the address without user and password, and the variable."""
        return f"{public_address(self.address)} ({self.variable})"


def proxy_of(address: SplitResult) -> Proxy | None:
    """Return the proxy for an address, or None if it is reached directly.

    Raises:
        Fault: `bad_request`, if the proxy cannot be used.
    """
    host = address.hostname or ""
    if not host or _is_excepted(address):
        return None
    proxy = _named_proxy(address.scheme)
    if proxy is None:
        return None
    mistake = _mistake(proxy.address)
    if not mistake:
        return proxy
    if _is_loopback(host):
        return None
    raise Fault(
        FaultKind.BAD_REQUEST,
        f"the proxy in {proxy.variable} cannot be used for {address.netloc.rpartition('@')[2]}: {mistake}",
        hint=f"Put the address of an http proxy into {proxy.variable}, unset it, or add {host} to NO_PROXY.",
    )


def _named_proxy(scheme: str) -> Proxy | None:
    for name in (f"{scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if variable == "HTTP_PROXY" and "REQUEST_METHOD" in os.environ:
                continue  # set by the client of a CGI script
            if value := os.environ.get(variable, "").strip():
                return Proxy(value if "://" in value else f"http://{value}", variable)
    if (value := urllib.request.getproxies().get(scheme)) and "://" in value:
        return Proxy(value, "the system's settings")
    return None


def _mistake(address: str) -> str:
    """Return why a proxy cannot be used; empty if it can."""
    scheme = address.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        return f"{scheme} proxies are not supported, only http and https"
    try:
        parts = urlsplit(address)
        return "" if parts.hostname and parts.port != 0 else "it names no host"
    except ValueError:
        return "it is not an address"


def _is_excepted(address: SplitResult) -> bool:
    text = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    return any(_matches(entry, address) for entry in _entries(text)) or bool(
        urllib.request.proxy_bypass(address.hostname or "")
    )


def _entries(text: str) -> Iterator[str]:
    return filter(None, (entry.strip().lower() for part in text.split(",") for entry in part.split()))


def _matches(entry: str, address: SplitResult) -> bool:
    host = (address.hostname or "").rstrip(".")
    if entry == "*":
        return True
    own = _ip(host)
    if own is not None:
        try:
            return own in ipaddress.ip_network(entry.strip("[]"), strict=False)
        except ValueError:
            pass  # a name, or with a port
    name, colon, port = entry.rpartition(":")
    if not (colon and port.isascii() and port.isdigit()):
        name = entry
    elif int(port) != (address.port or {"http": 80, "https": 443}.get(address.scheme)):
        return False
    if own is not None:
        return own == _ip(name.strip("[]"))
    name = name.removeprefix("*").strip(".")
    return host == name or (bool(name) and host.endswith(f".{name}"))


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    own = _ip(host)
    return own.is_loopback if own is not None else host == "localhost" or host.endswith(".localhost")


def tls_context() -> ssl.SSLContext:
    """Trust the certificates that the environment names, else the system's or, if there are none, certifi's.

    Raises:
        Fault: `bad_request`, if named certificates cannot be read.
    """
    bundles = [(variable, Path(path).expanduser()) for variable in _BUNDLES if (path := os.environ.get(variable))]
    if not bundles:
        return _usual_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks certificates and host names
    for variable, path in bundles:
        try:
            is_folder = path.is_dir()
            context.load_verify_locations(capath=path if is_folder else None, cafile=None if is_folder else path)
        except ssl.SSLError:
            raise _unreadable(variable, path, "it holds no certificates in PEM format") from None
        except OSError as error:
            raise _unreadable(variable, path, error.strerror or "it cannot be read") from None
    return context


def _unreadable(variable: str, path: Path, why: str) -> Fault:
    return Fault(
        FaultKind.BAD_REQUEST,
        f"the certificates in {variable} cannot be used: {path}: {why}",
        hint=f"Let {variable} name a file of certificates in PEM format, or unset it.",
    )


def _usual_context() -> ssl.SSLContext:
    paths = ssl.get_default_verify_paths()
    if (paths.cafile and Path(paths.cafile).exists()) or (paths.capath and any(Path(paths.capath).glob("*"))):
        return ssl.create_default_context()
    try:
        import certifi
    except ImportError:
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())
