"""The bounds of a ledger."""

from dataclasses import dataclass, field

from sidecall.features.calls.sql_kept import CallBounds


@dataclass(frozen=True, slots=True)
class LedgerBounds:
    """How much is stored, and for how many seconds."""

    approval_ttl: float = 3600.0
    max_approvals: int = 5000
    max_waiting_bytes: int = 32 * 1024 * 1024
    artifact_ttl: float = 3600.0
    max_artifact_bytes: int = 32 * 1024 * 1024
    max_store_bytes: int = 16 * 1024 * 1024
    max_item_bytes: int = 1024 * 1024
    max_rules: int = 10_000
    max_artifact_bytes_per_caller: int | None = None
    audit_ttl: float = 7_776_000.0
    max_audit_entries: int = 100_000
    max_secrets: int = 10_000
    max_rules_per_tenant: int = 1000
    calls: CallBounds = field(default_factory=CallBounds)
