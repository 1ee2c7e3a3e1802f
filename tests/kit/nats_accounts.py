"""Accounts of a NATS server that knows its users by signed credentials, as `nsc` makes them."""

import base64
import binascii
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# By the first byte of a key it is told whose it is, and whether it is the secret half.
_OPERATOR, _ACCOUNT, _USER, _SEED = 14 << 3, 0, 20 << 3, 18 << 3
# Without limits; -1 is none.
_JETSTREAM = ("mem_storage", "disk_storage", "streams", "consumer")
_LIMITS = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf", *_JETSTREAM), -1)


class NatsKey:
    """A key of an operator, an account or a user."""

    def __init__(self, kind: int) -> None:
        """Make one."""
        self._kind, self._key = kind, Ed25519PrivateKey.generate()
        self.name = _write(bytes([kind]) + self._key.public_key().public_bytes_raw())
        head = bytes([_SEED | kind >> 5, (kind & 31) << 3])
        self.seed = _write(head + self._key.private_bytes_raw())

    def sign(self, subject: "NatsKey", said: dict[str, Any]) -> str:
        """Return a token in which this key says something of another."""
        claims = {"jti": "1", "iat": 1, "iss": self.name, "sub": subject.name, "name": "tests", "nats": said}
        parts = [_encode(json.dumps(it).encode()) for it in ({"typ": "JWT", "alg": "ed25519-nkey"}, claims)]
        return ".".join((*parts, _encode(self._key.sign(".".join(parts).encode()))))


def make_accounts(folder: Path) -> tuple[str, Path]:
    """Return the lines of configuration of a server, and the file of credentials of a user that it knows."""
    operator, account, user, system = NatsKey(_OPERATOR), NatsKey(_ACCOUNT), NatsKey(_USER), NatsKey(_ACCOUNT)
    known = account.sign(user, {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1})
    limits = {**_LIMITS, "wildcards": True}
    plain = {name: limit for name, limit in limits.items() if name not in _JETSTREAM}
    of_account = operator.sign(account, {"type": "account", "version": 2, "limits": limits})
    of_operator = operator.sign(operator, {"type": "operator", "version": 2})
    file = folder / "fleet.creds"
    file.write_text(
        f"-----BEGIN NATS USER JWT-----\n{known}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
    )
    # Of the server's own, without which it has no JetStream.
    of_system = operator.sign(system, {"type": "account", "version": 2, "limits": plain})
    preload = f"{account.name}: {of_account}\n{system.name}: {of_system}\n"
    lines = f"resolver: MEMORY\nsystem_account: {system.name}\nresolver_preload: {{\n{preload}}}\n"
    return f"operator: {of_operator}\n{lines}", file


def _write(octets: bytes) -> str:
    check = binascii.crc_hqx(octets, 0).to_bytes(2, "little")
    return base64.b32encode(octets + check).decode().rstrip("=")


def _encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")
