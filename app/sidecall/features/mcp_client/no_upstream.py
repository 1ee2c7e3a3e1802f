"""The connections of a server that offers the tools of no MCP server, and how others are opened."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from sidecall.later import later

if TYPE_CHECKING:
    from sidecall.features.mcp_client.connection_supervisor import UpstreamServer
    from sidecall.features.mcp_client.upstream import Upstream

# What connects to servers, which few have.
open_upstream: "Callable[..., Upstream]" = later("sidecall.features.mcp_client.upstream:open_upstream")


class NoUpstream:
    """Connects to nothing."""

    servers: "Sequence[UpstreamServer]" = ()
    waiting: Mapping[str, frozenset[str]] = MappingProxyType({})
    offered: Mapping[str, int] = MappingProxyType({})

    async def open(self, _on_tools: Callable[[], object]) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    def rejoin(self) -> None:
        """Do nothing."""

    async def wait_until_tried(self, _seconds: float) -> None:
        """Do nothing."""
