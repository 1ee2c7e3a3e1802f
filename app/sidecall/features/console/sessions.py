"""Sessions: a browser shows a key once, and afterwards a cookie that has nothing of it."""

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

from starlette.types import Scope

from sidecall.feature import Built, Host
from sidecall.features.access.auth_methods import Methods
from sidecall.http.authentication import BEARER, HEADERS, KEY, BadCredential
from sidecall.kernel.core.context import Caller
from sidecall.storage.database import Database

# Seconds after which a session ends: since its last request, and since its begin.
IDLE = 8 * 3600
LONGEST = 24 * 3600
# Seconds after which the time of the last request is written again.
_SEEN = 60
_COOKIE = b"cookie"
_BYTES = 32
_LONGEST_TOKEN = 64
_ENDED = "This session has ended. Log in again."


class Cookie(NamedTuple):
    """The name of a session's cookie; that of a page by https cannot be set by other hosts or without TLS."""

    name: str
    is_secure: bool


def name_cookie(scope: Scope, *, is_secure: bool) -> Cookie:
    """Name the cookie of a server by its port, since all servers of one host share their cookies."""
    server = scope.get("server") or ("", None)
    name = "sidecall" if server[1] is None else f"sidecall_{server[1]}"
    return Cookie(f"__Host-{name}" if is_secure else name, is_secure)


def read_token(scope: Scope) -> str | None:
    """Return what the cookie of a session has; None where a request has none, or several that differ."""
    names = {name_cookie(scope, is_secure=it).name.encode() for it in (True, False)}
    pairs = [part.strip().partition(b"=") for value in _list_cookies(scope) for part in value.split(b";")]
    found = {value for name, _, value in pairs if name in names and 0 < len(value) <= _LONGEST_TOKEN}
    return found.pop().decode("latin-1") if len(found) == 1 else None


def _list_cookies(scope: Scope) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == _COOKIE]


class SessionStore:
    """Keeps sessions: a caller's credential, sealed so that only the session's cookie opens it.

    Neither a copy of the database nor a cookie says what the credential is.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        """Take where they are kept; `clock` returns seconds since 1970."""
        self._database = database
        self._clock = clock

    async def begin(self, credential: str) -> str:
        """Begin a session of a credential that was proved, and return what its cookie has.

        Raises:
            StoreUnavailable: It cannot be kept just now.
        """
        token, now = secrets.token_urlsafe(_BYTES), int(self._clock())
        await self._database.write("console_begin_session", _digest(token), _seal(credential.encode(), token), now)
        await self._database.write("console_forget_sessions", now - IDLE, now - LONGEST)
        return token

    async def open(self, token: str) -> str | None:
        """Return the credential of a session; None where it has ended.

        Raises:
            StoreUnavailable: It cannot be read just now.
        """
        rows = await self._database.read("console_find_session", _digest(token))
        if not rows:
            return None
        (sealed, begun_at, seen_at), now = rows[0], int(self._clock())
        if now - seen_at > IDLE or now - begun_at > LONGEST:
            return None
        if now - seen_at > _SEEN:
            await self._database.write("console_see_session", _digest(token), now)
        return _unseal(sealed, token)

    async def end(self, token: str) -> None:
        """End a session, if there is one.

        Raises:
            StoreUnavailable: It cannot be ended just now.
        """
        await self._database.write("console_end_session", _digest(token))


class Sessions:
    """Take the caller of a request from the cookie of a session.

    The session's credential is proved anew with each request: a session ends with its key, and may no more than that.
    """

    def __init__(self, store: SessionStore, methods: Methods) -> None:
        """Take where sessions are kept, and what proves credentials."""
        self._store = store
        self._methods = methods

    def recognize(self, scope: Scope) -> Awaitable[Caller] | None:
        """Return the caller of a session, as an awaitable; None without one."""
        token = read_token(scope)
        return None if token is None else self._recognize(scope, token)

    async def _recognize(self, scope: Scope, token: str) -> Caller:
        credential = await self._store.open(token)
        if credential is None:
            raise BadCredential(_ENDED)
        try:
            found = self._methods.authenticate(put_credential(scope, credential))
            caller = found if isinstance(found, Caller) else await found
        except BadCredential:
            raise BadCredential(_ENDED) from None
        _drop_cookies(scope)
        return caller


def put_credential(scope: Scope, credential: str) -> Scope:
    """Return the scope of a request as if it had come with this credential, in the header that programs send it in."""
    left_out = (BEARER, KEY, _COOKIE)
    headers = [header for header in scope["headers"] if header[0] not in left_out]
    asked: dict[str, Any] = {name: value for name, value in scope.items() if name != HEADERS}
    bearer = (BEARER, b"Bearer " + credential.encode("utf-8", "surrogatepass"))
    return {**asked, "headers": [*headers, bearer]}


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("latin-1")).hexdigest()


def _seal(text: bytes, token: str) -> str:
    """Encrypt a text with a key stream from a token, whose 256 random bits are used for this text alone."""
    stream = hashlib.shake_256(b"sidecall console session " + token.encode("latin-1")).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True)).hex()


def _unseal(sealed: str, token: str) -> str:
    return bytes.fromhex(_seal(bytes.fromhex(sealed), token)).decode()


def _drop_cookies(scope: Scope) -> None:
    """Take the cookies off a request, which no tool may read."""
    scope["headers"] = [header for header in scope["headers"] if header[0] != _COOKIE]
    named = scope.get(HEADERS)
    if named is not None:
        named.pop(_COOKIE, None)


def open_sessions(database: Database, methods: Methods) -> Sessions:
    """Open the sessions that a database keeps, of callers whom these methods know."""
    return Sessions(SessionStore(database), methods)


def build(host: Host) -> Built:
    """Let requests prove who sends them by a session."""
    return Built(methods=[partial(open_sessions, host.ledger.database)])
