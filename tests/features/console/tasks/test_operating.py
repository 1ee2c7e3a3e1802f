"""People see why a server is unwell, and log in and out."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from sidecall.features.access.api_keys import KeyFile, mint_key
from tests.e2e.conftest import Serve
from tests.features.console.tasks.conftest import TOOLS, OpenPage
from tests.features.console.tasks.hands import Hands, Keyboard, Mouse
from tests.kit.servers import Server

SECRETS_KEY = b64encode(bytes(32)).decode()
BOTH = pytest.mark.parametrize("hands_of", [Keyboard, Mouse], ids=["keys", "mouse"])


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyFile:
    """A file of keys."""
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.jsonl")


@pytest.fixture(scope="module")
def key(keys: KeyFile) -> str:
    """A key of somebody who may do everything."""
    text, kept = mint_key("ann", scopes=("tools:call", "calls:read", "approvals:decide", "server:operate"))
    keys.change(lambda known: [*known, kept])
    return text


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of tools that changes."""
    file = tmp_path_factory.mktemp("tools") / "changing_tools.py"
    file.write_text(TOOLS.read_text())
    return file


@pytest.fixture(scope="module")
def guarded(start_shared: Serve, keys: KeyFile, key: str, tools: Path) -> Server:
    """Serve those with a key."""
    settings = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": str(keys.path), "SIDECALL_SECRETS_KEY": SECRETS_KEY}
    return start_shared("--tools", str(tools), **settings)


@pytest.fixture
def api(guarded: Server, key: str) -> Iterator[httpx.Client]:
    """Be a program with the key."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=guarded.url, trust_env=False, timeout=60, headers=headers) as client:
        yield client


def log_in(page: Page, key: str, hands: Hands) -> None:
    """Log in with a key."""
    hands.fill(page.get_by_label("API key or token"), key)
    hands.press(page.get_by_role("button", name="Log in"))


@BOTH
def test_people_log_in_and_out(open_page: OpenPage, guarded: Server, key: str, hands_of: type[Hands]) -> None:
    """They come where they wanted to be, and afterwards nobody does in this browser."""
    page = open_page(f"{guarded.url}/console/tools/refund")
    hands = hands_of(page)
    log_in(page, "sidecall_wrong", hands)
    expect(page.get_by_text("This server does not know that key")).to_be_visible()
    log_in(page, key, hands)
    expect(page.get_by_role("heading", level=1)).to_have_text("refund")
    assert key not in page.content() + str(page.context.cookies())
    assert page.evaluate("document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)") == ""

    hands.press(page.get_by_role("link", name="You are ann"))
    hands.press(page.get_by_role("button", name="Log out"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    page.go_back()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


@BOTH
def test_people_see_why_the_server_is_unwell(
    open_page: OpenPage, guarded: Server, api: httpx.Client, key: str, tools: Path, hands_of: type[Hands]
) -> None:
    """Tools that fail, and files that cannot be loaded; the words are those of the error."""
    page = open_page(f"{guarded.url}/console/tools")
    hands = hands_of(page)
    log_in(page, key, hands)
    written = tools.read_text()
    try:
        api.post("/tool_calls", json={"name": "fail", "args": {"words": "no"}})
        tools.write_text(f"{written}\nnothing_of_this_name\n")
        assert api.post("/reload").status_code == 409
        hands.press(page.get_by_role("link", name="Health"))

        expect(page.locator(".troubles")).to_contain_text("name 'nothing_of_this_name' is not defined")
        expect(page.locator(".troubles")).to_contain_text("of fail failed in the last minutes: tool error")
    finally:
        tools.write_text(written)
        api.post("/reload")


@BOTH
def test_people_keep_a_secret_and_forget_it(
    open_page: OpenPage, guarded: Server, api: httpx.Client, key: str, hands_of: type[Hands]
) -> None:
    """Its value is nowhere to be read, and it is gone at once."""
    page = open_page(f"{guarded.url}/console/accounts?secret=GITHUB_TOKEN")
    hands = hands_of(page)
    log_in(page, key, hands)
    expect(page.get_by_label("Name")).to_have_value("GITHUB_TOKEN")
    hands.fill(page.get_by_label("Value"), "ghp_hidden")
    hands.press(page.get_by_role("button", name="Keep"))

    forget = page.get_by_role("button", name="Forget GITHUB_TOKEN")
    expect(forget).to_be_visible()
    assert [it["name"] for it in api.get("/secrets").json()] == ["GITHUB_TOKEN"]
    assert "ghp_hidden" not in page.content() + page.url
    hands.press(forget)
    expect(forget).to_have_text("Forget it now")
    hands.press(forget)
    expect(page.get_by_text("You keep no secret here.")).to_be_visible()
    assert api.get("/secrets").json() == []


def test_a_session_that_ends_loses_nothing(open_page: OpenPage, guarded: Server, api: httpx.Client, key: str) -> None:
    """What is filled in stays, and is sent after logging in in another tab."""
    page = open_page(f"{guarded.url}/console/tools/fail")
    log_in(page, key, Mouse(page))
    page.get_by_role("textbox", name="words").fill("kept")
    other = page.context.new_page()
    other.goto(f"{guarded.url}/console/session")
    other.get_by_role("button", name="Log out").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Log in")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#state")).to_contain_text("Your session has ended.")
    log_in(other, key, Mouse(other))
    expect(other.get_by_role("heading", level=1)).to_have_text("Session")
    page.get_by_role("button", name="Call", exact=True).click()

    expect(page.locator("#answer")).to_contain_text("kept")


def test_a_link_of_another_site_finds_the_session(open_page: OpenPage, guarded: Server, key: str) -> None:
    """As from a chat to an approval, though no cookie comes along with it."""
    page = open_page(f"{guarded.url}/console/tools")
    log_in(page, key, Mouse(page))
    expect(page.get_by_role("heading", level=1)).to_have_text("Tools")
    page.route("http://chat.example/", lambda route: route.fulfill(body=_link(guarded), content_type="text/html"))
    page.goto("http://chat.example/")
    page.get_by_role("link", name="there").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("refund")


def _link(server: Server) -> str:
    return f"<!doctype html><title>Chat</title><a href='{server.url}/console/tools/refund'>there</a>"


def test_a_running_server_shows_what_its_minutes_were_like(open_page: OpenPage, server: Server) -> None:
    """Charts say in words what they show."""
    page = open_page(f"{server.url}/console/health")

    expect(page.get_by_role("img", name="Calls an hour in seven days")).to_be_visible()
    page.get_by_text("As numbers").last.click()
    expect(page.get_by_label("Calls an hour in seven days, failed ones in red").last).to_be_visible()
