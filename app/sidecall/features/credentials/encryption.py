"""Encrypt callers' secrets, bound to their caller and name."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sidecall.kernel.ports.secrets import SealedSecret, SecretUnreadable

_NONCE = 12
_PURPOSE = "sidecall.secret.1"


class Sealer:
    """Encrypt with the first of several keys (AES-256-GCM), and decrypt with any of them.

    The owner and the name are authenticated too, so a secret cannot be moved to another place.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        """Take keys, each the base64 of 32 random bytes; at least one."""
        octets = [base64.b64decode(key) for key in keys]
        self._keys = {_name(key): AESGCM(key) for key in octets}
        self.key_id = _name(octets[0])

    def seal(self, tenant: str, caller: str, name: str, value: str) -> SealedSecret:
        """Encrypt a secret of a caller."""
        nonce = os.urandom(_NONCE)
        code = self._keys[self.key_id].encrypt(nonce, value.encode(), _bind(tenant, caller, name))
        return SealedSecret(tenant, caller, name, self.key_id, nonce + code)

    def unseal(self, secret: SealedSecret) -> str:
        """Decrypt a secret.

        Raises:
            SecretUnreadable: It was encrypted with another key, for another caller or name, or was tampered with.
        """
        key = self._keys.get(secret.key_id)
        nonce, code = secret.sealed[:_NONCE], secret.sealed[_NONCE:]
        try:
            if key is None or len(nonce) < _NONCE:
                raise InvalidTag
            return key.decrypt(nonce, code, _bind(secret.tenant, secret.caller, secret.name)).decode()
        except InvalidTag:
            why = (
                "was tampered with" if key is not None else f"was encrypted with the key {secret.key_id}, which is none"
            )
            raise SecretUnreadable(secret.name, f"The secret {secret.name} of {secret.caller} {why}.") from None


def _bind(tenant: str, caller: str, name: str) -> bytes:
    return json.dumps([_PURPOSE, tenant, caller, name]).encode()


def _name(key: bytes) -> str:
    """Return by what a key is known, which does not lead back to it."""
    return hashlib.sha256(_PURPOSE.encode() + key).hexdigest()[:16]
