"""Join the routes, the explorer, the OpenAPI document and the error answers into one FastAPI application."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as MountedRoute
from starlette.types import Receive, Scope, Send

from sidecall.http import problems
from sidecall.http.application import Application, Wrapper
from sidecall.http.authentication import CALLER, WELL_KNOWN, Access, Authentication, Refuse, permit_all
from sidecall.http.fast_path import NO_WAYS, Arrivals, Behind, FastPath, RequestWatch, Shortcut, Way
from sidecall.http.origin_policy import OriginPolicy, OwnHosts, PageRule
from sidecall.http.parameters import NamedRoute
from sidecall.http.request_counts import RequestTally
from sidecall.http.request_id import HeadAsGet, RequestId, RequestIdHeader, share_with
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import Later
from sidecall.rest import explorer
from sidecall.rest.parts import Parts
from sidecall.rest.probes import make_probes
from sidecall.rest.route_table import KERNEL_ROUTES, Permissions, Route
from sidecall.rest.shortcuts import make_shortcuts
from sidecall.version import __version__

# Below which path the server is reached, which proxies say, not clients; and which tools there are.
_Wanted = tuple[str, int]


class ServedDocument:
    """The document as bytes: made in a thread at the first request, and again when the tools change.

    Concurrent requests wait for the same one.
    """

    def __init__(self, describe: Callable[[], dict[str, Any]], registry: Registry) -> None:
        self._describe = describe
        self._registry = registry
        self._making: dict[_Wanted, asyncio.Task[bytes]] = {}
        self._made: tuple[_Wanted, bytes] | None = None

    async def answer(self, request: Request) -> Response:
        """Answer with the document."""
        wanted = request.scope.get("root_path", "").rstrip("/"), self._registry.version
        made = self._made
        if made is None or made[0] != wanted:
            made = self._made = wanted, await self._make(wanted)
        return Response(made[1], media_type="application/json")

    async def _make(self, wanted: _Wanted) -> bytes:
        """Make it, or wait for the running one; it is finished even if its requesters disconnect."""
        making = self._making.get(wanted)
        if making is None:
            making = self._making[wanted] = asyncio.create_task(LISTINGS.run(self._write, wanted[0]))
            making.add_done_callback(lambda _: self._making.pop(wanted))
        return await outlast(making)

    def _write(self, root: str) -> bytes:
        document = self._describe()
        if root:
            document = {**document, "servers": [{"url": root}, *document.get("servers", [])]}
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

# With which the models of all answers come.
_document = Later("sidecall.rest.openapi_document")
_PROBES = frozenset({"/healthz", "/readyz"})
_DOCUMENT = "/openapi.json"
# Of everybody, with the routes that say so of themselves: browsers of persons have no credential.
_OPEN = frozenset({"/", "/docs", _DOCUMENT})
_TAGS = {
    "tools": "What can be called.",
    "callers": "Who calls.",
    "tool calls": "Calling it.",
    "contents": "What was cut out of answers, and what was sent for tools.",
    "conversations": "What happened in a chat.",
    "workspaces": "The files of a conversation, which its tools share.",
    "file search": "Files that are searched; where the toolkit `file_search` is on.",
    "approvals": "Deciding about it.",
    "operations": "For orchestrators, and for those who operate it.",
}
_DESCRIPTION = """Run the tools of AI agents behind plain HTTP.

`GET /tools` lists them as your model's provider wants them; `POST /tool_calls` runs a call as the model wrote it and
answers with the message to give back. Press *Try it out* on either."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Which routes are served, and which pages beside them: their explanation, and the numbers of the operation.

    These are `on` for callers who may read them, `open` for everybody, or `off`. `routes` are those of the API, in the
    order in which they are matched; `shortcuts` are those of features, `forms` the models of bodies that their routes
    read themselves, and `answers` adds answers to what no route is found for. `requests` counts what is asked for.
    """

    docs: bool = True
    metrics: Literal["on", "open", "off"] = "on"
    routes: Sequence[Route] = KERNEL_ROUTES
    shortcuts: Mapping[str, Shortcut] = field(default_factory=dict)
    forms: Sequence[str] = ()
    answers: Sequence[Callable[[FastAPI], None]] = ()
    requests: RequestTally = field(default_factory=lambda: RequestTally({}))


_ALL_PAGES = Pages()
# Spans of requests would be missing on the short way that most calls take; calls have spans of their own.
_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}


def build_api(
    parts: Parts,
    lifespan: Lifespan | None = None,
    access: Access | None = None,
    welcome: OriginPolicy | None = None,
    pages: Pages = _ALL_PAGES,
    ways: Mapping[str, Way] = NO_WAYS,
) -> Application:
    """Build the application from prepared parts.

    Args:
        parts: What the routes use.
        lifespan: Entered before anything is served.
        access: Knows the callers; without it all are one caller, who may do everything.
        welcome: Under which names it is served, and to which web pages; without it on loopback, to its own.
        pages: What is served, and what beside it.
        ways: Other ways in than REST, by their paths.
    """
    is_proved = access is not None and access.is_proved
    is_open = _make_is_open(pages, with_metrics=not is_proved or pages.metrics == "open")
    watch, permissions = RequestWatch(pages.requests), Permissions(pages.routes)
    begins = {path: way.begin for path, way in ways.items()}
    shortcuts = {**make_shortcuts(parts), **make_probes(parts), **pages.shortcuts, **begins}
    app = Application(
        wrappers=_wrappers(parts, watch, access, welcome or OriginPolicy(OwnHosts("localhost")), is_open, permissions),
        inner=[partial(Behind, watch=watch), HeadAsGet, RequestIdHeader],
        door=partial(FastPath, watch=watch, shortcuts=shortcuts),
        title="Sidecall",
        version=__version__,
        summary="A ToolCall goes in, a ToolMessage comes out.",
        description=_DESCRIPTION,
        license_info={"name": "MIT", "identifier": "MIT"},
        openapi_tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        lifespan=lifespan,
        telemetry=_NO_TELEMETRY,
    )
    app.state.parts = parts
    app.state.access = access
    _add_routes(app, pages, ways)
    problems.install(app)
    for install in pages.answers:
        install(app)
    _add_document(app, pages, parts, access, permissions)
    return app


def _add_document(
    app: Application, pages: Pages, parts: Parts, access: Access | None, permissions: Permissions
) -> None:
    # Where callers are told apart it is for everybody, and says nothing of what some see.
    shown = parts.registry if access is None else Registry()
    is_proved = access is not None and access.is_proved
    is_for_all = _make_is_open(pages, with_metrics=pages.metrics == "open")
    find_scope = permissions.find_scope if is_proved else None
    describe = partial(_describe, app, shown, is_for_all, find_scope, pages.forms)
    app.openapi = describe  # type: ignore[method-assign]  # FastAPI documents this as the way to extend it
    if pages.docs:
        find_served = cache(lambda: ServedDocument(describe, shown))

        async def answer(request: Request) -> Response:
            return await find_served().answer(request)

        app.add_route(_DOCUMENT, answer, include_in_schema=False)


def _describe(
    app: Application,
    registry: Registry,
    is_open: Callable[[str], bool],
    find_scope: Callable[[str, str], str | None] | None,
    forms: Sequence[str],
) -> dict[str, Any]:
    """Add the OpenAPI document, with examples for the present tools."""
    if app.openapi_schema is None:
        app.openapi_schema = _document.make_document(app, _PROBES, is_open, find_scope, forms)
    shown: dict[str, Any] = _document.show_served(app.openapi_schema, registry)
    return shown


def _add_routes(app: Application, pages: Pages, ways: Mapping[str, Way]) -> None:
    # As they are: including a router builds every route of it again, at the first request.
    add = app.router.routes.extend
    add(make_routes(pages.routes))
    add(MountedRoute(path, way, include_in_schema=False) for path, way in ways.items())
    if pages.docs:
        explorer.install(app)


def _wrappers(
    parts: Parts,
    watch: RequestWatch,
    access: Access | None,
    welcome: OriginPolicy,
    is_open: Callable[[str], bool],
    permissions: Permissions,
) -> list[Wrapper]:
    """List the middleware, from the outside in."""
    share, refuse = share_with(welcome.origins), _watch_refusals(watch)
    rule = partial(PageRule, welcome=welcome, share=share, refuse=refuse, is_exempt=_PROBES.__contains__)
    wrappers: list[Wrapper] = [RequestId, *([Arrivals] if watch.tally.logs else []), rule]
    if access is not None:
        asked = partial(
            Authentication,
            access=access,
            refuse=_note_refusals(refuse, parts),
            is_open=is_open,
            permit=permissions.permit if access.is_proved else permit_all,
        )
        wrappers.append(asked)
    return wrappers


def _watch_refusals(watch: RequestWatch) -> Refuse:
    """Return an error responder that counts refusals."""

    async def refuse(scope: Scope, receive: Receive, send: Send, error: RequestError) -> None:
        await problems.refuse(scope, receive, watch.follow(scope, send), error)

    return refuse


def _note_refusals(refuse: Refuse, parts: Parts) -> Refuse:
    """Return an error responder that also notes refusals."""

    async def note_and_refuse(scope: Scope, receive: Receive, send: Send, error: RequestError) -> None:
        parts.note_refusal(error, scope.get(CALLER))
        await refuse(scope, receive, send, error)

    return note_and_refuse


def _make_is_open(pages: Pages, *, with_metrics: bool) -> Callable[[str], bool]:
    """Make what says whether a path is public: probes of orchestrators, the API's explorer, what browsers open."""
    unchecked = [route.path.partition("{") for route in pages.routes if not route.is_checked]
    exact = _OPEN | {path for path, parameter, _ in unchecked if not parameter}
    exact |= {"/metrics"} if with_metrics else set()
    below = (explorer.ASSETS, WELL_KNOWN, *(path for path, parameter, _ in unchecked if parameter))
    return lambda path: path in exact or path.startswith(below)


def make_routes(routes: Iterable[Route]) -> Iterator[BaseRoute]:
    """Make what stands for routes until they are needed, in their order; of two that take one path the first counts."""
    for route in routes:
        module, _, function = route.endpoint.partition(":")
        yield NamedRoute(module, route.method, route.path, function)
