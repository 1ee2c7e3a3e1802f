"""Tool visibility: which tools are enabled for a caller."""

import asyncio
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sidecall.features.telemetry import log_predicate_failure
from sidecall.kernel.core.context import Caller, ToolContext
from sidecall.kernel.core.errors import MissingContext
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.hooks import HookFailed, call_hook

NO_CONTEXT: Mapping[str, Any] = MappingProxyType({})


async def visible(
    tools: Iterable[CompiledTool], caller: Caller, context: Mapping[str, Any] = NO_CONTEXT
) -> list[CompiledTool]:
    """List the tools that are enabled for this caller, in order; their predicates run concurrently."""
    offered = [tool for tool in tools if tool.options.is_enabled is not False and is_permitted(tool, caller)]
    if all(tool.options.is_enabled is True for tool in offered):
        return offered
    asked = [tool for tool in offered if tool.options.is_enabled is not True]
    answers = await asyncio.gather(*(is_visible(tool, caller, context) for tool in asked))
    hidden = {id(tool) for tool, answer in zip(asked, answers, strict=True) if not answer}
    return [tool for tool in offered if id(tool) not in hidden]


def is_permitted(tool: CompiledTool, caller: Caller) -> bool:
    """Return whether a caller has a tool's scopes and the tool is in its toolset."""
    if caller.toolset is not None and not (tool.is_own or caller.toolset.has(tool.name, tool.options.tags)):
        return False
    return not tool.options.scopes or caller.may(*tool.options.scopes)


def is_surely_visible(tool: CompiledTool, caller: Caller) -> bool:
    """Return whether a caller sees a tool without running a predicate."""
    return tool.options.is_enabled is True and is_permitted(tool, caller)


async def is_visible(tool: CompiledTool, caller: Caller, context: Mapping[str, Any] = NO_CONTEXT) -> bool:
    """Return whether a tool is enabled for this caller; a predicate that crashes, hangs or lacks context hides it."""
    try:
        return is_surely_visible(tool, caller) or await ask_visible(tool, caller, context)
    except MissingContext:
        return False


async def ask_visible(tool: CompiledTool, caller: Caller, context: Mapping[str, Any]) -> bool:
    """Do the same for a call, whose program is told about missing context.

    Raises:
        MissingContext: The predicate wants another context than was sent.
    """
    if not is_permitted(tool, caller):
        return False
    predicate = tool.options.is_enabled
    if isinstance(predicate, bool):
        return predicate
    asked = ToolContext(tool_name=tool.name, tool_call_id="", caller=caller, context=context)
    try:
        return bool(await call_hook(predicate, asked))
    except HookFailed as failed:
        if isinstance(failed.__cause__, MissingContext):
            raise failed.__cause__ from None
        log_predicate_failure(tool.name, failed.__cause__ or failed)
    except Exception as error:  # What the answer's own `__bool__` raises.
        log_predicate_failure(tool.name, error)
    return False
