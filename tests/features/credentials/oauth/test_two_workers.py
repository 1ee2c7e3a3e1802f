"""A round of signing in that is begun at one worker is ended at another, where they share a PostgreSQL or a file."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry
from sidecall.cli.workers import sharing_files
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.credentials.oauth.mail import TOOLS
from tests.kit.callers.provider import PUBLIC_URL, Browser, LocalProvider
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer, write_token_call
from tests.kit.postgres import cluster, emptied_url

__all__ = ["cluster", "emptied_url"]

HEADERS = {"X-Caller": "agent", "X-Tenant": "two"}


@pytest.fixture(params=["postgres", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a place that both share."""
    if request.param == "file":
        return f"sqlite:///{tmp_path}/shared.db"
    return str(request.getfixturevalue("emptied_url"))


@pytest.fixture
async def workers(
    settings: dict[str, Any], provider: LocalProvider, store: str
) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Two of them, asked one by one: behind one port nobody could say which of them answers."""
    clients = []
    async with AsyncExitStack() as stack:
        wanted = Settings(**{**settings, "store": store, "workers": 2})
        wanted, writers = stack.enter_context(sharing_files(wanted))
        for _ in range(2):
            app = create_app(wanted, Registry(TOOLS), writers=writers)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL, headers=HEADERS)
            clients.append(await stack.enter_async_context(client))
        yield clients


async def test_a_round_goes_from_worker_to_worker(workers: list[httpx.AsyncClient], provider: LocalProvider) -> None:
    """The call waits at one, the person signs in at the other, and the token is good at both."""
    first, second = workers
    waiting = await begin_to_wait(first)
    elsewhere = Browser(second, **HEADERS)
    begun = Browser(first, **HEADERS)

    # The page and the button at the first, the way back at the second, with the cookie of the browser.
    back = await begun.consent(waiting["sign_in"]["url"])
    elsewhere.take_cookies(begun)
    page = await elsewhere.open(back)
    answers = [(await wait_for_answer(client, waiting["id"]))["message"]["content"] for client in workers]
    again = [
        (await client.post("/tool_calls", json=write_token_call(2 + i))).json() for i, client in enumerate(workers)
    ]

    assert "<h1>Signed in</h1>" in page.text
    assert answers == ["inbox of ann, with [redacted]"] * 2
    assert [it["content"] for it in again] == ["inbox of ann, with [redacted]"] * 2
    assert provider.count("authorization_code") == 1


async def test_a_token_that_is_forgotten_is_forgotten_by_both(workers: list[httpx.AsyncClient]) -> None:
    """And a round that is used up at one is used up at the other."""
    first, second = workers
    waiting = await begin_to_wait(first)
    browser, other = Browser(first, **HEADERS), Browser(second, **HEADERS)
    back = await browser.consent(waiting["sign_in"]["url"])
    other.take_cookies(browser)
    pages = [(await at.open(back)).status_code for at in (browser, other)]
    await wait_for_answer(first, waiting["id"])

    removed = (await second.delete("/oauth/tokens/hub")).status_code
    asked = await first.post("/tool_calls", json=write_token_call(9))

    assert (pages, removed, asked.status_code) == ([200, 400], 200, 202)
