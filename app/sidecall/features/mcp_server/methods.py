"""The methods of the protocol, and their answers."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic_core import to_json

from sidecall.features.mcp_server.calls import call_tool
from sidecall.features.mcp_server.exchange import Exchange
from sidecall.features.mcp_server.parts import McpParts
from sidecall.features.mcp_server.resources import TEMPLATE, read_resource
from sidecall.features.mcp_server.results import SERVER, hint_caching, make_complete
from sidecall.features.mcp_server.revisions import HANDSHAKE, SUPPORTED
from sidecall.features.mcp_server.wire import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, RpcMessage
from sidecall.features.rates.headers import quota_headers
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.http.problems import find_known, find_status

logger = logging.getLogger("sidecall")

RpcMethod = Callable[[McpParts, RpcMessage, Exchange], Awaitable[bytes]]


async def answer_message(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    """Return the result of a request, as JSON.

    Raises:
        RpcError: It has none.
    """
    method = (_MODERN if exchange.is_modern else _HANDSHAKE).get(message.method)
    if method is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:100]}", status=404)
    try:
        return await method(parts, message, exchange)
    except RequestError as error:
        error.quotas = error.quotas or parts.pipeline.gate.quotas_of(exchange.caller, message.tool_name)
        raise format_refusal(error) from error
    except RpcError:
        raise
    except Exception as error:
        known = find_known(error)
        if known is not None:
            raise format_refusal(known) from error
        if isinstance(error, OSError):
            raise
        logger.error("%s failed", message.method, exc_info=error)
        raise RpcError(INTERNAL_ERROR, "The server failed; its log has the details.", status=500) from None


def format_refusal(error: RequestError) -> RpcError:
    """Make the JSON-RPC error for a problem; its code is the HTTP status over REST."""
    status, slug = find_status(error)
    told = {"type": f"urn:sidecall:problem:{slug}", **error.members}
    refusal = RpcError(status, error.message, told, status=status)
    refusal.headers.update(quota_headers(error.quotas))
    if isinstance(error, Overloaded):
        refusal.headers["Retry-After"] = str(error.retry_after)
    return refusal


def _describe_capabilities(parts: McpParts) -> dict[str, Any]:
    return {"tools": {"listChanged": parts.changes.is_fed}, "resources": {}, "prompts": {}}


async def _discover(parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    said = {"supportedVersions": list(SUPPORTED), "capabilities": _describe_capabilities(parts)}
    return to_json(make_complete(said | hint_caching(is_public=True)))


async def _initialize(parts: McpParts, message: RpcMessage, _exchange: Exchange) -> bytes:
    wanted = message.params.get("protocolVersion")
    spoken = wanted if wanted in HANDSHAKE else HANDSHAKE[-1]
    return to_json({"protocolVersion": spoken, "capabilities": _describe_capabilities(parts), "serverInfo": SERVER})


async def _ping(_parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    return b"{}"


async def _list_tools(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    return await parts.pages.find(exchange.caller, message.params.get("cursor"))


def _list_all(name: str, *items: Any) -> RpcMethod:
    """Make the method that answers with a list which never changes."""
    whole = to_json(make_complete({name: items} | hint_caching(is_public=True)))

    async def answer_list(_parts: McpParts, message: RpcMessage, _exchange: Exchange) -> bytes:
        if message.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "This list has one page, and no cursor.")
        return whole

    return answer_list


async def _read(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    return to_json(await read_resource(parts, message.params.get("uri"), exchange))


async def _refuse_prompt(_parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    raise RpcError(INVALID_PARAMS, "There is no such prompt: this server has none.")


_COMMON: Mapping[str, RpcMethod] = {
    "tools/list": _list_tools,
    "tools/call": call_tool,
    "resources/list": _list_all("resources"),
    "resources/templates/list": _list_all("resourceTemplates", TEMPLATE),
    "resources/read": _read,
    "prompts/list": _list_all("prompts"),
    "prompts/get": _refuse_prompt,
}
_MODERN: Mapping[str, RpcMethod] = {**_COMMON, "server/discover": _discover}
_HANDSHAKE: Mapping[str, RpcMethod] = {**_COMMON, "initialize": _initialize, "ping": _ping}
