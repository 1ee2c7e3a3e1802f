"""The console below a prefix, beside another server, in many tabs, and on a server that goes and comes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from sidecall.features.access.api_keys import KeyFile, mint_key
from tests.e2e.conftest import Serve, start_server
from tests.features.console.tasks.conftest import TOOLS, OpenPage
from tests.kit.servers import Server

__all__ = ["start_server"]

PREFIX = "/sidecall"
TABS = 20


def _call(page: Page) -> None:
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#state")).to_have_text("The tool has answered.")


def test_pages_work_below_a_prefix(open_page: OpenPage, server: Server) -> None:
    """Of which they know nothing: all their addresses are relative."""
    page = open_page()
    asked: list[str] = []

    def pass_on(route: Route) -> None:
        """Be a proxy that takes the prefix away."""
        target = route.request.url.replace(f"{server.url}{PREFIX}", server.url, 1)
        route.fulfill(response=route.fetch(url=target, max_redirects=0))

    page.route(f"{server.url}{PREFIX}/**", pass_on)
    page.on("request", lambda it: asked.append(urlsplit(it.url).path))
    page.goto(f"{server.url}{PREFIX}/console/tools")
    page.get_by_role("link", name="hostile").click()
    _call(page)
    page.get_by_role("link", name="Calls", exact=True).click()
    page.locator("a[data-call]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("hostile")
    page.get_by_role("link", name="Edit and send again").click()
    _call(page)

    assert [path for path in asked if not path.startswith(f"{PREFIX}/")] == []


def test_many_tabs_of_one_reader_all_answer(open_page: OpenPage, server: Server) -> None:
    """A browser has six connections to one server, and no tab keeps one."""
    first = open_page(f"{server.url}/console/tools/hostile")
    tabs = [first, *(first.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs[1:]:
        tab.goto(f"{server.url}/console/tools/hostile")

    for tab in tabs:
        _call(tab)


@contextmanager
def _logged_in(page: Page, server: Server, key: str) -> Iterator[None]:
    page.goto(f"{server.url}/console/session")
    page.get_by_label("API key or token").fill(key)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Session")
    yield
    page.goto(f"{server.url}/console/session")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def test_sessions_of_two_servers_of_one_host_are_two(open_page: OpenPage, start_server: Serve, tmp_path: Path) -> None:
    """One browser has both, and leaves one without leaving the other."""
    keys, page = KeyFile(tmp_path / "keys.jsonl"), open_page()
    texts = []
    for subject in ("ann", "bob"):
        text, kept = mint_key(subject, scopes=("tools:call",))
        keys.change(lambda known, kept=kept: [*known, kept])
        texts.append(text)
    settings = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": str(keys.path)}
    one, other = (start_server("--tools", str(TOOLS), **settings) for _ in range(2))

    with _logged_in(page, one, texts[0]):
        with _logged_in(page, other, texts[1]):
            page.goto(f"{one.url}/console/tools")
            expect(page.get_by_role("link", name="You are ann")).to_be_visible()
            page.goto(f"{other.url}/console/tools")
            expect(page.get_by_role("link", name="You are bob")).to_be_visible()
        page.goto(f"{one.url}/console/tools")
        expect(page.get_by_role("link", name="You are ann")).to_be_visible()


def test_a_server_that_starts_again_is_found_again(open_page: OpenPage, start_server: Serve, tmp_path: Path) -> None:
    """A page that watches a call says that nobody answers, and then shows how the call ended."""
    settings = {"SIDECALL_STORE": f"sqlite:///{tmp_path}/store.db"}
    server = start_server("--tools", str(TOOLS), **settings)
    page = open_page(f'{server.url}/console/tools/count_slowly#{{"steps":100000}}')
    page.get_by_role("button", name="Run as job").click()
    page.get_by_role("link", name="The job's own page").click()
    expect(page.locator("#progress-text")).to_contain_text("step")
    server.process.send_signal(9)
    server.process.wait(20)
    expect(page.locator("#state")).to_have_text("The server cannot be reached; the call is looked for again.")
    again = start_server("--tools", str(TOOLS), "--port", str(server.port), **settings)
    assert again.port == server.port

    expect(page.locator("#state")).to_have_text("")
    expect(page.locator("#progress-text, #call-state").first).to_be_visible()


def _measure(chromium: Browser, url: str, ready: str) -> tuple[float, int, int]:
    """Return the processor's seconds of a page's own thread until it can be used, its bytes, and its requests."""
    context = chromium.new_context()
    page = context.new_page()
    sizes: dict[str, int] = {}
    page.on("response", lambda it: sizes.update({it.url: len(it.body())}))
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url, wait_until="networkidle")
    page.wait_for_selector(ready)
    told = {it["name"]: it["value"] for it in tools.send("Performance.getMetrics")["metrics"]}
    context.close()
    return told["TaskDuration"], sum(sizes.values()), len(sizes)


@pytest.mark.parametrize("path", ["tools", "tools/place_order"])
def test_a_page_takes_less_than_a_third_of_the_reference(chromium: Browser, server: Server, path: str) -> None:
    """Of the browser's work and of the bytes; work is counted, since time says more of what else runs here."""
    page = _measure(chromium, f"{server.url}/console/{path}", "#main a, #args-form textarea")
    reference = _measure(chromium, f"{server.url}/docs", ".opblock")

    assert [3 * ours <= theirs for ours, theirs in zip(page[:2], reference[:2], strict=True)] == [True, True]
