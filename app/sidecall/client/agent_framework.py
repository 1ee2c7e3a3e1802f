"""A server's tools for Microsoft's Agent Framework: `Agent(client, tools=load_tools(server))`."""

from collections.abc import Mapping
from typing import Any, Unpack

from agent_framework import (
    Content,
    FunctionInvocationContext,
    FunctionTool,
    MiddlewareFailure,
    UserInputRequiredException,
)
from pydantic import BaseModel

from sidecall.client import remote
from sidecall.client.answers import ClientError, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool
from sidecall.client.runs import RunOptions, asks_framework, check_run_options, confirm, read_run

# The framework's own name for the id, which it gives to middleware.
_CALL_ID = "call_id"
_CONTEXT = "context_of_the_call"
_ALWAYS = "always_require"


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools.

    Functions among the options get the framework's FunctionInvocationContext, with the `session` of the run and the
    `kwargs` of its `function_invocation_kwargs`. A call that may need approval ends the run with the framework's
    request for it, unless `ask` or `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in await remote.aload_tools(server, filters=filters)]


class CallFailed(UserInputRequiredException):
    """A call failed: the words are for the model, and `answer` has all about it.

    Of this kind, since only its contents reach the model; of other exceptions it reads that there was one.
    """

    def __init__(self, answer: ToolAnswer, call_id: str | None) -> None:
        words = answer.error or ""
        result = Content.from_function_result(
            call_id or answer.tool_call_id, result=_show(answer), exception=words, additional_properties=_keep(answer)
        )
        super().__init__([result], words)
        self.answer = answer


class _AnyArguments(BaseModel, extra="allow", defer_build=True):
    """What a model writes; the server checks it, and words what is wrong for the model."""


class ServerTool(FunctionTool):
    """A tool that runs in a server."""

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        self._tool = tool
        self._options = options
        super().__init__(
            name=tool.name,
            description=tool.description,
            approval_mode=_ALWAYS if asks_framework(tool, options) else None,
            func=self._run,
            input_model=_AnyArguments,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return self._tool.parameters

    def __call__(self, /, **passed: Any) -> Any:
        """Run the tool; its parameters may have any names, so they stay in the context."""
        context = passed.get(_CONTEXT)
        if not isinstance(context, FunctionInvocationContext):
            context = FunctionInvocationContext(function=self, arguments=passed)
        return super().__call__(**{_CONTEXT: context})

    async def invoke(
        self,
        *,
        arguments: BaseModel | Mapping[str, Any] | None = None,
        context: FunctionInvocationContext | None = None,
        tool_call_id: str | None = None,
        **options: Any,
    ) -> Any:
        """Run the tool, as the framework does.

        Raises:
            CallFailed: The call failed.
            MiddlewareFailure: The program has to mend something, such as its credentials; this ends the run.
        """
        if context is None:
            context = FunctionInvocationContext(function=self, arguments=arguments or {})
        if tool_call_id is not None:
            context.metadata[_CALL_ID] = tool_call_id
        return await super().invoke(arguments=arguments, context=context, tool_call_id=tool_call_id, **options)

    async def _run(self, context_of_the_call: FunctionInvocationContext) -> list[Content]:
        context, call_id = context_of_the_call, context_of_the_call.metadata.get(_CALL_ID)
        session = context.session
        wanted = read_run(self._options, context, conversation=None if session is None else session.session_id)
        if self.approval_mode == _ALWAYS:  # The framework has asked a person before it runs such a tool.
            wanted = confirm(wanted, self.name)
        arguments = context.arguments
        args = arguments.model_dump(exclude_unset=True) if isinstance(arguments, BaseModel) else dict(arguments)
        try:
            answer = await self._tool.acall(args, id=call_id, **wanted)
        except ClientError as error:
            raise MiddlewareFailure(str(error)) from error
        if answer.error is not None:
            raise CallFailed(answer, call_id)
        return _show(answer)


def _show(answer: ToolAnswer) -> list[Content]:
    """Return the content for the model; what is for the program goes with its first item, as with tools of MCP."""
    contents = [_show_block(block) for block in read_blocks(answer.content)] or [Content.from_text("")]
    contents[0].additional_properties.update(_keep(answer))
    return contents


def _keep(answer: ToolAnswer) -> dict[str, Any]:
    kept = {} if answer.artifact is None else {"artifact": answer.artifact}
    return {**kept, "status": answer.status, **answer.response_metadata}


def _show_block(block: str | MediaBlock) -> Content:
    if isinstance(block, str):
        return Content.from_text(block)
    if block.address is None:
        return Content.from_hosted_file(block.file_id or "", media_type=block.type, name=block.filename)
    return Content.from_uri(block.address, media_type=block.type, name=block.filename)
