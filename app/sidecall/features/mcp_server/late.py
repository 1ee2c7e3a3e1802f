"""The MCP endpoint, loaded with the first request."""

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.http import problems
from sidecall.kernel.http.fast_path import Reply, Rest, serve
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.mcp_server import endpoint as _endpoint
    from sidecall.features.mcp_server import parts as _parts
else:
    _endpoint = Later("sidecall.features.mcp_server.endpoint")


class LateMcpEndpoint:
    """Answer every request of one path; most servers get none."""

    def __init__(self, make_parts: "Callable[[], _parts.McpParts]") -> None:
        self._make_parts = make_parts

    @cached_property
    def parts(self) -> "_parts.McpParts":
        """The parts that the methods use."""
        return self._make_parts()

    @cached_property
    def _opened(self) -> "_endpoint.McpEndpoint":
        return _endpoint.McpEndpoint(self.parts)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        return serve(self.begin(scope, receive), scope, receive, send)

    def begin(self, scope: Scope, receive: Receive) -> Reply | Rest:
        """Answer one request at once, or return what goes on with it."""
        try:
            return self._opened.begin(scope, receive)
        except (OSError, ImportError, RequestError) as error:  # The next request may have more luck.
            return Rest(partial(problems.refuse, error=error))
