"""The rules for outgoing requests."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import httpx

from sidecall.kernel.core.errors import cut_name
from sidecall.outgoing.addresses import USUAL_PORTS
from sidecall.outgoing.patterns import HostPattern, OutgoingRefused, is_public, normalize_host, read_address, refuse

_MOST_ADDRESSES = 3
# What a model is told: hosts that are reached, and characters of the one that is not.
_MOST_NAMED, _MOST_OF_HOST = 20, 253
# Names that lead into the operator's network from any resolver.
_INSIDE = (".localhost", ".local", ".internal", ".svc")
# The last part of an address in other digits, such as 2130706433 or 0x7f.1.
_DIGITS = re.compile(r"0x[0-9a-f]*|[0-9]+")


@dataclass(frozen=True, slots=True)
class OutgoingRules:
    """What one client may reach.

    Args:
        allow: The hosts that its tool is for; empty means every host.
        hosts: The hosts that the operator allows all tools; empty means every public host.
        private: Hosts that may be reached although they are not public.
        block: What may not be reached, even if another rule allows it.
        ports: The ports that are allowed at every host; None means all.
        opened: Hosts in addresses that a tool's author wrote: all of their ports are allowed.
    """

    allow: Sequence[HostPattern] = ()
    hosts: Sequence[HostPattern] = ()
    private: Sequence[HostPattern] = ()
    block: Sequence[HostPattern] = ()
    ports: Iterable[int] | None = tuple(USUAL_PORTS.values())
    opened: Sequence[HostPattern] = ()

    def check_url(self, url: httpx.URL) -> None:
        """Check a request's scheme and host against what author and operator have listed.

        Port and address are checked where a connection is made, so that mocks, which make none, may have any.

        Raises:
            OutgoingRefused: It may not.
        """
        if url.scheme not in USUAL_PORTS or not url.raw_host:
            raise OutgoingRefused("Refused. Use a whole address that begins with https:// or http://.")
        host, port = normalize_host(url.raw_host.decode("ascii")), url.port or USUAL_PORTS[url.scheme]
        if _cover(self.block, host, port):
            raise refuse(
                f"Refused: this tool does not reach {_name(host, port)}. Use another address.",
                "The tool's author has blocked it with block=[...].",
            )
        if self.allow and not _cover(self.allow, host, port):
            raise refuse(
                f"Refused: this tool does not reach {_name(host, port)}. {_list(self.allow)}",
                "The tool's author has named its hosts with allow=[...].",
            )
        if self.hosts and not _cover(self.hosts, host, port) and not _cover(self.private, host, port):
            raise refuse(
                f"Refused: this server does not reach {_name(host, port)}. {_list(self.hosts)}",
                "SIDECALL_OUTGOING_HOSTS has the hosts that tools reach.",
            )

    def check_port(self, host: str, port: int) -> None:
        """Check the port of a connection before its host is resolved.

        Raises:
            OutgoingRefused: It is not open.
        """
        if not self._is_open(normalize_host(host), port):
            raise refuse(
                f"Refused: port {port} is not open to tools. Use an address without a port.",
                f'Open it with SIDECALL_OUTGOING_PORTS, or name it with its host: private=["{_show(host)}:{port}"].',
            )

    def check_name(self, url: httpx.URL) -> None:
        """Check the port, and the name or address, that a proxy will connect to.

        Raises:
            OutgoingRefused: It leads inside.
        """
        host, port = normalize_host(url.raw_host.decode("ascii")), url.port or USUAL_PORTS[url.scheme]
        self.check_port(host, port)
        if read_address(host) is not None:
            self.choose(host, port, [host])
        is_inside = "." not in host or host.endswith(_INSIDE) or _DIGITS.fullmatch(host.rpartition(".")[2])
        if is_inside and read_address(host) is None and not _cover(self.private, host, port):
            raise _refuse_private(host)

    def choose(self, host: str, port: int, addresses: Sequence[str]) -> Sequence[str]:
        """Return the addresses of a host to connect to.

        Raises:
            OutgoingRefused: One of them is not public and not allowed.
        """
        if not _cover(self.private, normalize_host(host), port):
            inside = [address for address in addresses if not is_public(address)]
            if not all(any(pattern.holds(address) for pattern in self.private) for address in inside):
                raise _refuse_private(host)
        return addresses[:_MOST_ADDRESSES]

    def _is_open(self, host: str, port: int) -> bool:
        named = (*self.allow, *self.hosts, *self.private)
        is_named = any(pattern.port == port and pattern.covers(host, port) for pattern in named)
        return self.ports is None or port in self.ports or is_named or _cover(self.opened, host, port)


def name_hosts(*urls: str | None) -> Sequence[HostPattern]:
    """Return the hosts of an operator's addresses, with their ports."""
    found = [httpx.URL(url) for url in urls if url is not None]
    return [
        HostPattern(str(url), normalize_host(url.raw_host.decode("ascii")), url.port or USUAL_PORTS.get(url.scheme))
        for url in found
    ]


def _cover(patterns: Iterable[HostPattern], host: str, port: int) -> bool:
    return any(pattern.covers(host, port) for pattern in patterns)


def _name(host: str, port: int) -> str:
    return _show(host) if port in USUAL_PORTS.values() else f"{_show(host)}:{port}"


def _show(host: str) -> str:
    """Return a host for a message, cut if it is long; a model may have made it up."""
    return cut_name(host, _MOST_OF_HOST)


def _list(patterns: Sequence[HostPattern]) -> str:
    named = [pattern.text for pattern in patterns[:_MOST_NAMED]]
    others = f" and {len(patterns) - len(named)} others" if len(patterns) > len(named) else ""
    return f"It reaches {', '.join(named)}{others} only."


def _refuse_private(host: str) -> OutgoingRefused:
    return refuse(
        f"Refused: {_show(host)} is not on the public Internet. Use an address that is.",
        f'Allow it with SIDECALL_OUTGOING_PRIVATE_HOSTS, or in the tool with private=["{_show(host)}"].',
    )
