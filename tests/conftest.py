"""What tests of every layer start from."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from app import BaseTool, Registry
from app.main import create_app
from app.settings import Settings
from tests.asgi import Passing

MakeClient = Callable[..., Any]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture
def is_door_open() -> bool:
    """Let plain requests take the short way in front of the framework; modules that try both ways override this."""
    return True


@pytest.fixture
async def make_client(is_door_open: bool) -> AsyncIterator[MakeClient]:
    """Give a function that makes a client of an application with these tools and settings, in this process."""
    async with AsyncExitStack() as stack:

        async def make(*tools: BaseTool, **settings: Any) -> httpx.AsyncClient:
            app = create_app(Settings(**settings), Registry(tools))
            if not is_door_open:
                app.add_middleware(Passing)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            return await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://sidecall"))

        yield make
