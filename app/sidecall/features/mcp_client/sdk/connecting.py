"""Connect to an MCP server with the official client."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import httpx2
import mcp_types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from sidecall.features.mcp_client.link import (
    CallRefused,
    LinkBounds,
    LinkChanges,
    LinkLost,
    LinkRefused,
    ListedTool,
    RemoteAnswer,
    Report,
    ServerAbsent,
)
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.sdk.message_bounds import BoundedBody, BoundedEvents
from sidecall.features.mcp_client.sdk.process_reapers import ProcessReaper
from sidecall.features.mcp_client.sdk.processes import open_pipes
from sidecall.kernel.core.options import ToolAnnotations
from sidecall.version import __version__

logger = logging.getLogger("sidecall")

# Required for a call; any other invalid field is left out alone.
_NEEDED = frozenset(("name", "inputSchema", "description"))


class InvalidPage(ValueError):
    """What a server sends is no page of a list."""


async def fetch_page(session: Any, cursor: str | None) -> tuple[list[Any], str | None]:
    """Fetch a raw page and the cursor of the next one.

    Raises:
        InvalidPage: The page is invalid.
    """
    # The session's own request validates the whole page, and has no public way around that; hence the package's version
    # is capped.
    request = mcp_types.ListToolsRequest(params=mcp_types.PaginatedRequestParams(cursor=cursor))
    data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options: dict[str, Any] = {}
    session._stamp(data, options)
    page = await session._dispatcher.send_raw_request(data["method"], data.get("params"), options)
    tools, following = page.get("tools"), page.get("nextCursor")
    if not isinstance(tools, list):
        raise InvalidPage("`tools` is no list.")
    if following is not None and not isinstance(following, str):
        raise InvalidPage("`nextCursor` is no text.")
    return tools, following


def read_tools(server: str, session: Any, items: list[Any]) -> list[ListedTool]:
    """Read the tools of a page; invalid ones are left out, with a warning that names the field."""
    found = []
    for place, item in enumerate(items):
        tool = _read_fields(server, place, item)
        if tool is not None and _note_headers(server, session, tool):
            found.append(_make_listed(tool))
    return found


def keep_first(server: str, tools: list[ListedTool]) -> list[ListedTool]:
    """Keep the first of those that have one name."""
    found: dict[str, ListedTool] = {}
    for tool in tools:
        if found.setdefault(tool.name, tool) is not tool:
            logger.warning("a tool of MCP server %s is not offered: another has its `name`, %r", server, tool.name)
    return list(found.values())


def _note_headers(server: str, session: Any, tool: mcp_types.Tool) -> bool:
    """Register for the session which arguments go into headers; False if those are invalid."""
    try:
        kept = session._absorb_tool_listing(mcp_types.ListToolsResult(tools=[tool]), complete=False).tools
    except Exception:  # A schema whose inner parts have other types than the session expects.
        logger.warning("tool %r of MCP server %s is not offered: its `inputSchema` is malformed", tool.name, server)
        return False
    return bool(kept)


def _read_fields(server: str, place: int, item: Any) -> mcp_types.Tool | None:
    if not isinstance(item, dict):
        logger.warning("tool %d of MCP server %s is not offered: it is no object", place, server)
        return None
    said = item.get("name")
    name = repr(said) if isinstance(said, str) and said else f"number {place}"
    bad = _find_bad(item)
    for field in sorted(bad & _NEEDED):
        logger.warning("tool %s of MCP server %s is not offered: its `%s` is malformed", name, server, field)
        return None
    for field in sorted(bad):
        logger.warning("tool %s of MCP server %s is offered without its `%s`, which is malformed", name, server, field)
    return mcp_types.Tool.model_validate({key: value for key, value in item.items() if key not in bad}, by_name=False)


def _find_bad(item: dict[str, Any]) -> set[str]:
    """Find the fields that are not as they have to be."""
    bad = set()
    try:
        mcp_types.Tool.model_validate(item, by_name=False)
    except ValidationError as error:
        bad = {str(fault["loc"][0]) for fault in error.errors(include_url=False, include_input=False)}
    if item.get("name") == "":
        bad.add("name")
    for field in ("inputSchema", "outputSchema"):
        schema = item.get(field)
        if isinstance(schema, dict) and not isinstance(schema.get("properties", {}), dict):
            bad.add(field)
    # Arguments are objects; results need not be.
    if isinstance(item.get("inputSchema"), dict) and item["inputSchema"].get("type", "object") != "object":
        bad.add("inputSchema")
    return bad


def _make_listed(tool: mcp_types.Tool) -> ListedTool:
    hints = tool.annotations or mcp_types.ToolAnnotations()
    return ListedTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        title=tool.title,
        annotations=ToolAnnotations(
            title=hints.title,
            read_only=hints.read_only_hint,
            destructive=hints.destructive_hint,
            idempotent=hints.idempotent_hint,
            open_world=hints.open_world_hint,
        ),
    )


_CLIENT = mcp_types.Implementation(name="sidecall", version=__version__)
# Asks another Sidecall for its artifact too; other servers ignore it.
_ARTIFACT = "sidecall/artifact"
_ASKED: Any = {_ARTIFACT: True}
# Seconds to connect; the time for an answer is bounded by the call's deadline.
_REACH = 30.0
# Maximum pages of a list, which a server could extend without end.
_MOST_PAGES = 100


class SdkLink:
    """A connection of the official client."""

    def __init__(self, server: str, entry: UpstreamEntry, bounds: LinkBounds, client: Any) -> None:
        self._server = server
        self._entry = entry
        self._bounds = bounds
        self._client = client
        self.revision: str = client.protocol_version

    async def list_tools(self) -> list[ListedTool]:
        """List its tools.

        Raises:
            LinkLost: It does not answer, or has too many.
        """
        found: list[ListedTool] = []
        cursor: str | None = None
        count = 0
        try:
            for _ in range(_MOST_PAGES):
                items, cursor = await fetch_page(self._client.session, cursor)
                count += len(items)
                if count > self._bounds.tools:
                    raise LinkLost(f"It has more than {self._bounds.tools} tools.")
                found.extend(read_tools(self._server, self._client.session, items))
                if not cursor:
                    break
        except (MCPError, ValidationError, InvalidPage, RuntimeError) as error:
            raise LinkLost(f"It does not list its tools: {format_connection_error(error)}") from error
        return keep_first(self._server, found)

    async def call(
        self, name: str, args: Mapping[str, Any], report: Report, headers: Mapping[str, str]
    ) -> RemoteAnswer:
        """Call a tool, with headers for this call only.

        Raises:
            LinkLost: The server does not answer any more.
            CallRefused: The server refuses the call.
        """
        if not headers:
            return await _call(self._client, name, args, report)
        answer = None
        try:
            async with self._open_aside(headers) as client:
                answer = await _call(client, name, args, report)
        except* (httpx2.HTTPError, LinkLost) as errors:
            raise LinkLost(format_connection_error(errors)) from errors
        assert answer is not None
        return answer

    @asynccontextmanager
    async def _open_aside(self, headers: Mapping[str, str]) -> AsyncIterator[Any]:
        """Open a connection for one call, without other callers' headers and sessions."""
        is_modern = self.revision in MODERN_PROTOCOL_VERSIONS
        known = self._client.session.discover_result if is_modern else None
        mode = self.revision if is_modern else "legacy"
        transport = _open_http(self._entry, self._bounds, headers)
        async with Client(transport, cache=None, client_info=_CLIENT, mode=mode, prior_discover=known) as client:
            _take_any_result(client)
            yield client


def _take_any_result(client: Any) -> None:
    """Let a client return results that violate the tool's output schema: raising would lose a result."""

    async def take(_name: str, _result: Any) -> None:
        return None

    client.session.validate_tool_result = take


async def _call(client: Any, name: str, args: Mapping[str, Any], report: Report) -> RemoteAnswer:
    try:
        result = await client.call_tool(name, dict(args), progress_callback=report, meta=_ASKED)
    except MCPError as error:
        if _is_closed(error):
            raise LinkLost("The connection was closed.") from error
        raise CallRefused(error.error.message) from error
    except ValidationError as error:
        raise CallRefused(f"The tool has run, but its answer cannot be read: {_format_mismatch(error)}.") from error
    except RuntimeError as error:  # An answer with a question that cannot be passed on.
        raise CallRefused(format_connection_error(error)) from error
    said = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return RemoteAnswer(
        blocks=said.get("content", []),
        is_error=bool(result.is_error),
        has_value=result.structured_content is not None,
        value=result.structured_content,
        artifact=(result.meta or {}).get(_ARTIFACT),
    )


@asynccontextmanager
async def open_link(
    server: str, entry: UpstreamEntry, bounds: LinkBounds, news: LinkChanges, warden: ProcessReaper, *, is_legacy: bool
) -> AsyncIterator[SdkLink]:
    """Connect to a server until the body ends; `news` gets changes, and the server's end.

    With `is_legacy` only the revisions before 2026-07-28 are used.

    Raises:
        ServerAbsent: The server cannot be reached.
        LinkRefused: It answers with an error.
    """

    async def hear(message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            news.notify_changed()

    async with AsyncExitStack() as stack:
        if entry.url is None:
            transport: Any = open_pipes(server, entry, bounds.message_bytes, warden, news.notify_gone)
        else:
            transport = _open_http(entry, bounds, {})
        mode = "legacy" if is_legacy else "auto"
        opened = Client(transport, cache=None, client_info=_CLIENT, message_handler=hear, mode=mode)
        try:
            client = await stack.enter_async_context(opened)
        except Exception as error:
            known = _read_failure(error)
            if known is None:
                raise
            raise known from error
        _take_any_result(client)
        listening = asyncio.create_task(_listen(client, news))
        try:
            yield SdkLink(server, entry, bounds, client)
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def _listen(client: Any, news: LinkChanges) -> None:
    """Subscribe to changes where that is necessary."""
    tools = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
        return
    with suppress(MCPError, RuntimeError, TimeoutError):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                news.notify_changed()


@asynccontextmanager
async def _open_http(entry: UpstreamEntry, bounds: LinkBounds, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    assert entry.url is not None
    timeout = httpx2.Timeout(_REACH, read=None)
    sent = {"Accept-Encoding": "identity", **entry.headers, **headers}
    hooks: Any = {"response": [partial(_bound_body, bounds.message_bytes)]}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=timeout, event_hooks=hooks) as http,
        streamable_http_client(entry.url, http_client=http, max_sse_event_size=bounds.message_bytes) as streams,
    ):
        yield streams


async def _bound_body(limit: int, response: httpx2.Response) -> None:
    """Bound a body that is one message, and each event of a stream."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise LinkLost("It compresses answers, although it was asked not to.")
    is_stream = response.headers.get("Content-Type", "").lower().startswith("text/event-stream")
    response.stream = (BoundedEvents if is_stream else BoundedBody)(response.stream, limit)


def format_connection_error(error: BaseException) -> str:
    """Describe why a server is not reached, without its address, which may contain a secret."""
    error = _find_first(error)
    if isinstance(error, LinkLost):
        return str(error)
    if isinstance(error, TimeoutError):
        return "It does not answer in time."
    if isinstance(error, MCPError):
        return str(error.error.message)
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _format_mismatch(error: ValidationError) -> str:
    """Format a validation error of an answer by its first location, without the value."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    match fault["loc"]:
        case ("content", int() as place, *_):  # Each kind of block adds complaints of its own.
            return f"content[{place}] is no content block"
        case ():
            return fault["msg"]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"


def _read_failure(error: Exception) -> LinkLost | None:
    """Read why no connection came about, where that is known."""
    first = _find_first(error)
    if isinstance(first, (ServerAbsent, httpx2.ConnectError, httpx2.ConnectTimeout)):
        return ServerAbsent(format_connection_error(error))
    if isinstance(first, MCPError) and not _is_closed(first):
        return LinkRefused(f"It refuses to be connected to: {format_connection_error(error)}")
    return None


def _is_closed(error: MCPError) -> bool:
    """Return whether the client reports a closed connection; a server's own errors may have the same code."""
    said = error.error
    return said.code == mcp_types.CONNECTION_CLOSED and said.message == "Connection closed" and said.data is None


def _find_first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
