"""Stored API keys, which never contain the key itself."""

import hashlib
import secrets
import time
from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.store_checks import DEFAULT_TENANT

# A prefix by which people and secret scanners recognize a key.
PREFIX = "sidecall_"
_BYTES = 32

# Names of people, programs and tenants: printable, like a gateway's, and readable in lists.
Name = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=256, pattern=r"^[^\x00-\x20\x7f-\xa0](?:[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0])?$"
    ),
]
ScopeText = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+$")]


class ApiKey(BaseModel, defer_build=True):
    """What is kept of a key: whose it is, and a hash, by which it is known and which does not lead back to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    subject: Name
    tenant: Name = DEFAULT_TENANT
    scopes: tuple[ScopeText, ...] = ()
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None

    @property
    def caller(self) -> Caller:
        """The caller that this key authenticates."""
        return Caller(self.subject, self.tenant, frozenset(self.scopes))

    def is_valid(self, now: float | None = None) -> bool:
        """Return whether it is valid; `now` is in seconds since 1970."""
        if self.revoked_at is not None:
            return False
        return self.expires_at is None or self.expires_at.timestamp() > (time.time() if now is None else now)

    def revoke(self) -> Self:
        """Return a revoked copy of the key."""
        return self if self.revoked_at else self.model_copy(update={"revoked_at": datetime.now(UTC)})


def mint_key(
    subject: str, tenant: str = DEFAULT_TENANT, scopes: tuple[str, ...] = (), expires_at: datetime | None = None
) -> tuple[str, ApiKey]:
    """Return a new random key, and the record that is stored of it.

    Raises:
        ValidationError: A name has characters that are not allowed.
    """
    text = PREFIX + secrets.token_urlsafe(_BYTES)
    kept = ApiKey(
        id=f"key_{secrets.token_hex(4)}",
        sha256=digest_key(text),
        subject=subject,
        tenant=tenant,
        scopes=tuple(sorted(set(scopes))),
        created_at=datetime.now(UTC).replace(microsecond=0),
        expires_at=expires_at,
    )
    return text, kept


def digest_key(text: str) -> str:
    """Return the hash of a key; a fast hash suffices for 256 random bits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
