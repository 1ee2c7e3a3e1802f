"""The pages of the sign-in flow; of the request they contain sealed values only."""

from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse

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
