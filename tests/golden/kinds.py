"""One tool of each kind whose calls take other steps."""

from typing import Annotated

from sidecall import (
    BaseCallbackHandler,
    Cache,
    InjectedState,
    InjectedWorkspace,
    Secret,
    ToolAnnotations,
    ToolGuardrailFunctionOutput,
    UserToken,
    Workspace,
    tool,
    tool_input_guardrail,
    tool_output_guardrail,
)


@tool_input_guardrail
def look_at_input(data: object) -> ToolGuardrailFunctionOutput:
    """Let all pass."""
    return ToolGuardrailFunctionOutput(output_info=None)


@tool_output_guardrail
def look_at_output(data: object) -> ToolGuardrailFunctionOutput:
    """Let all pass."""
    return ToolGuardrailFunctionOutput(output_info=None)


@tool
async def plain(text: str) -> str:
    """Give the text back."""
    return text


@tool
def in_thread(text: str) -> str:
    """Give the text back."""
    return text


@tool
async def with_state(text: str, state: Annotated[dict[str, str], InjectedState]) -> str:
    """Give the text back."""
    return text


@tool
async def with_secret(text: str, key: Annotated[str, Secret("KEY")]) -> str:
    """Give the text back."""
    return text


@tool
async def for_person(text: str, token: Annotated[str, UserToken("github")]) -> str:
    """Give the text back."""
    return text


@tool
async def in_workspace(text: str, files: Annotated[Workspace, InjectedWorkspace]) -> str:
    """Give the text back."""
    return text


@tool(requires_approval=True)
async def approved(text: str) -> str:
    """Give the text back."""
    return text


@tool(cache=Cache(ttl=60), annotations=ToolAnnotations(read_only=True))
async def cached(text: str) -> str:
    """Give the text back."""
    return text


@tool(deprecated="use plain", callbacks=[BaseCallbackHandler()])
async def watched(text: str) -> str:
    """Give the text back."""
    return text


@tool(tool_input_guardrails=[look_at_input], tool_output_guardrails=[look_at_output])
async def guarded(text: str) -> str:
    """Give the text back."""
    return text
