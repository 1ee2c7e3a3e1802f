"""Pages are complete without scripts, and let nothing run but their own."""

import re
from collections.abc import AsyncIterator
from html import unescape
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.console.console_tools import HOSTILE, TOOLS
from tests.kit.clients import MakeClient

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
PAGES = (
    *("tools", "tools/refund", "tools?q=money", "tools?tag=shop", "tools/place_order?form=gemini", "session", "health"),
    "accounts",
    "accounts?secret=GITHUB_TOKEN",
    *("calls", "calls?status=failed&since=24h", "calls?status=running", "conversations", "audit", "mcp-servers"),
    *("approvals", "approvals?status=", "approvals?status=nonsense", "approvals/{id}", "approvals/rules"),
)
GONE = (
    "calls/none",
    "calls/summary",
    "calls/export",
    "conversations/..%2Ftools",
    "calls/01890a5d-ac96-774b-bcce-b302099a8057",
    "conversations/none",
    "nowhere",
    "tools/nobody",
    "approvals/none",
    "tools/a%2Fb",
    "static",
)


@pytest.fixture(scope="module")
async def client(anyio_backend: Any, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of one server, which all tests of pages ask."""
    app = create_app(Settings(workspace_dir=tmp_path_factory.mktemp("files")), Registry(TOOLS))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as made:
            yield made


@pytest.fixture(scope="module")
async def waiting(client: httpx.AsyncClient) -> str:
    """Let a call wait that is hostile, and return its approval's id."""
    args = {"customer": HOSTILE, "cents": 12345, "reason": HOSTILE}
    return str((await client.post("/tool_calls", json={"name": "refund", "args": args})).json()["id"])


def _scripts(page: str) -> list[str]:
    return re.findall(r"<script(?! type=\"application/json\")[^>]*>([^<]*)", page)


@pytest.mark.parametrize("path", [*PAGES, *GONE])
async def test_every_page_has_the_strict_policy(client: httpx.AsyncClient, waiting: str, path: str) -> None:
    """Also one that is not there; no script and no style stands in the page itself."""
    page = await client.get(f"/console/{path.format(id=waiting)}")

    assert {name: page.headers.get(name) for name in SAFE} == SAFE
    assert page.status_code == (404 if path in GONE else 200)
    assert "".join(_scripts(page.text)).strip() == ""
    assert not re.search(r"<style|<[^>]*\s(style|on[a-z]+)=|=\"https?://", _without_data(page.text))


def _without_data(page: str) -> str:
    """Leave out what is data, and the name space that an image has."""
    return re.sub(r"<script type=\"application/json\".*?</script>|<pre.*?</pre>|xmlns=\"[^\"]*\"", "", page, flags=re.S)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/", "console"),
        ("/console", "./console/tools"),
        ("/console/", "./../console/tools"),
        ("/console/tools/", "../../console/tools"),
        ("/console/tools/?q=a%20b", "../../console/tools?q=a%20b"),
    ],
)
async def test_short_addresses_lead_to_the_pages(client: httpx.AsyncClient, path: str, to: str) -> None:
    """By relative addresses, which hold below any prefix."""
    answer = await client.get(path)
    assert (answer.status_code in (303, 307), answer.headers["location"]) == (True, to)
    end = await client.get(path, follow_redirects=True)
    assert (end.status_code, end.url.path) == (200, "/console/tools")


async def test_the_root_leads_to_the_console(make_client: MakeClient) -> None:
    """Somebody who opens the address in a browser sees what can be done."""
    client = await make_client()

    response = await client.get("/", follow_redirects=True)

    assert response.status_code == 200
    assert response.url.path == "/console/tools"
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_files_are_kept_for_ever_by_their_version(make_client: MakeClient) -> None:
    """And those of another version are not, nor is there a way to other files."""
    client = await make_client(*TOOLS)
    page = (await client.get("/console/tools")).text
    (sheet,) = re.findall(r'rel="stylesheet" href="([^"]+console.css)"', page)

    now = await client.get(httpx.URL("http://sidecall/console/tools").join(sheet).path)
    other = await client.get("/console/static/0/console.css")
    away = await client.get("/console/static/0/%2e%2e/routes.py")

    assert (now.headers["content-type"], "immutable" in now.headers["cache-control"]) == (
        "text/css; charset=utf-8",
        True,
    )
    assert (other.text == now.text, other.headers["cache-control"]) == (True, "no-store")
    assert away.status_code == 404


async def test_what_others_say_is_text(client: httpx.AsyncClient, waiting: str) -> None:
    """Tools, models and programs, in lists and on pages of their own; hidden characters are seen."""
    paths = ("tools", "tools/hostile", "approvals", f"approvals/{waiting}")
    pages = [(await client.get(f"/console/{path}")).text for path in paths]

    shown = HOSTILE.replace("\u202e", r"\u202e").replace("\x1b", r"\u001b")
    assert all("<img" not in page and "<script>alert" not in page for page in pages)
    assert [shown in unescape(page) for page in pages] == [True] * 4
    assert not any(character in page for page in pages for character in "\u202e\x1b")


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, 200),
        ({"console": "off"}, 404),
        ({"host": "0.0.0.0", "allow_unauthenticated": True}, 404),
        ({"host": "0.0.0.0", "allow_unauthenticated": True, "console": "on"}, 200),
        ({"host": "::1"}, 200),
        ({"host": "localhost"}, 200),
        ({"features_off": ("console",)}, 404),
        ({"host": "0.0.0.0", "auth": ("gateway",), "caller_header": "X-User"}, 401),
    ],
)
async def test_there_is_a_console_where_it_is_safe(
    make_client: MakeClient, settings: dict[str, object], status: int
) -> None:
    """Or where the operator wants it; without it `/` leads to the reference."""
    client = await make_client(*TOOLS, **settings)

    assert (await client.get("/console/tools")).status_code == status
    assert (await client.get("/")).headers["location"] == ("docs" if status == 404 else "console")
    assert (await client.get("/console/static/0/console.css")).status_code == (404 if status == 404 else 200)


async def test_a_list_is_narrowed_by_words_and_tags(client: httpx.AsyncClient) -> None:
    """All words have to be there, in any order."""
    found = {
        query: re.findall(r'<span class="name">(\w+)', (await client.get(f"/console/tools?{query}")).text)
        for query in ("q=customer+MONEY", "q=count", "tag=shop", "q=order&tag=shop", "q=nothing+else")
    }

    assert found == {
        "q=customer+MONEY": ["refund"],
        "q=count": ["count_slowly"],
        "tag=shop": ["place_order", "refund"],
        "q=order&tag=shop": ["place_order"],
        "q=nothing+else": [],
    }


async def test_the_pages_are_not_of_the_api(client: httpx.AsyncClient) -> None:
    """Its document does not have them."""
    assert [path for path in (await client.get("/openapi.json")).json()["paths"] if "console" in path] == []


@pytest.mark.parametrize("words", ["ann", "1,250"])
async def test_an_approval_is_read_without_scripts(make_client: MakeClient, words: str) -> None:
    """What was asked, what was decided, by whom and why, and what came of it."""
    client = await make_client(*TOOLS)
    call = {"name": "refund", "args": {"customer": "ann 1,250", "cents": 1}}
    asked = (await client.post("/tool_calls", json=call)).json()["id"]
    decision = {"decision": "approve", "args": {"customer": "ann 1,250", "cents": 7}, "reason": "for ann, 1,250"}
    await client.post(f"/approvals/{asked}", json=decision)

    page = (await client.get(f"/console/approvals/{asked}")).text

    assert "<h1>Approved: " in page
    assert page.count(words) >= 4
    assert ("refunded 7 cents" in page, "As the model sent them" in page) == (True, True)


async def test_the_navigation_counts_what_waits(make_client: MakeClient) -> None:
    """And the title does."""
    client = await make_client(*TOOLS)
    assert "data-waiting" not in (await client.get("/console/tools")).text
    for cents in (1, 2, 3):
        await client.post("/tool_calls", json={"name": "refund", "args": {"customer": "ann", "cents": cents}})

    page = (await client.get("/console/tools")).text

    assert re.findall(r"<title>([^<]*)|data-waiting>(\d+)", page) == [("(3) Tools · Sidecall", ""), ("", "3")]


async def test_a_trace_is_linked_where_it_is_shown(make_client: MakeClient) -> None:
    """By the address that the operator has set."""
    client = await make_client(*TOOLS, trace_url="https://traces.example/t/{trace_id}?x=1")
    parent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    call = {"name": "refund", "args": {"customer": "ann", "cents": 1}}
    asked = (await client.post("/tool_calls", json=call, headers=parent)).json()["id"]

    page = (await client.get(f"/console/approvals/{asked}")).text

    assert 'href="https://traces.example/t/0af7651916cd43dd8448eb211c80319c?x=1"' in page


async def test_thousands_of_tools_come_in_portions(make_client: MakeClient) -> None:
    """And are found by their words, wherever they stand."""
    made = [tool(f"tool_{number:04}", description="Count.")(_count) for number in range(450)]
    client = await make_client(*made)

    first = (await client.get("/console/tools")).text
    more = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    second = (await client.get(httpx.URL("http://sidecall/console/tools").join(unescape(more[0])))).text
    found = (await client.get("/console/tools?q=tool_0449+count")).text
    many = (await client.get("/console/tools?q=count")).text

    names = [re.findall(r'"name">(\w+)', page) for page in (first, second, found)]
    assert [(it[0], it[-1], len(it)) for it in names] == [
        ("tool_0000", "tool_0199", 200),
        ("tool_0200", "tool_0399", 200),
        ("tool_0449", "tool_0449", 1),
    ]
    assert "and 250 more" in many


async def test_long_words_are_written_so_that_browsers_can_break_them(make_client: MakeClient) -> None:
    """In letters of one width, and cut; a list has less of them. Marks that are heaped on a letter are numbers."""
    heap = tool("heap", description="e" + "\u0301" * 12)(_count)
    client = await make_client(
        tool("long", description="A" * 50_000)(_count), tool("short", description="B.")(_count), heap
    )
    paths = ("tools", "tools/long", "tools/short", "tools/heap")

    pages = {path: (await client.get(f"/console/{path}")).text for path in paths}

    assert ("A" * 1000 in pages["tools"], "A" * 1001 in pages["tools"]) == (True, False)
    assert f'<p class="data long">{"A" * 10_000}… and 40,000 more characters</p>' in pages["tools/long"]
    assert "e" + "\u0301" * 8 + r"\u0301" * 4 + "</p>" in pages["tools/heap"]
    assert '<p class="data ">B.</p>' in pages["tools/short"]


async def _count() -> int:
    """Count."""
    return 1


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"history": "off"}, "history"), ({}, "Calls an hour in seven days")],
)
async def test_health_says_what_there_is_not(make_client: MakeClient, settings: dict[str, object], text: str) -> None:
    """Without a history there are no seven days, and no last calls of a tool."""
    client = await make_client(*TOOLS, **settings)
    await client.post("/tool_calls", json={"name": "fail", "args": {"words": "no"}})

    page = (await client.get("/console/health")).text

    assert text in page
    assert "1 call of fail failed in the last minutes: tool error." in page
    assert (await client.get("/console/tools/fail")).status_code == 200


async def test_an_approval_that_has_expired_has_a_page(make_client: MakeClient) -> None:
    """As a link in a chat may lead there late; it says so, and nothing can be decided."""
    client = await make_client(*TOOLS, approval_ttl=1e-9)
    call = {"name": "refund", "args": {"customer": "ann", "cents": 1}}
    asked = (await client.post("/tool_calls", json=call)).json()["id"]

    page = await client.get(f"/console/approvals/{asked}")

    assert (page.status_code, "<h1>Expired:" in page.text, 'id="approve"' in page.text) == (200, True, False)
    assert f'href="../console/approvals/{asked}"' in (await client.get("/console/approvals?status=expired")).text
