"""Host patterns of operators and authors, and the error for a host that none of them allows."""

import ipaddress
import logging
import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Literal, Self

from msgspec import Struct

from sidecall.kernel.core.errors import ToolException

_ENTRY = re.compile(r"(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?", re.ASCII | re.I)

PORT_NUMBERS = range(1, 65_536)


class HostPattern(Struct, frozen=True):
    """A pattern: a host, all hosts below one, or a network's addresses; at one port or at the default ones."""

    text: str
    host: str = ""
    port: int | None = None
    is_wildcard: bool = False
    network: IPv4Network | IPv6Network | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `api.example.com`, `*.example.com:8443`, `[::1]:8080` or `10.1.0.0/16`.

        Raises:
            ValueError: It is none of them.
        """
        if "/" in text:
            return cls(text, network=_read_network(text))
        found = _ENTRY.fullmatch(text)
        if found is None or (found[3] is not None and int(found[3]) not in PORT_NUMBERS):
            raise _no_host(text)
        port = None if found[3] is None else int(found[3])
        return cls(text, normalize_host(found[2]), port, found[1] is not None)

    def covers(self, host: str, port: int) -> bool:
        """Return whether the pattern covers this host, as in a URL, at this port."""
        if self.network is not None:
            return self.holds(host)
        is_host = host.endswith(f".{self.host}") if self.is_wildcard else host == self.host
        return is_host and self.port in (None, port)

    def holds(self, address: str) -> bool:
        """Return whether an address is in this network."""
        found = read_address(address)
        return self.network is not None and found is not None and found in self.network


def parse_hosts(entries: Iterable[str]) -> tuple[HostPattern, ...]:
    """Parse several patterns.

    Raises:
        ValueError: One of them is none.
    """
    if isinstance(entries, str):
        raise ValueError(f"{entries!r} is one text: write a tuple of hosts")
    return tuple(map(HostPattern.parse, entries))


def normalize_host(host: str) -> str:
    """Normalize a host for comparisons."""
    return host.lower().strip("[]").removesuffix(".")


def _read_network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise _no_host(text) from None


def _no_host(text: str) -> ValueError:
    return ValueError(f"{text!r} is no host: write api.example.com, *.example.com, localhost:9000 or 10.1.0.0/16")


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# All that is handed out of IPv6; what is outside is local, or an IPv4 address in disguise.
_HANDED_OUT = ipaddress.IPv6Network("2000::/3")
# The middle of an ISATAP address, after any prefix; one bit of it says whether the rest is global.
_ISATAP, _ISATAP_MASK = 0x0000_5EFE, 0xFDFF_FFFF
# Not global either, though not every Python says so: protocol assignments, benchmarks, carriers' networks, relays of
# 6to4, and 6to4 and Teredo, which lead to any IPv4 address.
_OTHERS = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "198.18.0.0/15", "100.64.0.0/10", "192.88.99.0/24", "2002::/16", "2001::/32"),
    )
)


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address from a resolver or a URL; None for a name."""
    try:
        return _unwrap(ipaddress.ip_address(text.strip("[]").partition("%")[0]))
    except ValueError:
        return None


def is_public(text: str) -> bool:
    """Return whether an address is public; a name is not."""
    address = read_address(text)
    if address is None or not address.is_global or address.is_multicast:
        return False
    is_handed_out = address.version == 4 or address in _HANDED_OUT
    return is_handed_out and not any(address in network for network in _OTHERS)


def _unwrap(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address embedded in an IPv6 address, or None."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        is_isatap = (int(address) >> 32) & _ISATAP_MASK == _ISATAP
        if address in _NAT64 or is_isatap:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


logger = logging.getLogger("sidecall")

About = Literal["address", "size", "coding"]


class OutgoingRefused(ToolException):
    """The request may not be sent, or its answer may not be read.

    `about` says what is wrong: the `address`, the `size` of the answer, or the `coding` that it is packed in.
    """

    def __init__(self, *args: Any, about: About = "address", **options: Any) -> None:
        super().__init__(*args, **options)
        self.about = about


def refuse(text: str, hint: str, about: About = "address") -> OutgoingRefused:
    """Build a refusal for the model, which can change its request and no setting.

    The hint is for those who can: operators find it in the log, and authors below a traceback.
    """
    refusal = OutgoingRefused(text, about=about)
    refusal.add_note(hint)
    logger.info("%s %s", text, hint)
    return refusal
