"""An adapter needs the framework that it is for, and none of the others."""

import ast
import sys

import pytest

from tests.kit.sources import MODULES, imports_of, outline

# What comes with every installation.
ALWAYS = {"httpx", "pydantic", "pydantic_core", "sidecall", "typing_extensions", *sys.stdlib_module_names}
# The modules that the packages of an extra bring. Without AgentChat, AutoGen's adapter does without its events.
EXTRAS = {
    "agent_framework": {"agent_framework"},
    "agents": {"agents"},
    "agno": {"agno"},
    "autogen": {"autogen_agentchat", "autogen_core"},
    "camel": {"camel"},
    "crewai": {"crewai"},
    "dspy": {"dspy"},
    "gemini": {"google"},
    "google_adk": {"google"},
    "haystack": {"haystack"},
    "langchain": {"langchain_core", "langgraph"},
    "llama_index": {"llama_index", "workflows"},
    "pydantic_ai": {"pydantic_ai"},
    "semantic_kernel": {"semantic_kernel"},
    "smolagents": {"smolagents"},
    "strands": {"strands"},
}


def foreign_imports(module: str) -> dict[str, set[str]]:
    """Return the packages of others that importing a module imports, each with the modules that do."""
    pending, seen = [module], set[str]()
    found: dict[str, set[str]] = {}
    while pending:
        if (name := pending.pop()) in seen:
            continue
        seen.add(name)
        for node in outline(MODULES[name]).imports:
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [it.name for it in node.names]
            for package in {it.partition(".")[0] for it in named} - ALWAYS:
                found.setdefault(package, set()).add(name)
        pending += imports_of(MODULES[name])
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_adapter_is_imported_beside_its_own_framework_only(extra: str) -> None:
    """`pip install 'sidecall[llama-index]'` brings no LangGraph."""
    needed = foreign_imports(f"sidecall.client.{extra}")

    assert {package: by for package, by in needed.items() if package not in EXTRAS[extra]} == {}


def test_the_generic_tools_need_no_framework() -> None:
    """Any other framework has them, too."""
    assert foreign_imports("sidecall.client.remote") == {}
