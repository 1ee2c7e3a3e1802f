"""Build the server: the only place where all parts meet."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sidecall.composition.access import build_access, open_toolsets, warn_of_missing_keys
from sidecall.composition.executors import read_executor_settings, refuse_unfit
from sidecall.composition.features import Features, choose_features
from sidecall.composition.lifespan import (
    build_lifespan,
    build_metrics,
    build_reloading,
    build_telemetry,
)
from sidecall.composition.local_pipeline import build_workspaces
from sidecall.composition.requirements import settle_settings
from sidecall.composition.stores import (
    build_admission,
    build_ledger,
    gather_services,
    is_alone,
)
from sidecall.feature import Start
from sidecall.features.contents.snippets import SnippetReader
from sidecall.features.credentials.own_secrets import open_unsealed
from sidecall.features.credentials.server_secrets import secrets_in, warn_of_missing, warn_of_unknown_providers
from sidecall.features.history.no_history import NoHistory
from sidecall.features.history.redactor import show_with
from sidecall.features.jobs.answers import answer_remembered, answer_unknown_calls
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.submission import JobLimits
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.ledger.open_ledger import NO_WRITERS, Writers
from sidecall.features.mcp_server.feature import LateMcpEndpoint
from sidecall.features.mcp_server.listing import ListChanges
from sidecall.features.openapi_export.shortcuts import make_shortcuts
from sidecall.features.openapi_import.feature import NoDocuments
from sidecall.features.server_parts import Parts
from sidecall.features.status.operation import NoUpstream, Operation
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.per_minute import Minutes
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.http.application import Application
from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.http.fast_path import NO_WAYS
from sidecall.http.origin_policy import OriginPolicy, OwnHosts
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.services import CallServices
from sidecall.kernel.executors.table import Executors, build_all
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.pipeline.truncate import Truncate
from sidecall.kernel.ports.contents import JSON, TEXT, Contents
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.kernel.registry import Registry
from sidecall.loading.discovery import discover
from sidecall.rest.answers import content_url
from sidecall.rest.app import Pages, build_api
from sidecall.rest.listings import ToolListings
from sidecall.rest.parts import DurableCalls
from sidecall.settings import Settings

if TYPE_CHECKING:
    from sidecall.features.history.history import History


def create_app(
    settings: Settings | None = None,
    registry: Registry | None = None,
    lifecycle: Lifecycle | None = None,
    backlog: Backlog | None = None,
    store: Store | SyncStore | None = None,
    writers: Writers = NO_WRITERS,
) -> Application:
    """Build the ASGI application.

    Args:
        settings: Read from the environment when None.
        registry: The tools to offer; discovered as the settings say when None.
        lifecycle: What the server that runs the application says of itself.
        backlog: What waits for clients of that server who do not read.
        store: What tools remember from call to call; kept in the ledger, for each tenant, when None.
        writers: Where the processes are asked that write SQLite files for all workers of `sidecall serve`.

    Raises:
        DefinitionError: A tool cannot be offered.
        InvalidKeyFile: The file of keys cannot be used.
        InvalidMcpServers: What names MCP servers does not, or the extra for them is not installed.
        InvalidPins: The file of their pins cannot be used.
        StoreUnfit: There is no such kind of store, or servers cannot share it and should.
        InvalidToolsets: The file of toolsets is none.
        ValidationError: A setting is wrong.
    """
    settings, features = _begin(settings or Settings(), registry, writers, is_server=bool(lifecycle))
    registry, ledger = features.registry, build_ledger(settings, writers=writers, is_server=bool(lifecycle))
    (executors, features), admission = _join(settings, features, ledger), build_admission(settings, ledger)
    metrics = build_metrics(registry, executors, admission, ledger, lifecycle)
    keeper = features.find_part("credentials", open_unsealed)(ledger)
    redaction, results = Redaction(settings.log_redact), ResultMemory(settings.max_result_bytes)
    watch = build_telemetry(settings, metrics, redaction, features)
    services = gather_services(ledger, _resolve_secrets(registry, settings), admission, watch, results, keeper, store)
    workspaces = build_workspaces(settings)
    services = _add_services(services, features, workspaces=workspaces, **features.built.services)
    stages = _list_stages(settings, features, results)
    pipeline = Pipeline(registry, stages, settings.tool_timeout, services, admission, watch)
    pipeline.gate.deny = keeper.auditor.deny_tool
    parts = Parts(
        registry=registry,
        pipeline=pipeline,
        approvals=ledger.approvals,
        rules=ledger.rules,
        contents=ledger.contents,
        listings=ToolListings(registry),
        bounds=Bounds(settings.max_body_bytes, settings.max_json_values, settings.max_batch),
        jobs=_make_jobs(settings, ledger, pipeline, registry, redaction),
        metrics=metrics,
        lifecycle=lifecycle or Lifecycle(),
        backlog=backlog or Backlog(settings.max_unread_bytes),
        operation=_make_operation(settings, features, metrics, admission, ledger, watch),
        history=features.history,
    )
    parts = _add_parts(settings, replace(parts, workspaces=workspaces, secrets=keeper), features)
    return _build_api(settings, parts, features, executors, watch)


def _begin(
    settings: Settings, registry: Registry | None, writers: Writers, *, is_server: bool
) -> tuple[Settings, Features]:
    """Configure logging; find the tools of the settings, unless given, and make the parts that features have."""
    there, off = choose_features(settings)
    settings = settle_settings(settings, off)
    logging.getLogger("sidecall").setLevel(settings.log_level.upper())
    if registry is None:
        registry = Registry(discover(settings.places, use_entry_points=settings.entry_points))
        registry.is_discovered = True
    start = Start(registry=registry, server=settings, writers=writers, is_server=is_server)
    features = Features(there, registry, settings, off=off).with_parts(start)
    features.hold_tools()
    return settings, features


def _join(settings: Settings, features: Features, ledger: Ledger) -> tuple[Executors, Features]:
    """Return the executors of the kernel with those of features, which are built with what there is by now."""
    history: History | NoHistory = features.find_part("history", NoHistory())
    made_with = read_executor_settings(settings)
    executors = dict(build_all(made_with))
    joined = replace(features, ledger=ledger, history=history, execute=Execute(executors), executing=made_with)
    executors |= joined.built.executors
    features.registry.put_unlisted(joined.built.tools)
    return executors, joined


def _add_services(services: CallServices, features: Features, **added: Any) -> CallServices:
    """Add some, and leave out what features that are off would give to tools."""
    found = replace(services.resources, passages=features.find_part("vector_stores", None), **added)
    kept = replace(
        found,
        store=found.store if features.has("store") else None,
        workspaces=found.workspaces if features.has("workspaces") else None,
        contents=found.contents if features.has("contents") else None,
    )
    return replace(services, resources=kept)


def _add_parts(settings: Settings, parts: Parts, features: Features) -> Parts:
    """Add what only routes of features work with."""
    return replace(
        parts,
        documents=features.find_part("openapi_import", NoDocuments()),
        vector_stores=features.find_part("vector_stores", None),
        durable=DurableCalls(answer_remembered, parts.jobs.limits.wait),
        auditor=parts.secrets.auditor,
        receivers=AllowedHosts(settings.webhook_hosts),
        snippets=SnippetReader(settings.queue_timeout),
        toolsets=open_toolsets(features.find_part("toolsets", None), parts.registry),
    )


def _build_api(
    settings: Settings, parts: Parts, features: Features, executors: Executors, watch: CallTelemetry
) -> Application:
    is_fed = settings.reload or parts.documents.are_fetched or settings.mcp_servers is not None
    changes = ListChanges(is_fed=is_fed or parts.lifecycle.is_operated)
    reloading = build_reloading(settings, parts, features, executors, changes)
    lifespan = build_lifespan(settings, parts, features, executors, watch, changes)
    has_sessions = settings.mcp_sessions and is_alone(settings, parts.operation.ledger)
    mcp = LateMcpEndpoint(parts, changes, features.mcp_methods, has_sessions=has_sessions)
    warn_of_missing_keys(settings)
    app = build_api(
        parts,
        lifespan,
        build_access(
            settings, parts.toolsets, parts.auditor, features.built.methods, features.find_part("access", None)
        ),
        OriginPolicy(OwnHosts(settings.host, settings.hosts), settings.origins),
        _choose_pages(settings, parts, features),
        {"/mcp": mcp} if settings.mcp else NO_WAYS,
    )
    app.state.mcp = mcp
    app.state.upstream = parts.operation.upstream
    app.state.reloading = reloading
    app.state.ledger, app.state.settings = parts.operation.ledger, settings
    return app


def _choose_pages(settings: Settings, parts: Parts, features: Features) -> Pages:
    return Pages(
        docs=settings.docs,
        metrics=settings.metrics,
        routes=features.routes,
        shortcuts=make_shortcuts(parts),
        forms=features.forms,
        answers=[answer_unknown_calls],
        requests=parts.metrics.requests,
    )


def _make_operation(
    settings: Settings,
    features: Features,
    metrics: Metrics,
    admission: Admission,
    ledger: Ledger,
    watch: CallTelemetry,
) -> Operation:
    return Operation(
        minutes=Minutes(metrics, admission),
        admission=admission,
        ledger=ledger,
        history=settings.history,
        workers=settings.workers,
        forgets=settings.forgets,
        upstream=features.find_part("mcp_client", NoUpstream()),
        count_spans_dropped=lambda: watch.spans_dropped,
        list_load_errors=lambda: features.registry.load_errors,
        features=features.status,
    )


def _resolve_secrets(registry: Registry, settings: Settings) -> Callable[[str], str | None]:
    """Return the look-up of secrets, after checking that all tools have theirs."""
    secrets = secrets_in(settings.secrets_dir)
    warn_of_missing(registry, secrets)
    warn_of_unknown_providers(registry, settings.providers)
    refuse_unfit(registry)
    return secrets


def _budget(settings: Settings, contents: Contents | None, results: ResultMemory) -> Truncate:
    async def keep(body: str | bytes, caller: Caller) -> str | None:
        if contents is None:
            return None
        return content_url(await contents.keep(body, caller, TEXT if isinstance(body, str) else JSON))

    return Truncate(settings.max_content_bytes, keep, results)


def _list_stages(settings: Settings, features: Features, results: ResultMemory) -> Stages:
    budget = _budget(settings, features.ledger.contents if features.has("contents") else None, results)
    return kernel_stages(features.execute, budget, has_features=True).add(features.built.stages, features.built.checks)


def _make_jobs(
    settings: Settings, ledger: Ledger, pipeline: Pipeline, registry: Registry, redaction: Redaction
) -> Jobs:
    limits = JobLimits(
        running=settings.max_running_jobs,
        queued=settings.max_queued_jobs,
        key_ttl=settings.idempotency_ttl,
        wait=settings.max_wait,
        listening=settings.max_queue,
        shares=settings.share_jobs,
    )
    return Jobs(ledger, pipeline, registry.get, limits, show_with(redaction))
