"""Routes for the MCP servers whose tools are offered here, and for what waits there to be accepted."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from sidecall.features.mcp_client.pins import InvalidPins, Pins, ToolsNotWaiting
from sidecall.features.mcp_client.upstream import Upstream
from sidecall.features.server_parts import PartsDep
from sidecall.features.status.collect import read_mcp_servers
from sidecall.features.status.models import McpServerStatus
from sidecall.features.status.operation import NoUpstream
from sidecall.http.body import parse_body, read_body
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.kernel.core.errors import InvalidParameter, NothingWaits, UnknownMcpServer, cut_name
from sidecall.kernel.core.overload import PartUnavailable
from sidecall.kernel.core.scopes import OPERATE
from sidecall.rest.body_errors import format_errors, list_errors
from sidecall.rest.openapi import CALLER_PROBLEM, describe_problems, json_body

router = APIRouter(tags=["operations"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

ServerName = Annotated[str, Path(description="Its name in the `mcp.json`.")]


class WaitingMcpTool(BaseModel, defer_build=True):
    """A tool that has changed, or is new, and is not offered until it is accepted."""

    name: str = Field(description="As its server names it.")
    hash: str = Field(description="Of what it says now. One that is accepted with it has not changed again meanwhile.")
    change: str = Field(description="What is different, `-` what was accepted and `+` what waits; else what it says.")


class ListedMcpServer(McpServerStatus):
    """An MCP server whose tools are offered here, and what waits to be accepted of it."""

    accepted: int = Field(description="How many of its tools were accepted; 0 where tools are not pinned.")
    waiting_tools: list[WaitingMcpTool]


class Acceptance(BaseModel, defer_build=True):
    """What is accepted of a server's waiting tools."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tools: list[str] | dict[str, str] | None = Field(
        default=None,
        description="Names of tools; or of each the `hash` that you have seen, so that no other is accepted. Null: all "
        "that wait.",
    )
    schema_only: bool = Field(
        default=False, description="Let descriptions change; models go on to read the accepted ones."
    )


class AcceptedTools(BaseModel, defer_build=True):
    """What was accepted, and what waits on."""

    name: str = Field(description="The server.")
    accepted: list[str]
    waiting: list[str]


_EXAMPLES = {
    "all": {"summary": "All that wait", "value": {}},
    "seen": {"summary": "One, as it was seen", "value": {"tools": {"read_file": "4f2a9c"}}},
}
_BODY = {**json_body(Acceptance, _EXAMPLES), "required": False}


@router.get(
    "/mcp-servers",
    operation_id="list_mcp_servers",
    summary="List MCP servers",
    response_model=None,
    responses={
        200: {"model": list[ListedMcpServer], "description": "Those whose tools are offered here."},
        **CALLER_PROBLEM,
        **describe_problems(_503="The file of what was accepted cannot be read."),
    },
)
async def list_mcp_servers(parts: PartsDep) -> Response:
    """List the MCP servers whose tools are offered here, how each is, and which of its tools wait to be accepted.

    The connections are those of the worker that answers.
    """
    upstream = parts.operation.upstream
    if isinstance(upstream, NoUpstream):
        return Reply(b"[]").to_response()
    pins = await _read_pins(upstream)
    found = [_show(status, pins) for status in read_mcp_servers(upstream)]
    return Reply(to_json(found)).to_response()


@router.post(
    "/mcp-servers/{name:path}/accept",
    operation_id="accept_mcp_tools",
    summary="Accept changed tools of an MCP server",
    response_model=None,
    responses={
        200: {"model": AcceptedTools, "description": "They are offered within seconds, by all workers."},
        **CALLER_PROBLEM,
        **describe_problems(
            _404="There is no such server.",
            _409="One of the tools does not wait, or has changed again since it was seen; none is accepted.",
            _413="The body is larger than this server takes.",
            _415="The body is not declared as JSON.",
            _422="The body or a parameter is wrong.",
            _503="The file of what was accepted cannot be read or written.",
        ),
    },
    openapi_extra={"requestBody": _BODY},
)
async def accept_mcp_tools(request: Request, parts: PartsDep, caller: CallerDep, name: ServerName) -> Response:
    """Accept what tools of a server say now, as `sidecall mcp-servers accept` does. The audit says who did."""
    parts.auditor.require(caller, OPERATE)  # A name may have slashes in it, and permissions look at paths part by part.
    upstream = parts.operation.upstream
    if isinstance(upstream, NoUpstream) or name not in {server.name for server in upstream.servers}:
        raise UnknownMcpServer
    body = await read_body(request, parts.bounds)
    wanted = _read(parse_body(body) if body.strip() else {})
    tools = dict.fromkeys(wanted.tools) if isinstance(wanted.tools, list) else wanted.tools
    try:
        taken = await upstream.accept(name, tools, schema_only=wanted.schema_only)
    except ToolsNotWaiting as error:
        raise NothingWaits(_explain(name, error)) from None
    except InvalidPins as error:
        raise PartUnavailable(error.message) from error
    details = {"tools": taken, **({"schema_only": True} if wanted.schema_only else {})}
    await parts.auditor.record("tools_accepted", caller, name, details)
    left = (await _read_pins(upstream)).waiting.get(name, {})
    return Reply(to_json(AcceptedTools(name=name, accepted=taken, waiting=sorted(left)))).to_response()


async def _read_pins(upstream: Upstream) -> Pins:
    try:
        return await upstream.read_pins()
    except InvalidPins as error:
        raise PartUnavailable(error.message) from error


def _read(body: Any) -> Acceptance:
    try:
        return Acceptance.model_validate(body)
    except ValidationError as error:
        errors = list_errors(error, body)
        text = f"The body may be left out, or name tools: {format_errors(errors)}."
        raise InvalidParameter(text, errors=errors, example=_EXAMPLES["seen"]["value"]) from None


def _explain(server: str, error: ToolsNotWaiting) -> str:
    if not error.tools:
        return f"No tool of {server} waits to be accepted."
    named = " or ".join(map(cut_name, error.tools))
    return f"No tool of {server} called {named} waits as you name it; `GET /mcp-servers` shows those that do."


def _show(status: McpServerStatus, pins: Pins) -> ListedMcpServer:
    waiting = pins.waiting.get(status.name, {})
    tools = [
        WaitingMcpTool(name=name, hash=tool.hash, change=pins.describe_change(status.name, name))
        for name, tool in sorted(waiting.items())
    ]
    accepted = len(pins.accepted.get(status.name, ()))
    return ListedMcpServer(**dict(status), accepted=accepted, waiting_tools=tools)
