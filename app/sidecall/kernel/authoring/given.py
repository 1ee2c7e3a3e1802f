"""Take values of hidden parameters from the arguments of a call that a program makes in its own process.

A tool that calls another, and a unit test, hand them over with the arguments, as LangChain has it. Calls that come over
HTTP never get here: what they send for a hidden parameter is dropped.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sidecall.kernel.core.injection import leave_out
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool

_SCALARS = (str, int, float, bool, type(None))


def take_given(tool: CompiledTool, call: ToolCall, *, may_be_models: bool) -> tuple[ToolCall, dict[str, Any]]:
    """Return a call without what the program says in it of hidden parameters, and that by the parameters' names.

    Of arguments that may be a model's, as those of a ToolCall or beside a state, only values are taken that no JSON can
    say; what else they say of hidden parameters is dropped, as over HTTP.
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
    """Make a tool whose hidden parameters have these values."""
    if not given:
        return tool
    injections = (it.hold(given[it.parameter]) if it.parameter in given else it for it in tool.injections)
    return replace(tool, injections=tuple(injections))
