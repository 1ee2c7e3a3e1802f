"""What the feature console adds to a server: pages for people, and sessions of those who have logged in there."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.console.settings import has_console
from sidecall.lazy_imports import later

# With which the framework comes, which commands do without.
_open_sessions: Callable[..., Any] = later("sidecall.features.console.sessions:open_sessions")
_ROUTES = "sidecall.features.console.routes"


def build(host: Host) -> Built:
    """Let requests prove who sends them by a session, where callers have keys or tokens."""
    has_sessions = has_console(host.server) and not {"api_key", "jwt"}.isdisjoint(host.server.auth)
    if not has_sessions:
        return Built()
    return Built(methods=[partial(_open_sessions, host.ledger.database)])


# Each page finds out by itself who asks; `pages/__init__.py` lists the pages.
FEATURE = Feature(
    name="console",
    needs=("access",),
    settings_off={"console": lambda mode: "off" if mode == "on" else mode, "trace_url": None},
    routes=(
        Route("GET", "/", f"{_ROUTES}:go_to_console", is_checked=False),
        Route("GET", "/console", f"{_ROUTES}:go_to_tools", is_checked=False),
        Route("GET", "/console/static/{path:path}", f"{_ROUTES}:get_static", is_checked=False),
        Route("GET", "/console/{path:path}", f"{_ROUTES}:show_page", is_checked=False),
        Route("POST", "/console/session", f"{_ROUTES}:log_in", is_checked=False),
        Route("POST", "/console/session/end", f"{_ROUTES}:log_out", is_checked=False),
    ),
    serves=has_console,
    build=build,
)
