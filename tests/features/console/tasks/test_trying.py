"""People find tools, call them, mend what was refused, and follow what takes long."""

import json
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Serve
from tests.features.console.console_tools import HOSTILE
from tests.features.console.tasks.conftest import OpenPage
from tests.features.console.tasks.hands import Hands, Keyboard, Mouse, tab_to
from tests.kit.servers import Server

BOTH = pytest.mark.parametrize("hands_of", [Keyboard, Mouse], ids=["keys", "mouse"])
ORDER = {"customer_id": 7, "lines": [{"sku": "tea"}], "payment": {"kind": "card", "number": "1"}}


def state(page: Page, text: str) -> None:
    """Wait until the page says this of its call."""
    expect(page.locator("#state")).to_have_text(text)


def button(page: Page, name: str) -> Any:
    """Find the button of this name."""
    return page.get_by_role("button", name=name, exact=True)


@BOTH
def test_a_tool_is_found_and_called_with_a_nested_form(page: Page, hands_of: type[Hands]) -> None:
    """From the first page to the answer."""
    hands = hands_of(page)
    hands.fill(page.get_by_role("searchbox"), "order customer")
    hands.press(page.get_by_role("link", name="place_order"))

    hands.fill(page.get_by_role("textbox", name="customer_id"), "12345678901234567890")
    hands.press(button(page, "Add an item to lines").or_(page.get_by_role("button", name="Add").first))
    hands.fill(page.get_by_role("textbox", name="sku"), "tea\ncups")
    hands.choose(page.get_by_role("combobox").first, "transfer")
    hands.fill(page.get_by_role("textbox", name="iban"), "DE1")
    hands.press(button(page, "Call"))

    state(page, "The tool has answered.")
    page.get_by_text("As text").click()
    answer = json.loads(page.locator("#answer pre").inner_text())
    assert answer == {
        "customer": 12345678901234567890,
        "lines": 1,
        "paid_by": "transfer",
        "note": None,
        "days": 3,
    }


@BOTH
def test_a_refused_call_is_mended(open_page: OpenPage, server: Server, hands_of: type[Hands]) -> None:
    """What is wrong is said at its field, which has the focus; nothing else is lost."""
    args = {**ORDER, "days": 99}
    page = open_page(f"{server.url}/console/tools/place_order#{json.dumps(args)}")
    hands = hands_of(page)
    tab_to(page, page.get_by_role("textbox", name="customer_id"))
    page.keyboard.press("Control+Enter")

    state(page, "The tool answered with an error.")
    days = page.get_by_role("textbox", name="days")
    expect(days).to_have_attribute("aria-invalid", "true")
    expect(days).to_be_focused()
    expect(page.locator("#args-form")).to_contain_text("at most 14")
    hands.fill(days, "14")
    hands.press(button(page, "Call"))

    state(page, "The tool has answered.")
    expect(page.locator("#answer")).to_contain_text("days: 14")
    expect(page.locator("#args-form [aria-invalid]")).to_have_count(0)


@BOTH
def test_a_long_call_is_followed_and_cancelled(
    open_page: OpenPage, server: Server, api: httpx.Client, hands_of: type[Hands]
) -> None:
    """As a call that is waited for, and as a job."""
    page = open_page(f'{server.url}/console/tools/count_slowly#{{"steps":1000,"seconds":0.02}}')
    hands = hands_of(page)
    hands.press(button(page, "Call"))
    expect(page.locator("#progress-text")).to_contain_text("step")
    hands.press(button(page, "Cancel"))
    state(page, "Cancelled.")

    hands.press(button(page, "Run as job"))
    expect(page.locator("#progress-text")).to_contain_text("step")
    job = page.get_by_role("link", name="The job's own page").get_attribute("href") or ""
    hands.press(button(page, "Cancel"))
    state(page, "The tool answered with an error.")
    expect(page.locator("#answer")).to_contain_text("cancelled")
    assert api.get(f"/tool_calls/{job.rpartition('/')[2]}").json()["status"] == "cancelled"


def test_a_job_goes_on_to_its_answer(open_page: OpenPage, server: Server) -> None:
    """With its progress."""
    page = open_page(f'{server.url}/console/tools/count_slowly#{{"steps":3}}')
    button(page, "Run as job").click()

    state(page, "The tool has answered.")
    expect(page.locator("#answer")).to_contain_text("counted to 3")
    expect(page.locator("#progress")).to_be_hidden()


def test_a_call_that_waits_leads_to_its_approval(open_page: OpenPage, server: Server) -> None:
    """And can be decided there."""
    page = open_page(f'{server.url}/console/tools/refund#{{"customer":"eve","cents":5}}')
    button(page, "Call").click()
    state(page, "The call waits for a person.")
    page.get_by_role("link", name="Open the approval").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Approve refund?")


def test_a_check_runs_nothing(open_page: OpenPage, server: Server, api: httpx.Client) -> None:
    """It says what would run, and what is wrong."""
    page = open_page(f'{server.url}/console/tools/refund#{{"customer":"zoe","cents":5}}')
    before = len(api.get("/approvals").json())
    button(page, "Check only").click()
    state(page, "It would run.")
    expect(page.locator("#answer")).to_contain_text("A person would be asked first.")
    page.get_by_role("textbox", name="cents").fill("50001")
    button(page, "Check only").click()
    state(page, "It would not run.")

    expect(page.get_by_role("textbox", name="cents")).to_have_attribute("aria-invalid", "true")
    assert len(api.get("/approvals").json()) == before


@pytest.mark.parametrize(
    "text",
    ['{"customer_id": 12345678901234567890123, "lines": [], "payment": {"kind": "card", "number": ""}, "note": null}'],
)
def test_form_and_json_say_the_same(open_page: OpenPage, server: Server, text: str) -> None:
    """Back and forth, by keys; text that is no JSON stays where it is."""
    page = open_page(f"{server.url}/console/tools/place_order")
    tab_to(page, page.get_by_role("tab", name="Form"), "Shift+Tab")
    page.keyboard.press("ArrowRight")
    field = page.get_by_role("textbox", name="Arguments as JSON")
    field.fill("{oops")
    page.get_by_role("tab", name="Form").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill(text)
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_role("textbox", name="customer_id")).to_have_value("12345678901234567890123")
    page.get_by_role("tab", name="JSON").click()

    assert json.loads(field.input_value()) == json.loads(text)


def test_what_is_filled_in_stays(open_page: OpenPage, server: Server) -> None:
    """When the page is loaded again, or a server is gone for a while."""
    page = open_page(f"{server.url}/console/tools/fail")
    page.get_by_role("textbox", name="words").fill("kept")
    while page.evaluate("history.state") is None:
        page.wait_for_timeout(20)
    page.reload()
    expect(page.get_by_role("textbox", name="words")).to_have_value("kept")
    page.route("**/tool_calls", lambda route: route.abort())
    button(page, "Call").click()

    state(page, "The server cannot be reached. What you have filled in stays; try again.")
    expect(page.get_by_role("textbox", name="words")).to_have_value("kept")


def test_a_copy_for_the_shell_gives_the_same_answer(open_page: OpenPage, server: Server) -> None:
    """And one in Python; a link fills in the same arguments."""
    words = 'it\'s "one" $HOME `id` \\ é\u2028'
    page = open_page(f"{server.url}/console/tools/fail#{json.dumps({'words': words})}")
    page.get_by_text("Copy as").click()
    copied = {}
    for name, begin in (("curl", "curl"), ("Python", "import"), ("Link with these arguments", "http")):
        button(page, name).click()
        expect(page.locator("#copied")).to_have_value(re.compile(f"^{begin}"))
        copied[name] = page.locator("#copied").input_value()
    curl, python, link = copied.values()

    answer = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True).stdout
    assert json.loads(answer)["content"] == words
    again = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, check=True, encoding="utf-8")
    assert repr(words) in again.stdout
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("textbox", name="words")).to_have_value(words)


def test_an_answer_runs_nothing(open_page: OpenPage, server: Server) -> None:
    """All of it is text, and so is an error."""
    page = open_page(f"{server.url}/console/tools/hostile")
    button(page, "Call").click()
    state(page, "The tool has answered.")
    assert page.locator("#answer pre").text_content() == HOSTILE
    page.goto(f"{server.url}/console/tools/fail#{json.dumps({'words': HOSTILE})}")
    button(page, "Call").click()
    state(page, "The tool answered with an error.")

    assert page.locator("#answer pre").text_content() == HOSTILE
    assert page.locator("#answer img, #answer script, #answer a").count() == 0


def test_a_definition_is_shown_as_each_model_gets_it(open_page: OpenPage, server: Server) -> None:
    """Without losing what is filled in."""
    page = open_page(f'{server.url}/console/tools/refund#{{"customer":"ann","cents":1}}')
    page.get_by_text("Definition, as models get it").click()
    expect(page.locator("#definition pre")).to_contain_text('"parameters"')
    expect(page.locator("#tokens")).to_have_text(re.compile(r"^About \d+ tokens\.$"))
    page.get_by_role("link", name="Anthropic").click()

    expect(page.locator("#definition pre")).to_contain_text('"input_schema"')
    expect(page.get_by_role("textbox", name="customer")).to_have_value("ann")


def test_the_first_field_is_near(page: Page) -> None:
    """After a tool was chosen it has the focus."""
    page.get_by_role("link", name="refund").click()

    expect(page.get_by_role("textbox", name="customer")).to_be_focused()


_READS_STATE = """
from typing import Annotated
from sidecall import InjectedState, InjectedToolArg, tool


@tool
def greet(word: str, user: Annotated[str, InjectedState("user")], tenant: Annotated[int, InjectedToolArg]) -> str:
    \"\"\"Greet the user.\"\"\"
    return f"{word} {user} of {tenant}"
"""


def test_state_and_context_are_fields_of_the_form(
    open_page: OpenPage, start_shared: Serve, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """They are there at once where the tool needs them, and keep their types."""
    file = tmp_path_factory.mktemp("tools") / "reads_state.py"
    file.write_text(_READS_STATE)
    page = open_page(f"{start_shared('--tools', str(file)).url}/console/tools/greet")
    page.get_by_role("textbox", name="word").fill("Hello")
    page.get_by_role("textbox", name="user").fill("ann")
    page.get_by_role("textbox", name="tenant").fill("seven")
    button(page, "Call").click()
    expect(page.locator("#given")).to_contain_text("not an integer")

    page.get_by_role("textbox", name="tenant").fill("7")
    button(page, "Call").click()
    expect(page.locator("#answer")).to_contain_text("Hello ann of 7")
