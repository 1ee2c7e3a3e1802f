"""Read tools of Google's ADK."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from sidecall.compat.foreign.frameworks.reader import CallState, Reader, Run, Source, is_blocking, read_value
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

_APP = "sidecall"
_STREAM = "input_stream"
_SESSION, _SERVICES, _INVOCATION, _CONFIRMATION, _CONTEXT = _MADE_OF = (
    "google.adk.sessions.session",
    "google.adk.sessions.in_memory_session_service",
    "google.adk.agents.invocation_context",
    "google.adk.tools.tool_confirmation",
    "google.adk.tools.tool_context",
)


def describe(it: Any) -> Source:
    """Describe a tool by its declaration; it runs itself, with a context made for the call."""
    declared = it._get_declaration()
    function = getattr(it, "func", None)
    for module in _MADE_OF:  # ADK loads them when they are first asked for, which is too late in a call.
        import_module(module)
    return Source(
        name=declared.name,
        description=declared.description or it.description or "",
        schema=_read_schema(declared),
        run=_make_run(it),
        written=function or it,
        is_blocking=function is not None and is_blocking(function),
        options={"requires_approval": _find_policy(it)},
    )


def _make_run(it: Any) -> Run:
    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        state = CallState(context)
        theirs = _make_context(context, state.values)
        answer = await it.run_async(args=args, tool_context=theirs)
        wanted = theirs.actions.requested_tool_confirmations.get(context.tool_call_id)
        if wanted is not None and not context.approved:
            raise ApprovalRequired(wanted.hint or None, payload=wanted.payload)
        return state.add_update(read_value(answer), {**state.values, **theirs.actions.state_delta})

    return run


def list_tools(it: Any) -> Iterable[Any]:
    """List the tools of a toolset."""
    found: Iterable[Any] = _run_aside(it.get_tools(None))
    return found


def find_obstacle(it: Any) -> str | None:
    """Return why a tool cannot be taken: Gemini runs it itself, or it streams."""
    function = getattr(it, "func", None)
    if inspect.isasyncgenfunction(function) or _STREAM in _list_parameters(function):
        return "it streams in a live session of ADK, which is not here"
    return "Gemini runs it itself, so it is named in the program" if it._get_declaration() is None else None


def _list_parameters(function: Any) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def _run_aside(awaitable: Any) -> Any:
    """Wait for what is async in a thread, since an event loop may run here."""

    async def settle() -> Any:
        return await awaitable

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, settle()).result()


def _read_schema(declared: Any) -> Schema:
    if declared.parameters_json_schema is not None:
        return dict(declared.parameters_json_schema)
    if declared.parameters is None:
        return {"type": "object", "properties": {}}
    return _rewrite(declared.parameters.model_dump(mode="json", exclude_none=True))


_RENAMED = {
    "any_of": "anyOf",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "additional_properties": "additionalProperties",
    "defs": "$defs",
    "ref": "$ref",
}
_LOST = ("nullable", "property_ordering", "example")


def _rewrite(schema: Any) -> Schema:
    """Rewrite a schema of Gemini's, whose types are in capitals, as JSON Schema."""
    made: Schema = {_RENAMED.get(key, key): value for key, value in schema.items() if key not in _LOST}
    if "type" in made:
        kind = str(made["type"]).lower()
        made["type"] = [kind, "null"] if schema.get("nullable") else kind
    if "properties" in made:
        made["properties"] = {name: _rewrite(inner) for name, inner in made["properties"].items()}
    if isinstance(made.get("items"), Mapping):
        made["items"] = _rewrite(made["items"])
    if "anyOf" in made:
        made["anyOf"] = [_rewrite(inner) for inner in made["anyOf"]]
    return made


def _find_policy(it: Any) -> Any:
    """Return when a person has to approve, as the tool's `require_confirmation` says."""
    policy = getattr(it, "_require_confirmation", False)
    if not callable(policy):
        return bool(policy)

    async def requires_approval(context: ToolContext, args: Mapping[str, Any], call_id: str) -> bool:
        del call_id
        theirs = _make_context(context, CallState(context).values)
        return bool(await it.check_require_confirmation(dict(args), theirs))

    return requires_approval


def _make_context(context: ToolContext, state: dict[str, Any]) -> Any:
    """Make the context of a call: with its id, the caller's state, and a person's approval."""
    session = import_module(_SESSION).Session(
        id=context.invocation_id or context.tool_call_id, app_name=_APP, user_id=context.caller.subject, state=state
    )
    services = import_module(_SERVICES)
    invocation = import_module(_INVOCATION).InvocationContext(
        session_service=services.InMemorySessionService(),
        invocation_id=context.invocation_id or context.tool_call_id,
        session=session,
    )
    confirmation = import_module(_CONFIRMATION).ToolConfirmation
    return import_module(_CONTEXT).ToolContext(
        invocation_context=invocation,
        function_call_id=context.tool_call_id,
        tool_confirmation=confirmation(confirmed=True) if context.approved else None,
    )


READER = Reader(describe, list_tools, find_obstacle)
