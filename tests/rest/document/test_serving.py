"""The document is made in a thread, once for all who ask for it."""

import asyncio
import threading
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from sidecall import Registry
from sidecall.rest.app import ServedDocument
from tests.kit.tools import add, echo


class Describing:
    """Describe what is served, once somebody lets it go on."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.has_begun = threading.Event()
        self.may_go = threading.Event()
        self.fails = False

    def __call__(self) -> dict[str, Any]:
        """Describe it."""
        self.threads.append(threading.get_ident())
        self.has_begun.set()
        self.may_go.wait(10)
        if self.fails:
            raise OSError("Too many open files")
        return {"openapi": "3.1.0", "made": len(self.threads)}


@pytest.fixture
def describing() -> Describing:
    """What describes."""
    return Describing()


def _serve(describing: Describing, registry: Registry, root: str = "") -> httpx.AsyncClient:
    app = Starlette(routes=[Route("/openapi.json", ServedDocument(describing, registry).answer)])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, root_path=root), base_url="http://test")


async def _begin(describing: Describing, client: httpx.AsyncClient, count: int) -> list[asyncio.Task[httpx.Response]]:
    """Ask so often, and return once the document is being made: the event loop has gone on meanwhile."""
    asked = [asyncio.create_task(client.get("/openapi.json")) for _ in range(count)]
    assert await asyncio.to_thread(describing.has_begun.wait, 10)
    return asked


async def test_others_go_on_while_it_is_made(describing: Describing) -> None:
    """Callers who ask meanwhile wait for the same; afterwards it is there."""
    async with _serve(describing, Registry([echo])) as client:
        asked = await _begin(describing, client, 3)
        describing.may_go.set()
        answers = [*await asyncio.gather(*asked), await client.get("/openapi.json")]

    assert [answer.json() for answer in answers] == [{"openapi": "3.1.0", "made": 1}] * 4
    assert {answer.headers["content-type"] for answer in answers} == {"application/json"}
    assert len(describing.threads) == 1
    assert describing.threads[0] != threading.get_ident()


async def test_it_is_made_although_who_asked_has_left(describing: Describing) -> None:
    """The next one finds it."""
    async with _serve(describing, Registry([echo])) as client:
        [asked] = await _begin(describing, client, 1)
        asked.cancel()
        [other] = [asyncio.create_task(client.get("/openapi.json"))]
        await asyncio.sleep(0)
        describing.may_go.set()

        assert (await other).json()["made"] == 1


async def test_it_is_made_again_when_the_tools_have_changed(describing: Describing) -> None:
    """And where it could not be made, by the next who asks."""
    registry = Registry([echo])
    describing.may_go.set()
    describing.fails = True
    async with _serve(describing, registry) as client:
        with pytest.raises(OSError, match="Too many"):
            await client.get("/openapi.json")
        describing.fails = False
        made = [(await client.get("/openapi.json")).json()["made"] for _ in range(2)]
        registry.replace([echo, add])
        made.append((await client.get("/openapi.json")).json()["made"])

    assert made == [2, 2, 3]


async def test_it_names_the_path_below_which_it_is_served(describing: Describing) -> None:
    """Behind a proxy that cuts it off."""
    describing.may_go.set()
    async with _serve(describing, Registry([echo]), "/tools-of-ours/") as client:
        document = (await client.get("/openapi.json")).json()

    assert document["servers"] == [{"url": "/tools-of-ours"}]
