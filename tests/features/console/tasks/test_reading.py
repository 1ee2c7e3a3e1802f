"""Pages in a real browser: found by mouse and by keys, without sideways scrolling, for everybody."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.features.console.tasks.conftest import OpenPage
from tests.kit.servers import Server

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["tools", "tools?q=nothing", "tools/place_order", "session", "nowhere"])
def test_pages_are_for_everybody(open_page: OpenPage, server: Server, path: str, scheme: str, width: int) -> None:
    """Axe finds nothing wrong, and nothing is wider than the screen."""
    page = open_page(f"{server.url}/console/{path}", color_scheme=scheme, viewport={"width": width, "height": 800})

    found = Axe().run(page, options=RULES)

    assert [(it["id"], [node["html"] for node in it["nodes"]]) for it in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_tool_is_found_by_keys(page: Page) -> None:
    """From the first page on, without a mouse."""
    page.keyboard.press("/")
    page.keyboard.type("money")
    expect(page.get_by_role("listitem").filter(has_text="place_order")).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    while "refund" not in page.evaluate("document.activeElement.textContent"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("refund")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Session")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
