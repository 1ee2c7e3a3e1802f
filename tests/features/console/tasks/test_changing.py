"""What people see when tools change under an open question, and when calls end before somebody has decided."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Serve
from tests.features.console.tasks.conftest import OpenPage
from tests.features.console.tasks.hands import Hands, Keyboard, Mouse
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.kit.servers import Server

BOTH = pytest.mark.parametrize("hands_of", [Keyboard, Mouse], ids=["keys", "mouse"])
CENTS = """
from sidecall import tool

@tool(requires_approval=True)
async def pay(amount: int) -> str:
    '''Pay somebody.

    Args:
        amount: How many cents.
    '''
    return f"paid {amount} cents"
"""
EUROS = """
from sidecall import tool

@tool(requires_approval=True)
async def pay(amount: int, currency: str = "euros") -> str:
    '''Pay somebody <script>alert(1)</script>.

    Args:
        amount: How many whole units.
        currency: Which units.
    '''
    return f"paid {amount} {currency}"
"""
GONE = """
from sidecall import tool

@tool
async def other() -> str:
    '''Be another.'''
    return "other"
"""
Change = Callable[[str], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files are that change."""
    return tmp_path_factory.mktemp("changing")


@pytest.fixture(scope="module")
def changing(start_shared: Serve, folder: Path) -> Server:
    """Serve a tool that changes, and those of an MCP server."""
    (folder / "tools.py").write_text(CENTS)
    (folder / "mcp.json").write_text(write_servers(kit=describe_kit()))
    settings = {"SIDECALL_MCP_PIN": "on", "SIDECALL_MCP_PINS_FILE": str(folder / "pins.json")}
    return start_shared("--tools", str(folder / "tools.py"), SIDECALL_MCP_SERVERS=str(folder / "mcp.json"), **settings)


@pytest.fixture
def api(changing: Server) -> Any:
    """Be a program that uses the server."""
    with httpx.Client(base_url=changing.url, trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture
def change(api: httpx.Client, folder: Path) -> Change:
    """Give a function that has the server load another text of its tools; it begins with cents."""

    def load(text: str) -> None:
        (folder / "tools.py").write_text(text)
        api.post("/reload").raise_for_status()

    load(CENTS)
    return load


@pytest.fixture
def asked(change: Change, api: httpx.Client) -> str:
    """Let a call wait that pays 500 cents, and return its approval's id."""
    return str(api.post("/tool_calls", json={"name": "pay", "args": {"amount": 500}}).json()["id"])


def button(page: Page, name: str) -> Any:
    """Find the button of this name."""
    return page.get_by_role("button", name=name, exact=True)


@BOTH
def test_a_changed_tool_is_decided_about_as_it_is_now(
    open_page: OpenPage, changing: Server, api: httpx.Client, asked: str, change: Change, hands_of: type[Hands]
) -> None:
    """Both definitions are there, what differs stands first, and the form is that of the present one."""
    change(EUROS)
    page = open_page(f"{changing.url}/console/approvals/{asked}")
    hands = hands_of(page)

    expect(page.get_by_role("heading", name="The tool has changed since this was asked")).to_be_visible()
    expect(page.locator("#tool-differences")).to_contain_text("How many cents.")
    expect(page.locator("#tool-differences")).to_contain_text("How many whole units.")
    hands.press(page.locator("summary", has_text="What was asked about"))
    expect(page.locator("#tool-asked")).to_contain_text("How many cents.")
    expect(page.locator("#tool-now")).to_contain_text("<script>alert(1)</script>")
    hands.fill(page.get_by_role("textbox", name="amount"), "5")
    hands.press(button(page, "Approve with changes for the tool as it is now"))

    expect(page.locator("#outcome")).to_contain_text("paid 5 euros")
    assert api.get(f"/approvals/{asked}").json()["status"] == "approved"


def test_a_tool_that_changes_under_an_open_page_runs_nothing(
    open_page: OpenPage, changing: Server, api: httpx.Client, asked: str, change: Change
) -> None:
    """Until its reader has seen what it is now, also once more; what was filled in stays."""
    page = open_page(f"{changing.url}/console/approvals/{asked}")
    page.get_by_role("textbox", name="amount").fill("7")
    change(EUROS)
    button(page, "Approve with changes").click()

    expect(page.locator("#state")).to_contain_text("Nothing was decided: the tool has changed.")
    expect(page.locator("#tool-change")).to_be_focused()
    expect(page.locator("#tool-differences")).to_contain_text("How many whole units.")
    change(EUROS.replace("units", "coins"))
    button(page, "Approve with changes for the tool as it is now").click()
    expect(page.locator("#tool-differences")).to_contain_text("How many whole coins.")
    assert api.get(f"/approvals/{asked}").json()["status"] == "pending"
    expect(page.get_by_role("textbox", name="amount")).to_have_value("7")
    button(page, "Approve with changes for the tool as it is now").click()
    expect(page.locator("#outcome")).to_contain_text("paid 7 euros")


def test_a_call_of_a_tool_that_is_gone_is_rejected(
    open_page: OpenPage, changing: Server, api: httpx.Client, asked: str, change: Change
) -> None:
    """Nothing else can be done about it, which the page says, also without scripts."""
    change(GONE)
    page = open_page(f"{changing.url}/console/approvals/{asked}")
    still = open_page(page.url, java_script_enabled=False)

    for it in (page, still):
        expect(it.get_by_role("heading", name="The tool is gone")).to_be_visible()
    expect(button(page, "Approve for the tool as it is now")).to_have_count(0)
    expect(button(page, "Approve")).to_be_hidden()
    button(page, "Reject").click()
    expect(page.locator("#state")).to_have_text("You have rejected it.")


def test_a_call_that_is_cancelled_leaves_nothing_to_decide(
    open_page: OpenPage, changing: Server, api: httpx.Client, change: Change
) -> None:
    """Which the page says to who was about to, and its own page later."""
    call = {"name": "pay", "args": {"amount": 1}}
    job = api.post("/tool_calls", json=call, headers={"Prefer": "respond-async"}).json()["id"]
    asked = wait_for(lambda: api.get(f"/tool_calls/{job}").json()["approval_id"])
    page = open_page(f"{changing.url}/console/approvals/{asked}")
    api.post(f"/tool_calls/{job}/cancel").raise_for_status()
    button(page, "Approve").click()

    expect(page.locator("#state")).to_have_text("The call was cancelled: nothing is left to decide.")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancelled: pay")


def wait_for(find: Callable[[], Any]) -> Any:
    """Ask until there is something."""
    while (found := find()) is None:
        time.sleep(0.02)
    return found


def test_changed_tools_of_an_mcp_server_are_accepted(
    open_page: OpenPage, changing: Server, api: httpx.Client, folder: Path
) -> None:
    """As they are shown, by mouse and by keys; what is not chosen waits on."""
    wait_for(lambda: True if api.get("/mcp-servers").json()[0]["tools"] else None)
    (folder / "mcp.json").write_text(write_servers(kit=describe_kit("reworded", "more")))
    api.post("/reload").raise_for_status()
    wait_for(lambda: api.get("/mcp-servers").json()[0]["waiting_tools"] or None)
    page = open_page(f"{changing.url}/console/mcp-servers")
    page.get_by_role("checkbox", name="extra.tool").uncheck()
    expect(page.get_by_label("What changes in echo")).to_contain_text("+Give the words back, they say.")
    accept = button(page, "Accept what is chosen of kit")
    accept.click()

    expect(page.get_by_role("checkbox", name="echo")).to_have_count(0)
    assert [it["name"] for it in api.get("/mcp-servers").json()[0]["waiting_tools"]] == ["extra.tool"]
    Keyboard(page).press(accept)
    expect(accept).to_have_count(0)
    wait_for(
        lambda: {"kit__echo", "kit__extra_tool"} <= {it["function"]["name"] for it in api.get("/tools").json()} or None
    )
    assert [it["details"]["tools"] for it in api.get("/audit?action=tools_accepted").json()] == [
        ["extra.tool"],
        ["echo"],
    ]
