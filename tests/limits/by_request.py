"""Go beyond bounds with requests to an application in this process, and say how it answers.

To try a row of the table, write a function that returns what its last column says, and name it in `BY_REQUEST`.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any

import httpx

from sidecall import Registry
from sidecall.features.rates.quotas import Quotas
from sidecall.features.telemetry.log_writer import LineWriter
from sidecall.http.backlog import Backlog
from sidecall.http.server_sent_events import Events
from sidecall.kernel.core.context import Caller, cut_id
from sidecall.kernel.core.overload import QuotaExceeded
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.rest.listings import Listings, make_listing
from sidecall.server.request_parser import complete_scope
from tests.kit.clients import MakeClient, send_together
from tests.limits.offered import ask, attach, bill, compute, echo, note, read, repeat, visit, wait

Provoke = Callable[[MakeClient], Awaitable[str]]


def call(name: str = "echo", **args: Any) -> dict[str, Any]:
    """Write a call."""
    return {"name": name, "args": args, "id": "call_1"}


def say(answer: httpx.Response) -> str:
    """Write an answer as the table does."""
    said = answer.json()
    if answer.status_code == 202:
        return f"202, `{said['status']}`"
    if answer.status_code == 200:
        return f"200, kind `{said['response_metadata']['error']['kind']}`"
    again = ", `Retry-After`" if "Retry-After" in answer.headers else ""
    return f"{answer.status_code} `{said['type'].rpartition(':')[2]}`{again}"


async def post(client: httpx.AsyncClient, sent: Any, path: str = "/tool_calls", **headers: str) -> httpx.Response:
    """Send JSON, or text that stands for it."""
    content = sent if isinstance(sent, str) else json.dumps(sent)
    return await client.post(path, content=content, headers={"Content-Type": "application/json", **headers})


async def _send(sent: Any, make_client: MakeClient, **settings: Any) -> str:
    return say(await post(await make_client(echo, wait, note, **settings), sent))


async def _batch(make_client: MakeClient) -> str:
    return say(await post(await make_client(echo, max_batch=1), [call(), call()], "/tool_calls/batch"))


async def _name(make_client: MakeClient) -> str:
    client = await make_client(echo, caller_header="X-Caller")
    return say(await post(client, call(), **{"X-Caller": "x" * 257}))


async def _context(make_client: MakeClient) -> str:
    return say(await (await make_client(echo)).get("/tools", headers={"X-Sidecall-Context": "x" * 8193}))


async def _crowd(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(wait, **settings)
    answers = await asyncio.gather(*(client.post("/tool_calls", json=call("wait", seconds=0.2)) for _ in range(3)))
    [refused, *_] = [answer for answer in answers if answer.status_code != 200]
    return say(refused)


async def _run(make_client: MakeClient) -> str:
    client = await make_client(wait, max_concurrency=1)
    began = asyncio.get_running_loop().time()
    statuses = await send_together(client, call("wait", seconds=0.05), 2)
    assert statuses == [200, 200]
    return "the call waits" if asyncio.get_running_loop().time() - began >= 0.1 else "it does not wait"


async def _rate(make_client: MakeClient) -> str:
    client = await make_client(echo, rate_limit="1/day")
    await post(client, call())
    return say(await post(client, call()))


async def _budget(make_client: MakeClient) -> str:
    client = await make_client(bill, budget="1.00/month")
    await post(client, call("bill"))
    return say(await post(client, call("bill")))


async def _callers(_: MakeClient) -> str:
    quotas = Quotas(Rate(1, 86400))
    for number in range(10_001):
        quotas.take(Caller(str(number)))
    quotas.take(Caller("0"))
    try:
        quotas.take(Caller("10000"))
    except QuotaExceeded:
        return "those who called longest ago are forgotten"
    return "others are forgotten"


async def _unknown_name(make_client: MakeClient) -> str:
    answer = await post(await make_client(echo), call("n" * 1000))
    return "cut" if answer.json()["content"].count("n" * 63 + "…") else answer.text


async def _labels(make_client: MakeClient) -> str:
    client = await make_client(echo)
    for number in range(20):
        await post(client, call(f"nobody_{number}"))
    text = (await client.get("/metrics")).text
    return "counted as one" if "nobody_" not in text and "20.0" in text else text


async def _fields(make_client: MakeClient) -> str:
    answer = await post(await make_client(note), call("note", names=[{}] * 200))
    errors = answer.json()["response_metadata"]["error"]["errors"]
    return "left out" if len(errors) == 100 else str(len(errors))


async def _members(make_client: MakeClient) -> str:
    answer = await (await make_client(note)).post("/approvals/1", json={f"k{number}": 1 for number in range(101)})
    errors = answer.json()["errors"]
    return "counted in one sentence" if len(errors) == 1 and "102 members" in errors[0]["msg"] else str(len(errors))


async def _choices(make_client: MakeClient) -> str:
    value: Any = 1
    for _ in range(30):
        value = {"left": value}
    return say(await post(await make_client(compute), call("compute", value=value)))


async def _address(make_client: MakeClient) -> str:
    return say(await post(await make_client(visit), call("visit", address="http://a/" + "a" * 65_536)))


async def _json_text(make_client: MakeClient) -> str:
    return say(await post(await make_client(read), call("read", text="[" + "1," * 50_000 + "1]")))


async def _content(make_client: MakeClient) -> str:
    client = await make_client(repeat, max_content_bytes=300)
    answer = (await post(client, call("repeat", times=1000))).json()
    return "cut" if len(answer["content"]) <= 300 else "whole"


async def _artifact(make_client: MakeClient) -> str:
    client = await make_client(attach, max_result_bytes=1024)
    return say(await post(client, call("attach", size=1025)))


async def _artifacts(make_client: MakeClient) -> str:
    client = await make_client(attach, max_result_bytes=150_000)
    sent = await post(client, [call("attach", size=100_000)] * 2, "/tool_calls/batch")
    kinds = [answer["response_metadata"].get("error", {}).get("kind") for answer in sent.json()]
    return f"200, kind `{kinds[1]}`" if kinds[0] is None else str(kinds)


async def _results(_: MakeClient) -> str:
    room = ResultMemory(100_000)
    first, second = room.open("first", "attach"), room.open("second", "attach")
    first.grow_to(100_001)
    await first.wait()
    waiting = asyncio.ensure_future(second.wait())
    await asyncio.sleep(0)
    has_waited = not waiting.done()
    room.release("first")
    await waiting
    return "the tool waits" if has_waited else "it does not wait"


async def _contents(make_client: MakeClient) -> str:
    client = await make_client(repeat, max_content_bytes=300, max_artifact_bytes=2500)
    sent = [await post(client, call("repeat", times=1000)) for _ in range(3)]
    urls = [answer.json()["response_metadata"]["artifact_url"] for answer in sent]
    found = [(await client.get(url)).status_code for url in urls]
    return "the oldest are forgotten" if found == [404, 200, 200] else str(found)


async def _old_content(make_client: MakeClient) -> str:
    client = await make_client(repeat, max_content_bytes=300, artifact_ttl=1e-9)
    answer = await post(client, call("repeat", times=1000))
    return say(await client.get(answer.json()["response_metadata"]["artifact_url"]))


async def _progress(make_client: MakeClient) -> str:
    events = Events(Backlog(), bytes)
    for _ in range(300):
        events.tell("progress", "call_1", {})
        await asyncio.sleep(0)
    for _ in range(20):
        events.tell("progress", "call_1", {"message": "x" * 100_000})
        await asyncio.sleep(0)
    events.end()
    written = b"".join([portion async for portion in events])
    return "left out" if written.count(b"event: progress") == 256 else "kept"


async def _events(make_client: MakeClient) -> str:
    told: list[str] = []
    backlog = Backlog(100_000)
    readers = [Events(backlog, partial(_tell, told, name)) for name in ("slow", "slower")]
    for events in reversed(readers):
        events.answer("message", b"x" * 60_000)
        await asyncio.sleep(0)
    return "the slowest stream is ended with `slow-reader`" if told == ["slower"] else str(told)


def _tell(told: list[str], name: str) -> bytes:
    told.append(name)
    return b"{}"


async def _listings(_: MakeClient) -> str:
    registry = Registry([echo])
    listings = Listings(registry)
    for number in range(65):
        listings.keep(b"%d" % number, make_listing(b"[]"), registry.version)
    found = [listings.find(b"%d" % number) is not None for number in range(65)]
    return "the oldest are forgotten" if found == [False] + [True] * 64 else str(found)


async def _targets(_: MakeClient) -> str:
    targets = [b"/contents/%d" % number for number in range(257)]
    before = [_read_path(target) for target in targets]
    kept = [_read_path(target) is path for target, path in reversed([*zip(targets, before, strict=True)])]
    return "the oldest are forgotten" if kept == [True] * 256 + [False] else str(kept)


def _read_path(target: bytes) -> bytes:
    scope: dict[str, Any] = {}
    complete_scope(scope, b"GET", "1.1", target, "")
    return bytes(scope["raw_path"])


async def _page(make_client: MakeClient) -> str:
    return say(await (await make_client()).get("/approvals?limit=1001"))


async def _long_page(make_client: MakeClient) -> str:
    client = await make_client(ask)
    for number in range(3):
        await post(client, {**call("ask"), "id": str(number) * 600_000})
    page = await client.get("/approvals")
    return "where they are large, the next page" if len(page.json()) == 2 and "next" in page.links else "all"


async def _both_pages(make_client: MakeClient) -> str:
    return f"{await _page(make_client)}; {await _long_page(make_client)}"


async def _reason(make_client: MakeClient) -> str:
    client = await make_client(ask)
    place = (await post(client, call("ask"))).headers["Location"]
    return say(await post(client, {"decision": "reject", "reason": "x" * 10_001}, place))


def _sent(sent: Any, **settings: Any) -> Provoke:
    return partial(_send, sent, **settings)


async def _flood_log(_make_client: MakeClient) -> str:
    read, write = os.pipe()
    told: SimpleQueue[int] = SimpleQueue()
    writer = LineWriter(write, 100_000, told.put)
    for _ in range(400):
        writer.write(b"x" * 1000 + b"\n")
    is_left_out = writer.dropped > 0
    os.set_blocking(read, False)  # Since it may be told after all was read.
    while told.empty():
        with suppress(BlockingIOError):
            os.read(read, 1_000_000)
        await asyncio.sleep(0.01)
    return "left out and counted" if is_left_out and told.get() == writer.dropped else f"{writer.dropped} left out"


async def _log_id(_make_client: MakeClient) -> str:
    return "cut" if cut_id("x" * 1000) == "x" * 256 + "… 744 more characters" else "whole"


BY_REQUEST: dict[str, Provoke] = {
    "bytes of a body": _sent(call(text="x" * 2000), max_body_bytes=1024),
    "values in a body, at every depth": _sent("[" + "{}," * 200 + "{}]", max_json_values=100),
    "levels of a body": _sent("[" * 250 + "]" * 250),
    "digits of a number": _sent('{"name": "echo", "args": {"text": %s}}' % ("1" * 4301)),
    "digits of the numbers in a body that have more than 300, together": _sent(
        f'{{"name": "echo", "args": {{"text": [{",".join(["1" * 4000] * 30)}]}}}}'
    ),
    "calls in a batch": _batch,
    "characters of a caller's name": _name,
    "characters of `X-Sidecall-Context`": _context,
    "calls of one caller that run or wait": partial(_crowd, max_concurrency_per_caller=1),
    "calls of one caller in a time": _rate,
    "what the calls of one caller, or of one conversation, cost in a time": _budget,
    "callers whose calls are counted": _callers,
    "calls that run": _run,
    "calls that wait": partial(_crowd, max_concurrency=1, max_queue=1),
    "seconds that a call waits": partial(_crowd, max_concurrency=1, queue_timeout=0.01),
    "seconds that a call runs": _sent(call("wait", seconds=10), tool_timeout=0.01),
    "characters of an unknown tool's name that are said back": _unknown_name,
    "names of tools in metrics": _labels,
    "wrong fields that a model is told of": _fields,
    "wrong members of another body that are listed": _members,
    "ways to read arguments whose parts may be one of several things within each other": _choices,
    "bytes of an address that is read as a URL": _address,
    "values in a text that is read as JSON": _json_text,
    "bytes of an answer that a model reads": _content,
    "bytes of an artifact, as JSON": _artifact,
    "bytes of the answers of a batch, together": _artifacts,
    "bytes of results that are being made or written": _results,
    "bytes of contents kept whole": _contents,
    "seconds that a content is kept whole": _old_content,
    "events of progress that wait in one stream": _progress,
    "bytes of events that wait in all streams": _events,
    "listings that are remembered": _listings,
    "targets of requests that need not be read again": _targets,
    "approvals on a page": _both_pages,
    "characters of a person's reason": _reason,
    "bytes of what tools put into the store, in memory": _sent(call("note", names=["a"]), max_store_bytes=10),
    "bytes of one item of the store, as JSON": _sent(call("note", names=["long enough"]), max_item_bytes=10),
    "bytes of the log that nobody reads, for stderr and for stdout": _flood_log,
    "characters of an id or a name in the log": _log_id,
}
