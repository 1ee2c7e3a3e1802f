"""The current request and call, as log lines see them, in any thread or library."""

from contextvars import ContextVar

from sidecall.kernel.concurrency import pools
from sidecall.kernel.core.context import cut_id
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.secret_mask import SecretMask

CALL: ContextVar[Invocation | None] = pools.CALL
REQUEST_ID: ContextVar[str] = ContextVar("sidecall_request_id", default="")


def get_mask() -> SecretMask | None:
    """Return the secret mask of the current call, or None."""
    call = CALL.get()
    return None if call is None else call.mask


def get_request_keys() -> dict[str, str]:
    """Return the ids of the current request and call, if there are any."""
    keys: dict[str, str] = {}
    call = CALL.get()
    if call is not None:
        keys = {"tool": call.tool.name, "call_id": cut_id(call.call.id), "invocation_id": call.id}
        if call.trace_id:
            keys["trace_id"] = call.trace_id
    request_id = REQUEST_ID.get()
    if request_id:
        keys["request_id"] = request_id
    return keys
