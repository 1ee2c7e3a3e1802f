"""Contents as resources of MCP: the whole of answers that were cut."""

import base64

from pydantic_core import to_json

from sidecall.features.mcp_server.parts import Exchange, McpParts, make_list_method
from sidecall.features.mcp_server.revisions import (
    INVALID_PARAMS,
    OLD_RESOURCE_NOT_FOUND,
    RpcError,
    RpcMessage,
    hint_caching,
    make_complete,
    make_uri,
)
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.errors import UnknownContent, cut_name
from sidecall.kernel.json_data.text import LARGE
from sidecall.kernel.ports.contents import KeptContent

_CONTENTS = make_uri("/contents/")
# Characters of an address that errors repeat.
_MOST_OF_URI = 256
_TEMPLATE = {
    "uriTemplate": f"{_CONTENTS}{{id}}",
    "name": "contents",
    "description": "The whole of an answer that was cut, as its resource link names it.",
}


list_resources = make_list_method("resources")
list_templates = make_list_method("resourceTemplates", _TEMPLATE)


async def read_resource(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    """Return the content of a resource.

    Raises:
        RpcError: The caller has no such resource, or it has expired.
    """
    uri = message.params.get("uri")
    if not isinstance(uri, str):
        raise RpcError(INVALID_PARAMS, "`uri` has to be a text.")
    try:
        if not uri.startswith(_CONTENTS):
            raise UnknownContent
        content = await parts.contents.get(uri.removeprefix(_CONTENTS), exchange.caller)
    except UnknownContent as error:
        code = INVALID_PARAMS if exchange.is_modern else OLD_RESOURCE_NOT_FOUND
        raise RpcError(code, f"Resource not found: {error.message}", {"uri": cut_name(uri, _MOST_OF_URI)}) from None
    held = (
        await RESULTS.run_for(key_of(exchange.caller), _hold, content) if len(content.body) > LARGE else _hold(content)
    )
    shown = {"uri": uri, "mimeType": content.media_type, **held}
    return to_json(make_complete({"contents": [shown], **hint_caching(is_public=False)}))


def _hold(content: KeptContent) -> dict[str, str]:
    if content.media_type.startswith("text/") or content.media_type.partition(";")[0] == "application/json":
        try:
            return {"text": content.body.decode()}
        except UnicodeDecodeError:
            pass
    return {"blob": base64.b64encode(content.body).decode()}
