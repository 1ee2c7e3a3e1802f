"""Find what a call belongs to: its conversation, its trace, and the request that it came with."""

import re
from contextvars import ContextVar

from sidecall.kernel.core.context import CallOrigin
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.ports.workspaces import FIELD, HEADER, name_conversation

REQUEST_ID: ContextVar[str] = ContextVar("sidecall_request_id", default="")

# As they stand in a request.
CONVERSATION, PARENT = HEADER.lower().encode(), b"traceparent"
_new = tuple.__new__
# https://www.w3.org/TR/trace-context/: a version, a trace, a span and flags; later versions may say more.
_TRACE = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


def find_origin(request: CallRequest, trace_id: str = "") -> CallOrigin:
    """Return what a call belongs to; the trace is that of its span, or else the one that its sender has named."""
    known = request.origin
    if known is not None:  # It came before, with another request.
        return CallOrigin(known.conversation_id, trace_id or known.trace_id, known.request_id)
    headers, context = request.headers, request.context
    conversation = None
    if getattr(headers, "names_origin", True):
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
    origin = invocation.origin
    if origin is None:
        origin = invocation.origin = find_origin(invocation.request, invocation.trace_id)
    return origin
