"""Protocol of a connection to an MCP server, independent of the library."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic_core import to_json

from sidecall.kernel.core.options import ToolAnnotations
from sidecall.kernel.core.tool import Schema

_PINNED = frozenset(("readOnlyHint", "destructiveHint", "idempotentHint"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server lists it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: Schema = field(default_factory=dict)
    output_schema: Schema | None = None
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)

    @property
    def fingerprint(self) -> str:
        """A hash of its name, description, schemas and effects."""
        # The hints of the first version, so that older pins stay valid.
        hints = {name: value for name, value in self.annotations.mcp.items() if name in _PINNED}
        said: list[Any] = [self.name, self.description, self.input_schema, self.output_schema, hints]
        return hashlib.sha256(to_json(said)).hexdigest()

    @property
    def shape(self) -> str:
        """A hash of its schemas and effects, without the description."""
        return replace(self, description="").fingerprint


# Called with the progress of a call: done, total, message.
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
    """Bounds of a server: bytes of a message, and number of tools."""

    message_bytes: int = 16 * 1024 * 1024
    tools: int = 1000


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """A server's answer: MCP content blocks, the structured value if any, and the artifact.

    Only another Sidecall sends an artifact.
    """

    blocks: Sequence[Mapping[str, Any]]
    is_error: bool = False
    has_value: bool = False
    value: Any = None
    artifact: Any = None


@dataclass(slots=True)
class LinkChanges:
    """Changes of a connection since they were last read."""

    changed: bool = False
    gone: str | None = None
    has_any: asyncio.Event = field(default_factory=asyncio.Event)

    def notify_changed(self) -> None:
        """Note that the list of tools has changed, or may have."""
        self.changed = True
        self.has_any.set()

    def notify_gone(self, reason: str) -> None:
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
        """Call a tool, with headers for this call only.

        Raises:
            LinkLost: The server does not answer any more.
            CallRefused: The server refuses the call.
        """
