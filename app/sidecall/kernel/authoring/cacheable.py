"""Decide which tools may cache their answers."""

from collections.abc import Mapping

from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.injection import Source
from sidecall.kernel.core.tool import CompiledTool

# Where hidden parameters get what is not the same for two calls with the same arguments, and cannot be compared.
_OF_ONE_CALL: Mapping[Source, str] = {
    "call_id": "the call's id",
    "tool_context": "a ToolContext, which knows the whole call",
    "store": "the store, whose items change",
    "workspace": "the workspace, whose files change",
    "user_token": "a person's token, which changes",
    "made": "what is made for each call",
}


def refuse_uncacheable(tool: CompiledTool) -> None:
    """Refuse a cache on a tool whose answer may be wrong for another call.

    Raises:
        InvalidToolOption: It is the answer of such a tool.
    """
    reason = None if tool.options.cache is None else _find_reason(tool)
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r}: option `cache` {reason}")


def _find_reason(tool: CompiledTool) -> str | None:
    options = tool.options
    if not options.annotations.read_only:
        return "is for tools with annotations=ToolAnnotations(read_only=True)."
    if options.requires_approval is not False:
        return "does not go with `requires_approval`: a person approves each call."
    if options.tool_output_guardrails:
        return "does not go with `tool_output_guardrails`: an answer that is given again is not judged again."
    for injection in tool.injections:
        if injection.source in _OF_ONE_CALL:
            return (
                f"does not go with the parameter `{injection.parameter}`, which gets {_OF_ONE_CALL[injection.source]}:"
                " its answer may be wrong for another call. Take what it needs by InjectedState or InjectedToolArg,"
                " which calls are told apart by."
            )
    return None
