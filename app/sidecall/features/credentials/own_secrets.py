"""Callers' own secrets for their calls."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from sidecall.features.audit.auditor import Auditor
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.ports.secrets import (
    RESERVED,
    Seal,
    SealedSecret,
    SealedSecrets,
    SecretListing,
    SecretsOff,
    SecretUnreadable,
)

if TYPE_CHECKING:
    from sidecall.features.credentials.oauth import tokens as _signing_in
    from sidecall.features.ledger.ledger import Ledger

logger = logging.getLogger("sidecall")

_NO_KEY = ""  # A key id that no secret has.


class UnsupportedSecrets(SidecallError):
    """Secrets of callers cannot be kept by this program."""


class SecretKeeper:
    """Store secrets encrypted with the operator's key, and find them for calls."""

    def __init__(
        self,
        places: SealedSecrets,
        sealer: Seal | None,
        auditor: Auditor,
        signing_in: "_signing_in.OAuthSignIn | None" = None,
    ) -> None:
        self.signing_in = signing_in
        self._places = places
        self._sealer = sealer
        self.auditor = auditor
        self._has_lost_key = False  # Whether some are kept here although there is no key.

    @property
    def takes_secrets(self) -> bool:
        """Whether callers can keep secrets here."""
        return self._sealer is not None

    async def open(self) -> None:
        """Re-encrypt secrets that have an older key, so that the older key is no longer needed."""
        if self._sealer is None:
            self._has_lost_key = bool(await self._places.list_old(_NO_KEY, 1))
            if self._has_lost_key:
                logger.error("secrets of callers are kept here, and there is no SIDECALL_SECRETS_KEY to decrypt them")
            return
        renewed, lost = 0, 0
        passed: set[tuple[str, str, str]] = set()
        while old := await self._places.list_old(self._sealer.key_id, 100 + len(passed)):
            fresh = [secret for secret in old if (secret.tenant, secret.caller, secret.name) not in passed]
            if not fresh:
                break
            for secret in fresh:
                passed.add((secret.tenant, secret.caller, secret.name))
                is_renewed = await self._renew(self._sealer, secret)
                renewed, lost = renewed + is_renewed, lost + (not is_renewed)
        if renewed:
            logger.info("secrets of callers that were encrypted anew with the first key: %d", renewed)
        if lost:
            logger.error("secrets of callers that no key of SIDECALL_SECRETS_KEY decrypts: %d", lost)

    async def _renew(self, sealer: Seal, old: SealedSecret) -> bool:
        try:
            value = sealer.unseal(old)
        except SecretUnreadable:
            return False
        await self._places.renew(old, sealer.seal(old.tenant, old.caller, old.name, value))
        return True

    async def put(self, caller: Caller, name: str, value: str) -> None:
        """Store a secret, replacing the one of the same name.

        Raises:
            SecretsOff: No encryption key is configured.
            TooManySecrets: There is no room for it.
        """
        if self._sealer is None:
            raise SecretsOff
        await self._places.put(self._sealer.seal(caller.tenant, caller.subject, name, value))
        await self.auditor.record("secret_set", caller, name, {})

    async def remove(self, caller: Caller, name: str) -> None:
        """Delete a secret, even without an encryption key.

        Raises:
            UnknownSecret: The caller has none of this name.
        """
        await self._places.remove(caller, name)
        await self.auditor.record("secret_deleted", caller, name, {})

    async def list(self, caller: Caller) -> Sequence[SecretListing]:
        """List a caller's secrets, without their values."""
        return [it for it in await self._places.list(caller) if RESERVED not in it.name]

    async def find(self, caller: Caller, names: Collection[str]) -> Mapping[str, str]:
        """Return a caller's secrets with these names.

        Raises:
            SecretUnreadable: One of them cannot be decrypted.
        """
        if self._sealer is None and not self._has_lost_key:
            return {}
        found = await self._places.find(caller, names)
        if self._sealer is None:
            # Not as if there were none: the tool would use the server's secret instead, which may have more rights.
            if found:
                name = found[0].name
                raise SecretUnreadable(name, f"There is no key for the secret {name} of {caller.subject}.")
            return {}
        return {secret.name: self._sealer.unseal(secret) for secret in found}


def open_unsealed(ledger: "Ledger") -> SecretKeeper:
    """Open what takes no secrets, for a server that has no key, and says it of those that are kept."""
    return SecretKeeper(ledger.secrets, None, Auditor(ledger.audit))
