"""The official client of MCP, in both its ways of speaking."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.e2e.conftest import Serve
from tests.kit.servers import Server

TOOLS = '''
import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import Field
from sidecall import ToolContext, tool


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def walk(steps: int, *, context: ToolContext) -> str:
    """Walk."""
    for step in range(steps):
        await context.progress(step + 1, steps)
        await asyncio.sleep(0.05)
    return "there"


@tool
async def wait(file: str) -> str:
    """Wait until somebody cancels."""
    Path(file).write_text("begun")
    try:
        await asyncio.sleep(60)
    finally:
        Path(file).write_text("ended")
    return "never"


@tool
async def draw() -> list[dict]:
    """Draw a pixel."""
    return [{"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}]


@tool(requires_approval=True)
async def refund(order: int, amount: float) -> str:
    """Refund an order."""
    return f"Refunded {amount} of {order}."


@tool
async def query(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Query a region, which stands in a header too."""
    return region
'''
PRINTING = '''
import os

from sidecall import tool

print("loaded")


@tool
def shout(word: str) -> str:
    """Shout."""
    print(word)
    os.write(1, word.encode())
    return word.upper()
'''
NEW_TOOL = '\n\n@tool\nasync def late() -> str:\n    """Come late."""\n    return ""\n'
BOTH = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold the tools."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "kit.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def server(start_server: Serve, folder: Path) -> Server:
    """Serve them, and follow their file."""
    server = start_server("--reload", "--tools", str(folder))
    server.wait_for("watching")
    return server


@BOTH
async def test_the_official_client_calls_tools(server: Server, mode: str) -> None:
    """It lists them, checks values by their schemas, and reads errors and images."""
    async with Client(f"{server.url}/mcp", mode=mode) as client:
        names = [item.name for item in (await client.list_tools()).tools]
        added = await client.call_tool("add", {"a": 1, "b": "2"})
        wrong = await client.call_tool("add", {"a": 1})
        drawn = await client.call_tool("draw", {})
        queried = await client.call_tool("query", {"region": "süd "})
        with pytest.raises(MCPError, match="Did you mean add"):
            await client.call_tool("addd", {})
        await client.list_resources()
        await client.list_prompts()

    assert names[:5] == ["add", "walk", "wait", "draw", "refund"]
    assert (added.structured_content, added.is_error) == ({"result": 3}, False)
    assert (wrong.content[0].text, wrong.is_error) == ("b: Field required (integer)", True)
    assert (drawn.content[0].type, drawn.content[0].data) == ("image", "iVBORw0KGgo=")
    assert queried.content[0].text == "süd "


@BOTH
async def test_the_official_client_starts_the_program_itself(tmp_path: Path, mode: str) -> None:
    """What tools print is not taken for a message."""
    printing = tmp_path / "printing.py"
    printing.write_text(PRINTING)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "sidecall", "mcp", "--tools", str(printing)], cwd=tmp_path
    )

    async with Client(stdio_client(command), mode=mode) as client:
        answer = await client.call_tool("shout", {"word": "hey"})

    assert answer.content[0].text == "HEY"


@BOTH
async def test_the_official_client_hears_of_progress(server: Server, mode: str) -> None:
    """While the call runs."""
    heard: list[tuple[float, float | None]] = []

    async def listen(progress: float, total: float | None, _message: str | None) -> None:
        heard.append((progress, total))

    async with Client(f"{server.url}/mcp", mode=mode) as client:
        answer = await client.call_tool("walk", {"steps": 3}, progress_callback=listen)

    assert answer.content[0].text == "there"
    assert heard == [(1, 3), (2, 3), (3, 3)]


@BOTH
async def test_the_official_client_cancels_a_call(server: Server, tmp_path: Path, mode: str) -> None:
    """By closing its connection; or before 2026-07-28 by saying so, within its session."""
    file = tmp_path / "file"
    async with Client(f"{server.url}/mcp", mode=mode) as client:
        call = asyncio.create_task(client.call_tool("wait", {"file": str(file)}))
        await _until(lambda: file.exists() and file.read_text() == "begun")
        call.cancel()
        await _until(lambda: file.read_text() == "ended")
        # What is said of the cancelled call comes before: a client that closes cannot take it.
        await client.list_tools()

    assert file.read_text() == "ended"


@pytest.mark.parametrize(
    ("action", "content", "text"),
    [
        ("accept", None, "Refunded 3.5 of 7."),
        ("accept", {"amount": 2.0}, "Refunded 2.0 of 7."),
        ("decline", None, "Tool execution was not approved."),
    ],
)
async def test_a_person_at_the_official_client_decides(server: Server, action: Any, content: Any, text: str) -> None:
    """In a form that the client shows them."""
    asked: list[str] = []

    async def show(_context: Any, params: Any) -> mcp_types.ElicitResult:
        asked.append(params.message)
        return mcp_types.ElicitResult(action=action, content=content)

    async with Client(f"{server.url}/mcp", elicitation_callback=show) as client:
        answer = await client.call_tool("refund", {"order": 7, "amount": 3.5})

    assert asked == ['Run refund with {"order": 7, "amount": 3.5}?']
    assert answer.content[0].text == text


async def test_the_official_client_hears_of_new_tools(server: Server, folder: Path) -> None:
    """And lists them."""
    async with Client(f"{server.url}/mcp") as client:
        before = [item.name for item in (await client.list_tools()).tools]
        async with client.listen(tools_list_changed=True) as changes:
            (folder / "kit.py").write_text(TOOLS + NEW_TOOL)
            async with asyncio.timeout(60):
                await anext(aiter(changes))
        after = [item.name for item in (await client.list_tools()).tools]

    assert after == [*before, "late"]


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110  another process does it
            await asyncio.sleep(0.02)
