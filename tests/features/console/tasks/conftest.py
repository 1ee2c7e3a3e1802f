"""A real browser for people's tasks: one for all modules here, in which nothing that a page may not do goes unseen."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.e2e.conftest import Serve, origin, start_shared
from tests.kit.browser import NAMES, find_browser
from tests.kit.servers import Server

__all__ = ["origin", "start_shared"]

TOOLS = Path(__file__).parents[1] / "console_tools.py"
# Reports what the policy has blocked, from the first moment of each page on.
_WATCH = (
    "addEventListener('securitypolicyviolation', (it) => console.error('CSP:', it.violatedDirective, it.blockedURI))"
)
_PATIENCE = 60_000

expect.set_options(timeout=_PATIENCE)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Start the browser; it ends before other tests run, whose event loops would meet its own."""
    program = find_browser()
    if program is None:
        pytest.skip(f"no browser here ({', '.join(NAMES)}): as root, scripts/install-browser gets one")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which(program), args=["--no-sandbox"])


@pytest.fixture(scope="package")
def server(start_shared: Serve) -> Server:
    """Serve the tools of these tests to everybody."""
    return start_shared("--tools", str(TOOLS))


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    """Be a program that uses the same server."""
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Give a function that opens a page for a new reader, by options of Playwright's contexts.

    A test fails when a page breaks its policy, asks another host, opens a dialog, or has an error in its scripts.
    """
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # That an answer has a status of 4xx is told as an error, too.
        if message.type == "error" and "Failed to load resource" not in message.text:
            wrong.append(message.text)

    def open_one(url: str = "about:blank", **options: object) -> Page:
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(_PATIENCE)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("response", lambda it: "/static/" in it.url and not it.ok and wrong.append(f"no {it.url}"))
        page.on("request", lambda it: _is_away(it.url) and wrong.append(f"asked for {it.url}"))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert wrong == []


def _is_away(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "http://chat.example/", "blob:", "data:", "about:"))


@pytest.fixture
def page(open_page: OpenPage, server: Server) -> Page:
    """A reader in front of the first page."""
    return open_page(f"{server.url}/")
