"""Which addresses a page may be fetched from: public ones only, decided after names are resolved, and then pinned.

What a model asks for must not reach this machine, its network or a cloud's metadata service. A name is resolved once;
the connection goes to the very addresses that were judged, so a second answer of the name server changes nothing.
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
    """An address that must not be asked; the text says which."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet; what is wrapped in an IPv6 address counts as itself."""
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
    """Refuse a host that is written as an address; names pass, they are judged when resolved.

    Args:
        host: as the client will use it: decoded, normalised, without brackets.
        is_allowed: whether an address may be asked.

    Raises:
        RefusedAddress: it is not allowed, or it is an address in a spelling that clients disagree about.
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
    """Resolves names as usual and refuses a name of which any address is not allowed."""

    def __init__(self, is_allowed: IsAllowed, inner: AbstractResolver | None = None) -> None:
        """Wrap another resolver; that of the system if None."""
        self._is_allowed = is_allowed
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name.

        Raises:
            RefusedAddress: one of them is not allowed.
            OSError: the name is unknown.
        """
        resolved = await self._inner.resolve(host, port, family)
        for result in resolved:
            if not self._is_allowed(ipaddress.ip_address(result["host"].partition("%")[0])):
                raise RefusedAddress(f"{host} is not at a public address")
        return resolved

    async def close(self) -> None:
        await self._inner.close()
