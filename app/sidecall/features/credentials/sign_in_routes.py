"""Routes of the sign-in flow."""

import logging
import re
import secrets
from collections.abc import Mapping
from html import escape
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from sidecall.features.credentials.oauth.authorization_flow import (
    AuthorizationFlows,
    Invitation,
    LinkInvalid,
    SignInDenied,
)
from sidecall.features.credentials.oauth.settings import CALLBACK, START
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.server_parts import PartsDep
from sidecall.http.authentication import Access, Unauthenticated
from sidecall.http.parameters import LateRoute
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.ports.secrets import TooManySecrets
from sidecall.kernel.ports.user_tokens import TokenUnavailable

logger = logging.getLogger("sidecall")
# Pages for persons, not part of the API.
router = APIRouter(include_in_schema=False, route_class=LateRoute)

_COOKIE = "sidecall_sign_in"

_BROWSER = re.compile(r"[A-Za-z0-9_-]{32}")

_PATIENCE = 900


@router.get(START)
async def show_sign_in(request: Request, parts: PartsDep) -> Response:
    """Show a person which caller wants to act for them, and where."""
    flows = _find_flows(parts.secrets)
    if flows is None:
        return show_off()
    try:
        invitation = flows.read_link(request.query_params.get("link", ""))
    except LinkInvalid:
        return show_invalid()
    if await _is_other(request, invitation.caller):
        return show_other()
    return show_start(invitation.caller.subject, invitation.caller.tenant, invitation.provider)


@router.post(START)
async def begin_sign_in(request: Request, parts: PartsDep) -> Response:
    """Begin a round of signing in, which this browser alone can end."""
    flows = _find_flows(parts.secrets)
    if flows is None:
        return show_off()
    try:
        invitation = flows.read_link(request.query_params.get("link", ""))
        if await _is_other(request, invitation.caller):
            return show_other()
        browser = _read_browser(request) or secrets.token_urlsafe(24)
        address = await flows.begin(invitation, browser)
    except LinkInvalid:
        return show_invalid()
    except (TokenUnavailable, TooManySecrets) as error:
        logger.warning("a person cannot sign in: %s", error.message)
        return show_failed()
    response = RedirectResponse(address, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    is_secure, place = flows.public_url.startswith("https:"), START.rpartition("/")[0]
    response.set_cookie(
        _COOKIE, browser, _PATIENCE, path=_path_of(flows) + place, secure=is_secure, httponly=True, samesite="lax"
    )
    return response


@router.get(CALLBACK)
async def end_sign_in(request: Request, parts: PartsDep) -> Response:
    """Take what a provider sends a person back with, and let the calls go on that have waited for it."""
    flows = _find_flows(parts.secrets)
    if flows is None:
        return show_off()
    try:
        came = _read_answer(request)
        invitation = flows.read_state(came.get("state", ""))
        if await _is_other(request, invitation.caller):
            return show_other()
        await flows.finish(came, _read_browser(request) or "")
    except LinkInvalid:
        return show_invalid()
    except SignInDenied:
        parts.jobs.waits.reject(*_whose(invitation))
        return show_denied()
    except (TokenUnavailable, TooManySecrets) as error:
        logger.warning("a person could not sign in: %s", error.message)
        return show_failed()
    parts.jobs.waits.resume(*_whose(invitation))
    return show_signed_in()


def _find_flows(keeper: SecretKeeper) -> AuthorizationFlows | None:
    return None if keeper.signing_in is None else keeper.signing_in.flows


def _path_of(flows: AuthorizationFlows) -> str:
    return urlsplit(flows.public_url).path


def _whose(invitation: Invitation) -> tuple[Caller, str]:
    return invitation.caller, invitation.provider


def _read_answer(request: Request) -> Mapping[str, str]:
    """Return the parameters of a request, each of which may come once (RFC 6749, 3.1).

    Raises:
        LinkInvalid: One came twice.
    """
    pairs = request.query_params.multi_items()
    said = dict(pairs)
    if len(said) < len(pairs):
        raise LinkInvalid
    return said


def _read_browser(request: Request) -> str | None:
    said = request.cookies.get(_COOKIE, "")
    return said if _BROWSER.fullmatch(said) else None


async def _is_other(request: Request, wanted: Caller) -> bool:
    """Return whether a request authenticates as another caller; one without credentials does not.

    Raises:
        RequestError: Its credentials are ambiguous.
    """
    access: Access | None = request.app.state.access
    if access is None:
        return False
    try:
        found = access.authenticator.authenticate(request.scope)
        caller = found if isinstance(found, Caller) else await found
    except Unauthenticated:
        return False
    return caller != ANONYMOUS and (caller.tenant, caller.subject) != (wanted.tenant, wanted.subject)


_SAFE = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><h1>{title}</h1>{body}</body>
</html>
"""


def show_start(subject: str, tenant: str, provider: str) -> HTMLResponse:
    """Ask a person whether they want to sign in for a caller."""
    whose = f"<b>{escape(subject)}</b>" + ("" if tenant == "default" else f" of <b>{escape(tenant)}</b>")
    body = (
        f"<p>{whose} wants to act for you at <b>{escape(provider)}</b>.</p>"
        "<p>Go on only if you know this program, and have asked it for something yourself.</p>"
        '<form method="post"><button>Go on</button></form>'
    )
    # Otherwise the browser would not send the form's origin.
    return _make(200, "Sign in?", body, {"Referrer-Policy": "same-origin"})


def _make(status: int, title: str, body: str, headers: Mapping[str, str]) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=title, body=body), status, {**_SAFE, **headers})


def _render(status: int, title: str, text: str) -> HTMLResponse:
    return _make(status, title, f"<p>{text}</p>", {"Referrer-Policy": "no-referrer"})


def show_signed_in() -> HTMLResponse:
    """Show that the sign-in is done."""
    return _render(200, "Signed in", "The program goes on by itself. You can close this window.")


def show_denied() -> HTMLResponse:
    """Show that the person declined."""
    return _render(200, "Not allowed", "The program is told that you do not allow it. You can close this window.")


def show_invalid() -> HTMLResponse:
    """Refuse an invalid link or redirect."""
    return _render(
        400,
        "This link does not work",
        "It is too old, was used before, or belongs to another browser. Open the link again that the program gave you.",
    )


def show_other() -> HTMLResponse:
    """Refuse a browser whose person is not the one the link is for."""
    return _render(403, "This link is not yours", "It was made for another person.")


def show_failed() -> HTMLResponse:
    """Ask a person to try again."""
    return _render(502, "It did not work", "Open the link again that the program gave you. The server's log says more.")


def show_off() -> HTMLResponse:
    """Show that sign-in is switched off."""
    return _render(404, "Nothing here", "This server has no sign-in.")
