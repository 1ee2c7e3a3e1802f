"""Tools of an MCP server are offered beside ours, and called as ours are."""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_client.entries import MINE, describe_kit, write_servers
from tests.features.mcp_server.messages import head, write
from tests.kit.clients import MakeClient
from tests.kit.waiting import until

BOTH_ERAS = pytest.mark.parametrize("modes", [(), ("modern",)], ids=["handshake", "modern"])


@tool
def own(words: str) -> str:
    """Answer."""
    return words


async def list_names(client: httpx.AsyncClient) -> list[str]:
    """List the names of the tools."""
    return [each["function"]["name"] for each in (await client.get("/tools")).json()]


async def wait_until(holds: Callable[[], Awaitable[Any]]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.02)


async def wait_for_tool(client: httpx.AsyncClient, name: str) -> None:
    """Wait until a tool is offered."""

    async def is_offered() -> bool:
        return name in await list_names(client)

    await wait_until(is_offered)


async def read_status(client: httpx.AsyncClient) -> dict[str, Any]:
    """Return what the status says of the server."""
    status: dict[str, Any] = (await client.get("/status")).json()["mcp_servers"][0]
    return status


async def wait_for_status(client: httpx.AsyncClient, **wanted: Any) -> dict[str, Any]:
    """Wait until the status says this of the server, and return all that it says."""

    async def is_said() -> bool:
        return wanted.items() <= (await read_status(client)).items()

    await wait_until(is_said)
    return await read_status(client)


async def call(client: httpx.AsyncClient, name: str, **args: Any) -> dict[str, Any]:
    """Call a tool of the server."""
    answer = await client.post("/tool_calls", json={"name": name, "args": args, "id": "1"})
    message: dict[str, Any] = answer.json()
    return message


async def connect(make_client: MakeClient, *modes: str, **entry: Any) -> httpx.AsyncClient:
    """Offer the tools of the small server, and wait until they are there."""
    client = await make_client(own, mcp_servers=write_servers(kit=describe_kit(*modes, **entry)))
    await wait_for_tool(client, "kit__echo")
    return client


@BOTH_ERAS
async def test_tools_are_listed_and_called(make_client: MakeClient, modes: tuple[str, ...]) -> None:
    """With their schemas, which are kept, and their errors, which a model can mend."""
    client = await connect(make_client, *modes)

    names = await list_names(client)
    shown = (await client.get("/tools/kit__add")).json()
    good = await call(client, "kit__add", a=1, b="2")
    bad = await call(client, "kit__add", a=1)
    failed = await call(client, "kit__fail")

    assert names[:3] == ["own", "kit__echo", "kit__add"]
    assert (await client.get("/tools/kit__echo")).json()["annotations"]["read_only"] is True
    assert shown["tags"] == ["mcp:kit"]
    assert (good["content"], good["artifact"]) == ("the sum is there", {"structured_content": {"sum": 3}})
    assert good["response_metadata"]["repaired"] == ["b: text instead of a number"]
    assert bad["response_metadata"]["error"]["errors"][0]["loc"] == ["b"]
    assert (failed["status"], failed["content"]) == ("error", "the disk is full")


@pytest.mark.parametrize("code", [-32000, -32001, -32602, -32603, 7])
async def test_an_error_of_the_protocol_is_that_calls_alone(make_client: MakeClient, code: int) -> None:
    """Also with the code that the client has for a connection that was closed."""
    schema = {"type": "object", "properties": {"refuse": {"type": "integer"}}}
    listed = json.dumps([{"name": "try", "inputSchema": schema}])
    client = await connect(make_client, env={"LISTED": listed})

    refused = await call(client, "kit__try", refuse=code)
    good = await call(client, "kit__try")

    assert (refused["status"], refused["content"]) == ("error", "Error: boom")
    assert (good["status"], good["content"]) == ("success", "{}")


async def test_blocks_of_every_kind_come_through(make_client: MakeClient) -> None:
    """And go out over MCP again as they came in."""
    client = await connect(make_client)

    message = await call(client, "kit__show")
    sent = write("tools/call", name="kit__show", arguments={})
    again = (await client.post("/mcp", json=sent, headers=head(sent))).json()["result"]["content"]

    assert [block["type"] for block in message["content"]] == ["text", "image", "text", "file", "text"]
    assert message["content"][4]["text"] == "[resource c: file:///a/c.txt] More."
    assert message["artifact"]["resource_links"][0]["uri"] == "file:///a/c.txt"
    assert again[2:] == [
        {"type": "resource", "resource": {"uri": "file:///a/note.txt", "mimeType": "text/plain", "text": "a note"}},
        {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "file:///a/c.txt", "name": "c", "description": "More."},
    ]
    assert [block["type"] for block in again[:2]] == ["text", "image"]


async def test_structured_results_go_out_again(make_client: MakeClient) -> None:
    """With their schema, no matter what the text beside them says."""
    client = await connect(make_client)
    sent = write("tools/call", name="kit__add", arguments={"a": 2, "b": 3})
    listing = write("tools/list")

    result = (await client.post("/mcp", json=sent, headers=head(sent))).json()["result"]
    listed = (await client.post("/mcp", json=listing, headers=head(listing))).json()["result"]["tools"]

    assert (result["structuredContent"], result["isError"]) == ({"sum": 5}, False)
    assert [each["outputSchema"]["required"] for each in listed if each["name"] == "kit__add"] == [["sum"]]


@BOTH_ERAS
async def test_progress_is_told_and_a_call_that_nobody_waits_for_is_cancelled(
    make_client: MakeClient, tmp_path: Path, modes: tuple[str, ...]
) -> None:
    """At the server too."""
    trace = tmp_path / "trace"
    client = await connect(make_client, *modes, env={"TRACE": str(trace)}, timeout=1.5)
    body = {"name": "kit__walk", "args": {}, "id": "1"}

    answer = await client.post("/tool_calls", json=body, headers={"Accept": "text/event-stream"})

    assert '"done":1.0,"total":2.0,"message":"half"' in answer.text
    assert "timed out after 1.5 seconds" in answer.text
    await until(trace.exists)


async def test_a_server_that_dies_hides_its_tools_and_comes_back(make_client: MakeClient) -> None:
    """The call that it dies under says so, and ours are there all the time."""
    client = await connect(make_client)

    message = await call(client, "kit__die")
    status = await wait_for_status(client, connects=2, tools=10)
    series = (await client.get("/metrics")).text

    assert message["response_metadata"]["error"]["retryable"] is True
    assert "kit, the server that runs this tool, is out of reach just now" in message["content"]
    assert status["state"] == "connected"
    assert 'sidecall_mcp_server_up{server="kit"} 1.0' in series
    assert (await call(client, "kit__echo", words="again"))["content"] == "again"


@pytest.mark.parametrize(
    ("entry", "seconds", "trouble"),
    [
        (
            {"command": "/nowhere/server"},
            60.0,
            "The command /nowhere/server cannot be started: No such file or directory.",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, 60.0, "ConnectError: "),
        (describe_kit("silent"), 0.5, "It does not answer in time."),
    ],
)
async def test_a_server_that_is_not_there_keeps_nothing_from_starting(
    make_client: MakeClient, entry: dict[str, Any], seconds: float, trouble: str
) -> None:
    """It is seen where operators look, and everything else is served."""
    client = await make_client(own, mcp_servers=write_servers(kit=entry), mcp_connect_timeout=seconds)

    assert (await client.get("/readyz")).status_code == 200
    assert (await call(client, "own", words="here"))["content"] == "here"
    assert trouble in (await wait_for_status(client, state="down"))["trouble"]
    assert (await client.get("/readyz")).json() == {
        "status": "ready",
        "tools": 1,
        "mcp_servers": {"kit": "down"},
        "mcp_tools_waiting": 0,
    }


async def test_a_list_that_changes_is_read_again(make_client: MakeClient) -> None:
    """As soon as the server says so."""
    client = await connect(make_client)

    await call(client, "kit__change")

    await wait_for_tool(client, "kit__extra_tool")
    assert (await call(client, "kit__extra_tool"))["content"] == "new"


async def test_files_that_are_loaded_again_go_before(make_client: MakeClient, tmp_path: Path) -> None:
    """A tool of ours takes the name that it is given, and leaves it again; the server's is there all the time."""
    entry = describe_kit(include=["echo"])
    settings: dict[str, Any] = {"tools": (str(tmp_path),), "entry_points": False, "reload": True}
    client = await make_client(mcp_servers=write_servers(kit=entry), **settings)
    await wait_for_tool(client, "kit__echo")
    versions = itertools.count()

    async def offer(name: str) -> list[str]:
        async def is_offered() -> bool:
            if name not in await list_names(client):
                # Written again, since nothing tells from when on files are watched.
                (tmp_path / "mine.py").write_text(f"{MINE.format(name=name)}# {next(versions)}\n")
                await asyncio.sleep(0.5)
            return name in await list_names(client) and len(await list_names(client)) == 2

        await wait_until(is_offered)
        return await list_names(client)

    first = await offer("mine")
    (tmp_path / "mine.py").write_text(MINE.format(name="kit__echo"))
    await wait_until(lambda: is_listed(client, lambda names: len(names) == 2 and names[1].startswith("kit__echo_")))
    taken = await list_names(client)
    answers = [await call(client, name, words="a") for name in taken]
    (tmp_path / "mine.py").write_text(MINE.format(name="mine"))
    await wait_until(lambda: is_listed(client, lambda names: names == first))

    assert first == ["mine", "kit__echo"]
    assert [answer["content"] for answer in answers] == ["mine a", "a"]
    assert (await call(client, "kit__echo", words="b"))["content"] == "b"


async def is_listed(client: httpx.AsyncClient, is_enough: Callable[[list[str]], bool]) -> bool:
    """Return whether the names of the tools are such."""
    return is_enough(await list_names(client))


async def test_tools_are_chosen_and_named_as_the_operator_wants(make_client: MakeClient) -> None:
    """Our own keep their names."""

    @tool
    def echo(words: str) -> str:
        """Echo."""
        return f"own {words}"

    entry = describe_kit(prefix=False, include=["echo", "a*", "walk"], exclude="walk", requires_approval=["add"])
    client = await make_client(echo, mcp_servers=write_servers(kit=entry))
    await wait_for_tool(client, "add")
    names = await list_names(client)

    waiting = await client.post("/tool_calls", json={"name": "add", "args": {"a": 1, "b": 2}, "id": "1"})

    assert names == ["echo", "echo_" + names[1][-8:], "add"]
    assert (await call(client, "echo", words="a"))["content"] == "own a"
    assert (await call(client, names[1], words="a"))["content"] == "a"
    assert waiting.status_code == 202


async def test_a_server_sees_its_own_environment_only(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what every program needs."""
    monkeypatch.setenv("SIDECALL_TRIED_SECRET", "hidden")
    monkeypatch.setenv("TRIED", "put in")
    client = await connect(make_client, env={"GIVEN": "${TRIED}"})

    seen = json.loads((await call(client, "kit__environ"))["content"])

    assert (seen["GIVEN"], seen["PATH"]) == ("put in", os.environ["PATH"])
    assert not {"SIDECALL_TRIED_SECRET", "TRIED", "PYTHONPATH"} & seen.keys()


async def test_changed_tools_wait_where_they_are_pinned(make_client: MakeClient, tmp_path: Path) -> None:
    """Until an operator accepts them, which a running server sees."""
    pins = tmp_path / "pins.json"
    settings: dict[str, Any] = {"mcp_pin": True, "mcp_pins_file": pins}
    await connect_with(make_client, describe_kit(), settings)

    client = await connect_with(make_client, describe_kit("reworded"), settings)
    waiting = (await client.get("/readyz")).json()["mcp_tools_waiting"]
    names = await list_names(client)
    kept = json.loads(pins.read_text())
    kept["accepted"]["kit"]["echo"] = kept["waiting"]["kit"].pop("echo")["hash"]
    pins.write_text(json.dumps(kept))

    assert (waiting, "kit__echo" in names, "kit__add" in names) == (1, False, True)
    await wait_for_tool(client, "kit__echo")


async def test_models_read_the_accepted_words_where_the_schema_alone_is_pinned(
    make_client: MakeClient, tmp_path: Path
) -> None:
    """The server's new ones do not wait, and reach nobody."""
    pins = tmp_path / "pins.json"
    settings: dict[str, Any] = {"mcp_pin": True, "mcp_pins_file": pins}
    await connect_with(make_client, describe_kit(), settings)
    kept = json.loads(pins.read_text())
    kept["texts"]["kit"]["echo"]["schema_only"] = True
    pins.write_text(json.dumps(kept))

    client = await connect_with(make_client, describe_kit("reworded"), settings)
    listed = (await client.get("/tools", params={"format": "mcp"})).json()

    assert [it["description"] for it in listed if it["name"] == "kit__echo"] == ["Give the words back."]


async def connect_with(make_client: MakeClient, entry: dict[str, Any], settings: dict[str, Any]) -> httpx.AsyncClient:
    """Offer the tools of a server with settings, and wait until most are there."""
    client = await make_client(own, mcp_servers=write_servers(kit=entry), **settings)
    await wait_for_tool(client, "kit__add")
    return client


async def test_another_sidecall_passes_its_artifact(make_client: MakeClient, tmp_path: Path) -> None:
    """As it is, with the value of the result beside it."""
    (tmp_path / "inner.py").write_text(_INNER)
    entry = {"command": sys.executable, "args": ["-m", "sidecall", "mcp", "--tools", str(tmp_path / "inner.py")]}
    client = await make_client(own, mcp_servers=write_servers(inner=entry))
    await wait_for_tool(client, "inner__search")

    message = await call(client, "inner__search")
    sent = write("tools/call", {"sidecall/artifact": True}, name="inner__search", arguments={})
    result = (await client.post("/mcp", json=sent, headers=head(sent))).json()["result"]

    assert (message["content"], message["artifact"]) == ("null", {"found": [1, 2]})
    assert result["_meta"]["sidecall/artifact"] == {"found": [1, 2]}
    assert result["structuredContent"] == {"result": "null"}


_INNER = '''
from sidecall import tool


@tool(response_format="content_and_artifact")
def search() -> tuple[str | None, dict[str, list[int]]]:
    """Search."""
    return "null", {"found": [1, 2]}
'''
