"""Open what keeps callers' secrets and tokens encrypted, for servers that have a key for it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from sidecall.feature import Start
from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.encryption import Sealer
from sidecall.features.credentials.oauth.settings import SignInUrls
from sidecall.features.credentials.oauth.tokens import open_sign_in
from sidecall.features.credentials.own_secrets import SecretKeeper, UnsupportedSecrets

if TYPE_CHECKING:
    from sidecall.features.ledger.ledger import Ledger


def make_opener(start: Start) -> "Callable[[Ledger], SecretKeeper]":
    """Make what opens the keeper of a server in its ledger.

    Raises:
        UnsupportedSecrets: Persons are to sign in, and there is no key to keep their tokens with.
    """
    keys = start.server.secrets_keys
    if not keys:
        raise UnsupportedSecrets(
            "SIDECALL_OAUTH is set, which needs a key to keep tokens with: set SIDECALL_SECRETS_KEY"
        )
    return partial(_open_keeper, start.server, Sealer(keys))


def _open_keeper(settings: Any, sealer: Sealer, ledger: "Ledger") -> SecretKeeper:
    places, auditor = ledger.secrets, Auditor(ledger.audit)
    if settings.public_url is None or settings.oauth is None:
        return SecretKeeper(places, sealer, auditor)
    way = SignInUrls(settings.public_url, settings.approval_ttl, settings.outgoing_proxy)
    return SecretKeeper(places, sealer, auditor, open_sign_in(settings.providers, places, sealer, auditor, way))
