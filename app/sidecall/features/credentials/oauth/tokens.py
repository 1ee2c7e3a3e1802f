"""Find the tokens of callers' persons, each refreshed in time and by one process at a time."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.oauth.authorization_flow import AuthorizationFlows
from sidecall.features.credentials.oauth.provider_client import GrantRefused, OAuthProvider
from sidecall.features.credentials.oauth.providers import ProviderSettings
from sidecall.features.credentials.oauth.settings import SignInUrls
from sidecall.features.credentials.oauth.token_store import KeptToken, StoredToken, TokenStore
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.secrets import Seal, SealedSecrets
from sidecall.kernel.ports.user_tokens import SignIn, TokenListing, TokenRemoval, TokenUnavailable, UnknownUserToken

logger = logging.getLogger("sidecall")

# Seconds for which a refresh claim keeps others out: longer than a request to a provider may take.
_CLAIMED = 30.0
# Seconds between two checks of a token that another server is refreshing.
_LOOK = 0.1

Invite = Callable[[Caller, str], SignIn]

_Whose = tuple[str, str, str]


class TokenKeeper:
    """Keep the tokens of callers' persons."""

    def __init__(
        self,
        providers: Mapping[str, OAuthProvider],
        store: TokenStore,
        auditor: Auditor,
        invite: Invite,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the parts.

        Args:
            providers: The providers, by name.
            store: The store of tokens.
            auditor: Records changes of tokens.
            invite: Makes the address where a caller's person signs in.
            clock: Seconds since 1970.

        `resume` is set later, by the part that knows the waiting calls.
        """
        self._providers = providers
        self._store = store
        self._auditor = auditor
        self._invite = invite
        self._clock = clock
        self._refreshing: dict[_Whose, asyncio.Task[StoredToken | None]] = {}
        self.resume: Callable[[Caller, str], None] = lambda _caller, _provider: None

    def invite(self, caller: Caller, provider: str) -> SignIn:
        """Make the address where the caller's person signs in.

        Raises:
            TokenUnavailable: There is no such provider.
        """
        if provider not in self._providers:
            raise TokenUnavailable(f"There is no provider {provider} in SIDECALL_OAUTH.")
        return self._invite(caller, provider)

    async def find(self, caller: Caller, provider: str) -> str | None:
        """Return a valid token, refreshed if it is about to expire; None if there is none.

        Raises:
            TokenUnavailable: It has to be refreshed, and its provider is unavailable.
        """
        if provider not in self._providers:
            return None
        kept = await self._store.find(caller, provider)
        if kept is None or kept.token.is_fresh(self._clock()):
            return None if kept is None else kept.token.access_token
        if kept.token.refresh_token is None:
            return await self._use_up(caller, provider, kept)
        whose = (caller.tenant, caller.subject, provider)
        task = self._refreshing.get(whose)
        if task is None:
            # In its own task: a cancelled call must not lose a refresh token that was just replaced.
            task = asyncio.get_running_loop().create_task(self._refresh(caller, provider))
            self._refreshing[whose] = task
            task.add_done_callback(lambda _: self._refreshing.pop(whose, None))
        token = await outlast(task)
        return None if token is None else token.access_token

    async def look_again(self, caller: Caller, provider: str) -> None:
        """Resume the calls that wait for the caller's person, if they have signed in."""
        with suppress(TokenUnavailable):
            if await self.find(caller, provider) is not None:
                self.resume(caller, provider)

    async def drop(self, caller: Caller, provider: str, token: str) -> None:
        """Forget a token that its provider refuses, unless there is another one by now."""
        kept = await self._store.find(caller, provider)
        if kept is not None and kept.token.access_token == token:
            await self._lose(caller, provider, "the tool was told so")

    async def list(self, caller: Caller) -> Sequence[TokenListing]:
        """List the providers whose tokens a caller has."""
        return await self._store.list(caller)

    async def remove(self, caller: Caller, provider: str) -> TokenRemoval:
        """Delete a token, and revoke it at its provider if possible.

        Raises:
            UnknownUserToken: The caller has none.
        """
        kept: KeptToken | None = None
        with suppress(TokenUnavailable):  # What cannot be read can be forgotten.
            kept = await self._store.find(caller, provider)
        if not await self._store.remove(caller, provider):
            raise UnknownUserToken
        is_revoked = kept is not None and await self._revoke(provider, kept.token)
        await self._auditor.record("token_deleted", caller, provider, {"revoked": is_revoked})
        return TokenRemoval(provider=provider, revoked=is_revoked)

    async def close(self) -> None:
        """Wait for open refreshes."""
        await asyncio.gather(*self._refreshing.values(), return_exceptions=True)

    async def _revoke(self, provider: str, token: StoredToken) -> bool:
        known = self._providers.get(provider)
        if known is None:
            return False
        # Most providers revoke the access tokens with the refresh token, but they need not.
        access = await known.revoke(token.access_token, "access_token")
        if token.refresh_token is None:
            return access
        return await known.revoke(token.refresh_token, "refresh_token")

    async def _use_up(self, caller: Caller, provider: str, kept: KeptToken) -> str | None:
        if kept.token.is_valid(self._clock()):
            return kept.token.access_token
        await self._lose(caller, provider, "it has expired")
        return None

    async def _refresh(self, caller: Caller, provider: str) -> StoredToken | None:
        """Refresh a token, or wait for another server that does; None if the person has to sign in."""
        name = uuid4().hex
        while True:
            kept, now = await self._store.find(caller, provider), self._clock()
            if kept is None or kept.token.is_fresh(now):
                return None if kept is None else kept.token
            if kept.token.claim is not None and now < kept.token.claimed_until:
                await asyncio.sleep(_LOOK)
            elif await self._store.swap(caller, provider, kept, kept.token.claimed(name, now + _CLAIMED)):
                return await self._ask(caller, provider, kept.token)

    async def _ask(self, caller: Caller, provider: str, old: StoredToken) -> StoredToken | None:
        assert old.refresh_token is not None
        try:
            grant = await self._providers[provider].refresh(old.refresh_token)
        except GrantRefused as error:
            await self._lose(caller, provider, error.message)
            return None
        except TokenUnavailable as error:
            await self._store.put(caller, provider, old)  # Without the claim.
            if not old.is_valid(self._clock()):
                raise
            logger.warning("a token cannot be refreshed yet: %s", error.message)
            return old
        token = StoredToken.of(grant, self._clock(), old.refresh_token)
        await self._store.put(caller, provider, token)
        return token

    async def _lose(self, caller: Caller, provider: str, why: str) -> None:
        if await self._store.remove(caller, provider):
            await self._auditor.record("token_lost", caller, provider, {"reason": why})


@dataclass(frozen=True, slots=True)
class OAuthSignIn:
    """The sign-in flows of persons, and their tokens."""

    flows: AuthorizationFlows
    tokens: TokenKeeper


def open_sign_in(
    settings: Mapping[str, ProviderSettings], places: SealedSecrets, seal: Seal, auditor: Auditor, urls: SignInUrls
) -> OAuthSignIn:
    """Open the sign-in at these providers."""
    providers = {name: OAuthProvider(name, it, urls.proxy) for name, it in settings.items()}
    store = TokenStore(places, seal)
    flows = AuthorizationFlows(providers, store, seal, auditor, urls)
    return OAuthSignIn(flows, TokenKeeper(providers, store, auditor, flows.invite))
