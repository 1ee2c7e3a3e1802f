"""Go beyond bounds of what is for workers elsewhere."""

import asyncio

from pydantic import SecretStr

from sidecall.features.fleet.frames import MOST_BYTES, Frames
from tests.kit.clients import MakeClient
from tests.kit.nats import running_broker
from tests.limits.by_request import Provoke, call, say
from tests.limits.offered import echo


async def _wait_for_worker(make_client: MakeClient) -> str:
    with running_broker() as bus:
        client = await make_client(
            echo, fleet=SecretStr(bus.url), placement=("nobody=echo",), fleet_max_waiting=1, queue_timeout=2.0
        )
        async with asyncio.timeout(30):
            while True:
                if "sidecall_fleet_up 1.0" in (await client.get("/metrics")).text:
                    break
                await asyncio.sleep(0.02)
        answers = await asyncio.gather(*(client.post("/tool_calls", json=call()) for _ in range(2)))
    said = sorted(map(say, answers))
    assert said[0] == "503 `no-worker`, `Retry-After`"
    return said[1]


async def _cross(_: MakeClient) -> str:
    try:
        list(Frames([]).write("place", bytes(MOST_BYTES + 1), 1_000_000))
    except ValueError:
        return "200, kind `tool_error`"
    return "it crosses"


BY_FLEET: dict[str, Provoke] = {
    "calls of one queue that wait for a worker": _wait_for_worker,
    "bytes of a call or answer on the way to a worker and back": _cross,
}
