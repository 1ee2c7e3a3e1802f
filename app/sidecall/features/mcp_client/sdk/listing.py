"""Read the listed tools of an MCP server one by one, so that a bad one affects only itself."""

import logging
from typing import Any

import mcp_types
from pydantic import ValidationError

from sidecall.features.mcp_client.link import ListedTool
from sidecall.kernel.core.options import ToolAnnotations

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
