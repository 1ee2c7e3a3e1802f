"""Tools that a provider runs are declared: listed for it, and refused here."""

from typing import Any

import pytest

import sidecall
from sidecall import (
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ProgrammaticToolCallingTool,
    ShellTool,
    ToolSearchTool,
    WebSearchTool,
)
from sidecall.kernel.core.errors import InvalidToolOption
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.tools import ping

MCP: dict[str, Any] = {"type": "mcp", "server_label": "git", "server_url": "https://e.org", "require_approval": "never"}
CONTAINER = {"type": "code_interpreter", "container": {"type": "auto"}}
SHELL = {"type": "container_auto"}


@pytest.mark.parametrize(
    ("declared", "name", "wire"),
    [
        (WebSearchTool(), "web_search", {"type": "web_search", "search_context_size": "medium"}),
        (
            FileSearchTool(["vs_1"], max_num_results=3, include_search_results=True),
            "file_search",
            {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 3},
        ),
        (HostedMCPTool(tool_config=MCP), "hosted_mcp_git", MCP),
        (CodeInterpreterTool(tool_config=CONTAINER), "code_interpreter", CONTAINER),
        (ImageGenerationTool({"type": "image_generation"}), "image_generation", {"type": "image_generation"}),
        (ToolSearchTool(), "tool_search", {"type": "tool_search"}),
        (ProgrammaticToolCallingTool(), "programmatic_tool_calling", {"type": "programmatic_tool_calling"}),
        (ShellTool(environment=SHELL), "shell", {"type": "shell", "environment": SHELL}),
    ],
    ids=lambda it: it if isinstance(it, str) else None,
)
async def test_a_declaration_is_listed_for_its_provider(
    make_client: MakeClient, declared: Any, name: str, wire: Any
) -> None:
    """Beside the functions for the Responses API, marked in JSON Schema, and left out where there is no room."""
    client = await make_client(ping, declared)
    listed = {
        form: (await client.get("/tools", params={"format": form})).json()
        for form in ("openai", "openai-responses", "anthropic", "gemini", "mcp", "json_schema")
    }
    detail = (await client.get(f"/tools/{name}")).json()
    answer = (await client.post("/tool_calls", json=write_call(name))).json()

    assert listed["openai-responses"][1:] == [wire]
    assert listed["json_schema"][1]["hosted"] == wire
    assert [len(listed[form]) for form in ("openai", "anthropic", "gemini", "mcp")] == [1, 1, 1, 1]
    assert (detail["hosted"], detail["definition"]) == (True, wire)
    assert (answer["status"], answer["content"]) == (
        "error",
        f"{name} is run by the model's provider; it cannot be called on this server.",
    )


LOCAL = r"`--toolkit shell` runs .* @tool\(native='shell'\)"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (ShellTool, LOCAL),
        (lambda: ShellTool(executor=print, environment=SHELL), LOCAL),
        (lambda: FileSearchTool(["vs_1"], max_num_results=51), "max_num_results is at most 50"),
    ],
)
def test_what_cannot_be_declared_is_refused(make: Any, said: str) -> None:
    """A shell of this machine, with how to offer one, and what OpenAI would refuse."""
    with pytest.raises(InvalidToolOption, match=said):
        make()


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("LocalShellTool", r"`--toolkit shell` .* @tool\(native='shell'\)"),
        ("ApplyPatchTool", r"`--toolkit files` .* @tool\(native='apply_patch'\)"),
        ("ComputerTool", r"@tool\(native='computer'\)"),
        ("CustomTool", r"@tool\(input='text'\)"),
    ],
)
def test_a_local_tool_of_the_agents_sdk_has_another_name_here(name: str, instead: str) -> None:
    """Which the error says."""
    with pytest.raises(AttributeError, match=f"{name} is not in sidecall: .*{instead}"):
        getattr(sidecall, name)
