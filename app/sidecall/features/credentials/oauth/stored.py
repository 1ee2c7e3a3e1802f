"""What is kept of a person's tokens, encrypted as the secrets of callers are and beside them."""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

from sidecall.features.credentials.oauth.asking import Grant
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.secrets import RESERVED, Seal, SealedSecret, SealedSecrets, SecretUnreadable, UnknownSecret
from sidecall.kernel.ports.user_tokens import TokenListing, TokenUnavailable

_TOKEN = f"oauth{RESERVED}token{RESERVED}"
_ROUND = f"oauth{RESERVED}round{RESERVED}"
# A token is refreshed so many seconds before it expires, or a tenth of its time where that is less.
_EARLY = 60.0


@dataclass(frozen=True, slots=True)
class StoredToken:
    """One person's token at one provider; times are in seconds since 1970.

    `claim` names whoever is refreshing it, until `claimed_until`.
    """

    access_token: str
    refresh_token: str | None = None
    stale_at: float | None = None
    expires_at: float | None = None
    claim: str | None = None
    claimed_until: float = 0.0

    @classmethod
    def of(cls, grant: Grant, now: float, refresh_token: str | None = None) -> Self:
        """Make one of what a provider gave; it may leave out the refresh token that it has given before."""
        kept = grant.refresh_token or refresh_token
        if grant.expires_in is None:
            return cls(grant.access_token, kept)
        expires_at = now + grant.expires_in
        return cls(grant.access_token, kept, expires_at - min(_EARLY, grant.expires_in / 10), expires_at)

    def is_fresh(self, now: float) -> bool:
        """Return whether it needs no refreshing."""
        return self.stale_at is None or now < self.stale_at

    def is_valid(self, now: float) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or now < self.expires_at

    def claimed(self, by: str, until: float) -> Self:
        """Return the same, which somebody is refreshing."""
        return replace(self, claim=by, claimed_until=until)


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token, and how it is kept."""

    token: StoredToken
    sealed: SealedSecret


class TokenStore:
    """Keep tokens and rounds of signing in where secrets of callers are; no caller can name a secret as these are."""

    def __init__(self, places: SealedSecrets, seal: Seal) -> None:
        self._places = places
        self._seal = seal

    async def find(self, caller: Caller, provider: str) -> KeptToken | None:
        """Find a token; one that cannot be read is none.

        Raises:
            TokenUnavailable: It was encrypted with another key than this server has.
        """
        for sealed in await self._places.find(caller, [_TOKEN + provider]):
            try:
                return KeptToken(StoredToken(**json.loads(self._seal.unseal(sealed))), sealed)
            except SecretUnreadable as error:
                raise TokenUnavailable(error.message) from None
        return None

    async def put(self, caller: Caller, provider: str, token: StoredToken) -> None:
        """Keep a token, in place of the one before.

        Raises:
            TooManySecrets: There is no room for it.
        """
        await self._places.put(self._write(caller, _TOKEN + provider, asdict(token)))

    async def swap(self, caller: Caller, provider: str, old: KeptToken, token: StoredToken) -> bool:
        """Put one token in the place of another; False where somebody else has done so."""
        new = self._write(caller, _TOKEN + provider, asdict(token))
        await self._places.renew(old.sealed, new)
        return any(it.sealed == new.sealed for it in await self._places.find(caller, [_TOKEN + provider]))

    async def remove(self, caller: Caller, provider: str) -> bool:
        """Remove a token; False where there is none."""
        return await self._remove(caller, _TOKEN + provider)

    async def list(self, caller: Caller) -> Sequence[TokenListing]:
        """List of which providers a caller has tokens."""
        return [
            TokenListing(provider=it.name.removeprefix(_TOKEN), created_at=it.created_at, updated_at=it.updated_at)
            for it in await self._places.list(caller)
            if it.name.startswith(_TOKEN)
        ]

    async def put_round(self, caller: Caller, provider: str, said: dict[str, str]) -> None:
        """Keep what is to be known when a person comes back; the round that they began before is none any more.

        Raises:
            TooManySecrets: There is no room for it.
        """
        await self._places.put(self._write(caller, _ROUND + provider, said))

    async def take_round(self, caller: Caller, provider: str, known: Mapping[str, str]) -> dict[str, str] | None:
        """Return what was kept of a round, once; None where there is none of which all this is known."""
        for sealed in await self._places.find(caller, [_ROUND + provider]):
            try:
                said: dict[str, str] = json.loads(self._seal.unseal(sealed))
            except SecretUnreadable:
                return None
            is_known = all(hmac.compare_digest(said[key], value) for key, value in known.items())
            if is_known and await self._remove(caller, _ROUND + provider):
                return said
        return None

    def _write(self, caller: Caller, name: str, said: object) -> SealedSecret:
        return self._seal.seal(caller.tenant, caller.subject, name, json.dumps(said))

    async def _remove(self, caller: Caller, name: str) -> bool:
        try:
            await self._places.remove(caller, name)
        except UnknownSecret:
            return False
        return True
