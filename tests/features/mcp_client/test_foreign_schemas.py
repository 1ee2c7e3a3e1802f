"""The schemas of MCP servers are taken over in any draft, and nothing that they name is fetched."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sidecall.kernel.core.errors import SchemaInferenceError
from tests.compiler.normal.table import DRAFT_7, ELSEWHERE, INT, REFUSED, TABLE, take
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.features.mcp_client.test_offered import call, list_names, wait_for_tool
from tests.features.mcp_client.test_tools import make
from tests.kit.clients import MakeClient

# MCP itself wants the root to say that it is an object.
TAKEN = {name: it for name, it in TABLE.items() if "type" in it.schema}
NAMES = [f"kit__{name}" for name in TAKEN]
WORKING: list[dict[str, Any]] = [{"name": name, "inputSchema": it.schema} for name, it in TAKEN.items()]


def describe(*listed: dict[str, Any]) -> str:
    """Describe a server that lists these tools, too."""
    return write_servers(kit=describe_kit(env={"LISTED": json.dumps(listed)}))


@contextmanager
def unasked() -> Iterator[str]:
    """Give a host that listens, and see that nobody came when the body ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"//127.0.0.1:{listener.getsockname()[1]}"
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def place(schema: Any, host: str) -> Any:
    """Let a schema of the table name this host."""
    return json.loads(json.dumps(schema).replace(ELSEWHERE, host))


async def test_all_are_offered_and_called(make_client: MakeClient) -> None:
    """What the schema takes reaches the server as it was sent, and nothing else does."""
    client = await make_client(mcp_servers=describe(*WORKING))
    await wait_for_tool(client, NAMES[-1])

    offered = await list_names(client)
    reached = {name: await call(client, f"kit__{name}", **it.fitting[0]) for name, it in TAKEN.items()}
    refused = {name: await call(client, f"kit__{name}", **it.unfit[0]) for name, it in TAKEN.items() if it.unfit}

    assert [name for name in offered if name in NAMES] == NAMES
    assert {name: json.loads(it["content"]) for name, it in reached.items()} == {
        name: it.fitting[0] for name, it in TAKEN.items()
    }
    assert {it["response_metadata"]["error"]["kind"] for it in refused.values()} == {"invalid_arguments"}


async def test_those_that_name_other_documents_are_left_out_unfetched(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """Each with a warning that names the server, the tool, the place and the reason; the others are there."""
    with unasked() as host:
        bad = [{"name": name, "inputSchema": take({"p": place(schema, host)})} for name, (schema, _) in REFUSED.items()]
        client = await make_client(mcp_servers=describe(*bad, WORKING[0]))
        await wait_for_tool(client, NAMES[0])
        offered = await list_names(client)

    said = [it.message for it in caplog.records if it.levelname == "WARNING"]
    assert not {f"kit__{name}" for name in REFUSED} & {*offered}
    for name, (_, words) in REFUSED.items():
        about = f"a tool of MCP server kit is not offered: MCP server kit: tool '{name}': its inputSchema: "
        assert any(it.startswith(about) and place(words, host) in it for it in said)


@pytest.mark.parametrize("name", REFUSED)
async def test_what_results_look_like_is_fetched_from_nowhere(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The tool is there without it, and the log says so."""
    with unasked() as host:
        schema, words = place(REFUSED[name], host)
        made = make(output_schema=take({"p": schema}))

    assert made.output_schema is None
    assert f"MCP server a: tool 'see' is offered without its outputSchema: {words}"[:60] in caplog.text
    assert words in caplog.text


@pytest.mark.parametrize("address", ["http:{}/own", "https:{}/own", "file:{}/own", "{}/own"])
def test_a_dialect_of_somebodys_own_is_not_fetched(address: str) -> None:
    """It is read as 2020-12."""
    with unasked() as host:
        own = {"$schema": address.format(host), **take({"a": {**INT, "$schema": address.format(host)}})}
        made = make(input_schema=own, output_schema=own)

    assert made.args_schema.flat == made.output_schema == take({"a": INT})


def test_results_of_any_draft_are_described() -> None:
    """In the words of 2020-12."""
    pair = {"$schema": DRAFT_7, **take({"at": {"type": "array", "items": [INT, INT]}, "more": True, "none": False})}

    made = make(output_schema=pair)

    assert made.output_schema == {
        **take({"at": {"type": "array", "prefixItems": [INT, INT], "items": {}}, "more": {}}),
        "propertyNames": {"not": {"enum": ["none"]}},
    }


def test_what_is_nested_without_end_is_refused_in_words() -> None:
    """Before anything walks it."""
    schema: dict[str, Any] = {}
    for _ in range(2000):
        schema = {"properties": {"a": schema}}

    with pytest.raises(
        SchemaInferenceError, match="its inputSchema: more than 100 schemas in it stand inside each other"
    ):
        make(input_schema=schema)
