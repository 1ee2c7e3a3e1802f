"""Build the stores from the settings."""

import logging
from collections.abc import Callable

from sidecall.composition.features import list_tables, load_features
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.jobs.retention import CallBounds
from sidecall.features.ledger.ledger import Ledger, LedgerBounds
from sidecall.features.ledger.open_ledger import (
    IN_MEMORY,
    NO_WRITERS,
    Writers,
    open_ledger,
)
from sidecall.features.rates.quotas import Quotas, SharedQuotas
from sidecall.features.store.item_store import ItemStore
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.settings import Settings

logger = logging.getLogger("sidecall")


def build_ledger(settings: Settings, *, is_server: bool = False, writers: Writers = NO_WRITERS) -> Ledger:
    """Build the ledger from the settings; it is opened when the server starts.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    bounds = LedgerBounds(
        settings.approval_ttl,
        settings.max_approvals,
        settings.max_waiting_bytes,
        settings.artifact_ttl,
        settings.max_artifact_bytes,
        settings.max_store_bytes,
        settings.max_item_bytes,
        settings.max_approval_rules,
        settings.max_artifact_bytes_per_caller,
        settings.audit_ttl,
        settings.max_audit_entries,
        settings.max_secrets,
        settings.max_approval_rules_per_tenant,
        CallBounds(
            settings.job_ttl,
            settings.max_jobs,
            settings.max_job_bytes,
            settings.idempotency_ttl,
            settings.approval_ttl,
        ),
    )
    others = list_tables(load_features(use_entry_points=settings.entry_points))
    url = settings.store or IN_MEMORY
    ledger = open_ledger(url, bounds, refuse, is_server=is_server, writers=writers, others=others)
    if settings.approval_receivers and ledger.kind == "memory":  # In a database it is noted what becomes of them.
        most, most_bytes = settings.max_approvals, settings.max_waiting_bytes
        ledger.approvals = SqlApprovals(ledger.database, ledger.owner, settings.approval_ttl, most, most_bytes)
    return ledger


def gather_services(  # noqa: PLR0913  what a server offers its calls
    ledger: Ledger,
    secrets: Callable[[str], str | None],
    admission: Admission,
    watch: CallTelemetry,
    results: ResultMemory,
    keeper: SecretKeeper,
    store: Store | SyncStore | None,
) -> CallServices:
    """Collect the services that a server offers to all its calls; `store` takes the place of the ledger's."""
    resources = ToolResources(
        store=ItemStore(ledger.items) if store is None else store,
        secrets=secrets,
        own_secrets=keeper,
        user_tokens=None if keeper.signing_in is None else keeper.signing_in.tokens,
        contents=ledger.contents,
        trace=watch.headers,
    )
    return CallServices(resources, results, admission.abandon)


def build_admission(settings: Settings, ledger: Ledger) -> Admission:
    """Build the admission limits from the settings.

    Raises:
        StoreUnfit: Servers are to count calls together, and none can share the ledger.
    """
    limits = Limits(
        concurrency=settings.max_concurrency,
        per_caller=settings.max_concurrency_per_caller,
        queue=settings.max_queue,
        queue_timeout=settings.queue_timeout,
    )
    return Admission(limits, _build_quotas(settings, ledger))


def _build_quotas(settings: Settings, ledger: Ledger) -> Quotas:
    """Build the counter of callers' quotas: in memory, or shared through the ledger.

    Raises:
        StoreUnfit: No other server can share it.
    """
    rate = None if settings.rate_limit is None else Rate.parse(settings.rate_limit)
    if not settings.shared_rates:
        return Quotas(rate)
    if ledger.rates is None:
        raise StoreUnfit("SIDECALL_SHARED_RATES takes a SIDECALL_STORE that servers can share: postgresql://...")
    return SharedQuotas(rate, ledger.rates)


def is_alone(settings: Settings, ledger: Ledger) -> bool:
    """Return whether no other process serves the same callers, by the settings."""
    return settings.workers == 1 and not ledger.is_shared
