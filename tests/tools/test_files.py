"""The toolkit's tools, called in the forms in which models emit their calls."""

import base64
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import BaseTool
from tests.kit.clients import MakeClient
from tests.tools import shipped

module = shipped.load("files")
TOOLS = [tool for tool in vars(module).values() if isinstance(tool, BaseTool)]
READING = {"glob", "grep", "ls", "read"}
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
PDF = base64.b64encode(b"%PDF-1.7").decode()
ENVELOPE = """*** Begin Patch
*** Update File: a.py
@@
-x = 1
+x = 2
*** Add File: b.py
+y = 1
*** End Patch"""


@pytest.fixture(name="client")
async def serve_files(make_client: MakeClient, tmp_path: Path) -> httpx.AsyncClient:
    """Serve them, with one file in the conversation's workspace."""
    client = await make_client(*TOOLS, workspace_dir=tmp_path)
    client.headers["Sidecall-Conversation"] = "one"
    await call(client, "write", file_path="a.py", content="x = 1\n")
    return client


async def send(client: httpx.AsyncClient, call: dict[str, Any]) -> Any:
    """Send a call as a model has emitted it."""
    return (await client.post("/tool_calls", json=call)).json()


async def call(client: httpx.AsyncClient, name: str, **args: Any) -> Any:
    """Call a tool in LangChain's form."""
    return await send(client, {"type": "tool_call", "name": name, "args": args, "id": "call_1"})


def put(place: Path, name: str, content: bytes) -> None:
    """Put a file beside the one that is there."""
    (next(place.rglob("a.py")).parent / name).write_bytes(content)


def patch(kind: str, path: str, diff: str | None = None) -> dict[str, Any]:
    """Write OpenAI's item."""
    operation = {"type": kind, "path": path, **({} if diff is None else {"diff": diff})}
    return {"type": "apply_patch_call", "id": "a1", "call_id": "c1", "status": "completed", "operation": operation}


async def test_openais_item_is_answered_with_its_output(client: httpx.AsyncClient) -> None:
    """Whether the patch fits or not."""
    made = await send(client, patch("create_file", "new.py", "+a\n"))
    changed = await send(client, patch("update_file", "a.py", "@@\n-x = 1\n+x = 2\n"))
    failed = await send(client, patch("update_file", "a.py", "@@\n-x = 1\n+x = 3\n"))

    head = "Success. Updated the following files:\n"
    answer = {"type": "apply_patch_call_output", "call_id": "c1"}
    assert made == {**answer, "status": "completed", "output": f"{head}A /workspace/new.py"}
    assert changed == {
        **answer,
        "status": "completed",
        "output": f"{head}M /workspace/a.py\n  hunk 1: line 1, exact",
    }
    assert failed == {
        **answer,
        "status": "failed",
        "output": "/workspace/a.py: Hunk 1 (line 1 of the patch) does not fit. Line 2 of the patch, `x = 1`, is "
        "nowhere in the file; the nearest is line 1, `x = 2`. Nothing was changed.",
    }
    assert (await call(client, "read", file_path="a.py"))["content"] == "x = 2\n"


@pytest.mark.parametrize(
    "sent",
    [
        {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": ENVELOPE},
        {"type": "tool_call", "id": "c1", "name": "apply_patch", "args": {"input": ENVELOPE}},
    ],
)
async def test_a_whole_patch_is_a_text_or_an_argument(client: httpx.AsyncClient, sent: dict[str, Any]) -> None:
    """As agents declare it that know no built-in one."""
    answer = await send(client, sent)

    said = "M /workspace/a.py\n  hunk 1: line 1, exact\nA /workspace/b.py"
    assert answer.get("output", answer.get("content")) == f"Success. Updated the following files:\n{said}"


async def test_anthropics_tools_are_answered_with_results(client: httpx.AsyncClient) -> None:
    """In the sentences of each."""
    use = {"type": "tool_use", "id": "toolu_1"}
    edit = {"command": "str_replace", "path": "/workspace/a.py", "old_str": "1", "new_str": "2"}

    edited = await send(client, {**use, "name": "str_replace_based_edit_tool", "input": edit})
    seen = await send(client, {**use, "name": "memory", "input": {"command": "view", "path": "/memories"}})
    read = await send(client, {**use, "name": "read", "input": {"file_path": "no.py"}})

    assert edited["content"].startswith("The file /workspace/a.py has been edited.")
    assert seen["content"].startswith("Here're the files and directories up to 2 levels deep in /memories,")
    assert (read["content"], read["is_error"]) == ("There is nothing at /workspace/no.py.", True)


@pytest.mark.parametrize(
    ("sent", "asks"),
    [
        (patch("delete_file", "a.py"), True),
        (patch("update_file", "a.py", "@@\n-x = 1\n+x = 2\n"), False),
        ({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": ENVELOPE}, False),
        (
            {
                "type": "custom_tool_call",
                "call_id": "c1",
                "name": "apply_patch",
                "input": ENVELOPE.replace("*** End", "*** Delete File: a.py\n*** End"),
            },
            True,
        ),
        (patch("delete_file", "../a.py"), False),
        (
            {"name": "apply_patch", "args": {"input": ENVELOPE.replace("*** End", "*** Delete File: /etc/x\n*** End")}},
            False,
        ),
        ({"name": "apply_patch", "args": {"type": "delete_file"}}, False),
        ({"name": "memory", "args": {"command": "delete", "path": "/memories/a"}}, True),
        ({"name": "memory", "args": {"command": "delete", "path": "/memories/../a"}}, False),
        ({"name": "memory", "args": {"command": "delete", "path": "/memories/"}}, False),
        ({"name": "memory", "args": {"command": "delete"}}, False),
        ({"name": "memory", "args": {"command": "view", "path": "/memories"}}, False),
        ({"name": "write", "args": {"file_path": "a.py", "content": ""}}, False),
    ],
)
async def test_deleting_asks_a_person(client: httpx.AsyncClient, sent: dict[str, Any], asks: bool) -> None:
    """However it is written, unless its path is refused anyway."""
    answer = await client.post("/tool_calls", json=sent)

    assert answer.status_code == (202 if asks else 200)


async def test_a_file_is_deleted_once_a_person_agrees(client: httpx.AsyncClient) -> None:
    """And the item's output says so."""
    waiting = (await client.post("/tool_calls", json=patch("delete_file", "a.py"))).json()
    await client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})

    assert (await send(client, patch("delete_file", "a.py")))["output"].endswith("D /workspace/a.py")
    assert (await call(client, "ls"))["content"] == "(empty)"


@pytest.mark.parametrize(
    ("sent", "key", "expected"),
    [
        (
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"file_path": "a.png"}},
            "content",
            [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}],
        ),
        (
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"file_path": "a.pdf"}},
            "content",
            [
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "a.pdf",
                }
            ],
        ),
        (
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"file_path": "a.png"}'},
            "output",
            [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}],
        ),
    ],
)
async def test_what_a_file_shows_is_seen(
    client: httpx.AsyncClient, tmp_path: Path, sent: dict[str, Any], key: str, expected: list[dict[str, Any]]
) -> None:
    """As each provider has images and documents."""
    put(tmp_path, "a.png", base64.b64decode(PNG))
    put(tmp_path, "a.pdf", base64.b64decode(PDF))

    assert (await send(client, sent))[key] == expected


async def test_an_image_of_most_bytes_is_not_cut(client: httpx.AsyncClient, tmp_path: Path) -> None:
    """Though it is more than a model reads of a text."""
    put(tmp_path, "large.png", base64.b64decode(PNG) + b"0" * 3_900_000)

    message = await call(client, "read", file_path="large.png")

    assert len(message["content"][0]["base64"]) > 5_000_000


async def test_tools_say_whether_they_only_read(client: httpx.AsyncClient) -> None:
    """So that clients of MCP need not ask before each of their calls."""
    hints = {tool["name"]: tool["annotations"] for tool in (await client.get("/tools?format=mcp")).json()}

    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == READING
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == set(hints) - READING
    assert {name for name, hint in hints.items() if hint["idempotentHint"]} == {*READING, "write"}


def test_the_read_only_toolkit_is_a_part() -> None:
    """Of the same tools, so that naming both offers each once."""
    reading = shipped.load("files_read_only")
    tools = {name: tool for name, tool in vars(reading).items() if isinstance(tool, BaseTool)}

    assert set(tools) == READING
    assert all(vars(module)[name] is tool for name, tool in tools.items())
