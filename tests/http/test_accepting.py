"""A client gets the form of an answer that it likes best, by the weights in its header `Accept`."""

import asyncio
import json
from time import process_time
from typing import Any

import pytest

from sidecall import ToolContext, tool
from sidecall.http.preferences import EVENTS, JSON, names_events, wants_events, weigh
from tests.features.mcp_server.messages import MODERN, write
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient

# By the header: whether it wants events, and how much it likes events and JSON.
TABLE: dict[str, tuple[bool, float, float]] = {
    "": (False, 1, 1),
    " , ,": (False, 1, 1),
    "*/*": (False, 1, 1),
    "*/*;q=0": (False, 0, 0),
    "text/*": (False, 1, 0),
    "application/json": (False, 0, 1),
    "text/html, */*;q=0.8": (False, 0.8, 0.8),
    "text/event-stream": (True, 1, 0),
    "Text/Event-Stream; Q=0.5": (True, 0.5, 0),
    "application/json, text/event-stream": (True, 1, 1),
    "text/event-stream, application/json": (True, 1, 1),
    "text/event-stream;q=0.5, application/json;q=0.5": (True, 0.5, 0.5),
    "application/json, text/event-stream;q=0.1": (False, 0.1, 1),
    "text/event-stream;q=0.1, application/json": (False, 0.1, 1),
    "text/event-stream;q=0.1,application/json;q=0.9": (False, 0.1, 0.9),
    "text/event-stream;q=0.9,application/json;q=0.1": (True, 0.9, 0.1),
    "application/json;q=0.1, text/event-stream": (True, 1, 0.1),
    "application/json;q=0, text/event-stream;q=0.001": (True, 0.001, 0),
    "application/json, text/event-stream;q=0": (False, 0, 1),
    "text/event-stream;q=0.000": (False, 0, 0),
    "text/event-stream;q=0, */*": (False, 0, 1),
    "text/event-stream, */*": (True, 1, 1),
    "text/event-stream, */*;q=0.1": (True, 1, 0.1),
    "text/event-stream;q=0.5, */*": (False, 0.5, 1),
    "text/event-stream;q=0.5, application/*": (False, 0.5, 1),
    "text/event-stream;q=0.5, application/*;q=0.9, application/json;q=0.1": (True, 0.5, 0.1),
    "text/*;q=0.9, text/event-stream;q=0.2, application/json;q=0.5": (False, 0.2, 0.5),
    "text/event-stream ; charset=utf-8 ; q=0.3, application/json ;q = 0.4": (False, 0.3, 0.4),
    "text/event-stream;charset=utf-8": (True, 1, 0),
    'application/json;profile="a, text/event-stream;q=1"': (False, 0, 1),
    'application/json;profile="a;q=0.1", text/event-stream;q=0.5': (False, 0.5, 1),
    'application/json;profile="a, text/event-stream': (False, 0, 1),
    "text/event-stream;q=7": (True, 1, 0),
    "text/event-stream;q=much": (True, 1, 0),
    "text/event-stream;q=": (True, 1, 0),
    "application/event-stream": (False, 0, 0),
    "xtext/event-stream": (False, 0, 0),
}


@pytest.mark.parametrize("accept", TABLE)
def test_weights_are_read(accept: str) -> None:
    """Of the range that says most about a media type, in any order and letters."""
    assert (wants_events(accept), weigh(accept, EVENTS), weigh(accept, JSON)) == TABLE[accept]


@pytest.mark.parametrize(
    ("accept", "names"),
    [
        ("text/event-stream;q=0.1, application/json", True),
        ("text/event-stream;q=0", False),
        ("text/*", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_whoever_names_events_reads_them(accept: str, names: bool) -> None:
    """However much they like JSON: as where nothing else can be said, such as with MCP's GET."""
    assert names_events(accept) == names


@pytest.mark.parametrize("piece", ['"', '"\\', '\\"', ";", "; ", ";q", ";q=0", ",", '",', "q="])
def test_no_header_takes_long(piece: str) -> None:
    """However it is made up: each letter is looked at a few times."""
    begun = process_time()
    for tail in ("", '"', "x"):
        weigh(piece * (60_000 // len(piece)) + tail, JSON)

    assert process_time() - begun < 1


@tool
async def count(limit: int = 5) -> str:
    """Count.

    Args:
        limit: How far.
    """
    return f"up to {limit}"


@tool
async def walk(context: ToolContext) -> str:
    """Walk."""
    context.report_progress(1, 2)
    for _ in range(10):
        await asyncio.sleep(0)
    return "there"


@BOTH_WAYS
@pytest.mark.parametrize("accept", TABLE)
async def test_rest_answers_in_that_form(make_client: MakeClient, accept: str) -> None:
    """One call and a batch; said in one header or in several."""
    client = await make_client(count)
    call = {"name": "count", "args": {}}
    forms = [("accept", accept)]
    several = [("accept", part) for part in accept.split(",")] if '"' not in accept else forms

    answers = [
        await client.post(path, json=body, headers=headers)
        for path, body in (("/tool_calls", call), ("/tool_calls/batch", [call]))
        for headers in (forms, several)
    ]

    wanted = EVENTS if TABLE[accept][0] else JSON
    assert [it.headers["Content-Type"].partition(";")[0] for it in answers] == [wanted] * 4


@pytest.mark.parametrize(
    ("accept", "is_stream"),
    [
        ("application/json, text/event-stream", True),  # which the protocol asks for
        ("text/event-stream, application/json;q=0.5", True),
        ("application/json, text/event-stream;q=0.1", True),  # there is something to be told
        ("*/*", True),
        ("text/*, application/json", True),
        ("application/json", False),
        ("application/json, text/event-stream;q=0", False),
        ("application/json, text/event-stream;q=0.0, */*", False),
        ("application/*", False),
    ],
)
async def test_mcp_tells_of_progress_to_whom_reads_streams(
    make_client: MakeClient, accept: str, is_stream: bool
) -> None:
    """What has nothing to tell before its end is answered with JSON in any case."""
    client = await make_client(count, walk)

    def ask(name: str) -> Any:
        headers = {"Accept": accept, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name}
        return client.post("/mcp", json=write("tools/call", {"progressToken": 1}, name=name), headers=headers)

    quiet, told = await ask("count"), await ask("walk")

    assert quiet.headers["Content-Type"] == "application/json"
    assert told.headers["Content-Type"] == ("text/event-stream" if is_stream else "application/json")
    last = told.text.rpartition("data: ")[2] if is_stream else told.text
    assert json.loads(last)["result"]["content"][0]["text"] == "there"
