"""What is wanted of the connection to an MCP server, whichever library makes it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sidecall.features.mcp_client.listed import ListedTool

# Hears how far a call has come: done, of how much, and in which words.
Report = Callable[[float, float | None, str | None], Awaitable[None]]


class LinkLost(Exception):
    """The server is out of reach."""


class ServerAbsent(LinkLost):
    """There is nothing to speak to: no program, or nothing at the address."""


class LinkRefused(LinkLost):
    """The server answers that it does not want to be spoken to."""


class CallRefused(Exception):
    """The server does not answer this call with a result; the text is its own."""


@dataclass(frozen=True, slots=True)
class LinkBounds:
    """How large a message may be, and how many tools a server may have."""

    message_bytes: int = 16 * 1024 * 1024
    tools: int = 1000


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """What a server answers: MCP's blocks of content, the value that they say, if it gives one, and the artifact.

    Only another Sidecall has an artifact.
    """

    blocks: Sequence[Mapping[str, Any]]
    is_error: bool = False
    has_value: bool = False
    value: Any = None
    artifact: Any = None


@dataclass(slots=True)
class LinkNews:
    """What has happened to a connection since somebody looked."""

    changed: bool = False
    gone: str | None = None
    has_any: asyncio.Event = field(default_factory=asyncio.Event)

    def notify_changed(self) -> None:
        """Note that the list of tools has changed, or may have."""
        self.changed = True
        self.has_any.set()

    def tell_gone(self, reason: str) -> None:
        """Note that the server is out of reach."""
        self.gone = self.gone or reason
        self.has_any.set()


class UpstreamLink(Protocol):
    """A connection to an MCP server."""

    revision: str

    async def list_tools(self) -> list[ListedTool]:
        """List its tools.

        Raises:
            LinkLost: It does not answer.
        """

    async def call(
        self, name: str, args: Mapping[str, Any], report: Report, headers: Mapping[str, str]
    ) -> RemoteAnswer:
        """Call one of them, with headers of this call alone.

        Raises:
            LinkLost: It does not answer any more.
            CallRefused: It refuses the call.
        """
