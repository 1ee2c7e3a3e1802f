"""Assemble OAuth sign-in from its parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.oauth.authorization_flow import AuthorizationFlows, SignInUrls
from sidecall.features.credentials.oauth.provider_client import OAuthProvider
from sidecall.features.credentials.oauth.providers import ProviderSettings
from sidecall.features.credentials.oauth.stored import TokenStore
from sidecall.features.credentials.oauth.tokens import TokenKeeper
from sidecall.kernel.ports.secrets import Seal, SealedSecrets


@dataclass(frozen=True, slots=True)
class OAuthSignIn:
    """The sign-in flows of persons, and their tokens."""

    flows: AuthorizationFlows
    tokens: TokenKeeper

    @classmethod
    def of(
        cls,
        settings: Mapping[str, ProviderSettings],
        places: SealedSecrets,
        seal: Seal,
        auditor: Auditor,
        urls: SignInUrls,
    ) -> Self:
        """Assemble them."""
        providers = {name: OAuthProvider(name, it, urls.proxy) for name, it in settings.items()}
        store = TokenStore(places, seal)
        flows = AuthorizationFlows(providers, store, seal, auditor, urls)
        return cls(flows, TokenKeeper(providers, store, auditor, flows.invite))
