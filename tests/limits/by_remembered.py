"""How the bounds of calls that are remembered are provoked, by the words of the table."""

import asyncio
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

import httpx

from sidecall.features.approval_webhooks.notifier import SqlApprovalMessages
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.calls.event_stream import export_calls
from sidecall.features.jobs.event_log import EventLogs, EventPublisher
from sidecall.features.jobs.progress import ProgressBatch
from sidecall.features.jobs.progress_writer import ProgressWriter
from sidecall.features.webhooks.dispatcher import PAUSES, HostSlots
from sidecall.http.server_sent_events import write_event
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.notifications import Bundle, NoNotifications
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.features.webhooks.listening import SECRET
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.clients import MakeClient
from tests.kit.waiting import until
from tests.limits.by_request import Provoke, call, post, say
from tests.limits.offered import ask, echo, note, repeat, wait


async def _begin_two(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(wait, drain_timeout=0, **settings)
    for _ in range(2):
        answer = await post(client, call("wait", seconds=60), Prefer="respond-async")
    return say(answer)


async def _wait_briefly(make_client: MakeClient) -> str:
    client = await make_client(wait, drain_timeout=0, max_wait=0.01)
    return say(await post(client, call("wait", seconds=60), Prefer="wait=50"))


async def _send_again(make_client: MakeClient) -> str:
    client = await make_client(echo, idempotency_ttl=1e-9)
    answers = [await post(client, call("echo"), **{"Idempotency-Key": "k"}) for _ in range(2)]
    return "the call runs anew" if answers[0].json()["id"] != answers[1].json()["id"] else "the first answer"


async def _long_key(make_client: MakeClient) -> str:
    return say(await post(await make_client(echo), call("echo"), **{"Idempotency-Key": "x" * 256}))


async def _long_url(make_client: MakeClient) -> str:
    return say(await post(await make_client(echo), {**call(), "callback_url": f"https://a/{'x' * 2048}"}))


class _Said:
    """Keeps what tools say, as a database does."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    async def add(self, _call_id: str, part: ProgressBatch, forgotten: int) -> None:
        """Keep more of it."""
        kept = [number for number in self.numbers if number > forgotten]
        self.numbers = kept + list(range(part.last - len(part.said) + 1, part.last + 1))

    async def list_after(self, _call_id: str, _attempt: int, _number: int) -> list[ProgressBatch]:
        """List nothing."""
        return []

    async def forget(self) -> None:
        """Forget nothing."""


async def _much_said(_: MakeClient) -> str:
    log = _Said()
    writer = ProgressWriter(log, NoNotifications())
    for _round in range(20):
        writer.add("a", 1, [("progress", b"{}")] * 64)
        await writer.settle("a")
    few = log.numbers
    for _round in range(20):
        writer.add("b", 1, [("partial", b"x" * 65_536)])
        await writer.settle("b")
    kept = few[-1] == 1280 and len(few) == 1024 and log.numbers[-4:] == [17, 18, 19, 20]
    return "the oldest are forgotten" if kept and 16 not in log.numbers else f"{few}, {log.numbers}"


async def _large_part(_: MakeClient) -> str:
    event_logs = EventLogs()
    teller = EventPublisher(event_logs, "a", 1, asyncio.get_running_loop())
    with event_logs.watch("a", 0) as event_log:
        for size in (65_000, 65_537):
            teller.tell("partial", "a", {"content": "x" * size})
        await asyncio.sleep(0)
        said = [it.write(write_event) for it in event_log.list_after(0)]
    teller.close()
    is_told = b"event: partial" in said[-2] and b"event: missed" in said[-1]
    return "`missed` stands in its place; the answer has it" if is_told else f"{said}"


async def _many_notifications(_: MakeClient) -> str:
    bundle = Bundle()
    for number in range(5001):
        bundle.add(f"c{number}")
    return "they look everywhere" if bundle.take() == ["m", "c5000"] else "they hear of each"


async def _ask_for_webhooks(client: httpx.AsyncClient, urls: Iterable[str]) -> None:
    for url in urls:
        await post(client, {**call(), "callback_url": url})


async def _tell_many(make_client: MakeClient, *, hosts: int, most: int, are_prompt: bool = True) -> str:
    """Send 25 webhooks to so many hosts, once they have answered one each where they are to be prompt."""
    open_at_once: list[int] = []
    connections: set[asyncio.StreamWriter] = set()
    go = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer)
        open_at_once.append(len(connections))
        await reader.readuntil(b"\r\n\r\n")
        await go.wait()
        connections.discard(writer)
        writer.write(b"HTTP/1.1 204 Done\r\n\r\n")
        writer.close()

    servers = [await asyncio.start_server(stall, "127.0.0.1", 0) for _ in range(hosts)]
    names = [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    client = await make_client(echo, webhook_hosts=tuple(names), webhook_secret=SECRET)
    if are_prompt:
        go.set()
        await _ask_for_webhooks(client, names)
        await until(lambda: len(open_at_once) == hosts and not connections)
        open_at_once.clear()
        go.clear()
    await _ask_for_webhooks(client, [names[number % hosts] for number in range(25)])
    await until(lambda: len(open_at_once) == most)
    await asyncio.sleep(1.5)  # It has looked again meanwhile.
    at_once = max(open_at_once)
    go.set()
    await until(lambda: len(open_at_once) == 25)
    [server.close() for server in servers]
    return "they wait" if at_once == most else f"{at_once} at once"


async def _know_many(_: MakeClient) -> str:
    places = HostSlots()
    for port in range(1001):
        places.note(("a.example", port), 0.1)
    taken = [[places.take(("a.example", port)) for _ in range(2)] for port in (0, 1, 1000)]
    return "the one known longest is forgotten" if taken == [[True, False], [True, True], [True, True]] else str(taken)


async def _many_messages(_: MakeClient) -> str:
    database = SqliteDatabase()
    await database.open()
    approvals, messages = SqlApprovals(database, "me"), SqlApprovalMessages(database, ["a"])
    has_room = await messages.keep_receivers(60.0, 4, time.time())
    for number in range(5):
        asked = ToolCall(name="ask", args={}, id=str(number))
        await approvals.ask(CallRecord.of(CallRequest(asked), "invocation"), asked)
    is_full = not await messages.keep_receivers(60.0, 4, time.time())
    noted = len(await messages.list_due(time.time() + 1_000_000, 10, 10))
    await database.close()
    return "no more are noted" if (has_room, is_full, noted) == (True, True, 4) else f"{noted} are noted"


async def _tries(_: MakeClient) -> str:
    # That it is given up after the last pause, the tests of the courier show.
    in_hours = sum(PAUSES) / 3600
    return "it is given up" if (len(PAUSES), round(in_hours)) == (8, 18) else f"{len(PAUSES)} pauses, {in_hours} h"


async def _repeat(make_client: MakeClient) -> str:
    client = await make_client(wait, max_queue=2, drain_timeout=0)
    first = await post(client, call("wait", seconds=0.5), Prefer="respond-async", **_key(1))
    waiting = [post(client, call("wait", seconds=0.5), **_key(1)) for _ in range(2)]
    answers = await asyncio.gather(*waiting, client.get(first.headers["Location"], headers={"Prefer": "wait=5"}))
    [refused] = [answer for answer in answers if answer.status_code != 200]
    return say(refused)


async def _calls_page(make_client: MakeClient) -> str:
    client = await make_client(note)
    for number in range(25):
        await post(client, call("note", names=["x" * 1000] * 50), **_key(number))
    page = await client.get("/tool_calls")
    rest = await client.get(page.links["next"]["url"])
    are_all = (len(page.json()), len(rest.json()), "next" in rest.links) == (21, 4, False)
    further = "where they are large, the next page" if are_all else f"{len(page.json())}, {len(rest.json())}"
    return f"{say(await client.get('/tool_calls?limit=1001'))}; {further}"


async def _read_ahead(make_client: MakeClient) -> str:
    client = await make_client(repeat)
    for number in range(3):
        await post(client, call("repeat", times=600_000), **_key(number))
    sizes = []
    for number in range(33):
        await post(client, call("repeat", times=1), **_key(3 + number))
        sizes.append(await _count_page(client))
    return "it waits for its reader" if (sizes[0], max(sizes)) == (3, 32) else str(sizes)


async def _count_page(client: httpx.AsyncClient) -> int:
    """Return how many calls an export reads at first."""
    assert isinstance(client._transport, httpx.ASGITransport)
    app: Any = client._transport.app
    lines = export_calls(app.state.parts, CallFilter("default"), "langchain")
    await anext(lines)
    page = lines.ag_frame.f_locals["page"]
    await lines.aclose()
    return len(page.calls)


async def _approvals(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(ask, **settings)
    for number in range(2):
        answer = await post(client, call("ask", text=str(number) * 10_000))
    return say(answer)


async def _keep_two(make_client: MakeClient, **settings: Any) -> tuple[httpx.Response, bool]:
    """Send two calls where there is room for one; return the last answer, and whether the first call is kept."""
    client = await make_client(echo, **settings)
    sent = call("echo", text="x" * 2000)
    first = (await post(client, sent, **{"Idempotency-Key": "a"})).json()["id"]
    answer = await post(client, sent, **{"Idempotency-Key": "b"})
    return answer, (await client.get(f"/tool_calls/{first}")).status_code == 200


async def _too_many(make_client: MakeClient, **settings: Any) -> str:
    refused, keeps = await _keep_two(make_client, **settings)
    answered, forgets = await _keep_two(make_client, **settings, idempotency_ttl=1e-9, job_ttl=1e-9)
    if (answered.status_code, keeps, forgets) != (200, True, False):
        return f"{answered.status_code}, {keeps}, {forgets}"
    return f"the oldest ended ones are forgotten; where none may be, {say(refused)}"


async def _too_large(make_client: MakeClient) -> str:
    same = await _too_many(make_client, max_job_bytes=2000) == await _too_many(make_client, max_jobs=1)
    client = await make_client(echo)
    sizes = [0]
    while (answer := await post(client, call("echo", text="x" * 4_000_000), **_key(len(sizes)))).status_code == 200:
        sizes.append(4_000_000 + len(answer.content))
    half = sum(sizes) < 32 * 1024 * 1024 + sizes[-1] < sum(sizes) + 2 * sizes[-1]
    return "the same; in memory 32 MiB at most" if same and half and answer.status_code == 503 else f"{same}, {sizes}"


def _key(number: int) -> dict[str, str]:
    return {"Idempotency-Key": str(number)}


async def _old_job(make_client: MakeClient) -> str:
    client = await make_client(echo, job_ttl=1e-9)
    path = (await post(client, call("echo"), Prefer="respond-async")).headers["Location"]
    for _ in range(100):
        if (answer := await client.get(path)).status_code == 404:
            break
        await asyncio.sleep(0.1)
    return say(answer)


async def _rules(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(ask, caller_header="X-Caller", **settings)
    for who in ("ada", "bob"):
        waiting = (await post(client, call("ask"), **{"X-Caller": who})).headers["Location"]
        decision = {"decision": "approve", "always": True}
        answer = await client.post(waiting, json=decision, headers={"X-Caller": "eve"})
    return say(answer)


async def _old_approval(make_client: MakeClient) -> str:
    client = await make_client(ask, approval_ttl=1e-9)
    waiting = (await post(client, call("ask"))).headers["Location"]
    return say(await client.post(waiting, json={"decision": "approve"}))


async def _audit(make_client: MakeClient, **settings: Any) -> int:
    client = await make_client(ask, **settings)
    for decision in ("approve", "reject", "approve", "reject"):
        waiting = (await post(client, call("ask", text=f"{decision}{time.monotonic()}"))).headers["Location"]
        await client.post(waiting, json={"decision": decision})
    return len((await client.get("/audit")).json())


async def _many_entries(make_client: MakeClient) -> str:
    left = await _audit(make_client, max_audit_entries=2)
    return "the oldest are forgotten" if left == 2 else f"{left} are left"


async def _old_entries(make_client: MakeClient) -> str:
    left = await _audit(make_client, audit_ttl=1e-9)
    return "it is forgotten" if left == 0 else f"{left} are left"


async def _many_refusals(make_client: MakeClient) -> str:
    settings = {"auth": ("gateway",), "caller_header": "X-Caller", "scopes_header": "X-Scopes"}
    client = await make_client(ask, gateways=("0.0.0.0/0",), **settings)
    for number in range(502):
        await client.get("/metrics", headers={"X-Caller": str(number), "X-Scopes": "none"})
    headers = {"X-Caller": "operator", "X-Scopes": "*"}
    found = (await client.get("/audit", params={"limit": 1000}, headers=headers)).json()
    return "they are counted together" if (len(found), found[0]["count"]) == (501, 2) else str(found)


async def _many_secrets(make_client: MakeClient) -> str:
    client = await make_client(ask, max_secrets=1, secrets_key=SECRETS_KEY)
    await client.put("/secrets/ONE", json={"value": "a key"})
    return say(await client.put("/secrets/TWO", json={"value": "a key"}))


async def _long_secret(make_client: MakeClient) -> str:
    client = await make_client(ask, secrets_key=SECRETS_KEY)
    return say(await client.put("/secrets/ONE", json={"value": "ä" * 8193}))


BY_REMEMBERED: dict[str, Provoke] = {
    "remembered calls that run": partial(_begin_two, max_running_jobs=1),
    "remembered calls that are queued": partial(_begin_two, max_running_jobs=1, max_queued_jobs=0),
    "seconds that `Prefer: wait=` waits": _wait_briefly,
    "remembered calls": partial(_too_many, max_jobs=1),
    "bytes of remembered calls, with their answers": _too_large,
    "seconds that a remembered call is kept after its end": _old_job,
    "seconds that a call is known by its key after its end": _send_again,
    "bytes of one part or progress of a remembered call, for those who watch it": _large_part,
    "what a tool says of one remembered call, kept for those who watch at other servers or workers": _much_said,
    "what other servers of the database, or workers of the file, are to be told, and is not yet": _many_notifications,
    "characters of a key": _long_key,
    "characters of a `callback_url`": _long_url,
    "webhooks that are under way at once": partial(_tell_many, hosts=7, most=20),
    "webhooks to one host that are under way at once": partial(_tell_many, hosts=1, most=4),
    "the same, to one that has answered none yet, or the last one after more than 2 s": partial(
        _tell_many, hosts=1, most=1, are_prompt=False
    ),
    "webhooks to all such hosts that are under way at once": partial(_tell_many, hosts=25, most=15, are_prompt=False),
    "hosts that are known to answer webhooks soon": _know_many,
    "messages [about approvals](approval-webhooks.md) that wait for one receiver": _many_messages,
    "tries of a webhook": _tries,
    "requests that wait for the end of a call which was sent before": _repeat,
    "calls on a page": _calls_page,
    "calls that an export reads ahead of its reader": _read_ahead,
    "approvals": partial(_approvals, max_approvals=1),
    "bytes of approvals, with their calls and answers, and 4 KiB beside each": partial(
        _approvals, max_waiting_bytes=20_000
    ),
    "decisions that hold for later calls": partial(_rules, max_approval_rules=1),
    "decisions of one tenant that hold for later calls": partial(_rules, max_approval_rules_per_tenant=1),
    "seconds that an approval is kept": _old_approval,
    "secrets of callers, and tokens of their persons": _many_secrets,
    "bytes of a secret": _long_secret,
    "entries of the audit, and half as many about refusals": _many_entries,
    "seconds that an entry stands in the audit": _old_entries,
    "kinds of refusals that are told apart in a minute": _many_refusals,
}
