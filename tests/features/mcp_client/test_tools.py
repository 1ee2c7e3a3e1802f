"""A tool of another server is made ready as ours are."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from sidecall.features.mcp_client.link import ListedTool, RemoteAnswer
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.tools import make_remote_tool
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import DefinitionError, InvalidArguments
from sidecall.kernel.core.tool import CompiledTool
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.clients import MakeClient


async def answer(name: str, args: Mapping[str, Any], _: ToolContext, headers: Mapping[str, str]) -> RemoteAnswer:
    """Answer with what was asked."""
    return RemoteAnswer([{"type": "text", "text": f"{name} {dict(args)} {dict(headers)}"}])


def make(caller_headers: dict[str, str] | None = None, **listed: Any) -> CompiledTool:
    """Make a tool of a server at a URL."""
    entry = UpstreamEntry.model_validate({"url": "http://a/mcp", "caller_headers": caller_headers or {}})
    return make_remote_tool("a", entry, ListedTool(name="see", **listed), "a__see", answer)


@pytest.mark.parametrize(
    "schema",
    [{"type": "array"}, {"type": "object", "properties": None}, {"type": "object", "properties": {"a": {"type": 7}}}],
)
def test_a_schema_that_is_none_is_refused(schema: dict[str, Any]) -> None:
    """The tool is left out, and no other."""
    with pytest.raises(DefinitionError):
        make(input_schema=schema)


def test_results_are_described_where_their_schema_is_one() -> None:
    """What is none says nothing."""
    assert make(output_schema={"type": "object", "title": "Seen"}).output_schema == {"type": "object"}
    assert make(output_schema={"type": 7}).output_schema is None


def test_a_pattern_that_would_take_long_is_left_to_its_server(caplog: pytest.LogCaptureFixture) -> None:
    """The log names it, and models read it still; results are compared with none."""
    caplog.set_level(logging.INFO, "sidecall")
    properties = {"slow": {"type": "string", "pattern": "(?=.*a)b"}, "fast": {"type": "string", "pattern": "^b$"}}
    listed = {"type": "object", "properties": properties}

    tool = make(input_schema=listed, output_schema=listed)

    assert tool.args_schema.json_schema["properties"] == properties
    assert tool.output_schema == listed
    assert tool.args_schema.validate({"slow": "c"}, {}, [], []) == {"slow": "c"}
    with pytest.raises(InvalidArguments):
        tool.args_schema.validate({"fast": "c"}, {}, [], [])
    assert tool.results is not None
    assert tool.results.settle("see", {"slow": "c", "fast": "c"}) == {"slow": "c", "fast": "c"}
    assert caplog.messages == ["MCP server a: tool 'see': compared by its server alone: the patterns '(?=.*a)b'"]


async def test_what_is_the_callers_goes_with_the_call(make_client: MakeClient) -> None:
    """It is asked for where it is missing, of the one who can supply it."""
    tool: Any = make({"Authorization": "Bearer ${secret:PAT}", "X-User": "${header:X-Caller}"})
    client = await make_client(tool, secrets_key=SECRETS_KEY)
    call = {"name": "a__see", "args": {"_sidecall_headers": {}, "word": "x"}, "id": "1"}
    named = {"X-Caller": "ann"}

    nameless = await client.post("/tool_calls", json=call)
    without = (await client.post("/tool_calls", json=call, headers=named)).json()
    kept = await client.put("/secrets/PAT", json={"value": "s3cret-s3cret"})
    found = (await client.post("/tool_calls", json=call, headers=named)).json()

    assert (nameless.status_code, "X-Caller" in nameless.json()["detail"]) == (422, True)
    assert without["content"] == "Error: this tool needs a secret PAT of its caller, who keeps none here."
    assert without["response_metadata"]["error"]["kind"] == "not_configured"
    assert kept.is_success
    assert found["content"] == "see {'word': 'x'} {'Authorization': 'Bearer [redacted]', 'X-User': 'ann'}"


PAGES: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "page_size": {"type": "integer"}},
    "required": ["text"],
}


@pytest.mark.parametrize(
    ("schema", "args", "content"),
    [
        (PAGES, {"text": "a", "page_size": 3.0}, "see {'text': 'a', 'page_size': 3} {}"),
        (
            PAGES,
            {"text": "a", "limit": 10},
            "limit: There is no such argument; the arguments are: page_size, text",
        ),
        # what cannot be meant for another one is the server's business, and what it says that it takes
        (PAGES, {"text": "a", "lang": "en"}, "see {'text': 'a', 'lang': 'en'} {}"),
        (PAGES | {"additionalProperties": True}, {"text": "a", "limit": 10}, "see {'text': 'a', 'limit': 10} {}"),
    ],
)
async def test_arguments_are_held_to_what_the_server_lists(
    make_client: MakeClient, schema: dict[str, Any], args: dict[str, Any], content: str
) -> None:
    """As those of our own tools are."""
    client = await make_client(make(input_schema=schema))

    message = (await client.post("/tool_calls", json={"name": "a__see", "args": args, "id": "1"})).json()

    assert message["content"] == content
