"""What tests of every layer start from."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from app import BaseTool, Registry
from app.main import create_app
from app.settings import Settings

MakeClient = Callable[..., Any]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture
async def make_client() -> AsyncIterator[MakeClient]:
    """Give a function that makes a client of an application with these tools and settings, in this process."""
    async with AsyncExitStack() as stack:

        async def make(*tools: BaseTool, **settings: Any) -> httpx.AsyncClient:
            app = create_app(Settings(**settings), Registry(tools))
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            return await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://sidecall"))

        yield make
