"""Which addresses of the Internet are public, so that nobody is sent into the operator's own network."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Not global either, though not every Python says so: protocol assignments, benchmarks, carriers' networks, local NAT64
# and 6to4, which leads to any IPv4 address.
_OTHERS = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "198.18.0.0/15", "100.64.0.0/10", "64:ff9b:1::/48", "2002::/16"))
)


def is_public(text: str) -> bool:
    """Return whether an address, as a resolver gives it, is one of the public Internet."""
    address = _unwrap(ipaddress.ip_address(text.partition("%")[0]))
    return address.is_global and not address.is_multicast and not any(address in network for network in _OTHERS)


def _unwrap(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
