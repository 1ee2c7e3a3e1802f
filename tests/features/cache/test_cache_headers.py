"""An answer that is given again says so, no matter which way it was asked for."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import BaseTool, Cache, tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.events import events_in

pytestmark = BOTH_WAYS


class Reader:
    """Count how often something was read."""

    def __init__(self) -> None:
        self.count = 0

    def read(self, name: str, fails: bool = False) -> str:
        """Read a file."""
        self.count += 1
        if fails:
            raise ValueError(name)
        return f"{name} {self.count}: {'x' * 1000}"


def make_read(reader: Reader, **options: Any) -> BaseTool:
    """Make a tool of it."""
    cached = {"cache": Cache(ttl=60), "annotations": {"read_only": True}, **options}
    made: BaseTool = tool("read", description="Read a file.", **cached)(reader.read)
    return made


def call(id: str = "a", **args: Any) -> dict[str, Any]:
    """Write a call."""
    return {"type": "tool_call", "name": "read", "args": {"name": "f", **args}, "id": id}


async def send(client: httpx.AsyncClient, sent: Any = None, control: str | None = None, **query: str) -> httpx.Response:
    """Send a call, with what its client says of the cache."""
    headers = {} if control is None else {"Cache-Control": control}
    return await client.post("/tool_calls", json=call() if sent is None else sent, headers=headers, params=query)


def read_told(answer: httpx.Response) -> tuple[str | None, str | None]:
    """Return what the headers say."""
    return answer.headers.get("X-Cache"), answer.headers.get("Age")


async def test_headers_say_where_an_answer_comes_from(make_client: MakeClient) -> None:
    """In any dialect, with the client's wishes heeded."""
    reader = Reader()
    client = await make_client(make_read(reader))
    openai = {"id": "b", "type": "function", "function": {"name": "read", "arguments": '{"name": "f"}'}}

    answers = [
        await send(client),
        await send(client, call("c")),
        await send(client, openai),
        await send(client, control="no-cache"),
        await send(client, control="no-store"),
        await send(client),
    ]

    assert [read_told(answer) for answer in answers] == [
        ("miss", None),
        ("hit", "0"),
        ("hit", "0"),
        ("miss", None),
        ("miss", None),
        ("hit", "0"),
    ]
    assert answers[2].json() == {"role": "tool", "tool_call_id": "b", "content": answers[0].json()["content"]}
    assert [answers[index].json()["content"][:3] for index in (0, 3, 4, 5)] == ["f 1", "f 2", "f 3", "f 2"]
    assert reader.count == 3


async def test_failures_and_other_tools_say_nothing(make_client: MakeClient) -> None:
    """There is nothing to say."""
    client = await make_client(make_read(Reader()), tool("plain", description="Do.")(lambda: "done"))

    failed = await send(client, call(fails=True))
    plain = await send(client, {"name": "plain", "args": {}, "id": "a"})

    assert [read_told(failed), read_told(plain)] == [(None, None)] * 2
    assert "cache" not in plain.json()["response_metadata"]


async def test_batches_and_streams_say_it_in_the_metadata(make_client: MakeClient) -> None:
    """Equal calls of a batch share a run, and a thread."""
    reader = Reader()
    client = await make_client(make_read(reader))

    batch = (await client.post("/tool_calls/batch", json=[call("a"), call("b")])).json()
    stream = await client.post("/tool_calls", json=call("c"), headers={"Accept": "text/event-stream"})

    assert sorted(message["response_metadata"]["cache"]["status"] for message in batch) == ["miss", "shared"]
    assert [message["tool_call_id"] for message in batch] == ["a", "b"]
    ((_, event),) = events_in(stream.text)
    assert event["response_metadata"]["cache"] == {"status": "hit", "age": 0}
    assert reader.count == 1


async def test_what_is_cut_is_kept_for_each_caller(make_client: MakeClient) -> None:
    """The whole is kept in the cache, and each answer has a place of its own where the rest is."""
    client = await make_client(make_read(Reader(), max_content_bytes=400))

    answers = [(await send(client)).json() for _ in range(2)]

    urls = [answer["response_metadata"]["artifact_url"] for answer in answers]
    assert len(set(urls)) == 2
    assert [(await client.get(url)).text for url in urls] == [f"f 1: {'x' * 1000}"] * 2


async def test_settings_bound_what_is_kept(make_client: MakeClient) -> None:
    """Without room each call runs its tool."""
    for bound in ({"max_cache_bytes": 0}, {"max_cache_entries": 0}):
        reader = Reader()
        client = await make_client(make_read(reader), **bound)
        assert [read_told(await send(client))[0] for _ in range(2)] == ["miss", "miss"]
        assert reader.count == 2


@pytest.mark.parametrize("is_idempotent", [True, False])
async def test_a_remembered_call_takes_a_known_answer(make_client: MakeClient, is_idempotent: bool) -> None:
    """It says so where its answer is, and in headers; an answer that is repeated for its key does not say it anew."""
    client = await make_client(make_read(Reader(), annotations={"read_only": True, "idempotent": is_idempotent}))
    openai = {"id": "b", "type": "function", "function": {"name": "read", "arguments": '{"name": "f"}'}}

    answers = [
        await client.post("/tool_calls", json=sent, headers=headers)
        for sent, headers in (
            (call(), {"Prefer": "wait=30"}),
            (call(), {"Prefer": "wait=30"}),
            (openai, {"Prefer": "wait=30"}),
            (call(), {"Idempotency-Key": "k"}),
            (call(), {"Idempotency-Key": "k"}),
        )
    ]

    said = [read_told(answer) for answer in answers]
    assert said == [("miss", None), ("hit", "0"), ("hit", "0"), ("hit", "0"), (None, None)]
    assert answers[1].json()["response_metadata"]["cache"] == {"status": "hit", "age": 0}


async def test_a_tool_says_what_it_keeps(make_client: MakeClient) -> None:
    """In its description."""
    client = await make_client(make_read(Reader()), tool("plain", description="Do.")(lambda: "done"))

    shown = [(await client.get(f"/tools/{name}")).json()["cache"] for name in ("read", "plain")]

    assert shown == [{"ttl": 60.0, "per_caller": True}, None]


async def test_a_client_that_hangs_up_ends_no_other_call(make_client: MakeClient) -> None:
    """The run goes on for those who wait."""
    begun, go = asyncio.Event(), asyncio.Event()

    async def read(name: str) -> str:
        begun.set()
        await go.wait()
        return name

    made = tool("read", description="Read.", cache=Cache(ttl=60), annotations={"read_only": True})(read)
    client = await make_client(made)
    first = asyncio.create_task(send(client))
    await begun.wait()
    second = asyncio.create_task(send(client))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    go.set()

    assert (await second).json()["content"] == "f"
