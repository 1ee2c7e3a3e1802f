"""Stored tokens of persons, encrypted like callers' secrets and next to them."""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

from sidecall.features.credentials.oauth.provider_client import Grant
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.secrets import RESERVED, Seal, SealedSecret, SealedSecrets, SecretUnreadable, UnknownSecret
from sidecall.kernel.ports.user_tokens import TokenListing, TokenUnavailable

_TOKEN = f"oauth{RESERVED}token{RESERVED}"
_ROUND = f"oauth{RESERVED}round{RESERVED}"
# A token is refreshed so many seconds before it expires, or a tenth of its lifetime where that is less.
_EARLY = 60.0


@dataclass(frozen=True, slots=True)
class StoredToken:
    """One person's token at one provider; times are in seconds since 1970.

    `claim` identifies the process that is refreshing it, until `claimed_until`.
    """

    access_token: str
    refresh_token: str | None = None
    stale_at: float | None = None
    expires_at: float | None = None
    claim: str | None = None
    claimed_until: float = 0.0

    @classmethod
    def of(cls, grant: Grant, now: float, refresh_token: str | None = None) -> Self:
        """Make one from a provider's grant, which may omit the refresh token that it gave before."""
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
        """Return a copy that is claimed for refreshing."""
        return replace(self, claim=by, claimed_until=until)


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token, and its stored form."""

    token: StoredToken
    sealed: SealedSecret


class TokenStore:
    """Store tokens and flows next to callers' secrets, under names that callers cannot use."""

    def __init__(self, places: SealedSecrets, seal: Seal) -> None:
        self._places = places
        self._seal = seal

    async def find(self, caller: Caller, provider: str) -> KeptToken | None:
        """Find a token; None if there is none that can be read.

        Raises:
            TokenUnavailable: It was encrypted with a key that this server lacks.
        """
        for sealed in await self._places.find(caller, [_TOKEN + provider]):
            try:
                return KeptToken(StoredToken(**json.loads(self._seal.unseal(sealed))), sealed)
            except SecretUnreadable as error:
                raise TokenUnavailable(error.message) from None
        return None

    async def put(self, caller: Caller, provider: str, token: StoredToken) -> None:
        """Store a token, replacing the one before.

        Raises:
            TooManySecrets: There is no room for it.
        """
        await self._places.put(self._write(caller, _TOKEN + provider, asdict(token)))

    async def swap(self, caller: Caller, provider: str, old: KeptToken, token: StoredToken) -> bool:
        """Replace a token; False where another process has done so."""
        new = self._write(caller, _TOKEN + provider, asdict(token))
        await self._places.renew(old.sealed, new)
        return any(it.sealed == new.sealed for it in await self._places.find(caller, [_TOKEN + provider]))

    async def remove(self, caller: Caller, provider: str) -> bool:
        """Delete a token; False where there is none."""
        return await self._remove(caller, _TOKEN + provider)

    async def list(self, caller: Caller) -> Sequence[TokenListing]:
        """List the providers whose tokens a caller has."""
        return [
            TokenListing(provider=it.name.removeprefix(_TOKEN), created_at=it.created_at, updated_at=it.updated_at)
            for it in await self._places.list(caller)
            if it.name.startswith(_TOKEN)
        ]

    async def put_flow(self, caller: Caller, provider: str, said: dict[str, str]) -> None:
        """Store the state of a flow until the person returns; it replaces their earlier one.

        Raises:
            TooManySecrets: There is no room for it.
        """
        await self._places.put(self._write(caller, _ROUND + provider, said))

    async def take_flow(self, caller: Caller, provider: str, known: Mapping[str, str]) -> dict[str, str] | None:
        """Take the stored state of a flow, once; None unless all of this matches."""
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
