"""Every page is for everybody: in light and dark, wide and narrow, for those who see it and those who hear it."""

from collections.abc import Mapping

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.features.console.tasks.conftest import OpenPage
from tests.features.console.tasks.hands import Keyboard
from tests.kit.servers import Server

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},
}
MOST_PACKED = 20_000
REFUND = {"name": "refund", "args": {"customer": "ann", "cents": 900}, "id": "call_1", "type": "tool_call"}
MARKDOWN = "# Title\n\n* one [link](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> `code`"
PAGES = (
    "tools",
    "tools?q=nothing+like+this",
    "tools/place_order",
    "tools/hostile?form=anthropic",
    "approvals",
    "approvals?status=approved",
    "approvals/{id}",
    "approvals/rules",
    "calls",
    "calls?status=nonsense",
    "calls/{call}",
    "calls/{running}",
    "conversations",
    "conversations/chat",
    "audit",
    "mcp-servers",
    "health",
    "accounts",
    "session",
    "nowhere",
)


@pytest.fixture(scope="module")
def waiting(server: Server) -> Mapping[str, str]:
    """Let a call wait, another one be approved, and a rule be made."""
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        first = client.post("/tool_calls", json=REFUND).json()["id"]
        second = client.post("/tool_calls", json={**REFUND, "args": {"customer": "bob", "cents": 1}}).json()["id"]
        client.post(f"/approvals/{second}", json={"decision": "approve"})
        chat = {"Sidecall-Conversation": "chat"}
        call = client.post("/tool_calls", json={"name": "fail", "args": {"words": MARKDOWN}, "id": "1"}, headers=chat)
        slow = {"name": "count_slowly", "args": {"steps": 2000}, "id": "1"}
        job = client.post("/tool_calls", json=slow, headers={"Prefer": "respond-async"})
        order = {"customer_id": 7, "lines": [{"sku": "tea"}], "payment": {"kind": "card", "number": "4000"}}
        for _ in range(3):
            client.post("/tool_calls", json={"name": "place_order", "args": {**order, "note": "Ring the bell twice."}})
    return {"id": first, "call": call.json()["id"], "running": job.json()["id"]}


def find_wrong(page: Page) -> list[tuple[str, list[str]]]:
    """Return what axe finds."""
    found = Axe().run(page, options=RULES)
    return [(it["id"], [node["html"][:200] for node in it["nodes"]]) for it in found.response["violations"]]


@pytest.mark.parametrize(
    ("path", "most_bytes", "most_requests"),
    [
        ("tools", 24_000, 6),
        ("tools/place_order", 60_000, 6),  # With its last three calls
        ("tools/hostile", 60_000, 7),
        ("approvals", 26_000, 7),
        ("approvals/{id}", 60_000, 6),
        ("calls", 60_000, 6),  # With a page of calls
        ("calls/{call}", 44_000, 9),
        ("health", 32_000, 6),
    ],
)
def test_pages_are_light(
    open_page: OpenPage, server: Server, waiting: Mapping[str, str], path: str, most_bytes: int, most_requests: int
) -> None:
    """With all that a page asks for before somebody acts, and nothing kept: as it is, and as its files are sent."""
    page, sizes = open_page(), {}
    # A browser makes one up where the layout below its pointer changes.
    page.add_init_script("addEventListener('pointermove', (event) => event.stopImmediatePropagation(), true)")
    page.on("response", lambda it: sizes.update({it.url: len(it.body())}))
    page.goto(f"{server.url}/console/{path.format(**waiting)}", wait_until="networkidle")

    packed = {url: _measure_packed(url) for url in sizes if "/static/" in url}
    assert (sum(sizes.values()) <= most_bytes, len(sizes) <= most_requests) == (True, True), sizes
    assert sum(packed.values()) <= MOST_PACKED, packed


def _measure_packed(url: str) -> int:
    """Return how many bytes of a file a browser is sent."""
    with httpx.stream("GET", url, headers={"Accept-Encoding": "gzip"}, trust_env=False) as answer:
        return len(b"".join(answer.iter_raw()))


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_for_everybody(
    open_page: OpenPage, server: Server, waiting: Mapping[str, str], scheme: str, width: int
) -> None:
    """Axe finds nothing wrong, and nothing is wider than the screen."""
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    wrong = {}
    for path in PAGES:
        page.goto(f"{server.url}/console/{path.format(**waiting)}")
        wrong[path] = find_wrong(page), page.evaluate("document.documentElement.scrollWidth") > width

    assert {path: found for path, found in wrong.items() if found != ([], False)} == {}


def test_nothing_is_lost_on_the_narrowest_screen(
    open_page: OpenPage, server: Server, waiting: Mapping[str, str]
) -> None:
    """As on a large one at 400 %."""
    page = open_page(viewport={"width": 320, "height": 600})
    wide = []
    for path in PAGES:
        page.goto(f"{server.url}/console/{path.format(**waiting)}")
        wide += [path] if page.evaluate("document.documentElement.scrollWidth") > 320 else []

    assert wide == []


def test_an_answer_and_an_error_are_for_everybody(open_page: OpenPage, server: Server) -> None:
    """Also after a call, with fields that are wrong."""
    at = f'{server.url}/console/tools/place_order#{{"customer_id":"x","lines":[{{}}],"days":99}}'
    page = open_page(at, reduced_motion="reduce")  # Colors that still change have any contrast.
    page.get_by_role("tab", name="JSON").click()
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_text("The tool answered with an error.")).to_be_visible()

    assert find_wrong(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_wrong(page) == []


def test_without_scripts_everything_can_be_read(
    open_page: OpenPage, server: Server, waiting: Mapping[str, str]
) -> None:
    """What needs them says so."""
    page = open_page(java_script_enabled=False)
    needs = []
    for path in PAGES:
        page.goto(f"{server.url}/console/{path.format(**waiting)}")
        assert page.get_by_role("heading", level=1).inner_text() != ""
        needs += [path] if page.locator("noscript").count() > 0 else []

    others = ["approvals/{id}", "calls/{call}", "calls/{running}", "accounts"]
    assert needs == ["tools/place_order", "tools/hostile?form=anthropic", *others]


def test_keys_lead_about(page: Page) -> None:
    """From page to page and from row to row, but not while something is filled in."""
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("gs")
    expect(page.get_by_role("searchbox")).to_have_value("gs")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("refund")
    expect(page.get_by_role("textbox", name="customer")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", level=1)).to_have_text("Health")


def test_the_way_to_the_page_is_short(page: Page) -> None:
    """A link skips what stands above it."""
    Keyboard(page).press(page.get_by_role("link", name="Skip to the page"))

    assert page.evaluate("document.activeElement.id") == "main"
