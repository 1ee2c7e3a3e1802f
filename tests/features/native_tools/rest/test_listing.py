"""A tool that implements what a provider has of its own is declared as that, and as a function to all others."""

from typing import Any

import pytest
from anthropic.lib.tools._toolsets._computer_registry import COMPUTER_MEMBERS
from anthropic.lib.tools._toolsets._registry import BROWSER_DEFAULT_DISABLED_MEMBERS, BROWSER_MEMBERS
from anthropic.types.beta import BetaToolUnionParam
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ToolParam
from pydantic import TypeAdapter

from sidecall import CodeInterpreterTool, WebSearchTool, tool
from sidecall.features.provider_formats.listing import MEMBERS, OFF
from tests.features.native_tools.rest.built_in import TOOLS, add, echo, key, shell
from tests.kit.clients import MakeClient

GRAMMAR = {"syntax": "regex", "definition": "[0-9 +]+"}
BROWSER_OFF = {name: {"enabled": False} for name in BROWSER_MEMBERS.keys() - BROWSER_DEFAULT_DISABLED_MEMBERS}
DECLARED: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {
            "type": "custom",
            "custom": {
                "name": "add",
                "description": "Add numbers.",
                "format": {"type": "grammar", "grammar": GRAMMAR},
            },
        },
        {"type": "custom", "custom": {"name": "show", "description": "Show an image.", "format": {"type": "text"}}},
    ],
    "openai-responses": [
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "apply_patch"},
        {"type": "computer"},
        {
            "type": "custom",
            "name": "add",
            "description": "Add numbers.",
            "format": {"type": "grammar", **GRAMMAR},
        },
        {"type": "custom", "name": "show", "description": "Show an image.", "format": {"type": "text"}},
        {
            "type": "tool_search",
            "execution": "client",
            "description": "Find tools.",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        },
    ],
    "anthropic": [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "computer_20251124", "display_width_px": 1280, "display_height_px": 800, "name": "computer"},
        {
            "type": "browser_toolset_20260801",
            "configs": {name: it for name, it in BROWSER_OFF.items() if name not in ("key", "list_tabs")},
        },
        {
            "type": "computer_toolset_20260801",
            "configs": {name: {"enabled": False} for name in COMPUTER_MEMBERS if name != "key"},
        },
    ],
    "gemini": [{"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}],
}
UNIONS: dict[str, Any] = {
    "openai": ChatCompletionToolUnionParam,
    "openai-responses": ToolParam,
    "anthropic": BetaToolUnionParam,
}


def is_function(definition: dict[str, Any]) -> bool:
    """Return whether a definition is one of a function."""
    return definition.get("type", "function") == "function" and "computerUse" not in definition


@pytest.mark.parametrize("form", DECLARED)
async def test_they_are_declared_as_the_providers_own(make_client: MakeClient, form: str) -> None:
    """In forms that have a place for it; the libraries' types take them."""
    client = await make_client(*TOOLS)
    listed = (await client.get("/tools", params={"format": form})).json()
    assert [definition for definition in listed if not is_function(definition)] == DECLARED[form]
    if form in UNIONS:
        for definition in listed:
            TypeAdapter(UNIONS[form]).validate_python(definition)


@pytest.mark.parametrize("form", ["openai", "openai-responses", "anthropic", "mcp", "json_schema"])
async def test_all_are_functions_to_whoever_wants_that(make_client: MakeClient, form: str) -> None:
    """A model of another maker behind the same API, which knows none of them."""
    client = await make_client(*TOOLS)
    listed = (await client.get("/tools", params={"format": form, "hosted": "replace"})).json()
    assert len(listed) == len(TOOLS)
    assert all(map(is_function, listed)) or form in ("mcp", "json_schema")


async def test_a_function_is_what_callers_rely_on(make_client: MakeClient) -> None:
    """The hash of a tool is that of the function."""
    client = await make_client(*TOOLS)
    shown = (await client.get("/tools/shell")).json()
    assert shown["definition"]["function"]["name"] == "shell"


async def test_pages_declare_a_toolset_once(make_client: MakeClient) -> None:
    """Where its first member stands."""
    client = await make_client(*TOOLS)
    found: list[dict[str, Any]] = []
    url: str | None = "/tools?format=anthropic&limit=3"
    while url is not None:
        page = await client.get(url)
        found += page.json()
        url = page.links["next"]["url"] if "next" in page.links else None
    assert found == (await client.get("/tools?format=anthropic")).json()


async def test_members_that_are_off_are_switched_on_when_they_are_here(make_client: MakeClient) -> None:
    """And nothing is said of those that the provider has on, too."""
    run = tool("javascript_exec", toolset="browser")(lambda text: text)
    client = await make_client(run, key, echo)
    toolset, _ = (await client.get("/tools?format=anthropic")).json()
    assert toolset["configs"]["javascript_exec"] == {"enabled": True}
    assert "key" not in toolset["configs"]
    assert "file_upload" not in toolset["configs"]


def test_the_members_are_those_of_the_library() -> None:
    """Which knows the current ones."""
    assert {"browser": frozenset(BROWSER_MEMBERS), "computer": frozenset(COMPUTER_MEMBERS)} == MEMBERS
    assert frozenset(OFF) == BROWSER_DEFAULT_DISABLED_MEMBERS


@pytest.mark.parametrize(
    ("form", "hosted", "names"),
    [
        ("openai-responses", "keep", ["web_search", "code_interpreter"]),
        ("openai-responses", "replace", ["code_interpreter", "find_pages"]),
        ("openai", "keep", ["find_pages"]),
        ("openai", "replace", ["find_pages"]),
        ("anthropic", "keep", ["find_pages"]),
    ],
)
async def test_what_the_provider_runs_can_be_replaced(
    make_client: MakeClient, form: str, hosted: str, names: list[str]
) -> None:
    """By a tool that says so; what nothing replaces is passed through."""

    @tool(extras={"replaces": "web_search"})
    def find_pages(query: str) -> str:
        """Search the web."""
        return query

    offered: list[Any] = [WebSearchTool(), CodeInterpreterTool(tool_config={"container": {"type": "auto"}}), find_pages]
    client = await make_client(*offered)
    listed = (await client.get("/tools", params={"format": form, "hosted": hosted})).json()
    said = [it.get("function", it) for it in listed]
    assert [it.get("name") or it["type"] for it in said] == names


async def test_a_search_leaves_them_in_place(make_client: MakeClient) -> None:
    """Only functions have to be found."""
    client = await make_client(shell, echo, add)
    listed = (await client.get("/tools?format=openai-responses&search=bm25")).json()
    assert [it["type"] for it in listed] == ["tool_search", "shell", "custom"]


async def test_an_unknown_wish_is_refused(make_client: MakeClient) -> None:
    """There are two."""
    client = await make_client(echo)
    assert (await client.get("/tools?hosted=drop")).status_code == 422
