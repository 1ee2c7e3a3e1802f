"""Calls that a provider runs, which are refused with the reason."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.errors import NotAToolCall

_TYPES: Mapping[str, str] = {
    **dict.fromkeys(
        "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools program"
        " program_output".split(),
        "OpenAI",
    ),
    **dict.fromkeys("server_tool_use mcp_tool_use".split(), "Anthropic"),
    **dict.fromkeys(
        "code_execution_call google_search_call google_maps_call url_context_call retrieval_call processing_call"
        " mcp_server_tool_call".split(),
        "Google",
    ),
}
_PARTS = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")


def refuse_executed(body: Mapping[str, Any]) -> None:
    """Refuse a call that its provider has run already, or runs elsewhere.

    Raises:
        NotAToolCall: It is such a call.
    """
    kind = body.get("type")
    part = next((name for name in _PARTS if body.get(name) is not None), None)  # SDKs write all fields, as null.
    if isinstance(kind, str) and kind in _TYPES:
        raise NotAToolCall(_explain(kind, _TYPES[kind]))
    if kind is None and part is not None:
        raise NotAToolCall(_explain(part, "Google"))
    if kind == "tool_search_call" and body.get("execution") == "server":
        raise NotAToolCall(_explain("tool_search_call with execution=server", "OpenAI"))
    place = body.get("environment")
    place = place.get("type", "local") if isinstance(place, dict) else "local"
    if kind == "shell_call" and place != "local":
        where = f"a container of the provider's ({place!s:.40})"
        raise NotAToolCall(f"`shell_call` is for {where}, and is executed there; it is not run here.")


def is_executed(body: Mapping[str, Any]) -> bool:
    """Return whether a call is refused because its provider has run it, or runs it elsewhere."""
    try:
        refuse_executed(body)
    except NotAToolCall:
        return True
    return False


def _explain(what: str, provider: str) -> str:
    return f"`{what}` was already executed by the provider ({provider}); it is not run here, and needs no answer."
