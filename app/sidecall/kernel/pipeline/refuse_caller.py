"""Refuse calls from a kind of caller that the tool's author excludes: the model directly, or its programs."""

from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.kernel.core.errors import CallDenied
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool

# The option's name, which the OpenAI Agents SDK and the Responses API have for it.
OPTION = "allowed_callers"
# How a call's item names its caller, and what the option calls that.
_KINDS: Mapping[str, str] = {"direct": "directly", "programmatic": "by programs that the model writes"}
_CALLERS: Mapping[Any, str] = {None: "direct", "direct": "direct", "program": "programmatic"}


def names_callers(tool: CompiledTool) -> bool:
    """Return whether a tool restricts its callers, as the Responses API does; other providers have other forms."""
    said = tool.options.extras.get(OPTION)
    return bool(said) and isinstance(said, Sequence) and all(one in _KINDS for one in said)


def refuse_caller(invocation: Invocation) -> None:
    """Check that the tool may be called from where this call comes from; most call forms mean the model itself.

    Raises:
        CallDenied: It comes from elsewhere.
    """
    item = invocation.call.item or {}
    kind = (item.get("caller") or {}).get("type")
    caller = _CALLERS.get(kind)
    allowed = invocation.tool.options.extras[OPTION]
    if caller in allowed:
        return
    ways = " or ".join(_KINDS[one] for one in dict.fromkeys(allowed))
    came = f"by a caller of the type {kind!r:.60}" if caller is None else _KINDS[caller]
    raise CallDenied(f"{invocation.tool.name} cannot be called {came}; it can be called {ways}.")


def let_program_call(tool: CompiledTool, call: ToolCall) -> ToolCall:
    """Return a call as made by a program in this process, which is always allowed."""
    if not names_callers(tool) or "direct" in tool.options.extras[OPTION]:
        return call
    return call.model_copy(update={"item": {"type": "function_call", "caller": {"type": "program"}}})
