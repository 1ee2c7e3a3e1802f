"""Which tools a caller may see: those that their authors have enabled for it."""

import asyncio
from collections.abc import Iterable

from sidecall.core.context import Caller
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.hooks import HookFailed, call_hook
from sidecall.telemetry import log_predicate_failure


async def visible(tools: Iterable[CompiledTool], caller: Caller) -> list[CompiledTool]:
    """List the tools that are enabled for this caller, in order; their predicates are asked at the same time."""
    offered = [tool for tool in tools if tool.options.is_enabled is not False]
    if all(tool.options.is_enabled is True for tool in offered):
        return offered
    answers = await asyncio.gather(*(is_visible(tool, caller) for tool in offered))
    return [tool for tool, answer in zip(offered, answers, strict=True) if answer]


async def is_visible(tool: CompiledTool, caller: Caller) -> bool:
    """Return whether a tool is enabled for this caller; a predicate that crashes or hangs hides it."""
    predicate = tool.options.is_enabled
    if isinstance(predicate, bool):
        return predicate
    try:
        return bool(await call_hook(predicate, caller))
    except HookFailed as failed:
        log_predicate_failure(tool.name, failed.__cause__ or failed)
    except Exception as error:  # What the answer's own `__bool__` raises.
        log_predicate_failure(tool.name, error)
    return False
