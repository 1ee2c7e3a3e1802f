"""What the feature console adds to a server: pages for people, and sessions of those who have logged in there."""

from sidecall.feature import Feature, Route
from sidecall.features.console.settings import has_console, has_sessions

_ROUTES = "sidecall.features.console.routes"

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
    asked=has_sessions,
    build="sidecall.features.console.sessions:build",
)
