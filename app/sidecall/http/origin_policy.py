"""Refuse requests of foreign web pages.

A browser sends a page's requests to everything that its machine reaches, without asking. Clients that are no browsers
send neither an origin nor a foreign host name, and are not affected.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from sidecall.http.authentication import HEADERS, Refuse, path_of
from sidecall.kernel.core.errors import RequestError

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


# The headers in which browsers name the page of a request.
_SAYS_WHENCE = frozenset((b"origin", b"sec-fetch-site"))

_OWN_SITES = (None, b"same-origin", b"none")
# Cached values of `Host`.
_REMEMBERED = 1024
# Characters of a header that errors show.
_SHOWN = 100


class ForeignHost(RequestError):
    """The server is not known by this name."""

    problem = (421, "foreign-host")


class ForeignPage(RequestError):
    """A web page may not use this server unless it is its own, or its operator has named it."""

    problem = (403, "foreign-page")


@dataclass(frozen=True)
class OriginPolicy:
    """The names under which a server is served, and the origins of other web pages that may use it."""

    hosts: OwnHosts
    origins: Collection[str] = ()


class PageRule:
    """Accept requests to one of the server's names, from its own pages or configured origins only.

    A link may lead here from anywhere, so a GET must not change anything.
    """

    def __init__(
        self,
        app: ASGIApp,
        welcome: OriginPolicy,
        share: Callable[[ASGIApp], ASGIApp],
        refuse: Refuse,
        is_exempt: Callable[[str], bool],
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            welcome: The allowed hosts and origins.
            share: Wraps the application so that the named pages may read its answers.
            refuse: Answers refused requests.
            is_exempt: Returns whether a path is served under every host name and to every origin.
        """
        self._app = app
        self._shared = share(app)
        self._welcome = welcome
        self._origins = frozenset(origin.encode() for origin in welcome.origins)
        self._refuse = refuse
        self._is_exempt = is_exempt
        # Without the header it is no browser; HTTP/1.0 has none.
        self._known: set[bytes | None] = {None}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request.

        This is on the way of every call, so it is a plain function and returns early for clients that are no browsers.
        """
        if scope["type"] == "http":
            headers = scope[HEADERS]
            if headers.get(b"host") not in self._known or not _SAYS_WHENCE.isdisjoint(headers):
                return self._check(headers, scope, receive, send)
        return self._app(scope, receive, send)

    def _check(self, headers: Mapping[bytes, bytes], scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if self._is_exempt(path_of(scope)):
            return self._app(scope, receive, send)
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if not self._is_own_name(host, scope):
            return self._refuse(scope, receive, send, ForeignHost(_name_host(host)))
        if _are_repeated(scope):
            return self._refuse(scope, receive, send, ForeignPage(_name_page(origin)))
        if origin in self._origins:
            return self._shared(scope, receive, send)
        if not (_is_own_page(headers, host, origin) or _is_link(scope["method"], origin, headers)):
            return self._refuse(scope, receive, send, ForeignPage(_name_page(origin)))
        return self._app(scope, receive, send)

    def _is_own_name(self, host: bytes | None, scope: Scope) -> bool:
        if host in self._known:
            return True
        assert host is not None
        name = host.decode("latin-1")
        if self._welcome.hosts.include(name):
            if len(self._known) < _REMEMBERED:
                self._known.add(host)
            return True
        return _is_in_process(name, scope)


def _is_in_process(name: str, scope: Scope) -> bool:
    """Return whether this is a test client's made-up host name; real ones have dots or colons."""
    server = scope.get("server")
    return server is not None and name.partition(":")[0] == server[0] and "." not in name


def _are_repeated(scope: Scope) -> bool:
    """Return whether a request repeats these headers, as browsers never do; a gateway may have read the other one."""
    said = [name for name, _ in scope["headers"] if name in _SAYS_WHENCE]
    return len(said) > len(set(said))


def _is_own_page(headers: Mapping[bytes, bytes], host: bytes | None, origin: bytes | None) -> bool:
    """Return whether a request comes from a page of this server, or from no page.

    The port must be ours: another port of this machine is another program. The scheme may differ, since a gateway may
    terminate TLS in front of this server.
    """
    if headers.get(b"sec-fetch-site") not in _OWN_SITES:
        return False
    return origin is None or (host is not None and origin in (b"http://" + host, b"https://" + host))


def _is_link(method: str, origin: bytes | None, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request is a top-level navigation to a page of this server, from any site."""
    is_document = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
    return method == "GET" and origin is None and is_document


def _name_host(host: bytes | None) -> str:
    return f"This server is not known as {_show(host)}. If it is one of its names, add it to SIDECALL_HOSTS."


def _name_page(origin: bytes | None) -> str:
    page = "A web page of another site" if origin is None else f"A web page of {_show(origin)}"
    return f"{page} may not use this server. If it should, add its origin to SIDECALL_ORIGINS."


def _show(value: bytes | None) -> str:
    text = (value or b"").decode("latin-1")[:_SHOWN]
    return text if text.isprintable() else ascii(text)
