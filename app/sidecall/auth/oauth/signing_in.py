"""Join what it takes for persons to sign in."""

from collections.abc import Mapping
from typing import Self

from sidecall.auth.audit import Auditor
from sidecall.auth.oauth.asking import OAuthProvider
from sidecall.auth.oauth.providers import ProviderSettings
from sidecall.auth.oauth.rounds import SignInRounds, WayBack
from sidecall.auth.oauth.stored import TokenDrawer
from sidecall.auth.oauth.tokens import TokenKeeper
from sidecall.core.secrecy.places import Seal, SealedSecrets
from sidecall.records import dataclass


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
        drawer = TokenDrawer(places, seal)
        rounds = SignInRounds(providers, drawer, seal, auditor, way)
        return cls(rounds, TokenKeeper(providers, drawer, auditor, rounds.invite))
