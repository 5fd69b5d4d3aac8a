"""Addresses that callers choose: which form they must have, and which of them we go to."""

import functools
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

Address = IPv4Address | IPv6Address

MOST_CHARACTERS: Final = 2000

_PORTS: Final = {"http": 80, "https": 443}
_PRINTABLE: Final = re.compile(r"[!-\[\]-~]+")
_LABEL: Final = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*", re.IGNORECASE)
# What any program could read as a number: decimal, octal or hexadecimal.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_PORT: Final = re.compile("[1-9][0-9]{0,4}")
_LAST_PORT: Final = 65535

# Loopback, and the networks that belong to whoever runs them.
_PRIVATE_4: Final = tuple(
    IPv4Network(one)
    for one in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)
_PRIVATE_6: Final = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))
# What no receiver of ours can have: this host, link-local, documentation, benchmarks, multicast,
# reserved, broadcast; and where clouds tell machines their secrets.
_NEVER_4: Final = tuple(
    IPv4Network(one)
    for one in (
        *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("100.100.100.200/32", "168.63.129.16/32"),
    )
)
_NEVER_6: Final = tuple(
    IPv6Network(one)
    for one in (
        *("fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128"),
        *("2001::/23", "2001:db8::/32", "3fff::/20"),
    )
)
# The only part of IPv6 that is given out for the public.
_PUBLIC_6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
# Interface identifiers of ISATAP, which end with an IPv4 address.
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


class Target(Struct, frozen=True):
    """Where a request goes, taken apart once, so that nobody reads the text another way."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host as a request names it, with the port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def address(self) -> Address | None:
        """The address, if the host is one and not a name."""
        return read_address(self.host)


class BadTarget(Exception):
    """A text names no place to which we could go; the code says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@functools.lru_cache(maxsize=1024)
def read_target(url: str) -> Target:
    """Take an address apart, or say by a code what is wrong with it."""
    if not _PRINTABLE.fullmatch(url) or len(url) > MOST_CHARACTERS:
        raise BadTarget("invalid_format")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadTarget("malformed_host") from None
    if parts.scheme not in _PORTS or not url.lower().startswith(f"{parts.scheme}://"):
        raise BadTarget("not_http")
    if "@" in parts.netloc:
        raise BadTarget("credentials_in_url")
    if "#" in url:
        raise BadTarget("fragment_in_url")
    host, port = _read_netloc(parts.netloc, _PORTS[parts.scheme])
    query = f"?{parts.query}" if parts.query else ""
    return Target(parts.scheme, host, port, f"{parts.path or '/'}{query}")


def _read_netloc(netloc: str, usual_port: int) -> tuple[str, int]:
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::(.*))?", netloc)
    if bracketed is not None:
        host, port = bracketed[1], bracketed[2]
        if not isinstance(read_address(host), IPv6Address):
            raise BadTarget("malformed_host")
    else:
        host, colon, rest = netloc.partition(":")
        port = rest if colon else None
        _refuse_odd_host(host)
    if port is None:
        return host.lower(), usual_port
    if not _PORT.fullmatch(port) or int(port) > _LAST_PORT:
        raise BadTarget("malformed_port")
    return host.lower(), int(port)


def _refuse_odd_host(host: str) -> None:
    """Refuse what is neither a name nor an IPv4 address of four plain decimal numbers."""
    if not _NAME.fullmatch(host):
        raise BadTarget("malformed_host")
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and read_address(host) is None:
        raise BadTarget("malformed_host")


def read_address(text: str) -> Address | None:
    """Read an address in its usual form; None for anything else."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_allowed(address: Address, *, private_ok: bool) -> bool:
    """Tell whether we go to an address; whatever it carries inside is looked at too."""
    if isinstance(address, IPv6Address):
        inner = _inside(address)
        if not inner:
            return _is_allowed_6(address, private_ok=private_ok)
        # A zone names an interface of this machine.
        return address.scope_id is None and all(
            is_allowed(one, private_ok=private_ok) for one in inner
        )
    if any(address in network for network in _NEVER_4):
        return False
    return private_ok or not any(address in network for network in _PRIVATE_4)


def _is_allowed_6(address: IPv6Address, *, private_ok: bool) -> bool:
    if address.scope_id is not None or any(address in network for network in _NEVER_6):
        return False
    if any(address in network for network in _PRIVATE_6):
        return private_ok
    return address in _PUBLIC_6


def _inside(address: IPv6Address) -> Sequence[IPv4Address]:
    """Return the IPv4 addresses to which an IPv6 address is translated or tunnelled."""
    bits = int(address)
    last = IPv4Address(bits & 0xFFFFFFFF)
    found = [one for one in (address.ipv4_mapped, address.sixtofour) if one is not None]
    found += address.teredo or ()
    if address in _NAT64 or (bits >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(last)
    if address in _LOCAL_NAT64:
        # Where the address stands depends on the length of the prefix, which is the network's own.
        found += [last, IPv4Address(((bits >> 64) & 0xFFFF) << 16 | (bits >> 40) & 0xFFFF)]
    return found
