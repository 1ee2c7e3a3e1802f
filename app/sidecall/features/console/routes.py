"""The routes of the console: pages, their files, and sessions. All else a page does, it does by the API."""

import asyncio
from collections.abc import Mapping
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from sidecall.features.console import api_client
from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.pages import PAGES, Page, find_page
from sidecall.features.console.render import PAGE_HEADERS, name_version, write_file, write_page
from sidecall.features.console.sessions import LONGEST, SessionStore, name_cookie, read_token
from sidecall.features.console.visits import Reader, View, Visit
from sidecall.http.application import SLASH
from sidecall.http.parameters import LateRoute
from sidecall.kernel.core.errors import RequestError

router = APIRouter(include_in_schema=False, route_class=LateRoute)

_LONGEST_FORM = 16 * 1024
_UNKNOWN = 404
_NO_CALLER = 401
_NO_SCOPE = 403
_NOWHERE = {"title": "There is no such page.", "detail": "It may be gone, or not be for you to see."}
# Seconds before a wrong key is answered, which slows guessing down.
_PATIENCE = 1.0


@router.get("/")
async def go_to_console() -> Response:
    """Lead from the bare address to the console."""
    return RedirectResponse("console", headers=PAGE_HEADERS)


@router.get("/console")
async def go_to_tools(request: Request) -> Response:
    """Lead to the first page."""
    return _lead(request, "/console/tools")


@router.get("/console/static/{path:path}")
async def get_static(request: Request, path: str) -> Response:
    """Answer with a file of the pages."""
    is_packed = "gzip" in request.headers.get("accept-encoding", "")
    return write_file(path, is_packed=is_packed) or Response(status_code=_UNKNOWN, headers=PAGE_HEADERS)


@router.get("/console/{path:path}")
async def show_page(request: Request) -> Response:
    """Show a page to those who may see it."""
    if SLASH in request.scope:  # Relative addresses would lead elsewhere.
        return _lead(request, _find_path(request), request.scope["query_string"].decode("latin-1"))
    found = find_page(_find_path(request).removeprefix("/console/"))
    try:
        reader = await _find_reader(request)
    except ApiFailure as failure:
        view = _show_failure(failure)
        return write_page(view.template, {**_common(request), "title": view.title, **view.values}, view.status)
    if reader is None:
        return _ask_to_log_in(request)
    page, names = found or (None, {})
    visit = Visit(request, reader, names, _find_root(request), has_sessions=_has_sessions(request))
    if page is None or not reader.may(page.scope):
        return await _write(visit, page, View("problem.html", "Not found", {"problem": _NOWHERE}, _UNKNOWN))
    try:
        view = await page.load()(visit)
    except ApiFailure as failure:
        if failure.status == _NO_CALLER:
            return _ask_to_log_in(request)
        view = _show_failure(failure)
    return await _write(visit, page, view)


@router.post("/console/session")
async def log_in(request: Request) -> Response:
    """Begin a session with a key or a token, and go on to the page that was asked for."""
    form = await _read_form(request)
    key, then = form.get("key", "").strip(), form.get("then", "")
    if not _has_sessions(request):
        return _lead(request, "/console/session")
    try:
        await api_client.get(request, "/whoami", bearer=key)
        token = await _store(request).begin(key)
    except ApiFailure as failure:
        if failure.status != _NO_CALLER:
            return _write_login(request, then, str(failure.problem.get("detail", "")), failure.status)
        await asyncio.sleep(_PATIENCE)
        return _write_login(request, then, "This server does not know that key, or it is no longer valid.", 401)
    except RequestError as error:
        return _write_login(request, then, error.message, 503)
    response = _lead(request, f"/console/{then}" if find_page(then.partition("?")[0]) else "/console/tools")
    is_secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
    name = name_cookie(request.scope, is_secure=is_secure).name
    response.set_cookie(name, token, LONGEST, secure=is_secure, httponly=True, samesite="strict")
    return response


@router.post("/console/session/end")
async def log_out(request: Request) -> Response:
    """End the session of this browser."""
    token = read_token(request.scope)
    response = _lead(request, "/console/session")
    if token is not None and _has_sessions(request):
        await _store(request).end(token)
        for is_secure in (True, False):
            name = name_cookie(request.scope, is_secure=is_secure).name
            response.delete_cookie(name, secure=is_secure, httponly=True, samesite="strict")
    return response


def _store(request: Request) -> SessionStore:
    return SessionStore(request.app.state.ledger.database)


def _has_sessions(request: Request) -> bool:
    access = request.app.state.access
    return access is not None and not {"api_key", "jwt"}.isdisjoint(access.proofs)


async def _find_reader(request: Request) -> Reader | None:
    """Return the reader of a page; None without a credential that is known."""
    try:
        found = (await api_client.get(request, "/whoami")).data
    except ApiFailure as failure:
        if failure.status == _NO_CALLER:
            return None
        raise
    return Reader(found["subject"], found["tenant"], frozenset(found["scopes"]))


def _ask_to_log_in(request: Request) -> Response:
    """Show the page with the key's field; what comes from another site first comes again from here.

    A browser sends no cookie along with a link of another site, such as one to an approval in a chat.
    """
    then = _find_path(request).removeprefix("/console/")
    query = request.scope["query_string"].decode("latin-1")
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return write_page("again.html", _common(request))
    return _write_login(request, f"{then}?{query}" if query else then)


def _write_login(request: Request, then: str, trouble: str = "", status: int = _NO_CALLER) -> Response:
    values = {"then": then, "trouble": trouble, "can_log_in": _has_sessions(request)}
    return write_page("login.html", {**_common(request), **values, "title": "Log in"}, status)


def _common(request: Request) -> Mapping[str, object]:
    root = _find_root(request)
    console = root.removeprefix("../")
    static = f"{console}static/{name_version()}/"
    return {
        "root": root,
        "console": console,
        "static": static,
        "waiting": None,
        "reader": None,
        "pages": (),
        "page": None,
    }


async def _write(visit: Visit, page: Page | None, view: View) -> Response:
    values = {
        **_common(visit.request),
        "pages": [it for it in PAGES if it.label and visit.reader.may(it.scope)],
        "page": page,
        "reader": visit.reader,
        "has_sessions": visit.has_sessions,
        "waiting": await _count_waiting(visit),
        "title": view.title,
        "link": visit.link,
        "query": visit.query,
        "settings": visit.settings,
    }
    return write_page(view.template, {**values, **view.values}, view.status)


async def _count_waiting(visit: Visit) -> str | None:
    """Return how many approvals wait, for those who may decide; None where that is not known."""
    if not visit.reader.may("approvals:decide"):
        return None
    answer = await visit.find("/approvals", status="pending", limit=1)
    return None if isinstance(answer, ApiFailure) else answer.headers["x-total-count"]


def _show_failure(failure: ApiFailure) -> View:
    """Show why there is no page; what a reader may not see is not there."""
    is_hidden = failure.status in (_NO_SCOPE, _UNKNOWN)
    shown = failure.problem if not is_hidden else {**failure.problem, "title": _NOWHERE["title"]}
    if failure.status == _NO_SCOPE:
        shown = _NOWHERE
    title = "Not found" if is_hidden else "It did not work"
    return View("problem.html", title, {"problem": shown}, _UNKNOWN if is_hidden else failure.status)


def _find_root(request: Request) -> str:
    """Return what leads from a page to the place where the server is mounted."""
    return "../" * (_find_path(request).count("/") - 1) or "./"


def _find_path(request: Request) -> str:
    """Return the path of a request below the place where the server is mounted, as it is written in its address."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    return raw.partition(b"?")[0].decode("latin-1").removeprefix(quote(request.scope.get("root_path", "")))


def _lead(request: Request, path: str, query: str = "") -> Response:
    """Lead to another page, by a relative address."""
    slash = "../" if SLASH in request.scope else ""
    address = f"{_find_root(request)}{slash}{path.lstrip('/')}{'?' if query else ''}{query}"
    return RedirectResponse(address, 303, PAGE_HEADERS)


async def _read_form(request: Request) -> Mapping[str, str]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return {}
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
