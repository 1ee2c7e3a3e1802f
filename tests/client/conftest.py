"""Both clients, each of an application in this process."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from starlette.types import ASGIApp

from sidecall import BaseTool, Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.client.twins import Twin, make_twin
from tests.kit.forked import origin

__all__ = ["origin"]

OpenApp = Callable[..., Awaitable[ASGIApp]]
OpenTwin = Callable[..., Awaitable[Twin]]


@pytest.fixture
async def open_app() -> AsyncIterator[OpenApp]:
    """Give a function that starts an application with these tools and settings."""
    async with AsyncExitStack() as stack:

        async def start(*tools: BaseTool, **settings: Any) -> ASGIApp:
            app = create_app(Settings(store="memory://", **settings), Registry(tools))
            await stack.enter_async_context(app.router.lifespan_context(app))
            return app

        yield start


@pytest.fixture(params=["blocking", "asynchronous"])
async def open_twin(request: pytest.FixtureRequest, open_app: OpenApp) -> AsyncIterator[OpenTwin]:
    """Give a function that makes a client of a new application; tests run with either client."""
    twins: list[Twin] = []

    async def start(*tools: BaseTool, **settings: Any) -> Twin:
        twins.append(make_twin(request.param, await open_app(*tools, **settings)))
        return twins[-1]

    yield start
    for twin in twins:
        await twin.ask("close")
