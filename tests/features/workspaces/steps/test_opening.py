"""A tool gets the files of its call's conversation by the type of a parameter, wherever it runs."""

import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Cache, ToolAnnotations, ToolContext, Workspace, tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.kit.clients import MakeClient


@tool
def put(path: str, text: str, workspace: Workspace) -> str:
    """Write a file."""
    workspace.write_bytes(path, text.encode())
    return f"Wrote {workspace.look_at(path).path}."


@tool
async def look(*, files: Workspace | None = None, context: ToolContext) -> str:
    """List the files."""
    assert files is not None
    return " ".join([context.tool_name, *(entry.path for entry in files.walk())])


@tool(executor="process")
def put_elsewhere(path: str, text: str, workspace: Workspace) -> str:
    """Write a file from another process."""
    workspace.write_bytes(path, text.encode())
    return f"process {os.getpid()}: {workspace.look_at(path).path}"


@tool(requires_approval=True)
def remove(path: str, workspace: Workspace) -> str:
    """Delete a file, if a person lets it."""
    workspace.delete(path)
    return "Deleted."


@pytest.fixture
async def client(make_client: MakeClient, tmp_path: Path) -> httpx.AsyncClient:
    """Serve these tools."""
    return await make_client(put, look, remove, workspace_dir=tmp_path / "workspaces")


async def call(client: httpx.AsyncClient, name: str, conversation: str | None = None, **args: Any) -> dict[str, Any]:
    """Call a tool within a conversation."""
    headers = {} if conversation is None else {"Sidecall-Conversation": conversation}
    body = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    message: dict[str, Any] = (await client.post("/tool_calls", json=body, headers=headers)).json()
    return message


async def test_the_model_does_not_see_the_parameter(client: httpx.AsyncClient) -> None:
    """No matter what it is called."""
    tools = (await client.get("/tools")).json()

    assert [sorted(it["function"]["parameters"]["properties"]) for it in tools] == [
        ["path", "text"], [], ["path"],
    ]  # fmt: skip


async def test_a_conversation_has_files_of_its_own(client: httpx.AsyncClient) -> None:
    """Which its later calls find, named by the header or by the context beside the call."""
    written = await call(client, "put", "one", path="a/b.txt", text="hello")
    beside = {"name": "look", "args": {}, "id": "call_2", "context": {"conversation_id": "one"}}
    same = (await client.post("/tool_calls", json=beside)).json()
    other = await call(client, "look", "two")

    assert written["content"] == "Wrote /workspace/a/b.txt."
    assert same["content"] == "look /workspace/a /workspace/a/b.txt"
    assert other["content"] == "look"


async def test_a_call_of_no_conversation_leaves_nothing(client: httpx.AsyncClient, tmp_path: Path) -> None:
    """Its files go with it, also where it fails."""
    assert (await call(client, "put", path="a", text="x"))["content"] == "Wrote /workspace/a."
    assert (await call(client, "put", path="../a", text="x"))["status"] == "error"

    assert os.listdir(tmp_path / "workspaces") == []


async def test_files_that_go_with_their_call_are_told_of(client: httpx.AsyncClient) -> None:
    """With what keeps them; of a call that has a conversation, or has written nothing, there is nothing to say."""
    notes = [
        (await call(client, name, conversation, **args))["response_metadata"].get("workspace_note")
        for name, conversation, args in (
            ("put", None, {"path": "a/b", "text": "x"}),
            ("put", "one", {"path": "a/b", "text": "x"}),
            ("look", None, {}),
        )
    ]

    gone = "The files that this call has written are gone: it belongs to no conversation. The program keeps them by"
    keep = "sending the header Sidecall-Conversation, or `conversation_id` in the `context` beside the call."
    assert notes == [f"{gone} {keep}", None, None]


async def test_the_header_decides_where_the_context_names_another(client: httpx.AsyncClient) -> None:
    """A program's client sends it with each request."""
    headers = {"Sidecall-Conversation": "one"}
    body = {"name": "put", "args": {"path": "a", "text": "x"}, "id": "call_1", "context": {"conversation_id": "two"}}
    await client.post("/tool_calls", json=body, headers=headers)

    assert [(await call(client, "look", name))["content"] for name in ("one", "two")] == ["look /workspace/a", "look"]


async def test_a_tool_in_a_process_has_the_same_files(make_client: MakeClient, tmp_path: Path) -> None:
    """Opened there, and with the same words for what is refused."""
    client = await make_client(put_elsewhere, look, workspace_dir=tmp_path)
    written = await call(client, "put_elsewhere", "one", path="from_there", text="x")
    found = await call(client, "look", "one")

    assert f"process {os.getpid()}:" not in written["content"]
    assert written["content"].endswith(": /workspace/from_there")
    assert found["content"] == "look /workspace/from_there"
    refused = await call(client, "put_elsewhere", "one", path="/etc/passwd", text="x")
    assert refused["content"] == "Only files in /workspace can be reached. Use a path such as /workspace/notes.txt."


async def test_errors_name_the_path_as_the_model_knows_it(client: httpx.AsyncClient) -> None:
    """And no place on this machine."""
    refused = await call(client, "put", "one", path="/etc/passwd", text="x")

    assert refused["status"] == "error"
    assert refused["content"] == "Only files in /workspace can be reached. Use a path such as /workspace/notes.txt."


async def test_a_call_that_waited_for_a_person_has_the_same_files(client: httpx.AsyncClient) -> None:
    """The conversation is kept with the call."""
    await call(client, "put", "one", path="a", text="x")
    waiting = await call(client, "remove", "one", path="a")
    decided = await client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})

    assert decided.json()["message"]["content"] == "Deleted."
    assert (await call(client, "look", "one"))["content"] == "look"


async def test_what_was_decided_in_one_conversation_is_open_in_another(client: httpx.AsyncClient) -> None:
    """Though the model has given both calls the same id."""
    for conversation in ("one", "two"):
        await call(client, "put", conversation, path="a", text="x")
    waiting = await call(client, "remove", "one", path="a")
    await client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})

    again = await call(client, "remove", "one", path="a")
    other = await call(client, "remove", "two", path="a")

    assert again["content"] == "Deleted."
    assert (other["status"], other["id"] != waiting["id"]) == ("pending", True)
    assert (await call(client, "look", "two"))["content"] == "look /workspace/a"


async def test_who_approves_sees_which_conversation_it_is_about(client: httpx.AsyncClient) -> None:
    """In the answer, in lists and where it is looked at: whose files a call works on is most of what it does."""
    body = {"name": "remove", "args": {"path": "a"}}
    waiting = [
        await call(client, "remove", "one", path="a"),
        (await client.post("/tool_calls", json={**body, "context": {"conversation_id": "two"}})).json(),
        (await client.post("/tool_calls", json=body)).json(),
    ]
    looked_at = [(await client.get(f"/approvals/{it['id']}")).json() for it in waiting]
    listed = (await client.get("/approvals")).json()

    shown = [[it["conversation_id"] for it in them] for them in (waiting, looked_at, listed)]
    assert shown == [["one", "two", None]] * 3


async def test_a_key_is_of_one_conversation(client: httpx.AsyncClient) -> None:
    """In another it stands for another call."""
    body = {"name": "put", "args": {"path": "a", "text": "x"}, "id": "call_1"}

    async def send(conversation: str) -> int:
        headers = {"Idempotency-Key": "k", "Sidecall-Conversation": conversation}
        return (await client.post("/tool_calls", json=body, headers=headers)).status_code

    assert [await send("one"), await send("one"), await send("two")] == [200, 200, 422]


@pytest.mark.parametrize("name", ["a/b", ".", "..", "a\nb", "x" * 257, "", "  "])
async def test_a_name_that_is_no_part_of_a_path_is_refused(client: httpx.AsyncClient, name: str) -> None:
    """Nobody could ask for its files."""
    beside = {"name": "look", "args": {}, "context": {"conversation_id": name}}
    answer = await client.post("/tool_calls", json=beside)

    assert (answer.status_code, answer.json()["type"]) == (422, "urn:sidecall:problem:missing-context")


async def test_an_empty_header_names_no_conversation(client: httpx.AsyncClient) -> None:
    """It is no way to say none: what the call writes would be lost, though its program believes to have named one."""
    body = {"name": "look", "args": {}, "context": {"conversation_id": "one"}}
    answers = [
        await client.post(url, json=sent, headers={"Sidecall-Conversation": ""})
        for url, sent in (("/tool_calls", body), ("/tool_calls/batch", [body]))
    ]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert "Leave it out where there is none." in answers[0].json()["detail"]


async def test_a_header_names_in_ascii(client: httpx.AsyncClient) -> None:
    """Of others it cannot be known how they were meant."""
    body = {"name": "look", "args": {}}
    answer = await client.post("/tool_calls", json=body, headers={"Sidecall-Conversation": "zü".encode()})

    assert answer.status_code == 422
    assert "a header has those of ASCII only" in answer.json()["detail"]


@pytest.mark.parametrize("wish", [{}, {"Prefer": "respond-async"}, {"Accept": "text/event-stream"}])
async def test_two_headers_name_no_conversation(client: httpx.AsyncClient, wish: dict[str, str]) -> None:
    """If either of them counted, the other one's program would be wrong."""
    headers = [("Sidecall-Conversation", "one"), ("Sidecall-Conversation", "two"), *wish.items()]
    call = {"name": "look", "args": {}}
    said = "The header `Sidecall-Conversation` came 2 times; send it once."

    for url, body in (("/tool_calls", call), ("/tool_calls/batch", [call])):
        if url == "/tool_calls" or "Prefer" not in wish:
            refused = await client.post(url, json=body, headers=headers)
            assert said in refused.text
            assert refused.status_code == 422


async def test_a_job_has_the_same_files(client: httpx.AsyncClient) -> None:
    """No matter who waits for it."""
    body = {"name": "put", "args": {"path": "job", "text": "x"}, "id": "call_1"}
    headers = {"Prefer": "respond-async", "Sidecall-Conversation": "one"}
    accepted = await client.post("/tool_calls", json=body, headers=headers)
    done = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=10"})

    assert done.json()["message"]["content"] == "Wrote /workspace/job."
    assert (await call(client, "look", "one"))["content"] == "look /workspace/job"


async def test_a_client_of_mcp_has_the_same_files(client: httpx.AsyncClient) -> None:
    """Named by the header or in `_meta`."""
    for meta, headers in (
        ({"sidecall/context": {"conversation_id": "one"}}, {}),
        ({}, {"Sidecall-Conversation": "one"}),
    ):
        params = {"name": "put", "arguments": {"path": f"mcp{len(meta)}", "text": "x"}, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accepts = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18", **headers}
        answer = await client.post("/mcp", json=message, headers=accepts)
        assert "Wrote /workspace/mcp" in answer.text

    assert (await call(client, "look", "one"))["content"] == "look /workspace/mcp0 /workspace/mcp1"


@pytest.mark.parametrize("conversation", [7, ["a"], "a" * 257, "a\nb"])
async def test_a_conversation_that_cannot_be_one_is_refused(client: httpx.AsyncClient, conversation: Any) -> None:
    """The calling program has to mend it."""
    body = {"name": "look", "args": {}, "id": "1", "context": {"conversation_id": conversation}}
    refused = await client.post("/tool_calls", json=body)

    assert refused.status_code == 422
    assert "must be a text of 1 to 256 printable characters" in refused.text


async def test_files_that_an_answer_names_are_in_its_artifact(client: httpx.AsyncClient) -> None:
    """As OpenAI's files of containers, with where their content is."""
    written = await call(client, "put", "one two", path="a/b.txt", text="hello")

    (file,) = written["artifact"]["files"]
    assert abs(file.pop("created_at") - time.time()) < 600
    assert file == {
        "id": "cfile_YS9iLnR4dA",
        "object": "container.file",
        "container_id": "one two",
        "path": "/workspace/a/b.txt",
        "bytes": 5,
        "source": "assistant",
        "url": "/workspaces/one%20two/files/cfile_YS9iLnR4dA/content",
    }
    assert (await call(client, "put", path="a", text="x"))["artifact"] is None


async def test_a_tool_without_a_server_has_files_for_one_call() -> None:
    """As in a test of its author's."""
    assert await put.ainvoke({"path": "a", "text": "x"}) == "Wrote /workspace/a."
    assert await look.ainvoke({}) == "look"


def test_an_answer_that_hangs_on_files_is_not_given_again() -> None:
    """They change."""

    @tool(cache=Cache(ttl=60), annotations=ToolAnnotations(read_only=True))
    def count(workspace: Workspace) -> int:
        """Count the files."""
        return len(workspace.list_entries())

    with pytest.raises(InvalidToolOption, match="the workspace, whose files change"):
        _ = count.compiled
