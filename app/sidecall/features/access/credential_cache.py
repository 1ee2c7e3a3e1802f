"""Cache authenticated credentials for a moment, so that the next requests need one look-up."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from starlette.types import Scope

from sidecall.kernel.core.context import Caller

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
