"""The current request and call, as log lines see them, in any thread or library."""

from contextvars import ContextVar

from sidecall.kernel.concurrency import pools
from sidecall.kernel.core.context import CallOrigin, cut_id
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.origin import REQUEST_ID, get_origin
from sidecall.kernel.core.secret_mask import SecretMask

CALL: ContextVar[Invocation | None] = pools.CALL


def get_mask() -> SecretMask | None:
    """Return the secret mask of the current call, or None."""
    call = CALL.get()
    return None if call is None else call.mask


def get_request_keys() -> dict[str, str]:
    """Return the ids of the current request and call, if there are any."""
    keys: dict[str, str] = {}
    request_id: str | None = REQUEST_ID.get()
    call = CALL.get()
    if call is not None:
        origin = get_origin(call)
        keys = {
            "tool": call.tool.name,
            "call_id": cut_id(call.call.id),
            "invocation_id": call.id,
            **name_origin(origin),
        }
        request_id = request_id or origin.request_id
    if request_id:
        keys["request_id"] = request_id
    return keys


def name_origin(origin: CallOrigin) -> dict[str, str]:
    """Return the conversation and trace of a call, if it has any, as fields of a log line."""
    conversation_id, trace_id, _ = origin
    keys = {} if conversation_id is None else {"conversation_id": conversation_id}
    return keys if trace_id is None else {**keys, "trace_id": trace_id}
