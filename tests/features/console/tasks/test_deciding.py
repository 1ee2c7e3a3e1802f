"""People decide about calls, and take decisions back that hold for later ones."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.features.console.console_tools import HOSTILE
from tests.features.console.tasks.conftest import OpenPage
from tests.features.console.tasks.hands import Hands, Keyboard, Mouse
from tests.kit.servers import Server

BOTH = pytest.mark.parametrize("hands_of", [Keyboard, Mouse], ids=["keys", "mouse"])


@pytest.fixture(autouse=True)
def _nothing_waits(api: httpx.Client) -> Iterator[None]:
    """Begin where nothing waits, and leave nothing behind that does, and no rule."""
    _clear(api)
    yield
    _clear(api)


def _clear(api: httpx.Client) -> None:
    for it in api.get("/approvals?status=pending").json():
        api.post(f"/approvals/{it['id']}", json={"decision": "reject"})
    for it in api.get("/approvals/rules").json():
        api.delete(f"/approvals/rules/{it['id']}")


def ask(api: httpx.Client, customer: str, cents: int, **args: Any) -> str:
    """Let a call wait, and return its approval's id."""
    call = {"name": "refund", "args": {"customer": customer, "cents": cents, **args}}
    return str(api.post("/tool_calls", json=call).json()["id"])


def button(page: Page, name: str) -> Any:
    """Find the button of this name."""
    return page.get_by_role("button", name=name, exact=True)


@BOTH
def test_a_call_is_approved_with_changes(page: Page, api: httpx.Client, hands_of: type[Hands]) -> None:
    """Found from the first page; what is changed is shown before, and keeps its type."""
    asked = ask(api, f"ann {hands_of.__name__}", 900)
    page.reload()
    expect(page).to_have_title("(1) Tools · Sidecall")
    hands = hands_of(page)
    hands.press(page.get_by_role("link", name="Approvals 1 waiting"))
    hands.press(page.get_by_role("link", name="refund").first)
    hands.fill(page.get_by_role("textbox", name="cents"), "450")
    expect(page.locator("#differences")).to_contain_text("900")
    expect(page.locator("#differences")).to_contain_text("450")
    hands.press(button(page, "Approve with changes"))

    expect(page.locator("#state")).to_have_text("You have approved it.")
    expect(page.locator("#outcome")).to_contain_text(f"refunded 450 cents to ann {hands_of.__name__}")
    decided = api.get(f"/approvals/{asked}").json()
    assert (decided["tool_call"]["args"]["cents"], decided["asked_args"]["cents"]) == (450, 900)


@BOTH
def test_a_call_is_rejected_with_a_reason(page: Page, api: httpx.Client, hands_of: type[Hands]) -> None:
    """Which the model reads; then the next one is a step away."""
    asked, other = ask(api, f"bob {hands_of.__name__}", 1), ask(api, f"cy {hands_of.__name__}", 2)
    page.goto(page.url.replace("/tools", f"/approvals/{asked}"))
    hands = hands_of(page)
    if hands_of is Keyboard:
        page.keyboard.press("r")
        expect(page.get_by_role("textbox", name="Your reason")).to_be_focused()
    hands.fill(page.get_by_role("textbox", name="Your reason"), "Ask for the order number first.")
    hands.press(button(page, "Reject"))

    expect(page.locator("#state")).to_have_text("You have rejected it.")
    decided = api.get(f"/approvals/{asked}").json()
    assert (decided["status"], decided["reason"]) == ("rejected", "Ask for the order number first.")
    assert "Ask for the order number first." in decided["message"]["content"]
    hands.press(page.get_by_role("link", name="Next: refund"))
    expect(page).to_have_url(page.url.rpartition("/")[0] + f"/{other}")


@BOTH
def test_a_rule_is_made_and_revoked(page: Page, api: httpx.Client, hands_of: type[Hands]) -> None:
    """Until then no person is asked."""
    asked = ask(api, f"dan {hands_of.__name__}", 1)
    page.goto(page.url.replace("/tools", f"/approvals/{asked}"))
    hands = hands_of(page)
    hands.press(page.get_by_role("checkbox", name="for all later calls"))
    hands.choose(page.get_by_role("combobox", name="This holds"), "for a day")
    hands.press(button(page, "Approve"))
    expect(page.locator("#state")).to_have_text("You have approved it.")
    (rule,) = api.get("/approvals/rules").json()
    assert (rule["decision"], rule["expires_at"] is None) == ("approve", False)

    page.goto(page.url.rpartition("/")[0] + "/rules")
    revoke = page.get_by_role("button", name="Revoke the rule of refund")
    hands.press(revoke)
    expect(revoke).to_have_text("Revoke it now")
    hands.press(revoke)

    expect(page.get_by_role("status")).to_have_text("Revoked: later calls are decided one by one again.")
    expect(page.get_by_text("There are no rules.")).to_be_visible()
    assert api.get("/approvals/rules").json() == []


@BOTH
def test_several_calls_are_rejected_at_once(page: Page, api: httpx.Client, hands_of: type[Hands]) -> None:
    """With one reason; those that are not ticked go on waiting, and one that was decided meanwhile is told."""
    first, second, third = (ask(api, f"gil {number}", number) for number in (1, 2, 3))
    page.goto(page.url.replace("/tools", "/approvals"))
    hands = hands_of(page)
    hands.press(button(page, "Reject several"))
    hands.fill(page.get_by_role("textbox", name="Your reason for all of them"), "None of these today.")
    boxes = page.get_by_role("checkbox", name="Reject refund")
    if hands_of is Keyboard:  # They stand behind the reason.
        for box in (boxes.nth(0), boxes.nth(1)):
            hands.press(box)
    else:
        boxes.nth(0).check()
        boxes.nth(1).check()
    api.post(f"/approvals/{second}", json={"decision": "approve"})
    page.get_by_role("button", name="Reject 2").click()

    expect(page.get_by_role("status").filter(has_text="1 rejected.")).to_contain_text("was approved already")
    expect(page.get_by_role("checkbox")).to_have_count(2)
    found = {it: api.get(f"/approvals/{it}").json() for it in (first, second, third)}
    assert [it["status"] for it in found.values()] == ["rejected", "approved", "pending"]
    assert found[first]["reason"] == "None of these today."
    hands.press(button(page, "Leave it"))
    expect(page.get_by_role("checkbox")).to_have_count(0)


def test_who_comes_second_is_told_who_was_faster(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """And sees what became of the call."""
    asked = ask(api, "eve", 77)
    page = open_page(f"{server.url}/console/approvals/{asked}")
    api.post(f"/approvals/{asked}", json={"decision": "reject", "reason": "No."})
    button(page, "Approve").click()

    expect(page.locator("#state")).to_have_text("anonymous was faster: it is rejected.")
    expect(page.locator("#decide")).to_be_hidden()


def test_arguments_that_do_not_fit_are_said_at_their_field(
    open_page: OpenPage, server: Server, api: httpx.Client
) -> None:
    """And nothing is decided."""
    asked = ask(api, "fay", 78)
    page = open_page(f"{server.url}/console/approvals/{asked}")
    page.get_by_role("textbox", name="cents").fill("50001")
    button(page, "Approve with changes").click()

    expect(page.get_by_role("textbox", name="cents")).to_have_attribute("aria-invalid", "true")
    assert api.get(f"/approvals/{asked}").json()["status"] == "pending"
    button(page, "Undo my changes").click()
    expect(page.get_by_role("textbox", name="cents")).to_have_value("78")
    expect(button(page, "Approve")).to_be_enabled()


def test_what_is_asked_runs_nothing(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """In the list, and on its own page."""
    asked = ask(api, HOSTILE, 79, reason=HOSTILE)
    for path in ("approvals", f"approvals/{asked}"):
        page = open_page(f"{server.url}/console/{path}")
        assert page.locator("main img, main script:not([type='application/json'])").count() == 0
    button(page, "Approve").click()

    expect(page.locator("#state")).to_have_text("You have approved it.")


def test_new_approvals_are_told_without_moving_the_list(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """The list is the same until its reader wants the new one."""
    ask(api, "gus", 80)
    page = open_page(f"{server.url}/console/approvals")
    ask(api, "hal", 81)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(page.locator("#fresh")).to_have_text("1 new approval — show")
    expect(page.locator("[data-row]")).to_have_count(1)
    page.locator("#fresh a").click()
    expect(page.locator("[data-row]")).to_have_count(2)


def look(page: Page) -> None:
    """Have a page look as it does from time to time."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_every_page_counts_what_waits(page: Page, api: httpx.Client) -> None:
    """In the navigation and in the title, up and down, while somebody can see it, and not more often than it says."""
    asked: list[str] = []
    page.on("request", lambda it: asked.append(it.url))
    ids = [ask(api, "ivy", cents) for cents in (1, 2)]
    look(page)
    expect(page).to_have_title("(2) Tools · Sidecall")
    expect(page.get_by_role("link", name="Approvals 2 waiting")).to_be_visible()
    api.post(f"/approvals/{ids[0]}", json={"decision": "reject"})
    look(page)
    expect(page).to_have_title("(1) Tools · Sidecall")
    api.post(f"/approvals/{ids[1]}", json={"decision": "reject"})
    look(page)
    expect(page).to_have_title("Tools · Sidecall")
    expect(page.get_by_role("link", name="Approvals", exact=True)).to_be_visible()
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    count = len(asked)
    look(page)
    page.evaluate("fetch('/healthz').then(() => null)")
    assert [it for it in asked[count:] if "approvals" in it] == []


_NOTICES = """
window.notices = [];
document.hasFocus = () => false;
window.Notification = class extends EventTarget {
  static permission = "default";
  static requestPermission() { Notification.permission = "granted"; return Promise.resolve("granted"); }
  constructor(title, options) { super(); window.notices.push([title, options.body]); }
};
"""


def test_a_reader_who_looks_elsewhere_is_told(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """By the browser, once, and only who has asked for it."""
    page = open_page()
    page.add_init_script(_NOTICES)
    page.goto(f"{server.url}/console/approvals")
    ask(api, "jan", 1)
    look(page)
    expect(page.locator("#fresh")).to_have_text("1 new approval — show")
    assert page.evaluate("notices") == []
    tell = button(page, "Tell me of new ones while I look elsewhere")
    tell.click()
    expect(tell).to_be_hidden()
    ask(api, "kim", 2)
    for _ in range(2):
        look(page)
        expect(page.locator("#fresh")).to_have_text("2 new approvals — show")

    assert page.evaluate("notices") == [["refund waits for a person", "Asked by anonymous"]]
    expect(page).to_have_title("(2) Approvals · Sidecall")
