"""Names by which this server may be addressed.

A web page whose name is rebound to this machine after loading (DNS rebinding) looks like a page of this server, except
for the name that its browser sends as `Host`.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

# A name or address with an optional port, which is ignored.
_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253}))(?::[0-9]{0,5})?", re.IGNORECASE)
# Name endings that cannot be registered on the internet: of clusters, home and company networks, and Docker's.
_PRIVATE = (".svc", ".local", ".internal")


class OwnHosts:
    """The names of this server: loopback, the address it is bound to, and those that its operator has named.

    When bound to an address that other machines reach, it also accepts every IP address, which cannot be rebound, and
    every name outside the public DNS, such as that of a container or a Kubernetes Service.
    """

    def __init__(self, bound: str, named: Iterable[str] = ()) -> None:
        """Take the names.

        Args:
            bound: The address that the server listens on.
            named: Further names: names, addresses, `*.example.com` for every name below that one, `*` for all.
        """
        bound, *named = (_tidy(name) for name in (bound, *named))
        self._is_any = "*" in named
        self._exact = frozenset((bound, *named))
        self._ends = tuple(name[1:] for name in named if name.startswith("*."))
        self._is_reached = not _is_loopback(bound)

    def include(self, host: str) -> bool:
        """Return whether a value of the header `Host` names this server."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = _tidy(found[1] or found[2])
        is_named = self._is_any or name in self._exact or name.endswith(self._ends)
        return is_named or _is_loopback(name) or (self._is_reached and _is_private(name))


def _tidy(name: str) -> str:
    name = name.lower().strip("[]").removesuffix(".")
    address = _address(name)
    return name if address is None else str(address)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(name)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_loopback(name: str) -> bool:
    address = _address(name)
    return name == "localhost" or name.endswith(".localhost") if address is None else address.is_loopback


def _is_private(name: str) -> bool:
    return "." not in name or name.endswith(_PRIVATE) or _address(name) is not None
