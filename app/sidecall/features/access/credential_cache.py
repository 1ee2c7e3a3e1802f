"""Remember for a moment what was settled of a credential, so that the next requests with it need one look."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from starlette.types import Scope

from sidecall.kernel.core.context import Caller

# Where the headers stand in the scope by their names, for whoever comes later; of those that come twice the first
# counts, as in the framework.
HEADERS = "sidecall.headers"
BEARER = b"authorization"
KEY = b"x-api-key"

# Seconds for which a credential need not be looked at again. Files of keys are looked at as often, so that one that is
# revoked opens nothing after a second.
LOOK = 0.5
_REMEMBERED = 1024
_WAYS = 32
# Bytes of a credential; to hash longer ones takes longer than it spares.
_LONGEST = 4096


@dataclass(slots=True)
class CachedCredential:
    """Whose a credential is until when, and which requests, by method and path, its caller was seen to be permitted."""

    caller: Caller
    until: float
    ways: set[tuple[str, str]] = field(default_factory=set)


class CredentialCache:
    """The passes of those who have shown a credential lately, by its keyed hash.

    Only what opens something is kept: whatever does not is looked at in full each time, so that a credential that is
    unknown, wrong or revoked takes the same way. Looking one up tells nobody how much of it was right, since nobody
    knows the key of the hash. The credential itself is not kept.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, CachedCredential] = {}
        # One for each header, since the same text may be a credential in one and none in the other.
        self._bearer_secret, self._key_secret = secrets.token_bytes(32), secrets.token_bytes(32)

    def find(self, scope: Scope) -> CachedCredential | None:
        """Return the pass of a request; None where it has none, or not for certain."""
        digest = self._digest(scope)
        found = None if digest is None else self._known.get(digest)
        return found if found is not None and self._clock() < found.until else None

    def keep(self, scope: Scope, caller: Caller, way: tuple[str, str]) -> None:
        """Remember whose the credential of a request is, and that it was permitted."""
        digest = self._digest(scope)
        if digest is None:
            return
        found = self._known.get(digest)
        if found is None or self._clock() >= found.until or found.caller != caller:
            # As the last one: those that were looked at longest ago are forgotten.
            self._known.pop(digest, None)
            found = self._known[digest] = CachedCredential(caller, self._clock() + LOOK)
            if len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        if len(found.ways) < _WAYS:
            found.ways.add(way)

    def _digest(self, scope: Scope) -> bytes | None:
        """Hash the one credential of a request; None where there are several, or headers that come twice."""
        headers: Mapping[bytes, bytes] | None = scope.get(HEADERS)
        if headers is None or len(headers) != len(scope["headers"]):
            return None
        bearer, key = headers.get(BEARER), headers.get(KEY)
        if bearer is None:
            return None if key is None or len(key) > _LONGEST else _hash(key, self._key_secret)
        return None if key is not None or len(bearer) > _LONGEST else _hash(bearer, self._bearer_secret)


def _hash(credential: bytes, secret: bytes) -> bytes:
    return blake2b(credential, digest_size=16, key=secret).digest()
