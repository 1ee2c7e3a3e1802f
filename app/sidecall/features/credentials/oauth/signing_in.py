"""Join what it takes for persons to sign in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.oauth.asking import OAuthProvider
from sidecall.features.credentials.oauth.authorization_flow import SignInRounds, WayBack
from sidecall.features.credentials.oauth.providers import ProviderSettings
from sidecall.features.credentials.oauth.stored import TokenStore
from sidecall.features.credentials.oauth.tokens import TokenKeeper
from sidecall.kernel.ports.secrets import Seal, SealedSecrets


@dataclass(frozen=True, slots=True)
class SigningIn:
    """Persons' rounds of signing in, and the tokens that they end with."""

    rounds: SignInRounds
    tokens: TokenKeeper

    @classmethod
    def of(
        cls,
        settings: Mapping[str, ProviderSettings],
        places: SealedSecrets,
        seal: Seal,
        auditor: Auditor,
        way: WayBack,
    ) -> Self:
        """Join them."""
        providers = {name: OAuthProvider(name, it, way.proxy) for name, it in settings.items()}
        drawer = TokenStore(places, seal)
        rounds = SignInRounds(providers, drawer, seal, auditor, way)
        return cls(rounds, TokenKeeper(providers, drawer, auditor, rounds.invite))
