"""Restricts page requests to public addresses, after names are resolved.

Models must not reach this machine, its network or a cloud's metadata service. A name is resolved once and the
connection uses the addresses that were checked, so a different answer to a second lookup has no effect.
"""

import ipaddress
import socket
from collections.abc import Callable

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
IsAllowed = Callable[[Address], bool]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class RefusedAddress(Exception):
    """An address that must not be requested; the message names it."""


def is_public(address: Address) -> bool:
    """Return True for public addresses; an IPv4 address inside an IPv6 address counts as itself."""
    inner = _embedded_ipv4(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified


def _embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def check_literal(host: str, is_allowed: IsAllowed) -> None:
    """Refuse literal addresses that are not allowed; names pass, since they are checked when resolved.

    Args:
        host: host as the client uses it: decoded, normalized, without brackets.
        is_allowed: returns True for allowed addresses.

    Raises:
        RefusedAddress: the address is not allowed, or spelled in a way that clients parse differently.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        if ":" in host or host.replace(".", "").isdigit():
            raise RefusedAddress(f"{host} is not an address in its usual spelling") from None
        return
    if not is_allowed(address):
        raise RefusedAddress(f"{host} is not a public address")


class PinningResolver(AbstractResolver):
    """Resolves names and refuses those with any address that is not allowed."""

    def __init__(self, is_allowed: IsAllowed, inner: AbstractResolver | None = None) -> None:
        """Wrap a resolver, by default the system's."""
        self._is_allowed = is_allowed
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name.

        Raises:
            RefusedAddress: one of them is not allowed.
            OSError: unknown name.
        """
        resolved = await self._inner.resolve(host, port, family)
        for result in resolved:
            if not self._is_allowed(ipaddress.ip_address(result["host"].partition("%")[0])):
                raise RefusedAddress(f"{host} is not at a public address")
        return resolved

    async def close(self) -> None:
        await self._inner.close()
