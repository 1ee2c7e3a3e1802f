"""Build the server: the one place where its parts meet."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from sidecall.auth.caller_header import CallerHeader
from sidecall.core.contents import Contents
from sidecall.core.invocation import Surroundings
from sidecall.core.store import ItemStore
from sidecall.discovery import discover
from sidecall.executors.process.finder import Finder, ToolSearch
from sidecall.executors.process.home import refuse_unfit
from sidecall.executors.table import Executors, ExecutorSettings, build_all, close_all, start_all
from sidecall.http.application import Application
from sidecall.http.body import Bounds
from sidecall.ledger.approvals import MemoryApprovals
from sidecall.ledger.base import Ledger
from sidecall.ledger.contents import MemoryContents
from sidecall.ledger.items import MemoryItems
from sidecall.lifecycle import Lifecycle
from sidecall.pipeline.admission import Admission, Limits
from sidecall.pipeline.budget import Budget, Keep
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.quotas import Rate
from sidecall.pipeline.stages import default_stages
from sidecall.registry import Registry
from sidecall.reload import follow_files
from sidecall.rest.app import Lifespan, build_api
from sidecall.rest.listing import Listings
from sidecall.rest.parts import Parts
from sidecall.rest.routes.contents import content_url
from sidecall.secrets import secrets_in, warn_of_missing
from sidecall.settings import Settings
from sidecall.telemetry.calls import CallTelemetry
from sidecall.telemetry.lines import CallLines
from sidecall.telemetry.metrics import Metrics
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.tracing import open_tracing


def create_app(
    settings: Settings | None = None, registry: Registry | None = None, lifecycle: Lifecycle | None = None
) -> Application:
    """Build the ASGI application.

    Args:
        settings: Read from the environment when None.
        registry: The tools to offer; discovered as the settings say when None.
        lifecycle: What the server that runs the application says of itself.

    Raises:
        DefinitionError: A tool cannot be offered.
        ValidationError: A setting is wrong.
    """
    settings = settings or Settings()
    logging.getLogger("sidecall").setLevel(settings.log_level.upper())
    if registry is None:
        registry = Registry(discover(settings.tools, use_entry_points=settings.entry_points))
    executors = build_executors(settings)
    admission = Admission(_limits(settings))
    metrics = _metrics(registry, executors, admission, lifecycle)
    watch = _watch(settings, metrics)
    ledger = build_ledger(settings)
    store = ItemStore(ledger.items)
    surroundings = Surroundings(store, secrets_in(settings.secrets_dir), admission.abandon, watch.headers)
    warn_of_missing(registry, surroundings.secrets)
    refuse_unfit(registry, Finder(discover, settings.tools, use_entry_points=settings.entry_points))
    budget = Budget(settings.max_content_bytes, _keep_in(ledger.contents))
    stages = default_stages(executors, ledger.approvals, budget)
    pipeline = Pipeline(registry, stages, settings.tool_timeout, surroundings, admission, watch)
    parts = Parts(
        registry=registry,
        pipeline=pipeline,
        approvals=ledger.approvals,
        contents=ledger.contents,
        listings=Listings(registry),
        bounds=Bounds(settings.max_body_bytes, settings.max_json_values),
        max_batch=settings.max_batch,
        metrics=metrics,
        lifecycle=lifecycle or Lifecycle(),
        quotas=admission.quotas,
    )
    authenticator = None if settings.caller_header is None else CallerHeader(settings.caller_header)
    return build_api(parts, _lifespan(settings, parts, executors, watch), authenticator)


def build_ledger(settings: Settings) -> Ledger:
    """Make the ledger that the settings ask for."""
    return Ledger(
        approvals=MemoryApprovals(settings.approval_ttl, settings.max_approvals),
        contents=MemoryContents(settings.artifact_ttl, settings.max_artifact_bytes),
        items=MemoryItems(),
    )


def _keep_in(contents: Contents) -> Keep:
    async def keep(body: str | bytes, tenant: str) -> str | None:
        return content_url(await contents.keep(body, tenant))

    return keep


def _lifespan(settings: Settings, parts: Parts, executors: Executors, watch: CallTelemetry) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            await start_all(executors, parts.registry)
            async with follow_files(parts.registry, settings.tools, settings.entry_points, enabled=settings.reload):
                parts.lifecycle.begin()
                yield
        finally:
            await close_all(executors)
            await watch.close()

    return lifespan


def _metrics(
    registry: Registry,
    executors: Executors,
    admission: Admission,
    lifecycle: Lifecycle | None,
) -> Metrics:
    metrics = Metrics(lambda: registry.names)
    metrics.add_executors(executors, admission.abandoned)
    metrics.add_gauge("sidecall_queue_length", "Calls that wait to be let in.", lambda: admission.waiting)
    if lifecycle is not None:  # Under another server nobody counts them.
        connections, requests = lifecycle.connections, lifecycle.in_flight
        metrics.add_gauge("sidecall_connections", "Connections that are open.", lambda: len(connections))
        metrics.add_gauge("sidecall_requests_in_flight", "Requests that are not answered yet.", lambda: len(requests))
    return metrics


def _watch(settings: Settings, metrics: Metrics) -> CallTelemetry:
    redaction = Redaction(settings.log_redact)
    lines = CallLines(wanted=settings.log_calls, with_content=settings.log_args, redaction=redaction)
    return CallTelemetry(metrics, lines, open_tracing(settings.otel, redaction))


def _limits(settings: Settings) -> Limits:
    return Limits(
        concurrency=settings.max_concurrency,
        per_caller=settings.max_concurrency_per_caller,
        queue=settings.max_queue,
        queue_timeout=settings.queue_timeout,
        rate=None if settings.rate_limit is None else Rate.parse(settings.rate_limit),
    )


@asynccontextmanager
async def build_pipeline(registry: Registry, settings: Settings) -> AsyncIterator[Pipeline]:
    """Build the pipeline alone, for callers without a server; its executors are closed afterwards."""
    executors = build_executors(settings)
    try:
        ledger = build_ledger(settings)
        stages = default_stages(executors, ledger.approvals)
        surroundings = Surroundings(ItemStore(ledger.items), secrets_in(settings.secrets_dir))
        yield Pipeline(registry, stages, settings.tool_timeout, surroundings)
    finally:
        await close_all(executors)


def build_executors(settings: Settings) -> Executors:
    """Make one executor of each kind."""
    # By name, since a process has to load it for itself.
    search = ToolSearch("sidecall.discovery:discover", tuple(settings.tools), settings.entry_points)
    made_with = ExecutorSettings(
        threads=settings.threads,
        processes=settings.processes,
        memory_limit_mb=settings.memory_limit_mb,
        search=search,
        traces=settings.otel != "off",
    )
    return build_all(made_with)
