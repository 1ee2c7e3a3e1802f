"""Run one tool's calls in this process, through the same pipeline as the server."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Any, cast

from sidecall.authoring.inputs import Beside, ToolInput, make_tool_call, supply, take_given
from sidecall.authoring.spellings import refuse_beside
from sidecall.compiler.langchain_runtime import RunnableConfig, make_config, make_configurable
from sidecall.kernel.concurrency.event_loop import run_main
from sidecall.kernel.core.agents_errors import translate_failure
from sidecall.kernel.core.callbacks import make_callback
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import (
    InvalidArguments,
    MalformedArguments,
    ToolCallFailed,
    ToolException,
    ToolExecutionError,
    ToolFailure,
)
from sidecall.kernel.core.injection import Supply
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.origin import CALL
from sidecall.kernel.core.requirements import ToolRequirements
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.core.typed_context import read_context
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import EXECUTORS, ExecutorSettings
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.failure_policy import find_original, hide_in_refused
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.refuse_caller import let_program_call
from sidecall.kernel.pipeline.run_callbacks import write_validation_error
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.pipeline.truncate import Truncate
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.approvals.review import Review
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import Provided, find_provider


@dataclass(frozen=True, slots=True)
class Outer:
    """The call whose tool makes the current one, and the config that LangChain would pass on to it."""

    request: CallRequest
    config: RunnableConfig


# The one in this process; of a call that is served CALL knows.
OUTER: ContextVar[Outer | None] = ContextVar("sidecall_outer_call", default=None)


def find_outer() -> Outer | None:
    """Return the enclosing tool call, in a server or in this process."""
    served = CALL.get()
    known = OUTER.get()
    if known is not None or served is None:
        return known
    request = served.request
    return Outer(request, {"configurable": make_configurable(request.sender.headers, request.context)})


def inherit_config(config: Mapping[str, Any], outer: Outer | None) -> RunnableConfig:
    """Add to a config the entries of the outer call's config that it lacks, as LangChain does."""
    given = {name: value for name, value in config.items() if value is not None}
    return cast("RunnableConfig", {**({} if outer is None else outer.config), **given})


def hold_configurable(tool: CompiledTool, configurable: Mapping[str, Any]) -> CompiledTool:
    """Return the tool with this `configurable` in its RunnableConfig, for a tool without its own `context`."""
    if not any(it.make is make_config for it in tool.injections):
        return tool

    def make(supply: Supply) -> RunnableConfig:
        made = make_config(supply)
        return {**made, "configurable": {**made.get("configurable", {}), **configurable}}

    return replace(
        tool,
        injections=tuple(replace(it, make=make) if it.make is make_config else it for it in tool.injections),
    )


# What features add to calls; none are there where only the kernel is.
_with_features = Provided("stages")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A prepared call; `wants_message` says that it is answered like a model's. `config` is for nested calls."""

    tool: CompiledTool
    request: CallRequest
    config: RunnableConfig
    store: Store | SyncStore | None
    wants_message: bool


async def ainvoke(
    tool: CompiledTool, input: ToolInput, config: RunnableConfig | None, beside: Beside, *, is_models: bool = False
) -> Any:
    """Answer a ToolCall with its ToolMessage, and plain arguments with the tool's plain result.

    A ToolCall that fails without a handler is answered with an error message, as over HTTP. When another tool makes the
    call, the failure is raised in that tool's function instead, as in LangChain. `is_models` says that a model reads
    the answer.
    """
    outer = find_outer()
    plan = _plan(tool, input, config, beside, outer)
    try:
        # In a task of its own, which code that outlives its deadline may go on to cancel.
        invocation = await asyncio.create_task(_run(plan))
    except ApprovalRequired as error:
        raise (error if outer is None else error.repeat()) from None
    if plan.wants_message and (outer is None or is_models or tool.options.failure_error_function is not None):
        return invocation.message
    result = _take_result(invocation)
    return invocation.message if plan.wants_message else result


def invoke(
    tool: CompiledTool, input: ToolInput, config: RunnableConfig | None, beside: Beside, *, is_models: bool = False
) -> Any:
    """Do the same from sync code, inside a running event loop too (which it blocks)."""
    context = copy_context()  # In which the call stands that this one is a part of.

    def run() -> Any:
        return run_main(ainvoke(tool, input, config, beside, is_models=is_models))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, run).result()


async def run_plainly(tool: CompiledTool, call: ToolCall, beside: Beside) -> Any:
    """Answer a ToolCall with the tool's plain result, or with the text for its failure.

    Raises:
        BaseException: What the tool has raised, where its author lets it through.
    """
    try:
        plan = _plan(tool, let_program_call(tool, call), None, beside, find_outer())
        invocation = await asyncio.create_task(_run(plan))
    except ToolCallFailed as failed:
        raise find_original(failed) from None
    error = invocation.error
    if error is None or invocation.message is None:
        return _take_result(invocation)
    if tool.options.handle_tool_error is None and isinstance(error, InvalidArguments | MalformedArguments):
        raise translate_failure(invocation.tool_context, error)
    return invocation.message.content


def _plan(
    tool: CompiledTool, input: ToolInput, config: RunnableConfig | None, beside: Beside, outer: Outer | None
) -> _Plan:
    refuse_beside(beside, Beside.__annotations__)
    is_call = isinstance(input, ToolCall) or (isinstance(input, Mapping) and input.get("type") == "tool_call")
    context = read_context(beside.get("context"), (config or {}).get("configurable") or {})
    whole = inherit_config({**(config or {}), **({"configurable": context} if context else {})}, outer)
    configured = tool if context else hold_configurable(tool, whole.get("configurable", {}))
    supplied = beside.get("state") is not None or bool(context)
    call, given = take_given(tool, make_tool_call(tool, input, is_call), may_be_models=is_call or supplied)
    request = CallRequest(
        call,
        state=beside.get("state"),
        context=context,
        # The person who approved the outer call was shown this one.
        review=Review(approved=beside.get("approved", False) or (outer is not None and outer.request.review.approved)),
    )
    return _Plan(_configure(supply(configured, given), whole), request, whole, beside.get("store"), is_call)


def _configure(tool: CompiledTool, config: RunnableConfig) -> CompiledTool:
    """Apply a config to a tool for one call: callbacks, tags and metadata."""
    listeners = config.get("callbacks") or []
    handlers = listeners if isinstance(listeners, list | tuple) else getattr(listeners, "handlers", [])
    if not (handlers or config.get("tags") or config.get("metadata")):
        return tool
    options: ToolOptions = replace(
        tool.options,
        callbacks=(*tool.options.callbacks, *map(make_callback, handlers)),
        tags=(*config.get("tags", ()), *tool.options.tags),
        metadata={**config.get("metadata", {}), **tool.options.metadata},
    )
    return replace(tool, options=options)


async def _run(plan: _Plan) -> Invocation:
    tool = plan.tool
    OUTER.set(Outer(plan.request, plan.config))
    executor = _make_executor(tool)
    try:
        await executor.start([tool])
        stages = _list_stages(tool, executor)
        pipeline = Pipeline(Registry([tool]), stages, services=CallServices(ToolResources(plan.store)))
        return await pipeline.invoke(tool, plan.request)
    finally:
        await executor.close()


def _make_executor(tool: CompiledTool) -> Executor:
    """Make what runs the tool.

    Raises:
        FeatureMissing: That is a feature, and it is not installed.
    """
    make = EXECUTORS.get(tool.executor)
    if make is None:
        try:
            make = _with_features.EXECUTORS[tool.executor]
        except ModuleNotFoundError:
            ToolRequirements().hold(tool)
            raise
    return make(ExecutorSettings(tools_of=f"{find_provider('collect')}:tools_of"))


def _list_stages(tool: CompiledTool, executor: Executor) -> Stages:
    """List the stages of a call, with those of the features where these are installed.

    Raises:
        FeatureMissing: They are not, and the tool asks for something of theirs.
    """
    try:
        stages: Stages = _with_features.default_stages({tool.executor: executor}, budget=_make_budget(tool))
    except ModuleNotFoundError:
        ToolRequirements().hold(tool)
        return kernel_stages(Execute({tool.executor: executor}), _make_budget(tool))
    return stages


def _take_result(invocation: Invocation) -> Any:
    """Return the plain result, or what the author's handlers return for a failure; raise any other failure.

    Raises:
        ValidationError: The arguments do not fit.
        ToolFailure: The call failed otherwise.
    """
    if invocation.error is None:
        paired = invocation.tool.options.response_format == "content_and_artifact"
        return invocation.output[0] if paired else invocation.output
    options, error = invocation.tool.options, invocation.error
    if isinstance(error, ToolExecutionError) and isinstance(error.__cause__, Exception):
        raise error.__cause__  # As the function has raised it, for programs that handle such errors.
    if isinstance(error, ToolException) and options.handle_tool_error:
        return error.content if options.handle_tool_error is True else _read_content(invocation, error)
    if isinstance(error, InvalidArguments) and options.handle_validation_error:
        return _read_content(invocation, error)
    if isinstance(error, InvalidArguments):
        raised = write_validation_error(invocation, error)
        raised.add_note(hide_in_refused(invocation, error).message)  # Says more, such as which name was meant.
        raise raised
    raise error


def _read_content(invocation: Invocation, error: ToolFailure) -> Any:
    if invocation.message is None:
        raise error
    return invocation.message.content


def _make_budget(tool: CompiledTool) -> Truncate | None:
    """Make the budget that the tool sets itself; without a server there is no default, and cut content is not kept."""
    most = tool.options.max_content_bytes
    return None if most is None else Truncate(most, _keep_nothing)


async def _keep_nothing(_body: str | bytes, _caller: Caller) -> None:
    pass
