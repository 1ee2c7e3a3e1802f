"""Build the server: the one place where its parts meet."""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI

from sidecall.auth.caller import Callers
from sidecall.core.invocation import Surroundings
from sidecall.core.options import ExecutorName
from sidecall.core.tool import CompiledTool
from sidecall.discovery import discover
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.executors.process.executor import ProcessExecutor
from sidecall.executors.thread import ThreadExecutor
from sidecall.http.body import Bounds
from sidecall.ledger.approvals import MemoryApprovals
from sidecall.ledger.contents import MemoryArtifacts
from sidecall.ledger.items import MemoryStore
from sidecall.lifecycle import Lifecycle
from sidecall.pipeline.admission import Admission, Limits
from sidecall.pipeline.budget import Budget
from sidecall.pipeline.pipeline import Pipeline, default_stages
from sidecall.pipeline.quotas import Rate
from sidecall.registry import Registry
from sidecall.reload import follow_files
from sidecall.rest.app import Lifespan, build_api
from sidecall.rest.listing import Listings
from sidecall.rest.parts import Parts
from sidecall.rest.routes.artifacts import artifact_url
from sidecall.secrets import secrets_in, warn_of_missing
from sidecall.settings import Settings
from sidecall.telemetry.calls import CallTelemetry
from sidecall.telemetry.lines import CallLines
from sidecall.telemetry.metrics import Metrics
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.tracing import open_tracing
from sidecall.worker import Finder, refuse_unfit


def create_app(
    settings: Settings | None = None, registry: Registry | None = None, lifecycle: Lifecycle | None = None
) -> FastAPI:
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
    surroundings = Surroundings(MemoryStore(), secrets_in(settings.secrets_dir), admission.abandon, watch.headers)
    warn_of_missing(registry, surroundings.secrets)
    refuse_unfit(registry, Finder(settings.tools, use_entry_points=settings.entry_points))
    approvals = MemoryApprovals(settings.approval_ttl, settings.max_approvals)
    artifacts = MemoryArtifacts(settings.artifact_ttl, settings.max_artifact_bytes)
    budget = Budget(settings.max_content_bytes, lambda body: artifact_url(artifacts.keep(body)))
    stages = default_stages(executors, approvals, budget)
    pipeline = Pipeline(registry, stages, settings.tool_timeout, surroundings, admission, watch)
    parts = Parts(
        registry=registry,
        pipeline=pipeline,
        approvals=approvals,
        artifacts=artifacts,
        listings=Listings(registry),
        bounds=Bounds(settings.max_body_bytes, settings.max_json_values),
        max_batch=settings.max_batch,
        metrics=metrics,
        lifecycle=lifecycle or Lifecycle(),
        callers=None if settings.caller_header is None else Callers(settings.caller_header),
        quotas=admission.quotas,
    )
    return build_api(parts, _lifespan(settings, parts, executors, watch))


def _lifespan(
    settings: Settings, parts: Parts, executors: Mapping[ExecutorName, Executor], watch: CallTelemetry
) -> Lifespan:
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
    executors: Mapping[ExecutorName, Executor],
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
        stages = default_stages(executors, MemoryApprovals())
        surroundings = Surroundings(MemoryStore(), secrets_in(settings.secrets_dir))
        yield Pipeline(registry, stages, settings.tool_timeout, surroundings)
    finally:
        await close_all(executors)


def build_executors(settings: Settings) -> dict[ExecutorName, Executor]:
    """Make one executor of each kind."""
    return {
        "inline": InlineExecutor(),
        "thread": ThreadExecutor(settings.threads),
        "process": ProcessExecutor(
            settings.processes,
            settings.memory_limit_mb,
            settings.tools,
            use_entry_points=settings.entry_points,
            traces=settings.otel != "off",
        ),
    }


async def start_all(executors: Mapping[ExecutorName, Executor], tools: Iterable[CompiledTool]) -> None:
    """Make each ready for the tools that run there."""
    offered = list(tools)
    for name, executor in executors.items():
        await executor.start([tool for tool in offered if tool.executor == name])


async def close_all(executors: Mapping[ExecutorName, Executor]) -> None:
    """Close them, whatever they run."""
    for executor in executors.values():
        await executor.close()
