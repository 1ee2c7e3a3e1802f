"""Take values of hidden parameters from the arguments of an in-process call.

A tool that calls another, or a unit test, passes them with the arguments, as in LangChain. HTTP calls never get here:
values they send for a hidden parameter are dropped.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sidecall.kernel.core.injection import leave_out
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool

_SCALARS = (str, int, float, bool, type(None))


def take_given(tool: CompiledTool, call: ToolCall, *, may_be_models: bool) -> tuple[ToolCall, dict[str, Any]]:
    """Split a call into the call without hidden parameters, and their values by parameter name.

    Arguments that may come from a model (those of a ToolCall, or sent with a state) may only set hidden parameters to
    values that JSON cannot express; other values for them are dropped, as over HTTP.
    """
    args = call.args
    if not tool.injections or not isinstance(args, Mapping):
        return call, {}
    names = [it.parameter for it in tool.injections if it.parameter in args and it.make is not leave_out]
    given = {name: args[name] for name in names if not may_be_models or not _is_json(args[name])}
    if not given:
        return call, {}
    return call.model_copy(update={"args": {name: it for name, it in args.items() if name not in given}}), given


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(it) for key, it in value.items())
    return all(map(_is_json, value)) if isinstance(value, list) else isinstance(value, _SCALARS)


def supply(tool: CompiledTool, given: Mapping[str, Any]) -> CompiledTool:
    """Return the tool with its hidden parameters set to these values."""
    if not given:
        return tool
    injections = (it.hold(given[it.parameter]) if it.parameter in given else it for it in tool.injections)
    return replace(tool, injections=tuple(injections))
