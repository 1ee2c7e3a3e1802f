"""What tools, models and programs say runs nothing in a browser and keeps no page busy; the policy would stop it."""

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Serve
from tests.features.console.hostile_texts import TEXTS, TOOLS
from tests.features.console.tasks.conftest import OpenPage
from tests.kit.servers import Server


@pytest.fixture(scope="module")
def hostile(start_shared: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve tools that are not to be trusted."""
    file = tmp_path_factory.mktemp("tools") / "hostile_tools.py"
    file.write_text(TOOLS)
    return start_shared("--tools", str(file))


@pytest.fixture
def api(hostile: Server) -> Iterator[httpx.Client]:
    """Be a program that calls them."""
    with httpx.Client(base_url=hostile.url, trust_env=False, timeout=60) as client:
        yield client


def _call(page: Page, words: str = "The tool has answered.") -> None:
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#state")).to_have_text(words)


def _list_made(page: Page) -> list[str]:
    """List the elements within what was answered that no answer is shown by."""
    return page.evaluate(
        "[...document.querySelectorAll('#answer *, .answered *, pre *')].map((it) => it.localName)"
        ".filter((it) => /^(script|img|svg|iframe|object|embed|form|link|meta|base|style|math|template)$/.test(it))"
    )


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("answer_all", "The tool has answered."),
        ("give_all", "The tool has answered."),
        ("fail_all", "The tool answered with an error."),
    ],
)
def test_nothing_that_is_answered_runs(open_page: OpenPage, hostile: Server, tool: str, words: str) -> None:
    """As content, as an artifact, as an error; right after the call, and on the call's own page."""
    page = open_page(f"{hostile.url}/console/tools/{tool}")
    _call(page, words)
    for _ in range(3):
        page.evaluate("for (const it of document.querySelectorAll('#answer details')) it.open = true")
        page.wait_for_timeout(50)

    shown = page.locator("#answer").inner_text()
    assert (_list_made(page), "onerror" in shown or tool == "give_all") == ([], True)
    page.goto(f"{hostile.url}/console/calls?name={tool}")
    page.locator("a[data-call]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(tool)
    assert _list_made(page) == []


def test_nothing_that_is_asked_runs(open_page: OpenPage, hostile: Server, api: httpx.Client) -> None:
    """By the description of a tool, its arguments, its caller's conversation, and the reason of a decision."""
    call = {"name": "described", "args": {"text": "\n".join(TEXTS)}}
    asked = api.post("/tool_calls", json=call, headers={"Sidecall-Conversation": "<script>alert(1)"}).json()
    page = open_page()
    paths = ["tools", "tools/described", "approvals", f"approvals/{asked['id']}", "calls", "conversations"]
    for path in (*paths, "conversations/%3Cscript%3Ealert(1)"):
        page.goto(f"{hostile.url}/console/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator("main :is(img, iframe, object, embed, style, base, meta, math)").count() == 0
    page.goto(f"{hostile.url}/console/approvals/{asked['id']}")
    page.get_by_role("textbox", name="Your reason").fill(TEXTS[1])
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#state")).to_have_text("You have rejected it.")
    page.reload()

    expect(page.get_by_text(TEXTS[1], exact=True).first).to_be_visible()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("answer_deep", {"levels": 10_000}),
        ("answer_long", {"size": 10_000_000, "piece": "<b>words</b> "}),
        ("answer_long", {"size": 10_000_000, "piece": "x"}),
        ("answer_long", {"size": 10_000_000, "piece": "[1,"}),
    ],
)
def test_what_is_deep_or_long_is_cut(open_page: OpenPage, hostile: Server, tool: str, args: dict[str, object]) -> None:
    """The page has few elements, and goes on to be used."""
    page = open_page(f"{hostile.url}/console/tools/{tool}#{json.dumps(args)}")
    _call(page)

    assert page.evaluate("document.querySelectorAll('*').length") < 1_500
    assert page.evaluate("document.body.textContent.length") < 400_000
    page.get_by_role("link", name="Calls", exact=True).click()
    page.locator("a[data-call]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(tool)
    assert page.evaluate("document.body.textContent.length") < 400_000


# What a module of the server's own may not do either; each says what it comes to.
PROBES = {
    "eval": "try { eval('1'); return 'ran' } catch { return 'refused' }",
    "Function": "try { new Function('1')(); return 'ran' } catch { return 'refused' }",
    "innerHTML": "try { document.body.innerHTML = '<b>x</b>'; return 'ran' } catch { return 'refused' }",
    "a timer's text": (
        "try { setTimeout('window.ran = 1', 0) } catch {} await pause(); return window.ran ? 'ran' : 'refused'"
    ),
    "an attribute": (
        "const it = document.createElement('b'); try { it.setAttribute('onclick', 'window.ran = 2') } catch {}"
        " document.body.append(it); it.click(); return window.ran === 2 ? 'ran' : 'refused'"
    ),
    "a script's text": (
        "const it = document.createElement('script'); try { it.textContent = 'window.ran = 3' } catch {}"
        " document.body.append(it); return window.ran === 3 ? 'ran' : 'refused'"
    ),
    "another host": "return fetch('http://127.0.0.1:1/').then(() => 'ran', () => seen('connect-src'))",
    "an image of another host": (
        "const it = new Image(); it.src = 'http://127.0.0.1:1/x.png';"
        " await new Promise((done) => { it.onerror = it.onload = done }); return seen('img-src')"
    ),
    "a style": (
        "const it = document.createElement('style'); it.textContent = 'body { --made: 1 }'; document.head.append(it);"
        " return getComputedStyle(document.body).getPropertyValue('--made') ? 'ran' : 'refused'"
    ),
}
_PROBE = """
const directives = [];
addEventListener("securitypolicyviolation", (it) => directives.push(it.effectiveDirective));
const pause = () => new Promise((done) => setTimeout(done, 50));
const seen = async (name) => { await pause(); return directives.includes(name) ? "refused" : "ran"; };
const probes = { %s };
window.told = (async () => {
  const told = {};
  for (const [name, probe] of Object.entries(probes)) told[name] = await probe();
  return told;
})();
"""


def test_the_policy_stops_what_a_script_may_not_do(page: Page, server: Server) -> None:
    """Tried by a module of the server's own address."""
    text = _PROBE % ", ".join(f"{json.dumps(name)}: async () => {{ {body} }}" for name, body in PROBES.items())
    other = page.context.new_page()  # Which may break the policy.
    other.route("**/console/static/probe.js", lambda it: it.fulfill(body=text, content_type="text/javascript"))
    other.goto(f"{server.url}/console/tools")
    other.evaluate(
        "new Promise((done) => { const it = document.createElement('script'); it.type = 'module';"
        " it.onload = done; Object.assign(it, {}); document.head.append(it); import('./static/probe.js').then(done); })"
    )

    assert other.evaluate("window.told") == dict.fromkeys(PROBES, "refused")
