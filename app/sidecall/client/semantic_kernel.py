"""A server's tools as a plugin of Semantic Kernel: `ChatCompletionAgent(plugins=[load_tools(server)], ...)`."""

from contextvars import ContextVar
from typing import Any, Unpack

from pydantic import PrivateAttr
from semantic_kernel.exceptions import FunctionExecutionException
from semantic_kernel.filters.functions.function_invocation_context import FunctionInvocationContext
from semantic_kernel.functions import FunctionResult, KernelFunction, KernelFunctionMetadata, KernelPlugin
from semantic_kernel.functions.kernel_parameter_metadata import KernelParameterMetadata

from sidecall.client import remote
from sidecall.client.adapters import inline_properties, read_text
from sidecall.client.answers import ToolFailed
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool
from sidecall.client.runs import RunOptions, check_run_options, read_run

# The kernel hands the id of a call to the function's span alone.
_CALL_ID: ContextVar[str | None] = ContextVar("sidecall_semantic_kernel_call_id", default=None)


def load_tools(
    server: str | Sidecall | AsyncSidecall,
    *,
    plugin: str = "sidecall",
    filters: ToolFilters | None = None,
    **options: Unpack[RunOptions],
) -> KernelPlugin:
    """Return the server's tools as a plugin of this name, for kernels and agents.

    `state`, `context` and `conversation` may be functions of the FunctionInvocationContext, which has the `kernel` and
    the `arguments`. Artifacts are in the `metadata` of results. A call that fails raises; a call that waits for a
    person is a text for the model, and the approval is in the `metadata`, unless `ask` or `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    tools = remote.load_tools(server, filters=filters)
    return KernelPlugin(name=plugin, functions=[_make_function(it, plugin, wanted) for it in tools])


async def aload_tools(
    server: str | Sidecall | AsyncSidecall,
    *,
    plugin: str = "sidecall",
    filters: ToolFilters | None = None,
    **options: Unpack[RunOptions],
) -> KernelPlugin:
    """Return the server's tools, without blocking the event loop while they are listed."""
    wanted = check_run_options(options)
    tools = await remote.aload_tools(server, filters=filters)
    return KernelPlugin(name=plugin, functions=[_make_function(it, plugin, wanted) for it in tools])


class ServerFunction(KernelFunction):
    """A function that runs in a server."""

    # Private, since agents copy their kernels deeply.
    _remote: RemoteTool = PrivateAttr()
    _options: RunOptions = PrivateAttr()

    async def invoke(self, kernel: Any, arguments: Any = None, metadata: Any = None, **named: Any) -> Any:
        """Run the function; `metadata` has the model's call."""
        token = _CALL_ID.set((metadata or {}).get("id"))
        try:
            return await super().invoke(kernel, arguments, metadata or {}, **named)
        finally:
            _CALL_ID.reset(token)

    async def _invoke_internal(self, context: FunctionInvocationContext) -> None:
        given = context.arguments
        args = {it.name: given[it.name] for it in self.parameters if it.name in given}
        answer = await self._remote.acall(args, id=_CALL_ID.get(), **read_run(self._options, context))
        try:
            text = read_text(answer)
        except ToolFailed as failed:
            raise FunctionExecutionException(str(failed)) from failed
        metadata = {**answer.response_metadata, "artifact": answer.artifact, "content": answer.content}
        metadata |= {"tool_call_id": answer.tool_call_id, "arguments": given, "used_arguments": args}
        if answer.approval is not None:
            metadata["approval"] = answer.approval.document
        context.result = FunctionResult(function=self.metadata, value=str(text), metadata=metadata)

    async def _invoke_internal_stream(self, context: FunctionInvocationContext) -> None:
        # The whole answer at once, as of any function that does not stream.
        await self._invoke_internal(context)


def _make_function(tool: RemoteTool, plugin: str, options: RunOptions) -> ServerFunction:
    required = tool.parameters.get("required", ())
    parameters = [
        KernelParameterMetadata(
            name=name,
            description=schema.get("description"),
            default_value=schema.get("default"),
            is_required=name in required,
            schema_data=schema,
        )
        for name, schema in inline_properties(tool.parameters).items()
    ]
    metadata = KernelFunctionMetadata(
        name=tool.name, plugin_name=plugin, description=tool.description, parameters=parameters, is_prompt=False
    )
    function = ServerFunction(metadata=metadata)
    function._remote, function._options = tool, options
    return function
