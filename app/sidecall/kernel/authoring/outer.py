"""Nested calls: what a call made by a tool inherits from the call of that tool."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, cast

from sidecall.kernel.core.current import CALL
from sidecall.kernel.core.injection import Supply
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.runtime import RunnableConfig, make_config, make_configurable


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
    return Outer(request, {"configurable": make_configurable(request.headers, request.context)})


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
