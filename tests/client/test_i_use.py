"""What the table "I use … do this" says is done as it stands there."""

import json
import re
from typing import Any

import pytest
from anyio import to_thread
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from mcp import Client
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from sidecall.cli.commands import list_commands
from sidecall.client import AsyncSidecall
from sidecall.client.langchain import load_tools
from sidecall.client.pydantic_ai import ServerToolset
from tests.client.conftest import OpenApp
from tests.client.desk import double
from tests.client.said import ANTHROPIC, CHAT, GEMINI, RESPONSES
from tests.client.twins import URL, make_twin
from tests.kit.sources import ROOT

SEARCHES = {
    "output": [{"type": "tool_search_call", "call_id": "s1", "execution": "client", "arguments": {"query": "double"}}]
}
USES = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "double"}}],
}
# What the model says, and what of the last message shows that it was answered; what is made has its type.
ROWS: dict[str, tuple[Any, str]] = {
    "OpenAI, Chat Completions": (CHAT, "'content': '8'"),
    "OpenAI, Responses": (RESPONSES, "'output': '8'"),
    "Anthropic": (ANTHROPIC, "'content': '8'"),
    "Gemini": (GEMINI, "{'output': '8'}"),
    "OpenAI, with hundreds of tools": (SEARCHES, "'tools': [{'type': 'function', 'name': 'double'"),
    "Anthropic, with hundreds of tools": (USES, "{'type': 'tool_reference', 'tool_name': 'double'}"),
    "LangChain": (FakeListChatModel(responses=["done"]), "CompiledStateGraph"),
    "Pydantic AI": (TestModel(call_tools=[]), "Agent"),
    "an event loop": (None, "AsyncSidecall"),
    "a client of MCP": (None, "Client"),
}
# These are no Python: a configuration, and HTTP.
OTHERS = ["a desktop client of MCP", "any other language"]
# By tests that have the packages in environments of their own.
ELSEWHERE = [
    "Gemini, in one call",
    "JavaScript, Vercel AI SDK",
    "LangChain.js, Mastra",
    "LlamaIndex, CrewAI, agno and nine others",
    "OpenAI Agents SDK",
    "another framework",
]


def read_table(page: str) -> dict[str, str]:
    """Read the table of a page."""
    text = (ROOT / page).read_text().partition("| I use | do this |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ", 1) for line in text.splitlines()]
    return {name.strip(): cell.strip() for name, cell in rows}


TABLE = read_table("docs/clients.md")


def test_each_row_is_tried() -> None:
    """Here, by its own test below, or elsewhere."""
    assert sorted(TABLE) == sorted([*ROWS, *OTHERS, *ELSEWHERE])


@pytest.mark.parametrize("row", ROWS)
async def test_a_row_does_what_it_says(open_app: OpenApp, row: str) -> None:
    """Each piece of code is run, and the last one answers the model, or is made."""
    said, sign = ROWS[row]
    server = make_twin("blocking", await open_app(double)).client
    known: dict[str, Any] = {
        **{it.__name__: it for it in (AsyncSidecall, Agent, Client, ServerToolset, create_agent, load_tools)},
        "server": AsyncSidecall(URL) if row == "Pydantic AI" else server,
        "response": said,
        "model": said,
        "messages": [],
        "url": URL,
    }
    pieces = re.findall("`([^`]+)`", TABLE[row])

    done = await to_thread.run_sync(lambda: [run_piece(piece, known) for piece in pieces])

    assert sign in (repr(done[-1]) if isinstance(done[-1], list) else type(done[-1]).__name__)


def run_piece(piece: str, known: dict[str, Any]) -> Any:
    """Run a piece of code, and return its value, or that of what it changes."""
    if re.match(r"\w+ ?\+?= ?", piece):
        exec(piece, known)
        return known[piece.split()[0].partition("=")[0]]
    return eval(piece, known)


def test_a_desktop_client_starts_a_command_that_there_is() -> None:
    """With no arguments that it lacks; what it then speaks is tried elsewhere."""
    started = json.loads(re.findall("`([^`]+)`", TABLE["a desktop client of MCP"])[0])

    assert started["command"] == "sidecall"
    assert started["args"][0] in list_commands()


async def test_other_languages_have_http(open_app: OpenApp) -> None:
    """Both requests are there."""
    document = (await open_app(double)).openapi()  # type: ignore[attr-defined]
    pieces = [piece.split() for piece in re.findall("`([^`]+)`", TABLE["any other language"])]

    assert [method.lower() in document["paths"][path] for method, path in pieces] == [True, True]
