"""How the bounds of the history are provoked, by the words of the table."""

from functools import partial
from typing import Any

from tests.features.history.past import call, list_ids, say
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke
from tests.limits.by_request import say as say_answer


async def _old_call(make_client: MakeClient) -> str:
    client = await make_client(say, history_ttl=1e-9)
    return say_answer(await client.get(f"/tool_calls/{await call(client, 'say', text='hi')}"))


async def _two_calls(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(say, **settings)
    for text in ("first" * 300, "second" * 300):
        newest = await call(client, "say", text=text)
        left = await list_ids(client)
    return "the oldest are forgotten" if left == [newest] else "all are kept"


async def _two_conversations(make_client: MakeClient) -> str:
    client = await make_client(say, max_history_calls=1)
    for name in ("first", "second"):
        sent = {"name": "say", "args": {"text": "hi"}, "id": "1"}
        await client.post("/tool_calls", json=sent, headers={"Sidecall-Conversation": name})
        left = [it["id"] for it in (await client.get("/conversations")).json()]
    return "the oldest are forgotten" if left == ["second"] else f"{left} are kept"


async def _long_answer(make_client: MakeClient) -> str:
    client = await make_client(say, max_history_value_bytes=20)
    shown = (await client.get(f"/tool_calls/{await call(client, 'say', text='x' * 100)}")).json()
    return "cut" if shown["message"]["content"] == f"said {'x' * 15}… 85 more characters" else "whole"


async def _many_at_once(make_client: MakeClient) -> str:
    client = await make_client(say, history_buffer_bytes=64 * 1024)
    batch = [{"name": "say", "args": {"text": "x" * 4000}, "id": str(number)} for number in range(60)]
    await client.post("/tool_calls/batch", json=batch)
    missing = len(batch) - len(await list_ids(client))
    counted = f"sidecall_history_calls_dropped_total {missing}.0" in (await client.get("/metrics")).text
    return "left out and counted" if 0 < missing < len(batch) and counted else f"{missing} are missing"


BY_HISTORY: dict[str, Provoke] = {
    "seconds that a call is kept in the history": _old_call,
    "calls in the history": partial(_two_calls, max_history_calls=1),
    "conversations in the list of them": _two_conversations,
    "bytes of calls in the history": partial(_two_calls, max_history_bytes=1024),
    "bytes of a call's answer in the history, and of its arguments": _long_answer,
    "bytes of calls that wait to be written into the history": _many_at_once,
}
