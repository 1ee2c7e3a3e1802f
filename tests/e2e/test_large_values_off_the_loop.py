"""Arguments and results of many values are checked and written in threads, no matter what runs the tool."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import StructuredTool, tool
from sidecall.features.mcp_server import calls
from sidecall.features.repair import text
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


class Listing(BaseModel):
    """Many rows."""

    rows: list[dict[str, int]]


@tool
async def list_modelled(count: int) -> Listing:
    """List numbers."""
    return Listing(rows=[{"number": number} for number in range(count)])


@tool
def list_modelled_in_thread(count: int) -> Listing:
    """List numbers."""
    return Listing(rows=[{"number": number} for number in range(count)])


@tool
async def add(rows: list[Row]) -> int:
    """Add numbers.

    Args:
        rows: What has them.
    """
    return sum(row.number for row in rows)


@tool
async def take_texts(lists: list[list[list[int]]]) -> int:
    """Count lists.

    Args:
        lists: What to count.
    """
    return len(lists)


async def _add(**args: Any) -> str:
    return str(len(args["rows"]))


_SCHEMA = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}
count = StructuredTool.from_function(coroutine=_add, name="count", description="Count.", args_schema=_SCHEMA)
TOOLS = (list_async, list_in_thread, list_inline, list_modelled, list_modelled_in_thread, add, count)
LISTING = ["list_async", "list_in_thread", "list_inline", "list_modelled", "list_modelled_in_thread"]


@pytest.mark.parametrize("name", LISTING)
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
        listing_calls_on_loop(calls, "make_result") as made,
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


def write_rows(name: str, many: int) -> str:
    """Write the rows as Python does."""
    row = "{'number': 1}" if name == "add" else "1"
    return f"[{', '.join([row] * many)},]"


@pytest.mark.parametrize(
    "write",
    [
        lambda rows: f"{{'rows': {rows}}}",
        lambda rows: json.dumps(f"{{'rows': {rows}}}"),
        lambda rows: f"```json\n{{'rows': {rows}}}\n```",
        lambda rows: {"rows": rows},
        lambda rows: {"rows": f"```{rows}```"},
        lambda rows: {"args": f"{{'rows': {rows}}}"},
        lambda rows: {"input": {"rows": rows}},
        lambda rows: json.dumps({"rows": rows}),
    ],
    ids=["whole", "twice", "fence", "value", "value in fence", "wrapper", "within wrapper", "value in text"],
)
@pytest.mark.parametrize("name", ["add", "count"])
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_long_texts_are_repaired_beside_the_event_loop(
    make_client: MakeClient, name: str, write: Callable[[str], Any], query: str
) -> None:
    """Short ones where they are: each token of them is looked at by itself."""
    client = await make_client(*TOOLS)
    said, called = [], []
    for many in (900, 3):
        call = {"name": name, "args": write(write_rows(name, many)), "id": "1"}
        with listing_calls_on_loop(text, "_write_strictly") as on_loop:
            said.append((await client.post(f"/tool_calls{query}", json=call)).json())
        called.append(bool(on_loop))

    counts = [len(it["args"]["rows"]) if query else int(it["content"]) for it in said]
    assert (counts, called) == ([900, 3], [False, True])


async def test_many_short_texts_are_repaired_beside_it_too(make_client: MakeClient) -> None:
    """What counts is how long they are together."""
    client = await make_client(take_texts)
    texts = ["[1,]"] * 400
    with listing_calls_on_loop(text, "_write_strictly") as on_loop:
        answer = await client.post("/tool_calls", json={"name": "take_texts", "args": {"lists": [texts]}})

    assert (answer.json()["status"], on_loop) == ("error", [])


async def test_what_was_repaired_is_shown_without_repairing_it_again(make_client: MakeClient) -> None:
    """The history shows what was sent, whatever the tool has made of it."""
    client = await make_client(*TOOLS)
    call = {"name": "add", "args": f"{{'rows': {write_rows('add', 100)}}}", "id": "1"}
    with listing_calls_on_loop(text, "_write_strictly") as on_loop:
        answer = (await client.post("/tool_calls", json=call)).json()
        shown = (await client.get(f"/tool_calls/{answer['id']}")).json()

    assert answer["response_metadata"]["repaired"] == ["arguments: read as JSON, though not written strictly"]
    assert (shown["args"], on_loop) == ({"rows": [{"number": 1}] * 100}, [])
