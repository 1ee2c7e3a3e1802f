"""The ledger: all persistent state of one server."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

from sidecall.features.approvals.rule_stores import MemoryRules
from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.features.audit.stores import AuditTrail, MemoryAudit
from sidecall.features.credentials.stores import MemorySecrets
from sidecall.features.jobs.progress import ProgressLog
from sidecall.features.jobs.retention import CallBounds
from sidecall.features.jobs.stores import CallQueue, Calls
from sidecall.features.store.items import Items
from sidecall.features.webhooks.queue import CallbackQueue, SqlCallbacks
from sidecall.kernel.core.quota import SharedCount
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.ports.secrets import SealedSecrets
from sidecall.storage.database import Database
from sidecall.storage.heartbeat import Heartbeat
from sidecall.storage.notifications import NoNotifications, Notifications

StoreKind = Literal["memory", "sqlite", "postgres"]


@dataclass(slots=True)
class Ledger:
    """The parts of a ledger, each behind a protocol, and the database behind them.

    It is opened before the first use of a part, and closed after the last. `owner` names this process in it. `rates`
    counts calls for all servers that share it, and `progress` stores tools' progress for them, where several may run.
    `notifications` tells the other servers that something is new. `is_lasting` is false where it ends with the process.
    """

    approvals: Approvals
    contents: Contents
    items: Items
    calls: Calls
    queue: CallQueue
    database: Database
    owner: str = field(default_factory=lambda: uuid4().hex)
    rules: ApprovalRules = field(default_factory=MemoryRules)
    rates: SharedCount | None = None
    audit: AuditTrail = field(default_factory=MemoryAudit)
    secrets: SealedSecrets = field(default_factory=MemorySecrets)
    notifications: Notifications = field(default_factory=NoNotifications)
    progress: ProgressLog | None = None
    is_lasting: bool = True
    callbacks: CallbackQueue = field(init=False)
    heartbeat: Heartbeat = field(init=False)

    def __post_init__(self) -> None:
        self.callbacks = SqlCallbacks(self.database)
        self.heartbeat = Heartbeat(self.database, self.owner)

    @property
    def trouble(self) -> str | None:
        """Why it is unavailable, for an operator; None if it is available."""
        return self.database.trouble

    @property
    def kind(self) -> StoreKind:
        """The kind of storage."""
        return "memory"

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use it at the same time."""
        return self.database.is_shared

    async def open(self) -> None:
        """Open it.

        Raises:
            StoreUnfit: It cannot be used by this program.
        """
        await self.database.open()
        await self.notifications.open()

    async def close(self) -> None:
        """Finish pending work, within a bounded time."""
        await self.notifications.close()
        await self.database.close()


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
