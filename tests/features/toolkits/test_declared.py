"""What the toolkits offer is declared as each provider knows it, and stands for what providers run themselves."""

from typing import Any

import pytest
from anthropic.types.beta import BetaToolUnionParam
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ToolParam
from pydantic import TypeAdapter

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
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import TOOLKITS, shipped_tools
from tests.kit.clients import MakeClient

FILES = [*(toolkit.file for toolkit in TOOLKITS if toolkit.name != "files-read-only"), "tavily"]
HOSTED: dict[str, Any] = {
    "web_search": WebSearchTool(),
    "file_search": FileSearchTool(vector_store_ids=["vs_1"]),
    "code_interpreter": CodeInterpreterTool(tool_config={"type": "code_interpreter", "container": {"type": "auto"}}),
    "image_generation": ImageGenerationTool(tool_config={"type": "image_generation"}),
    "shell": ShellTool(environment={"type": "container_auto"}),
    "mcp": HostedMCPTool(tool_config={"type": "mcp", "server_label": "crm", "server_url": "https://crm.example.com"}),
    "tool_search": ToolSearchTool(),
    "programmatic_tool_calling": ProgrammaticToolCallingTool(),
}
# Which of ours does the work of which of a provider's.
OURS = {
    "web_search": "tavily_search",
    "file_search": "file_search",
    "code_interpreter": "run_python",
    "image_generation": "image_generation",
    "shell": "shell",
}
NATIVE = {
    "openai": [],
    "openai-responses": ["apply_patch", "shell"],
    "anthropic": ["memory_20250818", "text_editor_20250728", "bash_20250124"],
}
UNIONS: dict[str, Any] = {
    "openai": ChatCompletionToolUnionParam,
    "openai-responses": ToolParam,
    "anthropic": BetaToolUnionParam,
}


@pytest.fixture(name="shipped", scope="module")
def load() -> list[Any]:
    """Load the tools of all toolkits."""
    return list(discover([str(shipped_tools() / f"{file}.py") for file in FILES], use_entry_points=False))


@pytest.mark.parametrize("form", NATIVE)
async def test_all_toolkits_are_declared(make_client: MakeClient, shipped: list[Any], form: str) -> None:
    """As the types of the provider's library have it."""
    client = await make_client(*shipped)
    listed = (await client.get("/tools", params={"format": form})).json()

    for definition in listed:
        TypeAdapter(UNIONS[form]).validate_python(definition)
    assert [it["type"] for it in listed if it.get("type", "function") not in ("function", "custom")] == NATIVE[form]


@pytest.mark.parametrize("kind", HOSTED)
async def test_what_a_provider_runs_is_replaced(make_client: MakeClient, shipped: list[Any], kind: str) -> None:
    """By the one of ours that does it, for who wants that; in forms without room for it in any case."""
    client = await make_client(HOSTED[kind], *shipped)
    ours = {OURS[kind]} if kind in OURS else set()

    async def ask(**query: str) -> tuple[set[str], set[str]]:
        listed = (await client.get("/tools", params=query)).json()
        functions = [it.get("function", it) for it in listed if it["type"] == "function"]
        return {it["name"] for it in functions}, {it["type"] for it in listed} - {"function"}

    kept, hosted = await ask(format="openai-responses")
    assert (ours & kept, kind in hosted) == (set(), True)
    replaced, left = await ask(format="openai-responses", hosted="replace")
    assert (ours - replaced, left) == (set(), set() if kind in OURS else {kind})
    assert ours - (await ask(format="openai"))[0] == set()


async def test_ours_is_called_by_the_name_of_both(make_client: MakeClient, shipped: list[Any]) -> None:
    """That of the provider cannot be called; it is shown under another name."""
    client = await make_client(*shipped, HOSTED["file_search"])

    assert (await client.get("/tools/file_search")).json()["hosted"] is False
    assert (await client.get("/tools/hosted_file_search")).json()["hosted"] is True
