"""Build the stores from the settings."""

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sidecall.composition.features import list_tables, load_features
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.features.history.no_history import NoHistory
from sidecall.features.history.redactor import CallRedactor
from sidecall.features.jobs.retention import CallBounds
from sidecall.features.ledger.ledger import Ledger, LedgerBounds
from sidecall.features.ledger.open_ledger import (
    IN_MEMORY,
    NO_WRITERS,
    Writers,
    open_file_store,
    open_history,
    open_ledger,
)
from sidecall.features.rates.quotas import Quotas, SharedQuotas
from sidecall.features.store.item_store import ItemStore
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.lazy_imports import later
from sidecall.settings import Settings

if TYPE_CHECKING:
    from sidecall.features.history.history import History
    from sidecall.features.vector_stores.stores import VectorStores

# A server without a history needs nothing of it.
_open_history: "Callable[..., History]" = later("sidecall.features.history.history:open_history")
# With which what indexes comes, and the client of HTTP.
_open_vector_stores: "Callable[..., VectorStores]" = later("sidecall.features.vector_stores.stores:open_vector_stores")

logger = logging.getLogger("sidecall")


def build_storage(
    settings: Settings, writers: Writers = NO_WRITERS, *, is_server: bool
) -> "tuple[Ledger, History | NoHistory]":
    """Build ledger and history.

    Args:
        settings: Where and how much to store.
        writers: The addresses of the processes that write the files for several workers.
        is_server: Whether the process is a server, where no other code opens the files.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    ledger = build_ledger(settings, is_server=is_server, writers=writers)
    return ledger, build_history(settings, is_server=is_server, writers=writers)


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


def build_history(
    settings: Settings, *, is_server: bool = False, writers: Writers = NO_WRITERS
) -> "History | NoHistory":
    """Build the history from the settings, next to the ledger; it is opened when the server starts.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    if settings.history == "off":
        return NoHistory()
    most = settings.max_history_value_bytes
    redactor = CallRedactor(Redaction(settings.log_redact, longest=most), most) if settings.history == "full" else None
    bounds = settings.history_ttl, settings.max_history_calls, settings.max_history_bytes
    database = open_history(settings.store or IN_MEMORY, is_server=is_server, writers=writers)
    return _open_history(database, bounds, redactor, settings.history_buffer_bytes)


def build_vector_stores(settings: Settings, writers: Writers = NO_WRITERS) -> "VectorStores | None":
    """Build the vector stores, next to the ledger; None if the toolkit `file_search` is off.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    if "file_search" not in settings.toolkits:
        return None
    embeddings = None
    if settings.embeddings_url is not None:
        find_key = partial(secrets_in(settings.secrets_dir), settings.embeddings_secret)
        embeddings = settings.embeddings_url, settings.embeddings_model, find_key
    most = settings.file_search_max_files, settings.file_search_max_bytes
    return _open_vector_stores(open_file_store(settings.store or IN_MEMORY, writers), most, embeddings)


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
