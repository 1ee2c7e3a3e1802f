"""Read a call by its plain arguments, and answer it in front of the framework."""

from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

from msgspec.structs import replace
from starlette.types import Receive, Scope
from uuid_utils import uuid4

from sidecall.features.openapi_export.answers import begin_operation
from sidecall.features.server_parts import Parts
from sidecall.http.body import parse_body
from sidecall.http.context import RequestContext
from sidecall.http.disconnect import DisconnectSweep
from sidecall.http.fast_path import CALLED, Reply, Shortcut
from sidecall.http.plain_requests import REMEMBERING, with_body, without
from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import make_call
from sidecall.kernel.json_data.text import name_json_type, read_object
from sidecall.kernel.pipeline.hooks import NO_CONTEXT, is_permitted
from sidecall.rest.served_examples import make_arguments
from sidecall.rest.shortcuts import SHOWN_CONTEXT


def make_shortcuts(parts: Parts) -> dict[str, Shortcut]:
    """Make the shortcut of calls that wait for their end, and have their context in no header."""

    def answer(scope: Scope, _receive: Receive, context: RequestContext, body: bytes) -> Reply | Awaitable[Reply]:
        request = make_request(parts, scope["path_params"]["name"], body, context)
        begun: Reply | Coroutine[Any, Any, Reply] = begin_operation(parts, scope, request)
        if isinstance(begun, Reply):
            return begun
        came: Reply | Awaitable[Reply]
        _, came = context.begin_while_present(begun)
        return came

    return {CALLED: without((SHOWN_CONTEXT, *REMEMBERING), with_body(parts.bounds, DisconnectSweep(), answer))}


def make_request(
    parts: Parts, name: str, body: bytes, about: RequestContext, context: Mapping[str, Any] = NO_CONTEXT
) -> CallRequest:
    """Read the call of a tool from the body, which holds its arguments.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is not an object.
    """
    args = read_object(parse_body(body)) if body.strip() else {}
    if not isinstance(args, dict):
        raise _refuse(parts, name, args, about)
    call = make_call(name, args, f"call_{uuid4().hex}")
    return CallRequest(call, replace(about, wants_value=True), None, context)


def _refuse(parts: Parts, name: str, args: Any, about: RequestContext) -> NotAToolCall:
    text = f"The body holds the arguments of the tool, as a JSON object, not as {name_json_type(args)}."
    tool = parts.registry.get(name)
    is_known = tool is not None and tool.options.is_for_all and is_permitted(tool, about.caller)
    return NotAToolCall(text, example=make_arguments(tool) if tool is not None and is_known else {})
