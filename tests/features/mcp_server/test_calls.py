"""A call over MCP takes the way of every other."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import ToolContext, ToolException, tool
from tests.features.mcp_server.messages import ask, ask_as_before
from tests.kit.clients import MakeClient

PIXEL = "iVBORw0KGgo="


class City(BaseModel):
    """A city."""

    name: str
    people: int


@tool
async def find(name: str) -> City:
    """Find a city."""
    return City(name=name, people=3)


@tool
async def count(name: str) -> int:
    """Count the letters."""
    return len(name)


@tool
async def lie() -> int:
    """Promise a number."""
    return "many"  # type: ignore[return-value]


@tool(max_content_bytes=500)
async def letters() -> list[str]:
    """List many letters."""
    return ["letter"] * 1000


@tool
async def fail() -> str:
    """Fail."""
    raise ToolException("no luck", retryable=True)


@tool(response_format="content_and_artifact")
async def draw() -> tuple[Any, dict[str, int]]:
    """Draw."""
    blocks = [
        "a pixel",
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        {"type": "file", "base64": "aGk=", "mime_type": "text/plain", "filename": "a b.txt"},
        {"type": "file", "base64": "AAAA", "mime_type": "application/pdf"},
        {"type": "file", "base64": "UklG", "mime_type": "audio/wav"},
        {"type": "file", "url": "https://example.com/a.pdf"},
        {"type": "file", "file_id": "file_1"},
        {"type": "json", "json": {"a": 1}},
    ]
    return blocks, {"kept": 1}


@tool
async def tell(*, context: ToolContext) -> dict[str, Any]:
    """Tell what came beside the call."""
    return {
        "state": context.state,
        "context": dict(context.context),
        "traceparent": context.headers.get("traceparent"),
        "call_id": context.tool_call_id,
        "who": context.caller.subject,
    }


RAN: list[int] = []


@tool(idempotency="tool_call_id")
async def book(room: int) -> str:
    """Book a room."""
    RAN.append(room)
    return f"Booked {room}."


TOOLS = (book, find, count, lie, letters, fail, draw, tell)


async def call(
    make_client: MakeClient, name: str, arguments: dict[str, Any] | None = None, meta: dict[str, Any] | None = None
) -> Any:
    """Make one call, and return its result."""
    client = await make_client(*TOOLS)
    return (await ask(client, "tools/call", meta, name=name, arguments=arguments or {})).json()["result"]


@pytest.mark.parametrize(
    ("name", "structured", "text"),
    [("find", {"name": "Ghent", "people": 3}, '{"name":"Ghent","people":3}'), ("count", {"result": 5}, "5")],
)
async def test_a_value_stands_beside_its_text(make_client: MakeClient, name: str, structured: Any, text: str) -> None:
    """Where the return annotation says what it is; what is no object is wrapped in one."""
    result = await call(make_client, name, {"name": "Ghent"})

    assert result["structuredContent"] == structured
    assert json.loads(result["content"][0]["text"]) == json.loads(text)


async def test_a_value_is_whole_where_its_text_is_cut(make_client: MakeClient) -> None:
    """Since it has to fit its schema; a link leads to the whole of the text."""
    client = await make_client(*TOOLS)

    result = (await ask(client, "tools/call", name="letters")).json()["result"]
    text, link = result["content"]
    read = (await ask(client, "resources/read", uri=link["uri"])).json()["result"]

    assert result["structuredContent"] == {"result": ["letter"] * 1000}
    assert "bytes left out" in text["text"]
    assert (link["type"], link["name"], link["mimeType"]) == (
        "resource_link",
        "whole answer of letters",
        "application/json",
    )
    assert json.loads(read["contents"][0]["text"]) == ["letter"] * 1000
    assert read["cacheScope"] == "private"


async def test_a_tool_that_breaks_its_promise_says_so(make_client: MakeClient) -> None:
    """Its client would not take the answer."""
    result = await call(make_client, "lie")

    assert result["isError"]
    assert result["content"][-1]["text"] == (
        'Error: lie returned something else than its output schema says: "many" is not of type "integer".'
    )


@pytest.mark.parametrize(
    ("name", "arguments", "text", "kind"),
    [
        ("count", {}, "name: Field required (string)", "invalid_arguments"),
        ("fail", {}, "no luck", "tool_error"),
    ],
)
async def test_a_failure_is_for_the_model(
    make_client: MakeClient, name: str, arguments: dict[str, Any], text: str, kind: str
) -> None:
    """In the words that a model can act on."""
    result = await call(make_client, name, arguments)

    assert (result["isError"], result["content"]) == (True, [{"type": "text", "text": text}])
    assert result["_meta"]["sidecall/call"]["error"]["kind"] == kind


async def test_an_unknown_tool_is_an_error_of_the_protocol(make_client: MakeClient) -> None:
    """Which names the nearest one."""
    client = await make_client(*TOOLS)

    response = await ask(client, "tools/call", name="coumt", arguments={})

    assert (response.status_code, response.json()["error"]["code"]) == (200, -32602)
    assert "Did you mean count?" in response.json()["error"]["message"]
    assert response.json()["error"]["data"] == {"nearest": ["count"]}


async def test_images_and_files_are_blocks(make_client: MakeClient) -> None:
    """What has no block of its own is a text; the artifact is for the program."""
    result = await call(make_client, "draw")

    assert result["content"] == [
        {"type": "text", "text": "a pixel"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "sidecall:///inline/a%20b.txt", "mimeType": "text/plain", "text": "hi"},
        },
        {
            "type": "resource",
            "resource": {"uri": "sidecall:///inline/file", "mimeType": "application/pdf", "blob": "AAAA"},
        },
        {"type": "audio", "data": "UklG", "mimeType": "audio/wav"},
        {
            "type": "resource_link",
            "uri": "https://example.com/a.pdf",
            "name": "file",
            "mimeType": "application/pdf",
        },
        {"type": "text", "text": "[file, id file_1]"},
        {"type": "text", "text": '{"a": 1}'},
    ]
    assert result["_meta"]["sidecall/artifact"] == {"kept": 1}


async def test_a_program_sends_what_no_model_writes_in_meta(make_client: MakeClient) -> None:
    """State, context and the call's id; and W3C's trace, which has a name of its own there."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    meta = {
        "sidecall/state": {"turn": 2},
        "sidecall/context": {"user": "ann"},
        "sidecall/tool_call_id": "call_7",
        "traceparent": trace,
    }

    result = await call(make_client, "tell", meta=meta)

    assert result["structuredContent"] == {
        "state": {"turn": 2},
        "context": {"user": "ann"},
        "traceparent": trace,
        "call_id": "call_7",
        "who": "anonymous",
    }


async def test_a_tool_knows_a_call_again(make_client: MakeClient) -> None:
    """By the id that its program says; without one every call is another."""
    client = await make_client(*TOOLS, drain_timeout=0)
    RAN.clear()

    for meta in ({"sidecall/tool_call_id": "call_1"}, {"sidecall/tool_call_id": "call_1"}, None, None):
        response = await ask(client, "tools/call", meta, name="book", arguments={"room": 7})
        assert response.json()["result"]["content"] == [{"type": "text", "text": "Booked 7."}]

    assert RAN == [7, 7, 7]


async def test_the_caller_is_that_of_the_request(make_client: MakeClient) -> None:
    """As over REST."""
    client = await make_client(*TOOLS, caller_header="X-User")
    client.headers["X-User"] = "ann"

    modern = await ask(client, "tools/call", name="tell")
    before = await ask_as_before(client, "tools/call", name="tell")

    assert [answer.json()["result"]["structuredContent"]["who"] for answer in (modern, before)] == ["ann", "ann"]


@pytest.mark.parametrize(
    "params", [{"name": 1}, {}, {"name": "count", "arguments": [1]}, {"name": "tell", "_meta": {"sidecall/context": 1}}]
)
async def test_what_is_no_call_is_an_error_of_the_protocol(make_client: MakeClient, params: dict[str, Any]) -> None:
    """Since the program, not the model, has written it."""
    client = await make_client(*TOOLS)

    response = await ask_as_before(client, "tools/call", **params)

    assert response.json()["error"]["code"] == -32602


async def test_a_quota_holds_for_both_doors(make_client: MakeClient) -> None:
    """The error has the status that a client of REST gets; the earlier revisions see only its code."""
    client = await make_client(*TOOLS, rate_limit="2/hour")

    first = await ask(client, "tools/call", name="count", arguments={"name": "x"})
    rest = await client.post("/tool_calls", json={"name": "count", "args": {"name": "x"}})
    refused = await ask(client, "tools/call", name="count", arguments={"name": "x"})
    before = await ask_as_before(client, "tools/call", name="count", arguments={"name": "x"})

    assert (first.status_code, rest.status_code) == (200, 200)
    assert first.headers["ratelimit"].startswith('"calls";r=1')
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, 429)
    assert refused.json()["error"]["data"]["type"] == "urn:sidecall:problem:quota-exceeded"
    assert int(refused.headers["retry-after"]) > 0
    assert (before.status_code, before.json()["error"]["code"]) == (200, 429)


@pytest.mark.parametrize("uri", ["sidecall:///contents/nope", "file:///etc/passwd", 1, None])
async def test_an_unknown_resource_is_refused(make_client: MakeClient, uri: Any) -> None:
    """With the code of each revision."""
    client = await make_client(*TOOLS)

    before = await ask_as_before(client, "resources/read", uri=uri)

    assert before.json()["error"]["code"] == (-32002 if isinstance(uri, str) else -32602)
    if isinstance(uri, str):
        modern = await ask(client, "resources/read", uri=uri)
        assert (modern.json()["error"]["code"], modern.json()["error"]["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"sidecall/call": False, "sidecall/artifact": False}, set()),
        ({"sidecall/call": 1, "sidecall/artifact": "yes"}, set()),
        ({"sidecall/call": False, "sidecall/artifact": True}, {"sidecall/artifact"}),
        ({"sidecall/call": True, "sidecall/artifact": False}, {"sidecall/call"}),
    ],
)
async def test_a_result_says_beside_itself_only_what_the_call_asks_for(
    make_client: MakeClient, asked: dict[str, Any], kept: set[str]
) -> None:
    """Many clients show the model all of it."""
    result = await call(make_client, "draw", meta=asked)
    failed = await call(make_client, "fail", meta=asked)

    assert set(result["_meta"]) == {"io.modelcontextprotocol/serverInfo", *kept}
    assert set(failed["_meta"]) == {"io.modelcontextprotocol/serverInfo", *kept} - {"sidecall/artifact"}
