"""Remembered calls whose client hangs up."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from sidecall import Registry
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Passing, Peer, exchange, scope_of, sized
from tests.kit.remembered import GO, RAN, wait_for
from tests.kit.waiting import until

CALL = b'{"name": "wait_for", "args": {"name": "a"}, "id": "call_1"}'


@pytest.fixture(params=["in front", "behind"])
async def app(request: pytest.FixtureRequest) -> AsyncIterator[Application]:
    """Serve, with the short way and without it."""
    RAN.clear()
    GO.clear()
    app = create_app(Settings(drain_timeout=0), Registry([wait_for]))
    if request.param == "behind":
        app.add_middleware(Passing)
    async with app.router.lifespan_context(app):
        yield app


@pytest.mark.parametrize("header", [("prefer", "wait=60"), ("idempotency-key", "a")])
async def test_who_hangs_up_is_waited_for_no_more(app: Application, header: tuple[str, str]) -> None:
    """The request ends; the call goes on, and a caller who asks for it has its answer."""
    peer = Peer((CALL,))
    asking = asyncio.ensure_future(app(scope_of("POST", "/tool_calls", sized(CALL, header)), peer.receive, peer.send))
    await until(lambda: RAN["a"] > 0)
    peer.gone.set()
    await asyncio.wait_for(asking, 20)
    GO["a"].set()

    listed = json.loads((await exchange(app, scope_of("GET", "/tool_calls"))).content)
    location = f"/tool_calls/{listed[0]['id']}"
    ended = await exchange(app, scope_of("GET", location, [("prefer", "wait=20")]))

    assert (json.loads(ended.content)["status"], json.loads(ended.content)["message"]["content"]) == (
        "succeeded",
        "a went",
    )
