"""Authenticate callers by headers that a trusted gateway sets."""

from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Protocol

from msgspec import Struct
from starlette.types import Scope

from sidecall.http.authentication import HEADERS, BadCredential, Unauthenticated
from sidecall.kernel.core.context import ANONYMOUS, EVERYTHING, Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.ports.store import DEFAULT_TENANT

# Identify the caller of a request that came through a proxy.
PEER = "sidecall.peer"
# Somewhat more than an e-mail address.
_LONGEST = 256

_LONGEST_SCOPES = 4096
# Callers whose headers are cached.
_REMEMBERED = 1024


class InvalidCaller(RequestError):
    """The header that says who calls does not name one caller."""

    problem = (400, "invalid-caller")


class GatewayHeaders(Struct, frozen=True):
    """The headers in which a gateway names callers; without one for scopes a named caller may do everything."""

    subject: str
    tenant: str | None = None
    scopes: str | None = None


class Gateways:
    """The addresses of gateways that are trusted to name callers."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = [ip_network(network) for network in networks]
        self._has = lru_cache(_REMEMBERED)(self._contains)

    def sent(self, scope: Scope) -> bool:
        """Return whether a request comes from one of them."""
        peer = scope.get(PEER) or scope.get("client")
        return peer is not None and self._has(peer[0])

    def _contains(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address.version == network.version and address in network for network in self._networks)


# Trusted where no gateway is configured.
LOOPBACK = ("127.0.0.0/8", "::1/128")


class CallerHeader:
    """Take callers from the headers of a trusted gateway."""

    def __init__(self, headers: GatewayHeaders, gateways: Gateways | None = None) -> None:
        """Take the names of the headers; without `gateways` every sender is trusted."""
        self._headers = headers
        self._names = (
            _write_both(headers.subject),
            None if headers.tenant is None else _write_both(headers.tenant),
            None if headers.scopes is None else _write_both(headers.scopes),
        )
        self._gateways = gateways
        self._read = lru_cache(_REMEMBERED)(self._caller)

    def recognize(self, scope: Scope) -> Caller | None:
        """Return the caller that a gateway names; None without a name, or when the sender is not a trusted gateway.

        Raises:
            InvalidCaller: A header comes twice, or is too long, or not in printable UTF-8.
        """
        if self._gateways is not None and not self._gateways.sent(scope):
            return None
        names = self._names
        subject = _find(scope, *names[0])
        if subject is None:
            return None
        tenant = None if names[1] is None else _find(scope, *names[1])
        scopes = None if names[2] is None else (_find(scope, *names[2]) or b"")
        return self._read(subject, tenant, scopes)

    def _caller(self, subject: bytes, tenant: bytes | None, scopes: bytes | None) -> Caller | None:
        names = self._headers
        name = _decode(names.subject, subject, _LONGEST)
        if not name:
            return None
        where = None if tenant is None else _decode(names.tenant or "", tenant, _LONGEST)
        may = EVERYTHING if scopes is None else _decode(names.scopes or "", scopes, _LONGEST_SCOPES).split(" ")
        return Caller(name, where or DEFAULT_TENANT, frozenset(filter(None, may)))


class NamedOrAnonymous:
    """Use the named caller; all other requests come from one anonymous caller with all rights."""

    def __init__(self, header: CallerHeader) -> None:
        self._header = header

    def authenticate(self, scope: Scope) -> Caller:
        """Return the caller of a request.

        Raises:
            InvalidCaller: The headers are ambiguous.
        """
        return self._header.recognize(scope) or ANONYMOUS


def _write_both(header: str) -> tuple[str, bytes]:
    """Return the name of a header for messages, and in the form in which it arrives."""
    return header, header.lower().encode()


def _find(scope: Scope, header: str, raw: bytes) -> bytes | None:
    found: Mapping[bytes, bytes] | None = scope.get(HEADERS)
    if found is not None and len(found) == len(scope["headers"]):  # None of them came twice.
        return found.get(raw)
    values = list(values_of(scope, raw))
    if len(values) > 1:
        # One of them may be the client's own, which the gateway should have replaced.
        raise InvalidCaller(f"The header {header} must come once; it came {len(values)} times.")
    return values[0] if values else None


def _decode(header: str, value: bytes, longest: int) -> str:
    try:
        # Blanks of other kinds may be the end of a letter.
        text = value.strip(b" \t").decode()
    except UnicodeDecodeError:
        raise InvalidCaller(f"The header {header} must be UTF-8.") from None
    if len(text) > longest or not text.isprintable():
        raise InvalidCaller(f"The header {header} must hold up to {longest} printable characters.")
    return text


# The caller, directly or as an awaitable; None where a request has no such credential.
Found = Caller | Awaitable[Caller] | None


class IssuerUnreachable(Overloaded):
    """The issuer of tokens cannot be asked for its keys just now."""

    problem = (503, "issuer-unreachable")

    def __init__(self) -> None:
        super().__init__("The issuer of tokens cannot be asked for its keys just now.", retry_after=5)


class Method(Protocol):
    """One authentication method."""

    def recognize(self, scope: Scope) -> Found:
        """Return the caller of a request; None without a credential of this kind.

        Raises:
            BadCredential: The credential is not valid, or no longer.
            RequestError: The credential cannot be read.
        """


class Methods:
    """Use the first method for which a request has a credential; refuse a request without any."""

    def __init__(self, methods: Sequence[Method]) -> None:
        self._methods = methods

    def authenticate(self, scope: Scope) -> Caller | Awaitable[Caller]:
        """Return the caller of a request, directly or as an awaitable.

        Raises:
            Unauthenticated: It has no credential.
            RequestError: Its credential cannot be read.
        """
        for method in self._methods:
            found = method.recognize(scope)
            if found is not None:
                return found
        raise Unauthenticated(ASK)


ASK = "Send a credential in the header `Authorization: Bearer …`; this server serves nobody without one."
# One text for all reasons, so that it does not reveal which keys exist.
REFUSE = "This server does not know the credential, or it is no longer valid."


def read_bearer(scope: Scope) -> str | None:
    """Return the credential of `Authorization: Bearer …`; None where there is none.

    Raises:
        BadCredential: There are several.
    """
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    tokens = [token for value in found if (token := _after_scheme(value)) is not None]
    if len(found) > 1 and tokens:
        raise BadCredential(REFUSE)
    return tokens[0] if tokens else None


def _after_scheme(value: bytes) -> str | None:
    scheme, _, rest = value.decode("latin-1").partition(" ")
    return rest.strip(" ") if scheme.lower() == "bearer" else None


def values_of(scope: Scope, header: bytes) -> Iterator[bytes]:
    """Yield the values of a header, each as it came."""
    return (value for name, value in scope["headers"] if name == header)
