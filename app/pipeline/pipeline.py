"""The way of every call: look up, then the stages in order, then a ToolMessage."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from app.core.errors import MissingContext, ToolFailure, ToolNotFound
from app.core.invocation import CallRequest, Invocation, new_invocation
from app.core.messages import ToolMessage
from app.core.store import Store
from app.core.tool import CompiledTool, ExecutorName
from app.executors.base import Executor
from app.pipeline.decode import decode
from app.pipeline.execute import Execute
from app.pipeline.format import format_failure, format_output, refuse
from app.pipeline.inject import inject
from app.pipeline.validate import validate
from app.registry import Registry
from app.telemetry import log_failure

Stage = Callable[[Invocation], Awaitable[None]]


def default_stages(executors: Mapping[ExecutorName, Executor]) -> tuple[Stage, ...]:
    """List what happens to a call, in order. This list is the product."""
    return (
        decode,
        inject,
        validate,
        Execute(executors),
        format_output,
    )


class Pipeline:
    """Take calls through the stages; every door of the server (REST, batch, in-process) leads here."""

    def __init__(
        self,
        registry: Registry,
        stages: Sequence[Stage],
        default_timeout: float | None = None,
        store: Store | None = None,
    ) -> None:
        self._registry = registry
        self._stages = tuple(stages)
        self._default_timeout = default_timeout
        self._store = store

    async def run(self, request: CallRequest) -> ToolMessage:
        """Answer a call by the name it asks for.

        Raises:
            MissingContext: The caller, not the model, left something out.
        """
        tool = self._registry.get(request.call.name)
        if tool is None:
            return self._not_found(request)
        invocation = await self.invoke(tool, request)
        assert invocation.message is not None
        return invocation.message

    async def invoke(self, tool: CompiledTool, request: CallRequest) -> Invocation:
        """Take a call of this tool through the stages; the invocation it returns has its message."""
        invocation = new_invocation(request, tool, self._default_timeout, self._store)
        try:
            for stage in self._stages:
                await stage(invocation)
        except ToolFailure as failure:
            await format_failure(invocation, failure)
            log_failure(invocation, failure)
        return invocation

    async def run_all(self, requests: Sequence[CallRequest]) -> list[ToolMessage]:
        """Answer calls concurrently, in the order they came, each alone with its failure."""
        return list(await asyncio.gather(*(self._run_isolated(request) for request in requests)))

    async def _run_isolated(self, request: CallRequest) -> ToolMessage:
        try:
            return await self.run(request)
        except MissingContext as error:
            return refuse(_CallerOwes(error.message), request.call)

    def _not_found(self, request: CallRequest) -> ToolMessage:
        name = request.call.name
        return refuse(ToolNotFound(name, self._registry.names, self._registry.nearest(name)), request.call)


class _CallerOwes(ToolFailure):
    """Stand in a batch's answer for what a single call gets as 422."""

    kind = "missing_context"
