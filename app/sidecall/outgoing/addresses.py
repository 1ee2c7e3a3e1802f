"""Decide which addresses are public, to keep requests out of the operator's own network."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

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
