"""Audit entries: who allowed what, or was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

AuditAction = Literal[
    "denied",
    "approved",
    "rejected",
    "rule_made",
    "rule_revoked",
    "key_made",
    "key_revoked",
    "secret_set",
    "secret_deleted",
    "token_granted",
    "token_denied",
    "token_lost",
    "token_deleted",
    "reloaded",
    "tools_accepted",
]


class AuditEntry(BaseModel, defer_build=True):
    """One decision, or several refusals of the same kind, which are counted."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    id: str
    at: datetime = Field(description="When; of several refusals the first.")
    action: AuditAction
    by: str | None = Field(default=None, description="Who decided, or was refused; null for a caller who is not known.")
    tenant: str = Field(exclude=True)
    target: str | None = Field(
        default=None,
        description="What it is about: the id of an approval, a rule or a key, the name of a secret, a provider or "
        "an MCP server.",
    )
    details: dict[str, Any] = Field(default_factory=dict, description="More about it; never a secret.")
    count: int = Field(default=1, description="How many refusals it stands for.")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filters for entries; times are in seconds since 1970."""

    tenant: str
    action: AuditAction | None = None
    by: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of entries, and the cursor of the next one; None at the end."""

    entries: Sequence[AuditEntry]
    cursor: str | None = None


class AuditTrail(Protocol):
    """Stores audit entries for a time, up to a maximum number; refusals take at most half of it.

    So a caller who is refused again and again cannot push out other entries.
    """

    ttl: float

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry, unless there is one with its id."""

    async def list(self, wanted: AuditFilter, limit: int = 100, cursor: str | None = None) -> AuditPage:
        """List entries, latest first, up to `limit`, after the cursor of the page before."""

    async def forget(self) -> None:
        """Delete entries that are too old or too many."""
