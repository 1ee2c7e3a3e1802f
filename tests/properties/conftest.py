"""One application for all cases, since making one for each would take most of the time."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from sidecall import Registry, StructuredTool
from sidecall.main import create_app
from sidecall.settings import Settings

Post = Callable[[StructuredTool, Any], httpx.Response]


@pytest.fixture(scope="session")
def post() -> Iterator[Post]:
    """Give a function that offers one tool and sends it a call: `POST /tool_calls`, without a socket."""
    registry = Registry()
    app = create_app(Settings(), registry)
    lifespan = app.router.lifespan_context(app)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall")
    with asyncio.Runner() as runner:
        runner.run(lifespan.__aenter__())

        def send(offered: StructuredTool, call: Any) -> httpx.Response:
            registry.replace([offered])
            return runner.run(client.post("/tool_calls", json=call))

        yield send
        runner.run(client.aclose())
        runner.run(lifespan.__aexit__(None, None, None))
