"""JSON-RPC for MCP: read messages, write answers."""

from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from sidecall.kernel.core.errors import SidecallError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Codes of MCP's own.
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
OLD_RESOURCE_NOT_FOUND = -32002  # before 2026-07-28

Id = str | int
_KINDS_OF_ID = frozenset((str, int))


class RpcError(SidecallError):
    """The message cannot be answered with a result.

    `status` is that of the HTTP answer, where the revision ties them together; `headers` go with it. `call_id` is the
    id of a request of which nothing else could be read.
    """

    def __init__(self, code: int, message: str, told: Any = None, *, status: int = 200) -> None:
        super().__init__(message)
        self.code = code
        self.told = told
        self.status = status
        self.headers: dict[str, str] = {}
        self.call_id: Id | None = None


@dataclass(slots=True)
class RpcMessage:
    """A request, or a notification, which has no id; `meta` is `params._meta`."""

    id: Id | None
    method: str
    params: dict[str, Any]
    meta: dict[str, Any]

    @property
    def is_request(self) -> bool:
        """Whether the message expects an answer."""
        return self.id is not None

    @property
    def tool_name(self) -> str | None:
        """The name of the called tool, if any."""
        name = self.params.get("name") if self.method == "tools/call" else None
        return name if isinstance(name, str) else None


def parse_message(body: Any) -> RpcMessage:
    """Read a message from parsed JSON.

    Raises:
        RpcError: It is not a message.
    """
    if type(body) is not dict or body.get("jsonrpc") != "2.0" or type(method := body.get("method")) is not str:
        raise RpcError(INVALID_REQUEST, "The body has to be one JSON-RPC 2.0 request or notification.", status=400)
    call_id = body.get("id")
    if type(call_id) not in _KINDS_OF_ID and "id" in body:
        raise RpcError(INVALID_REQUEST, "The id of a request has to be a text or an integer.", status=400)
    params = body.get("params")
    if params is None:
        return RpcMessage(call_id, method, {}, {})
    if type(params) is not dict or type(meta := params.get("_meta", {})) is not dict:
        error = RpcError(INVALID_PARAMS, "`params` and `params._meta` have to be objects.", status=400)
        error.call_id = call_id
        raise error
    return RpcMessage(call_id, method, params, meta)


def write_result(call_id: Id | None, result: bytes) -> bytes:
    """Write the answer to a request; its result is already JSON."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(call_id), result)


def write_error(call_id: Id | None, error: RpcError) -> bytes:
    """Write why a request has no result."""
    call_id = error.call_id if call_id is None else call_id
    told = {} if error.told is None else {"data": error.told}
    return to_json({"jsonrpc": "2.0", "id": call_id, "error": {"code": error.code, "message": error.message, **told}})


def write_notification(method: str, params: dict[str, Any]) -> bytes:
    """Write a message that wants no answer."""
    return to_json({"jsonrpc": "2.0", "method": method, "params": params})
