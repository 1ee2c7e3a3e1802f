"""Hosts that an operator allows as receivers of webhooks."""

import ipaddress
import re
from typing import Self

from msgspec import Struct

from sidecall.outgoing.addresses import USUAL_PORTS
from sidecall.outgoing.patterns import PORT_NUMBERS, normalize_host

_ENTRY = re.compile(r"(?:(https?)://)?(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?/?", re.ASCII | re.I)


class AllowedHost(Struct, frozen=True):
    """A host, or all its subdomains, at one port and scheme."""

    scheme: str
    host: str
    port: int
    is_wildcard: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an entry of the setting, such as `hooks.example.com`, `*.example.com:8443` or `http://localhost:9000`.

        Raises:
            ValueError: The entry is invalid.
        """
        found = _ENTRY.fullmatch(text)
        if found is None or (found[4] is not None and int(found[4]) not in PORT_NUMBERS):
            raise ValueError(f"{text!r} is no host: write hooks.example.com, *.example.com or http://localhost:9000")
        scheme, wildcard, host, port = found.groups()
        scheme = (scheme or "https").lower()
        number = USUAL_PORTS[scheme] if port is None else int(port)
        return cls(scheme, normalize_host(host), number, wildcard is not None)

    def covers(self, scheme: str, host: str, port: int) -> bool:
        """Return whether this is the host of a URL."""
        is_host = host.endswith(f".{self.host}") if self.is_wildcard else host == self.host
        return is_host and (scheme, port) == (self.scheme, self.port)

    @property
    def is_address(self) -> bool:
        """Whether it is an address or this machine, rather than a name that DNS may point anywhere."""
        if self.is_wildcard:
            return False
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return self.host == "localhost"
        return True
