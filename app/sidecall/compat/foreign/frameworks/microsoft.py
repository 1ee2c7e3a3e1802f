"""Read tools of AutoGen and of Microsoft's Agent Framework."""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import MethodType
from typing import Any

from sidecall.compat.foreign.frameworks.make import FrameworkTool, make_tool
from sidecall.compat.foreign.frameworks.reader import Reader, Source, is_blocking, read_value
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException


def describe_autogen(it: Any) -> Source:
    """Describe a tool by its schema; its cancellation token is cancelled with the call."""
    said = it.schema
    function = getattr(it, "_func", None)

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        token = import_module("autogen_core").CancellationToken()
        try:
            if not hasattr(it, "run_json_stream"):
                return read_value(await it.run_json(args, token, call_id=context.tool_call_id))
            return read_value(await _run_stream(it, args, token, context))
        except asyncio.CancelledError:
            token.cancel()
            raise

    return Source(
        name=said["name"],
        description=said.get("description", ""),
        schema=dict(said.get("parameters", {})),
        run=run,
        written=function or it,
        is_blocking=function is not None and is_blocking(function),
    )


async def _run_stream(it: Any, args: dict[str, Any], token: Any, context: ToolContext) -> Any:
    """Return the last thing that a streaming tool yields; those before are progress."""
    last: Any = None
    count = 0
    async for part in it.run_json_stream(args, token, call_id=context.tool_call_id):
        if count:
            context.report_progress(count, None, it.return_value_as_string(last))
        last, count = part, count + 1
    return last


def list_workbench(it: Any) -> Iterable[FrameworkTool]:
    """List the tools of a workbench, which calls them itself."""

    async def list_all() -> Any:
        return await it.list_tools()

    with ThreadPoolExecutor(1) as thread:
        listed = thread.submit(asyncio.run, list_all()).result()
    return [make_tool(_describe_listed(it, said), None, {}) for said in listed]


def _describe_listed(bench: Any, said: Mapping[str, Any]) -> Source:
    name = said["name"]
    functions = (getattr(tool, "_func", None) for tool in getattr(bench, "_tools", ()) if tool.name == name)
    function = next(functions, None)

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        token = import_module("autogen_core").CancellationToken()
        try:
            answer = await bench.call_tool(name, args, token, call_id=context.tool_call_id)
        except asyncio.CancelledError:
            token.cancel()
            raise
        if answer.is_error:
            raise ToolException(answer.to_text())
        return read_value(answer.result)

    return Source(
        name=name,
        description=said.get("description", ""),
        schema=dict(said.get("parameters", {})),
        run=run,
        written=function or bench,
        is_blocking=function is not None and is_blocking(function),
    )


def describe_agent_framework(it: Any) -> Source:
    """Describe a function tool; the caller's context is its context's `kwargs`."""
    function = getattr(it.func, "func", it.func)
    owner = getattr(it, "_instance", None)
    written = function if owner is None else MethodType(function, owner)

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        sent = context.context if isinstance(context.context, Mapping) else {}
        theirs = import_module("agent_framework").FunctionInvocationContext(
            function=it, arguments=args, kwargs=dict(sent), metadata={"state": context.state}
        )
        answer = await it.invoke(arguments=args, context=theirs, tool_call_id=context.tool_call_id)
        return read_value(answer) if answer else ""

    return Source(
        name=it.name,
        description=it.description or "",
        schema=dict(it.parameters()),
        run=run,
        written=written,
        is_blocking=is_blocking(function),
        options={"requires_approval": it.approval_mode == "always_require"},
    )


def find_obstacle(it: Any) -> str | None:
    """Return why a function tool cannot be taken: it is a declaration alone."""
    return "it is a declaration, which the program answers itself" if it.declaration_only else None


AUTOGEN = Reader(describe_autogen, list_workbench)
AGENT_FRAMEWORK = Reader(describe_agent_framework, find_obstacle=find_obstacle)
