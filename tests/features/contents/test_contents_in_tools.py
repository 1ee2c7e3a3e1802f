"""A tool reads what its caller has sent, and keeps what its caller then reads."""

from typing import Any

import httpx
import pytest

from sidecall import ToolContext, ToolException, tool
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

BODY = bytes(range(256)) * 300


def _read_now(content: str, context: ToolContext) -> str:
    """Say what a content is, and keep its end in another one."""
    found = context.read_content_sync(content)
    return f"{found.media_type} {len(found.body)} {context.save_content_sync(found.body[-3:], 'image/png')}"


read_in_thread = tool("read_in_thread", executor="thread")(_read_now)


@tool(executor="process")
def read_in_process(content: str, context: ToolContext) -> str:
    """Read one in a process."""
    return _read_now(content, context)


async def _read(content: str, context: ToolContext) -> str:
    found = await context.read_content(content)
    return f"{found.media_type} {len(found.body)} {await context.save_content(found.body[-3:], 'image/png')}"


@tool
async def read(content: str, context: ToolContext) -> str:
    """Read one."""
    return await _read(content, context)


@tool(executor="process")
async def read_async_in_process(content: str, context: ToolContext) -> str:
    """Read one in a process, where others are waited for meanwhile."""
    return await _read(content, context)


@tool(executor="process")
async def keep_too_much(context: ToolContext) -> str:
    """Keep a little, then too much, then what is of no type."""
    said = []
    for body, media_type in (("tea", None), (b"x" * 13_000_000, None), (b"x" * 2_000_000, None), (b"", "pdf\r\nX: 1")):
        try:
            kept = await context.save_content(body, media_type)
            said.append(str(await context.read_content(kept)))
        except (ToolException, ValueError) as error:
            said.append(f"{type(error).__name__}: {error}")
    return "\n".join(said)


@tool
async def keep(times: int, context: ToolContext) -> str:
    """Keep ten bytes some times."""
    return " ".join([await context.save_content("ten bytes!") for _ in range(times)])


@tool
async def read_now(content: str, context: ToolContext) -> str:
    """Read one without waiting."""
    return _read_now(content, context)


TOOLS = (read, read_in_thread, read_in_process, read_async_in_process, keep_too_much)


async def _call(client: httpx.AsyncClient, name: str, headers: Any = None, **args: Any) -> dict[str, Any]:
    answer = await client.post("/tool_calls", json=write_call(name, **args), headers=headers)
    assert answer.status_code == 200, answer.text
    message: dict[str, Any] = answer.json()
    return message


@pytest.mark.parametrize("store", ["memory://", "sqlite:///{}/ledger.db"], ids=["memory", "sqlite"])
async def test_tools_read_and_keep_contents_wherever_they_run(
    make_client: MakeClient, store: str, tmp_path: Any
) -> None:
    """By id or URL; of another caller's they learn nothing, and their model is told what to mend."""
    settings = {"store": store.format(tmp_path), "processes": 1, "max_artifact_bytes": 1_000_000}
    client = await make_client(*TOOLS, caller_header="X-Caller", **settings)
    ann, bob = {"X-Caller": "ann"}, {"X-Caller": "bob"}
    sent = (await client.post("/contents", content=BODY, headers=ann | {"Content-Type": "image/gif"})).json()

    for name in ("read", "read_in_thread", "read_in_process", "read_async_in_process"):
        for asked in (sent["id"], sent["url"]):
            media_type, size, kept = (await _call(client, name, ann, content=asked))["content"].split()
            found = await client.get(f"/contents/{kept}", headers=ann)
            assert (media_type, size) == ("image/gif", "76800")
            assert (found.content, found.headers["Content-Type"]) == (BODY[-3:], "image/png")
            assert (await client.get(f"/contents/{kept}", headers=bob)).status_code == 404
        refused = await _call(client, name, bob, content=sent["id"])
        assert (refused["status"], refused["response_metadata"]["error"]["kind"]) == ("error", "tool_error")
        assert refused["content"] == (
            f"There is no content '{sent['id']}' here, or it has expired. Give the `id` of an upload to /contents, or "
            "the `artifact_url` of an earlier answer."
        )

    assert (await _call(client, "keep_too_much", ann))["content"].splitlines() == [
        "ContentBody(body=b'tea', media_type='text/plain; charset=utf-8')",
        "ToolException: The content takes 13,000,000 bytes, and 12,579,840 at most cross between a process and its "
        "server.",
        "ContentNotKept: The content cannot be kept. It takes 2,000,000 bytes.",
        "ValueError: 'pdf\\r\\nX: 1' is no media type, such as application/pdf",
    ]


async def test_a_content_that_has_expired_is_unknown_to_tools(make_client: MakeClient) -> None:
    """As one that never was; of a long id the head is said back."""
    client = await make_client(read, artifact_ttl=1e-9)
    sent = (await client.post("/contents", content=BODY)).json()

    assert "or it has expired" in (await _call(client, "read", content=sent["id"]))["content"]
    assert f"'{'x' * 64}…'" in (await _call(client, "read", content="x" * 10_000))["content"]


async def test_what_tools_keep_counts_toward_the_quota(make_client: MakeClient) -> None:
    """The model is told; what is there stays."""
    client = await make_client(keep, max_artifact_bytes_per_caller=25)

    kept = (await _call(client, "keep", times=2))["content"].split()
    refused = await _call(client, "keep", times=1)

    told = "Bytes of contents that one caller may keep: 25. Delete some, or wait until they expire."
    assert refused["content"] == told
    assert [(await client.get(f"/contents/{it}")).text for it in kept] == ["ten bytes!"] * 2


async def test_a_sync_read_never_holds_up_the_event_loop(
    make_client: MakeClient, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """In a file it would have to wait, which the tool's author is told."""
    client = await make_client(read_now, store=f"sqlite:///{tmp_path}/ledger.db")
    sent = (await client.post("/contents", content=BODY)).json()

    failed = await _call(client, "read_now", content=sent["id"])

    assert failed["response_metadata"]["error"]["kind"] == "execution_error"
    assert "read_content_sync() has to wait here" in caplog.text


async def test_without_a_server_there_are_no_contents() -> None:
    """As there is no store."""
    message = await read.ainvoke({"type": "tool_call", "name": "read", "args": {"content": "a"}, "id": "1"})

    assert message.response_metadata["error"]["kind"] == "execution_error"
