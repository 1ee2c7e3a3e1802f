"""Arguments and results of many values are checked and written in threads, no matter what runs the tool."""

from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import StructuredTool, tool
from sidecall.features.mcp_server import calls
from sidecall.kernel.pipeline import arguments
from sidecall.kernel.pipeline import format as formatting
from sidecall.kernel.pipeline import result_schema as hold_result
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop

_MANY = 12_000


@tool
async def list_async(count: int) -> list[dict[str, int]]:
    """List numbers."""
    return [{"number": number} for number in range(count)]


@tool
def list_in_thread(count: int) -> list[dict[str, int]]:
    """List numbers."""
    return [{"number": number} for number in range(count)]


@tool(executor="inline", response_format="content_and_artifact")
def list_inline(count: int) -> tuple[str, list[int]]:
    """List numbers."""
    return "done", list(range(count))


class Row(BaseModel):
    """One row."""

    number: int


@tool
async def add(rows: list[Row]) -> int:
    """Add numbers.

    Args:
        rows: What has them.
    """
    return sum(row.number for row in rows)


async def _add(**args: Any) -> str:
    return str(len(args["rows"]))


_SCHEMA = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}
count = StructuredTool.from_function(coroutine=_add, name="count", description="Count.", args_schema=_SCHEMA)
TOOLS = (list_async, list_in_thread, list_inline, add, count)


@pytest.mark.parametrize("name", ["list_async", "list_in_thread", "list_inline"])
@pytest.mark.parametrize("path", ["/tool_calls", "/tools/{name}/call", "/tool_calls/batch"])
async def test_a_large_result_is_written_beside_the_event_loop(make_client: MakeClient, name: str, path: str) -> None:
    """A small one where it is."""
    client = await make_client(*TOOLS)
    called = []
    for size in (_MANY, 2):
        call = {"name": name, "args": {"count": size}, "id": "1"}
        body = {"count": size} if "{" in path else [call] if path.endswith("batch") else call
        with listing_calls_on_loop(formatting, "_format_structure") as on_loop:
            answer = await client.post(path.format(name=name), json=body)
        called.append((answer.status_code, on_loop))

    assert called == [(200, []), (200, ["_format_structure"])]


async def test_a_large_result_is_held_to_its_type_and_written_for_mcp_beside_the_event_loop(
    make_client: MakeClient,
) -> None:
    """All of it comes."""
    client = await make_client(*TOOLS)
    said = {"name": "list_async", "arguments": {"count": _MANY}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said}
    with (
        listing_calls_on_loop(hold_result, "_hold") as held,
        listing_calls_on_loop(calls, "_make_result") as made,
    ):
        answer = await client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})

    assert len(answer.json()["result"]["structuredContent"]["result"]) == _MANY
    assert (held, made) == ([], [])


@pytest.mark.parametrize(
    ("name", "rows", "status"),
    [
        ("add", [{"number": 1}] * _MANY, "success"),
        ("add", [{"number": "x"}] * _MANY, "error"),
        ("count", [1] * _MANY, "success"),
        ("count", ["x"] * _MANY, "error"),
    ],
)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_many_arguments_are_checked_beside_the_event_loop(
    make_client: MakeClient, name: str, rows: list[Any], status: str, query: str
) -> None:
    """Few of them where they are."""
    client = await make_client(*TOOLS)
    with listing_calls_on_loop(arguments, "validate_at_once") as called:
        answer = (await client.post(f"/tool_calls{query}", json={"name": name, "args": {"rows": rows}})).json()
        few = await client.post(f"/tool_calls{query}", json={"name": name, "args": {"rows": rows[:3]}})

    assert (answer.get("message") or answer).get("status", "success") == status
    assert few.status_code == 200
    assert called == ["validate_at_once"]
