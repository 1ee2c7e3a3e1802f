"""What a call belongs to (conversation, trace, request), and the current call, as log lines see it in any thread."""

import re
from contextvars import ContextVar

from sidecall.kernel.concurrency import pools
from sidecall.kernel.core.context import CallOrigin, cut_id
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.ports.workspaces import FIELD, HEADER, name_conversation

REQUEST_ID: ContextVar[str] = ContextVar("sidecall_request_id", default="")

# As they stand in a request.
CONVERSATION, PARENT = HEADER.lower().encode(), b"traceparent"
_new = tuple.__new__
# https://www.w3.org/TR/trace-context/: a version, a trace, a span and flags; later versions may say more.
_TRACE = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


def may_name_origin(headers: object) -> bool:
    """Return whether headers may name a conversation or a trace; those of most requests are known not to."""
    return getattr(headers, "names_origin", True)


def find_origin(request: CallRequest, trace_id: str = "") -> CallOrigin:
    """Return what a call belongs to; the trace is that of its span, or else the one that its sender has named."""
    known = request.origin
    if known is not None:
        return CallOrigin(known.conversation_id, trace_id or known.trace_id, known.request_id)
    headers, context = request.sender.headers, request.context
    conversation = None
    if may_name_origin(headers):
        conversation = name_conversation(headers, context)
        trace_id = trace_id or _read_trace(headers.get("traceparent"))
    elif context and FIELD in context:
        conversation = name_conversation(headers, context)
    # Past the constructor, which would double the cost.
    return _new(CallOrigin, (conversation, trace_id or None, REQUEST_ID.get() or None))


def _read_trace(parent: str | None) -> str:
    match = None if parent is None else _TRACE.fullmatch(parent.strip())
    return "" if match is None else match[1]


def get_origin(invocation: Invocation) -> CallOrigin:
    """Return what a running call belongs to, once its span has begun."""
    request = invocation.request
    origin = request.origin
    if origin is None:  # It has not come before, with another request.
        origin = request.origin = find_origin(request)
    return origin


def begin_trace(invocation: Invocation, trace_id: str) -> CallOrigin:
    """Note the trace of a call's span, and return what the call belongs to."""
    origin = invocation.request.origin = find_origin(invocation.request, trace_id)
    return origin


CALL: ContextVar[Invocation | None] = pools.CALL


def get_mask() -> SecretMask | None:
    """Return the secret mask of the current call, or None."""
    call = CALL.get()
    return None if call is None else call.secrets.mask


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
