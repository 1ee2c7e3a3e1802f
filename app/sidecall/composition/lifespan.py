"""Start a server's background parts in order, and stop them in reverse."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial

from fastapi import FastAPI

from sidecall.composition.executors import refuse_unfit
from sidecall.composition.features import Features
from sidecall.features.approvals.asked_tool import ChangedTools
from sidecall.features.calls.in_flight import open_in_flight
from sidecall.features.jobs.answers import show_entry
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.mcp_server.listing import ListChanges
from sidecall.features.reload.reloader import Reloader, Sources
from sidecall.features.reload.whole_server import Reloading
from sidecall.features.server_parts import Parts
from sidecall.features.status.operation import NoUpstream
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.log_lines import CallLines
from sidecall.features.telemetry.metrics import Metrics, open_metrics
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.tracing import open_tracing
from sidecall.features.webhooks.dispatcher import WebhookDispatcher
from sidecall.features.webhooks.signing import read_key
from sidecall.features.workspaces.workspaces import sweeping
from sidecall.http.changed_installation import guard_installation
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.executors.table import Executors, close_with, follow_all, start_all
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.kernel.ports.observer import join_notes
from sidecall.kernel.registry import Registry
from sidecall.loading.file_watcher import follow_files, settle_places
from sidecall.rest.app import Lifespan
from sidecall.settings import Settings
from sidecall.storage.database import ChangeReporter
from sidecall.storage.outage import LateSteps

logger = logging.getLogger("sidecall")


def build_lifespan(
    settings: Settings,
    parts: Parts,
    features: Features,
    executors: Executors,
    watch: CallTelemetry,
    changes: ListChanges,
) -> Lifespan:
    """Build the lifespan of the application: its startup and shutdown."""
    ledger = parts.operation.ledger
    dispatcher, late = _build_dispatcher(settings, parts, ledger), LateSteps()
    features.add_metrics(parts.metrics)
    announce_new_tools = partial(_announce_new_tools, parts, executors, changes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            # Each is closed even if another fails to, the last first.
            stack.push_async_callback(watch.close)
            _end_keeping_with(stack, parts, ledger, late)
            close_with(stack, executors)
            stack.push_async_callback(dispatcher.close)
            stack.push_async_callback(parts.operation.upstream.close)
            stack.callback(setattr, parts.lifecycle, "has_finished", True)
            stack.push_async_callback(_end_calls, parts, settings.drain_timeout)
            with _noting_refusals(parts.lifecycle):
                await _begin(parts, ledger, executors, dispatcher, late)
                await parts.operation.upstream.open(announce_new_tools)
            async with (
                parts.documents.following(parts.registry, announce_new_tools),
                sweeping(parts.workspaces),
                features.running(),
                ChangedTools(parts.approvals, parts.registry, changes.hear).running(),
                _follow(settings, parts, announce_new_tools),
            ):
                _open_to_requests(app, parts)
                yield

    return lifespan


def read_patience(settings: Settings) -> Patience:
    """Read for how long a server waits."""
    return Patience(
        drain_grace=settings.drain_grace,
        drain_timeout=settings.drain_timeout,
        header_timeout=settings.header_timeout,
        body_timeout=settings.body_timeout,
        stuck_after=settings.stuck_after,
    )


def _open_to_requests(app: FastAPI, parts: Parts) -> None:
    open_metrics(parts.metrics, parts.lifecycle)
    open_in_flight(parts)
    app.state.reloading.open()
    parts.lifecycle.begin()


def build_reloading(
    settings: Settings, parts: Parts, features: Features, executors: Executors, changes: ListChanges
) -> Reloading:
    """Build what loads tools, toolsets and MCP servers again on request."""
    upstream = parts.operation.upstream
    sources = Sources(
        places=settle_places(settings.places),
        use_entry_points=settings.entry_points,
        toolsets=parts.toolsets,
        read_toolsets=features.find_part("toolsets", None),
        upstream=None if isinstance(upstream, NoUpstream) else upstream,
        mcp_servers=settings.mcp_servers,
        check=refuse_unfit,
        certificates=parts.lifecycle.certificates,
    )
    announce = partial(_announce_new_tools, parts, executors, changes)
    return Reloading(Reloader(parts.registry, sources, announce), parts.lifecycle, parts.auditor)


async def _end_calls(parts: Parts, drain_timeout: float) -> None:
    await parts.jobs.close(parts.lifecycle.patience(drain_timeout))
    unfinished = parts.pipeline.count_unfinished() + parts.jobs.load.count_by_tool()
    if unfinished:
        named = ", ".join(f"{tool} ({calls})" for tool, calls in sorted(unfinished.items()))
        logger.warning("abandoned, though their code goes on: calls of %s", named)


def _announce_new_tools(parts: Parts, executors: Executors, changes: ListChanges) -> None:
    follow_all(executors, parts.registry)
    changes.tell()
    parts.operation.upstream.rejoin()


@contextmanager
def _noting_refusals(lifecycle: Lifecycle) -> Iterator[None]:
    try:
        yield
    except SidecallError:
        lifecycle.is_refused = True
        raise


def _follow(
    settings: Settings, parts: Parts, announce_new_tools: Callable[[], None]
) -> AbstractAsyncContextManager[None]:
    places, use_entry_points = settings.places, settings.entry_points
    return follow_files(parts.registry, places, use_entry_points, announce_new_tools, enabled=settings.reload)


def _build_dispatcher(settings: Settings, parts: Parts, ledger: Ledger) -> WebhookDispatcher:
    keys = [read_key(key) for key in settings.webhook_keys]
    return WebhookDispatcher(ledger, parts.receivers, keys, partial(_show_call, parts))


def _show_call(parts: Parts, entry: CallEntry) -> bytes:
    return show_entry(parts.add_tags(entry))


async def _begin(
    parts: Parts, ledger: Ledger, executors: Executors, dispatcher: WebhookDispatcher, late: LateSteps
) -> None:
    await _begin_to_keep(parts, ledger, late)
    await start_all(executors, parts.registry)
    await parts.jobs.open()
    dispatcher.open()
    guard_installation()


async def _begin_to_keep(parts: Parts, ledger: Ledger, late: LateSteps) -> None:
    _fail_on_change(parts, ledger)
    await ledger.open()
    await parts.history.open()
    if parts.vector_stores is not None:
        await parts.vector_stores.open()
    await late.take(parts.secrets.open)
    if parts.secrets.signing_in is not None:
        parts.secrets.signing_in.tokens.resume = parts.jobs.waits.resume
    parts.auditor.open()
    parts.operation.minutes.open()


def _fail_on_change(parts: Parts, ledger: Ledger) -> None:
    """Have the server end where what keeps things is not what it has opened."""
    kept: list[object] = [ledger.database, parts.history.database]
    kept += [] if parts.vector_stores is None else [parts.vector_stores.database]
    for database in kept:
        if isinstance(database, ChangeReporter):
            database.on_change = parts.lifecycle.fail


def _end_keeping_with(stack: AsyncExitStack, parts: Parts, ledger: Ledger, late: LateSteps) -> None:
    """Close the stores at the end, the ledger last."""
    stack.push_async_callback(ledger.close)
    stack.push_async_callback(parts.auditor.close)
    if parts.vector_stores is not None:
        stack.push_async_callback(parts.vector_stores.close)
    stack.push_async_callback(parts.history.close)
    stack.push_async_callback(parts.operation.minutes.close)
    if parts.secrets.signing_in is not None:
        stack.push_async_callback(parts.secrets.signing_in.tokens.close)
    stack.push_async_callback(late.close)


_STUCK = "Seconds for which code on the event loop held up everything, in stretches of half a second and more."

_LOST = "Spans that their collector has not taken."

_OLDEST = "Seconds for which the oldest of them waits; 0 where none does."

_WAITING = "Calls that wait for a person, of all tenants and servers of the store."

_DROPPED = "Calls that are not in the history, since there was no room for them."


def build_metrics(
    registry: Registry,
    executors: Executors,
    admission: Admission,
    ledger: Ledger,
    lifecycle: Lifecycle | None,
) -> Metrics:
    """Build the Prometheus metrics of a server's parts."""
    peers = None if lifecycle is None else lifecycle.peers
    counts = None if peers is None else peers.counts
    metrics = Metrics(lambda: registry.names, {} if lifecycle is None else lifecycle.refused, counts)
    metrics.add_executors(executors, admission.abandoned)
    metrics.add_gauge("sidecall_queue_length", "Calls that wait to be let in.", lambda: admission.waiting)
    metrics.add_gauge("sidecall_store_usable", "Whether the store can be used.", lambda: ledger.trouble is None)
    metrics.add_gauge("sidecall_approvals_waiting", _WAITING, lambda: metrics.waiting_approvals)
    metrics.add_gauge("sidecall_approvals_pending", _WAITING, lambda: metrics.waiting_approvals)
    metrics.add_gauge("sidecall_approvals_oldest_seconds", _OLDEST, lambda: metrics.oldest_approval)
    if lifecycle is not None:  # Other servers do not count them.
        connections, requests = lifecycle.connections, lifecycle.in_flight
        metrics.add_gauge("sidecall_connections", "Connections that are open.", lambda: len(connections))
        metrics.add_gauge("sidecall_requests_in_flight", "Requests that are not answered yet.", lambda: len(requests))
        metrics.add_counter("sidecall_event_loop_stuck_seconds", _STUCK, lambda: lifecycle.stuck_seconds)
    return metrics


def build_telemetry(settings: Settings, metrics: Metrics, redaction: Redaction, features: Features) -> CallTelemetry:
    """Build what watches calls: metrics, logs and traces, as the settings say, and the observers of features."""
    metrics.add_counter("sidecall_history_calls_dropped", _DROPPED, lambda: features.history.dropped)
    metrics.requests.logs = settings.log_requests
    lines = CallLines(wanted=settings.log_calls, with_content=settings.log_args, redaction=redaction)
    tracing = open_tracing(settings.otel, redaction)
    if tracing is not None and tracing.dropped is not None:
        metrics.add_counter("sidecall_spans_dropped", _LOST, lambda: tracing.dropped or 0)
    return CallTelemetry(metrics, lines, tracing, join_notes(features.built.observers))
