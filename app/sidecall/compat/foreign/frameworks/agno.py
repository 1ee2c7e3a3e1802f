"""Read functions and toolkits of agno."""

import asyncio
import copy
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from sidecall.compat.foreign.frameworks.make import make_tool
from sidecall.compat.foreign.frameworks.media import write_text
from sidecall.compat.foreign.frameworks.reader import (
    CallState,
    Reader,
    Run,
    Source,
    is_blocking,
    read_value,
    with_artifact,
)
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException

logger = logging.getLogger("sidecall")

_MEDIA = ("images", "videos", "audios", "files")
_HELD = ("agent", "team", *_MEDIA)


class Connection:
    """The connection of a toolkit, which calls that run at the same time share."""

    def __init__(self, toolkit: Any) -> None:
        self._toolkit = toolkit
        self._lock = threading.Lock()
        self._users = 0

    @asynccontextmanager
    async def use(self) -> AsyncIterator[None]:
        """Connect the toolkit for a call, as an agent of agno does for a run."""
        await asyncio.to_thread(self._open)
        try:
            yield
        finally:
            await asyncio.shield(asyncio.to_thread(self._close))

    def _open(self) -> None:
        with self._lock:
            if not self._users:
                self._toolkit.connect()
            self._users += 1

    def _close(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            try:
                self._toolkit.close()
            except Exception as error:  # The call has its answer.
                logger.warning("toolkit %s cannot be closed: %s", self._toolkit.name, error)


def describe(it: Any, connection: Connection | None = None) -> Source:
    """Describe a function; it runs as in an agent, with a RunContext made for the call."""
    function = it.model_copy()
    function.process_entrypoint()
    written = it.entrypoint

    parameters = inspect.signature(written).parameters
    return Source(
        name=function.name,
        description=function.description or "",
        schema=function.parameters,
        run=_make_run(function) if connection is None else _make_connected(_make_run(function), connection),
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


def _make_connected(run: Run, connection: Connection) -> Run:
    async def run_connected(args: dict[str, Any], context: ToolContext) -> Any:
        async with connection.use():
            return await run(args, context)

    return run_connected


def list_tools(it: Any) -> Iterable[Any]:
    """List the functions of a toolkit: the async one where there are two of a name."""
    functions = list(it.get_async_functions().values())
    if not getattr(it, "requires_connect", False):
        return functions
    connection = Connection(it)
    return [one if find_obstacle(one) else make_tool(describe(one, connection), None, {}) for one in functions]


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
