"""Find what a call belongs to: its conversation, its trace, and the request that it came with."""

import re
from contextvars import ContextVar

from sidecall.kernel.core.context import CallOrigin
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.ports.workspaces import FIELD, HEADER, name_conversation

REQUEST_ID: ContextVar[str] = ContextVar("sidecall_request_id", default="")

_CONVERSATION, _PARENT = HEADER.lower(), "traceparent"
_CONVERSATION_BYTES, _PARENT_BYTES = _CONVERSATION.encode(), _PARENT.encode()
# https://www.w3.org/TR/trace-context/: a version, a trace, a span and flags; later versions may say more.
_TRACE = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


def find_origin(request: CallRequest, trace_id: str = "") -> CallOrigin:
    """Return what a call belongs to; the trace is that of its span, or else the one that its sender has named."""
    known = request.origin
    if known is not None:  # It came before, with another request.
        return CallOrigin(known.conversation_id, trace_id or known.trace_id, known.request_id)
    headers, context = request.headers, request.context
    raw = getattr(headers, "raw", None)
    if raw is None:
        parent, is_named = headers.get(_PARENT), _CONVERSATION in headers
    else:  # Those of a live request, which look through all of them for each name.
        named = dict(raw)
        found, is_named = named.get(_PARENT_BYTES), _CONVERSATION_BYTES in named
        parent = None if found is None else found.decode("latin-1")
    conversation = name_conversation(headers, context) if is_named or (context and FIELD in context) else None
    if not trace_id and parent is not None:
        match = _TRACE.fullmatch(parent.strip())
        trace_id = "" if match is None else match[1]
    return CallOrigin(conversation, trace_id or None, REQUEST_ID.get() or None)


def get_origin(invocation: Invocation) -> CallOrigin:
    """Return what a running call belongs to, once its span has begun."""
    if invocation.origin is None:
        invocation.origin = find_origin(invocation.request, invocation.trace_id)
    return invocation.origin
