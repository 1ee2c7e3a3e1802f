"""Authenticate each request once, in front of all routes."""

import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.scopes import SERVER_SCOPES, MissingScope

# The key in the scope under which headers are cached by name; of repeated ones the first counts, as in the framework.
HEADERS = "sidecall.headers"

BEARER = b"authorization"

KEY = b"x-api-key"

# Seconds for which a credential is cached. Key files are read as often, so that a revoked key is refused within a
# second.
LOOK = 0.5

_REMEMBERED = 1024

_WAYS = 32
# Longer credentials are not cached, since hashing them costs more than it saves.
_LONGEST = 4096


@dataclass(slots=True)
class CachedCredential:
    """The caller of a credential, until when it is valid, and the requests (method and path) that were permitted."""

    caller: Caller
    until: float
    ways: set[tuple[str, str]] = field(default_factory=set)


class CredentialCache:
    """Cache accepted credentials by their keyed hash.

    Only accepted ones are cached. All others are checked in full each time, so that unknown, wrong and revoked
    credentials take the same path. A lookup does not reveal how much of a credential was right, since the key of the
    hash is secret. The credential itself is not kept.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, CachedCredential] = {}
        # One for each header, since a text may be a credential in one and not in the other.
        self._bearer_secret, self._key_secret = secrets.token_bytes(32), secrets.token_bytes(32)

    def find(self, scope: Scope) -> CachedCredential | None:
        """Return the cached credential of a request; None if there is none, or it is ambiguous."""
        digest = self._digest(scope)
        found = None if digest is None else self._known.get(digest)
        return found if found is not None and self._clock() < found.until else None

    def keep(self, scope: Scope, caller: Caller, way: tuple[str, str]) -> None:
        """Cache the caller of a request's credential, and that the request was permitted."""
        digest = self._digest(scope)
        if digest is None:
            return
        found = self._known.get(digest)
        if found is None or self._clock() >= found.until or found.caller != caller:
            # As the most recent one; the least recent ones are dropped.
            self._known.pop(digest, None)
            found = self._known[digest] = CachedCredential(caller, self._clock() + LOOK)
            if len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        if len(found.ways) < _WAYS:
            found.ways.add(way)

    def clear(self) -> None:
        """Forget all credentials, since callers may be others than before."""
        self._known.clear()

    def _digest(self, scope: Scope) -> bytes | None:
        """Hash the only credential of a request; None if there are several, or repeated headers."""
        headers: Mapping[bytes, bytes] | None = scope.get(HEADERS)
        if headers is None or len(headers) != len(scope["headers"]):
            return None
        bearer, key = headers.get(BEARER), headers.get(KEY)
        if bearer is None:
            return None if key is None or len(key) > _LONGEST else _hash(key, self._key_secret)
        return None if key is not None or len(bearer) > _LONGEST else _hash(bearer, self._bearer_secret)


def _hash(credential: bytes, secret: bytes) -> bytes:
    return blake2b(credential, digest_size=16, key=secret).digest()


WELL_KNOWN = "/.well-known/oauth-protected-resource"


class ProtectedResource(Struct, frozen=True):
    """A server as issuers of tokens know it: the first audience that is an address, or its own address."""

    issuer: str
    audience: Sequence[str]

    def write(self, scope: Scope) -> dict[str, Any]:
        """Write the document that leads clients to the issuer."""
        return {
            "resource": self._address(scope),
            "authorization_servers": [self.issuer],
            "scopes_supported": list(SERVER_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Sidecall",
        }

    def find_document(self, scope: Scope) -> str:
        """Return the address of that document: the well-known path precedes that of the resource."""
        parts = urlsplit(self._address(scope))
        return urlunsplit((parts.scheme, parts.netloc, WELL_KNOWN + parts.path.rstrip("/"), "", ""))

    def _address(self, scope: Scope) -> str:
        for name in self.audience:
            if name.startswith(("https://", "http://")):
                return name
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "localhost")
        return f"{scope['scheme']}://{host}"


class Authenticator(Protocol):
    """Recognizes callers by their requests."""

    def authenticate(self, scope: Scope) -> Caller | Awaitable[Caller]:
        """Return the caller of a request, directly or as an awaitable.

        Raises:
            RequestError: The request has no valid, unambiguous credential.
        """


@dataclass(frozen=True, slots=True)
class Access:
    """The server's authentication: its methods, and whether credentials are required.

    `hidden` are the headers that carry credentials; nothing but authentication reads them. `resource` is the metadata
    about accepted tokens, where tokens are accepted. `is_by_credential` is true when the caller depends on nothing but
    the request's credential. `proofs` names the methods: `api_key`, `jwt`, `gateway`. `follow` takes a function that is
    called when a credential may stand for something else than before.
    """

    authenticator: Authenticator
    is_proved: bool
    hidden: Collection[bytes] = ()
    resource: ProtectedResource | None = None
    is_by_credential: bool = False
    proofs: Collection[str] = ()
    follow: Callable[[Callable[[], object]], None] | None = None


# The key in the scope for the challenge that says how to get a token.
METADATA = "sidecall.resource_metadata"
# The key in the scope for the caller. It is not part of `state`, which belongs to others.
CALLER = "sidecall.caller"


# Answers a request with an error.
Refuse = Callable[[Scope, Receive, Send, RequestError], Awaitable[None]]
# Raises an error where a caller may not send a request of this method and path.
Permit = Callable[[str, str, Caller], None]


def permit_all(_method: str, _path: str, _caller: Caller) -> None:
    """Let every caller send every request."""


class Authentication:
    """Put the caller of each request into its scope; refuse a request without a known, permitted caller."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        refuse: Refuse,
        is_open: Callable[[str], bool],
        permit: Permit = permit_all,
    ) -> None:
        """Wrap an application.

        Args:
            app: The application for authenticated callers.
            access: Recognizes the callers.
            refuse: Answers all other requests.
            is_open: Returns whether a path needs no authentication.
            permit: Checks what a caller may do.
        """
        self._app = app
        self._authenticator = access.authenticator
        self._refuse = refuse
        self._is_open = is_open
        self._permit = permit
        self._hidden = frozenset(access.hidden)
        self._resource = access.resource
        self._passes = CredentialCache() if access.is_by_credential else None
        if self._passes is not None and access.follow is not None:
            access.follow(self._passes.clear)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        if self._resource is not None:
            scope[METADATA] = self._resource
        path = path_of(scope)
        found = None if self._passes is None else self._passes.find(scope)
        if found is not None and (scope["method"], path) in found.ways:
            scope[CALLER] = found.caller
            self._hide(scope)
            return self._app(scope, receive, send)
        return self._settle(path, scope, receive, send)

    def _settle(self, path: str, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if self._is_open(path):
            return self._app(scope, receive, send)
        try:
            found = self._authenticator.authenticate(scope)
            if not isinstance(found, Caller):
                return self._wait(found, path, scope, receive, send)
            self._accept(found, path, scope)
        except RequestError as error:
            return self._refuse(scope, receive, send, error)
        return self._app(scope, receive, send)

    async def _wait(self, found: Awaitable[Caller], path: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._accept(await found, path, scope)
        except RequestError as error:
            await self._refuse(scope, receive, send, error)
            return
        await self._app(scope, receive, send)

    def _accept(self, caller: Caller, path: str, scope: Scope) -> None:
        scope[CALLER] = caller  # The audit reads it too when the request is refused.
        self._permit(scope["method"], path, caller)
        if self._passes is not None:
            self._passes.keep(scope, caller, (scope["method"], path))
        self._hide(scope)

    def _hide(self, scope: Scope) -> None:
        if not self._hidden:
            return
        scope["headers"] = [header for header in scope["headers"] if header[0] not in self._hidden]
        # Also from those by name: where both differ in number, a header is repeated, and the request takes the slow
        # path.
        named = scope.get(HEADERS)
        if named is not None:
            for header in self._hidden:
                named.pop(header, None)


def path_of(scope: Scope) -> str:
    """Return the path below the place where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if path.startswith(root) else path


def caller_of(scope: Scope) -> Caller:
    """Return the caller of a request; anonymous where authentication is off."""
    caller: Caller = scope.get(CALLER, ANONYMOUS)
    return caller


class Unauthenticated(RequestError):
    """The request does not prove who sends it."""

    problem = (401, "unauthenticated")

    is_tried = False  # Whether the request has a credential.


class BadCredential(Unauthenticated):
    """The request does not prove who sends it."""

    is_tried = True


def challenge(scope: Scope, error: RequestError) -> dict[str, str]:
    """Write the header for a request that was refused with this error; none where no credential is missing."""
    if isinstance(error, MissingScope):
        said = ['error="insufficient_scope"', f'scope="{" ".join(error.scopes)}"']
    elif isinstance(error, Unauthenticated):
        said = ['error="invalid_token"'] if error.is_tried else []
    else:
        return {}
    if METADATA in scope:
        said.append(f'resource_metadata="{scope[METADATA].find_document(scope)}"')
    return {"WWW-Authenticate": ", ".join(['Bearer realm="sidecall"', *said])}
