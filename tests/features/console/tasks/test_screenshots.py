"""Pictures of the pages for docs/console.md; they are kept there where `KEEP_SCREENSHOTS` is set."""

import os
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.features.console.tasks.conftest import TOOLS, OpenPage
from tests.kit.servers import Server

SIZE = {"width": 1000, "height": 640}
ORDER = (
    '{"customer_id":7,"lines":[{"sku":"tea","count":2}],"payment":{"kind":"card","number":"4000"},"note":"Ring twice."}'
)
_SLIGHT = 5_000


@pytest.fixture(scope="module")
def shown(start_shared: Serve) -> Server:
    """A server of which some calls were asked."""
    server = start_shared("--tools", str(TOOLS))
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        for number in range(12):
            client.post("/tool_calls", json={"name": "count_slowly", "args": {"steps": 1, "seconds": 0.001 * number}})
        client.post("/tool_calls", json={"name": "fail", "args": {"words": "out of tea"}})
        for customer, cents in (("ann", 1250), ("bob", 900)):
            client.post("/tool_calls", json={"name": "refund", "args": {"customer": customer, "cents": cents}})
    return server


def _open_tool(page: Page, url: str) -> None:
    page.goto(f"{url}/console/tools/place_order#{ORDER}")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#state")).to_have_text("The tool has answered.")
    page.locator("#answer").scroll_into_view_if_needed()


def _open_approval(page: Page, url: str) -> None:
    page.goto(f"{url}/console/approvals")
    page.locator("[data-row]").first.click()
    page.get_by_role("textbox", name="cents").fill("1000")
    expect(page.locator("#differences")).to_contain_text("1250")


def _open_tools(page: Page, url: str) -> None:
    page.goto(f"{url}/console/tools")


def _open_health(page: Page, url: str) -> None:
    page.goto(f"{url}/console/health")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_pictured(open_page: OpenPage, shown: Server, tmp_path: Path, scheme: str) -> None:
    """As people see them."""
    folder = ROOT / "docs/screenshots" if os.environ.get("KEEP_SCREENSHOTS") else tmp_path
    page = open_page(color_scheme=scheme, viewport=SIZE)
    for name, show in (
        ("tools", _open_tools),
        ("tool", _open_tool),
        ("approval", _open_approval),
        ("health", _open_health),
    ):
        show(page, shown.url)
        page.evaluate("scrollTo(0, 0)")
        file = folder / f"{name}-{scheme}.png"
        page.screenshot(path=file)
        assert file.stat().st_size > _SLIGHT
