"""Read functions and toolkits of agno."""

import copy
import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from sidecall.compat.foreign.frameworks.reader import Reader, Run, Source, is_blocking
from sidecall.compat.foreign.frameworks.results import CallState, read_value, with_artifact, write_text
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException

_MEDIA = ("images", "videos", "audios", "files")
_HELD = ("agent", "team", *_MEDIA)


def describe(it: Any) -> Source:
    """Describe a function; it runs as in an agent, with a RunContext made for the call."""
    function = it.model_copy()
    function.process_entrypoint()
    written = it.entrypoint

    parameters = inspect.signature(written).parameters
    return Source(
        name=function.name,
        description=function.description or "",
        schema=function.parameters,
        run=_make_run(function),
        written=written,
        is_blocking=is_blocking(written),
        options={
            "requires_approval": bool(function.requires_confirmation),
            "return_direct": bool(function.stop_after_tool_call),
        },
        lost=tuple(
            f"takes `{name}` of the agent that runs it, which is None here" for name in _HELD if name in parameters
        ),
    )


def _make_run(function: Any) -> Run:
    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        state = CallState(context)
        own = copy.copy(function)
        own._run_context = _make_context(context, state.values)
        call = import_module("agno.tools.function").FunctionCall(
            function=own, arguments=args, call_id=context.tool_call_id
        )
        outcome = await call.aexecute()
        if outcome.status != "success":
            raise ToolException(outcome.error or "The tool failed.")
        return state.add_update(await _read_result(outcome.result), own._run_context.session_state)

    return run


def list_tools(it: Any) -> Iterable[Any]:
    """List the functions of a toolkit: the async one where there are two of a name."""
    return list(it.get_async_functions().values())


def find_obstacle(it: Any) -> str | None:
    """Return why a function cannot be taken: the program runs it, or asks its user for arguments."""
    if it.external_execution or it.entrypoint is None:
        return "the program is to run it itself"
    if it.requires_user_input:
        return "an agent of agno asks its user for arguments of it; name them among its parameters"
    return None


def _make_context(context: ToolContext, state: dict[str, Any]) -> Any:
    sent = context.context if isinstance(context.context, Mapping) else {}
    return import_module("agno.run.base").RunContext(
        run_id=context.invocation_id or context.tool_call_id,
        session_id=str(sent.get("session_id") or context.invocation_id or context.tool_call_id),
        user_id=context.caller.subject,
        session_state=state,
        dependencies=dict(sent),
        metadata={},
    )


async def _read_result(result: Any) -> Any:
    """Read a plain result, a ToolResult with media, or what a generator yields."""
    if inspect.isasyncgen(result):
        return _join([part async for part in result])
    if inspect.isgenerator(result):
        return _join(list(result))
    if type(result).__name__ != "ToolResult" or not hasattr(result, "content"):
        return read_value(result)
    media = [it for name in _MEDIA for it in getattr(result, name) or ()]
    content = read_value([result.content, *media]) if media else result.content
    return with_artifact(content, result.metadata)


def _join(parts: list[Any]) -> Any:
    return "".join(parts) if all(isinstance(part, str) for part in parts) else [write_text(str(it)) for it in parts]


READER = Reader(describe, list_tools, find_obstacle)
