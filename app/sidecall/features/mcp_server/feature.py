"""What the feature mcp_server adds to a server."""

from collections.abc import Awaitable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from sidecall.feature import Feature
from sidecall.lazy_imports import load_function

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from sidecall.features.mcp_server.endpoint import McpEndpoint
    from sidecall.features.mcp_server.listing import ListChanges
    from sidecall.features.mcp_server.parts import McpParts
    from sidecall.features.server_parts import Parts
    from sidecall.http.fast_path import Reply, Rest

_ENDPOINT = "sidecall.features.mcp_server.endpoint:open_endpoint"


class LateMcpEndpoint:
    """Answer every request of one path; what answers them is loaded with the first: most servers get none."""

    def __init__(
        self, parts: "Parts", changes: "ListChanges", methods: Mapping[str, str], *, has_sessions: bool
    ) -> None:
        """Take what the endpoint is made of, as `open_endpoint` does."""
        self._given = parts, changes, methods
        self._has_sessions = has_sessions

    @property
    def parts(self) -> "McpParts":
        """The parts that the methods use."""
        return self._serve.parts

    @cached_property
    def _serve(self) -> "McpEndpoint":
        made: McpEndpoint = load_function(_ENDPOINT)(*self._given, has_sessions=self._has_sessions)
        return made

    def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> Awaitable[None]:
        """Serve one request."""
        return self._serve(scope, receive, send)

    def begin(self, scope: "Scope", receive: "Receive") -> "Reply | Rest":
        """Answer one request at once, or return what goes on with it."""
        return self._serve.begin(scope, receive)


FEATURE = Feature(
    name="mcp_server",
    settings_off={"mcp": False},
    commands={
        "mcp": "sidecall.features.mcp_server.cli:mcp",
        "mcp-servers": "sidecall.features.mcp_server.cli:mcp_servers",
    },
)
