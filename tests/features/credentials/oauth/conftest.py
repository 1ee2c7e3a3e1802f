"""A provider, and a server whose tools act there for persons; one of each for the tests of a module."""

import itertools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from sidecall import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.credentials.oauth.mail import SEEN, TOOLS
from tests.kit.callers.provider import PUBLIC_URL, LocalProvider, provide
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.callers.waiting import wait_for_answer

_TENANTS = itertools.count(1)


@pytest.fixture(scope="module", name="serving")
def serve_provider() -> Iterator[LocalProvider]:
    """Serve a provider."""
    with provide() as serving:
        yield serving


@pytest.fixture
def provider(serving: LocalProvider) -> LocalProvider:
    """Give the provider as it is in the beginning."""
    SEEN.clear()
    serving.reset()
    return serving


@pytest.fixture(scope="module")
def settings(serving: LocalProvider, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give settings that name it, and a gateway that says who calls."""
    return {
        "store": f"sqlite:///{tmp_path_factory.mktemp('oauth') / 'ledger.db'}",
        "oauth": serving.write_settings(),
        "public_url": PUBLIC_URL,
        "secrets_key": SECRETS_KEY,
        "auth": ("gateway",),
        "caller_header": "X-Caller",
        "tenant_header": "X-Tenant",
    }


@pytest.fixture(scope="module")
async def transport(settings: dict[str, Any], anyio_backend: Any) -> AsyncIterator[httpx.ASGITransport]:
    """Serve the tools."""
    app = create_app(Settings(**settings), Registry(TOOLS))
    async with app.router.lifespan_context(app):
        yield httpx.ASGITransport(app=app, raise_app_exceptions=False)


@pytest.fixture
async def client(transport: httpx.ASGITransport, provider: LocalProvider) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client that the gateway names `agent`, of a tenant of its own."""
    headers = {"X-Caller": "agent", "X-Tenant": f"tenant{next(_TENANTS)}"}
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL, headers=headers) as client:
        yield client
        # What a test let go on would else run in the next one, whose provider gives out the same tokens.
        for approval in (await client.get("/approvals?status=approved")).json():
            await wait_for_answer(client, approval["id"])
