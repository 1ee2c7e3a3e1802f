"""People find what an agent did, send a call again, and end one that runs."""

import re
import time
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.features.console.tasks.conftest import OpenPage
from tests.features.console.tasks.hands import Hands, Keyboard, Mouse
from tests.kit.servers import Server

BOTH = pytest.mark.parametrize("hands_of", [Keyboard, Mouse], ids=["keys", "mouse"])


def send(api: httpx.Client, name: str, chat: str, **args: Any) -> dict[str, Any]:
    """Call a tool in a conversation."""
    sent = {"name": name, "args": args, "id": "call_1"}
    answer: dict[str, Any] = api.post("/tool_calls", json=sent, headers={"Sidecall-Conversation": chat}).json()
    return answer


def link(page: Page, name: str) -> Locator:
    """Find the link of this name."""
    return page.get_by_role("link", name=name, exact=True)


def button(page: Page, name: str) -> Locator:
    """Find the button of this name."""
    return page.get_by_role("button", name=name, exact=True)


@BOTH
def test_the_failing_calls_of_a_conversation_are_found(
    open_page: OpenPage, server: Server, api: httpx.Client, hands_of: type[Hands]
) -> None:
    """From the first page to the error of one."""
    chat = f"night {hands_of.__name__}"
    send(api, "count_slowly", chat, steps=1)
    send(api, "fail", chat, words="the shop is closed")
    send(api, "fail", "another", words="not this one")
    page = open_page(f"{server.url}/console/tools")
    hands = hands_of(page)
    hands.press(link(page, "Conversations"))
    hands.press(link(page, chat))
    expect(page.locator(".story > li")).to_have_count(2)
    hands.press(link(page, "1 failed"))
    expect(page.locator("[data-call]")).to_have_count(1)
    hands.press(page.locator("[data-call]"))

    expect(page.get_by_label("The answer as text")).to_have_text("the shop is closed")


@BOTH
def test_a_call_is_sent_again_edited(
    open_page: OpenPage, server: Server, api: httpx.Client, hands_of: type[Hands]
) -> None:
    """Its arguments stand in the tool's form; what is sent then is a call of its own."""
    args = {"customer_id": 12345678901234567890, "lines": [{"sku": "tea"}], "payment": {"kind": "card", "number": "1"}}
    call_id = send(api, "place_order", "edit", **args, days=99)["id"]
    page = open_page(f"{server.url}/console/calls/{call_id}")
    hands = hands_of(page)
    hands.press(link(page, "Edit and send again"))
    expect(page.get_by_role("textbox", name="customer_id")).to_have_value("12345678901234567890")
    hands.fill(page.get_by_role("textbox", name="days"), "5")
    hands.press(button(page, "Call"))

    expect(page.locator("#state")).to_have_text("The tool has answered.")
    expect(page.locator("#answer")).to_contain_text("12345678901234567890")


@BOTH
def test_a_call_is_sent_again_as_it_was(
    open_page: OpenPage, server: Server, api: httpx.Client, hands_of: type[Hands]
) -> None:
    """After a question, since its tool does not say that it may run twice; the new call names the old one."""
    call_id = send(api, "fail", "again", words="once more")["id"]
    page = open_page(f"{server.url}/console/calls/{call_id}")
    hands = hands_of(page)
    hands.press(button(page, "Send the same"))
    expect(button(page, "Send it again")).to_be_focused()
    hands.press(button(page, "Send it again"))

    expect(page.get_by_label("The answer as text")).to_have_text("once more")
    expect(link(page, call_id)).to_be_visible()


@BOTH
def test_a_running_call_is_followed_and_cancelled(
    open_page: OpenPage, server: Server, api: httpx.Client, hands_of: type[Hands]
) -> None:
    """Found under what runs now; the page says how far it is, and how it ended."""
    sent = {"name": "count_slowly", "args": {"steps": 1000, "seconds": 0.02}, "id": "call_1"}
    call_id = api.post("/tool_calls", json=sent, headers={"Prefer": "respond-async"}).json()["id"]
    page = open_page(f"{server.url}/console/calls")
    hands = hands_of(page)
    hands.press(link(page, "What runs now"))
    hands.press(page.locator(f'[data-call="{call_id}"]'))
    expect(page.locator("#progress-text")).to_contain_text("of 1000")
    hands.press(button(page, "Cancel"))

    expect(page.locator("#call-state")).to_have_text("cancelled")
    assert api.get(f"/tool_calls/{call_id}").json()["status"] == "cancelled"


def test_a_call_that_ends_shows_its_answer(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """Without anybody doing anything; a plain call as well as a job."""
    sent = {"name": "count_slowly", "args": {"steps": 50, "seconds": 0.05}, "id": "call_1"}
    call_id = api.post("/tool_calls", json=sent, headers={"Prefer": "respond-async"}).json()["id"]
    page = open_page(f"{server.url}/console/calls/{call_id}")

    expect(page.get_by_label("The answer as text")).to_have_text("counted to 50")


def test_new_calls_are_told_of(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """And come into the list only when its reader wants it; others do not count."""
    send(api, "fail", "first", words="a")
    page = open_page(f"{server.url}/console/calls?name=fail&since=24h")
    before = page.locator("[data-call]").count()
    send(api, "count_slowly", "other", steps=1)
    time.sleep(0.02)
    send(api, "fail", "second", words="b")
    expect(page.locator("#fresh")).to_have_text("1 new call — show", timeout=40_000)
    assert page.locator("[data-call]").count() == before
    link(page, "1 new call — show").click()

    expect(page.locator("[data-call]")).to_have_count(before + 1)


def test_a_search_is_in_the_address(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """So the way back leads to it."""
    send(api, "fail", "address", words="a")
    page = open_page(f"{server.url}/console/calls")
    page.get_by_label("Tool", exact=True).fill("fail")
    page.get_by_label("Status").select_option("failed")
    button(page, "Show").click()
    expect(page).to_have_url(re.compile(r"name=fail&status=failed"))
    page.locator("[data-call]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("fail")
    page.go_back()

    expect(page.get_by_label("Status")).to_have_value("failed")


def test_an_answer_of_data_is_a_tree(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """That keeps all digits; and the call is copied for a shell."""
    args = {"customer_id": 12345678901234567890, "lines": [{"sku": "tea"}], "payment": {"kind": "card", "number": "1"}}
    call_id = send(api, "place_order", "tree", **args)["id"]
    page = open_page(f"{server.url}/console/calls/{call_id}")
    page.get_by_text("As a tree").click()
    expect(page.locator("#tree")).to_contain_text("customer: 12345678901234567890")
    button(page, "Copy as curl").click()

    expect(page.locator("#copied")).to_have_value(re.compile(r"^curl -sS .*12345678901234567890", re.DOTALL))
