"""Pages of calls and conversations are complete without scripts, and show what their reader may read."""

import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.features.console.markdown import write_markdown
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.console.console_tools import HOSTILE, TOOLS
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

TRACE = "0af7651916cd43dd8448eb211c80319c"
ORDER = {"customer_id": 12345678901234567890, "lines": [{"sku": "tea"}], "payment": {"kind": "card", "number": "1"}}


async def call(client: httpx.AsyncClient, name: str, *, chat: str = "chat 7", **args: Any) -> str:
    """Call a tool in a conversation, and return the id of the call or of its approval."""
    headers = {"Sidecall-Conversation": chat, "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    answer = await client.post("/tool_calls", json={"name": name, "args": args, "id": "call_1"}, headers=headers)
    return str(answer.json()["id"])


async def read(client: httpx.AsyncClient, path: str, **options: Any) -> str:
    """Return a page as text."""
    page = await client.get(f"/console/{path}", **options)
    assert page.status_code == 200, page.text
    return unescape(page.text)


def list_rows(page: str) -> list[str]:
    """List the calls of a page."""
    return re.findall(r'data-call="([^"]+)"', page)


def find_links(page: str, text: str) -> list[str]:
    """List where links of this text lead, relative to the server."""
    found = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    return [address for address, inner in found if re.sub(r"<[^>]*>", "", inner).strip() == text]


async def test_counts_say_what_they_leave_out(make_client: MakeClient, tmp_path: Path) -> None:
    """Calls that ran when they were counted by one part alone, as a server before an upgrade has done."""
    kept = tmp_path / "kept.db"
    app = create_app(Settings(store=f"sqlite:///{kept}"), Registry(TOOLS))
    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as first:
        for _ in range(2):
            await call(first, "hostile")
    with closing(sqlite3.connect(tmp_path / "kept.history.db")) as database, database:
        database.execute("DELETE FROM history_counts WHERE part NOT IN ('name', 'status', 'kind', 'caller')")
    client = await make_client(*TOOLS, store=f"sqlite:///{kept}")
    await call(client, "fail", words="a")

    page, narrowed = await read(client, "calls"), await read(client, "calls?caller=anonymous")

    assert len(list_rows(page)) == 3
    assert "2 earlier calls are left out of these counts" in page
    assert "left out" not in narrowed


async def test_the_address_is_the_search(make_client: MakeClient) -> None:
    """Parts of it choose; what was counted leads to narrower ones, and each kind of failure to its latest call."""
    client = await make_client(*TOOLS)
    good = [await call(client, "hostile") for _ in range(2)]
    bad = [await call(client, "fail", words=word, chat="other") for word in ("a", "b")]
    wrong = await call(client, "place_order", customer_id="x")

    page = await read(client, "calls")

    assert list_rows(page) == [wrong, *reversed(bad), *reversed(good)]
    assert list_rows(await read(client, "calls?name=fail&status=failed&kind=tool_error&since=1h")) == bad[::-1]
    assert list_rows(await read(client, "calls?conversation=other")) == bad[::-1]
    assert list_rows(await read(client, "calls?name=&status=&kind=&caller=&since=")) == list_rows(page)
    assert find_links(page, "fail 2") == ["../console/calls?name=fail"]
    assert find_links(page, "failed 3") == ["../console/calls?status=failed"]
    narrowed = await read(client, "calls?status=failed")
    assert find_links(narrowed, "tool_error 2") == ["../console/calls?status=failed&kind=tool_error"]
    assert find_links(narrowed, "failed 3") == ["../console/calls"]
    assert f'href="../console/calls/{bad[1]}"' in narrowed.partition("What fails")[2].partition("</section>")[0]
    assert find_links(narrowed, "Download as JSON Lines") == ["../tool_calls/export?status=failed"]


async def test_older_and_newer_calls_are_led_to(make_client: MakeClient) -> None:
    """As far as there are any."""
    client = await make_client(*TOOLS)
    ids = [await call(client, "fail", words=str(number)) for number in range(100)][::-1]
    pages, path = [], "calls?name=fail"
    for _ in range(3):
        pages.append(await read(client, path))
        path = ([*find_links(pages[-1], "Older"), "../console/calls"][0]).removeprefix("../console/")
    back = find_links(pages[2], "Newer")[0].removeprefix("../console/")

    assert [list_rows(page) for page in pages] == [ids[:40], ids[40:80], ids[80:]]
    assert (find_links(pages[0], "Newer"), find_links(pages[2], "Older")) == ([], [])
    assert list_rows(await read(client, back)) == ids[40:80]
    assert find_links(await read(client, back), "Newer") == ["../console/calls?name=fail"]


@pytest.mark.parametrize("query", ["kind=nonsense", "status=done", "since=yesterday", "until=1", "trace_id=x"])
async def test_a_search_that_cannot_be_is_mended(make_client: MakeClient, query: str) -> None:
    """What is wrong is said above the form, which keeps what was filled in."""
    client = await make_client(*TOOLS)

    page = await client.get(f"/console/calls?name=fail&{query}")

    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert 'name="name" value="fail"' in page.text


async def test_a_call_is_told_whole(make_client: MakeClient) -> None:
    """What was asked, what ran, who decided, how long it took, what it belongs to and what it answered."""
    client = await make_client(*TOOLS, trace_url="https://traces.example/{trace_id}")
    asked = await call(client, "refund", customer="ann", cents=5)
    decision = {"decision": "approve", "args": {"customer": "ann", "cents": 7}, "reason": "less"}
    call_id = (await client.post(f"/approvals/{asked}", json=decision)).json()["message"]["id"]

    page = await read(client, f"calls/{call_id}")

    for text in (
        "Arguments, as it ran",
        "As the model sent them",
        '"cents": 7',
        '"cents": 5',
        "less",
        "waited for a person",
    ):
        assert text in page
    assert f'href="https://traces.example/{TRACE}"' in page
    assert find_links(page, "chat 7") == ["../../console/conversations/chat%207"] * 2
    assert find_links(page, "refund") == ["../../console/tools/refund"]
    assert '<pre tabindex="0" aria-label="The answer as text">refunded 7 cents to ann</pre>' in page
    fragment = "%7B%22customer%22%3A%22ann%22%2C%22cents%22%3A7%7D"
    assert find_links(page, "Edit and send again") == [f"../../console/tools/refund#{fragment}"]


async def test_numbers_keep_their_digits_when_a_call_is_edited(make_client: MakeClient) -> None:
    """In the link, and on the page."""
    client = await make_client(*TOOLS)

    page = await read(client, f"calls/{await call(client, 'place_order', **ORDER)}")

    assert "12345678901234567890" in find_links(page, "Edit and send again")[0]
    assert '"customer_id": 12345678901234567890' in page


async def test_a_conversation_is_one_story(make_client: MakeClient, tmp_path: Path) -> None:
    """Its calls, approvals and files in their order; its failing calls are one link away."""
    client = await make_client(*TOOLS, workspace_dir=tmp_path)
    failed = await call(client, "fail", words="no")
    asked = await call(client, "refund", customer="ann", cents=5)
    await call(client, "hostile", chat="<img src=x>")
    await client.post("/workspaces/chat%207/files", files={"file": ("a b.txt", b"hello")})

    listed, story = await read(client, "conversations"), await read(client, "conversations/chat%207")

    assert find_links(listed, "chat 7") == ["../console/conversations/chat%207"]
    assert 'href="../console/conversations/%3Cimg%20src%3Dx%3E"' in listed
    assert find_links(story, "1 failed") == ["../../console/calls?conversation=chat+7&status=failed"]
    assert list_rows(await read(client, "calls?conversation=chat+7&status=failed")) == [failed]
    assert story.index(f"calls/{failed}") < story.index(f"approvals/{asked}")
    (file,) = find_links(story, "File /workspace/a b.txt")
    assert (await client.get(file.replace("../../", "/"))).text == "hello"


@pytest.mark.parametrize(
    ("settings", "path", "text"),
    [
        ({"history": "off"}, "calls", "This server keeps no history."),
        ({"history": "off"}, "conversations", "This server keeps no history."),
        ({}, "calls", "Nothing was called yet."),
        ({}, "conversations", "There are no conversations yet."),
        ({}, "calls?name=nobody", "No call is like this."),
        ({}, "mcp-servers", "No tools of other MCP servers are offered here."),
        ({}, "audit", "Nothing is recorded."),
    ],
)
async def test_an_empty_page_says_why(make_client: MakeClient, settings: Any, path: str, text: str) -> None:
    """And what to do."""
    assert text in await read(await make_client(*TOOLS, **settings), path)


async def test_answers_that_are_not_kept_are_said_to_be(make_client: MakeClient) -> None:
    """There is nothing to edit then."""
    client = await make_client(*TOOLS, history="meta")

    page = await read(client, f"calls/{await call(client, 'fail', words='x')}")

    assert "The answer is not kept: <code>SIDECALL_HISTORY</code> is <code>meta</code>." in page
    assert "The arguments are not kept" in page
    assert find_links(page, "Edit and send again") == []


async def test_a_call_outlives_its_tool(tmp_path: Path) -> None:
    """Its page says that the tool is gone, and offers nothing that cannot be."""
    settings = Settings(store=f"sqlite:///{tmp_path / 'ledger.db'}", workspace_dir=tmp_path / "files")
    pages, call_id = list[str](), ""
    for tools in (TOOLS, TOOLS[:1]):
        app = create_app(settings, Registry(tools))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
                call_id = call_id or await call(client, "fail", words="x")
                pages.append(await read(client, f"calls/{call_id}"))

    assert [("the tool is gone" in page, 'id="replay"' in page) for page in pages] == [(False, True), (True, False)]
    assert find_links(pages[1], "Edit and send again") == []


async def test_what_others_say_is_text(make_client: MakeClient) -> None:
    """In arguments, answers, errors, names of conversations and of callers, and in reasons."""
    client = await make_client(*TOOLS, caller_header="X-User")
    client.headers["X-User"] = "<b>eve</b>"
    ids = [await call(client, "hostile", chat="<script>x"), await call(client, "fail", words=HOSTILE, chat="<script>x")]
    asked = await call(client, "refund", customer=HOSTILE, cents=5)
    await client.post(f"/approvals/{asked}", json={"decision": "reject", "reason": HOSTILE})
    rejected = (await client.get("/tool_calls?name=refund")).json()[0]["id"]
    paths = [
        "calls",
        "conversations",
        "conversations/%3Cscript%3Ex",
        "audit",
        *(f"calls/{it}" for it in (*ids, rejected)),
    ]

    pages = [(await client.get(f"/console/{path}")).text for path in paths]

    for page in pages:
        assert not re.search(r"<(img|b>eve|script>)", page)
        assert not any(character in page for character in "\u202e\x1b")


HOSTILE_MARKDOWN = (
    "# <script>alert(1)</script>",
    "**x** <img src=x onerror=alert(1)>",
    "[a](javascript:alert(1)) **x**",
    "[a](JaVaScRiPt:alert(1)) **x**",
    "[a](&#106;avascript:alert(1)) **x**",
    "[a](data:text/html,<script>alert(1)</script>) **x**",
    "[a](vbscript:x) **x**",
    "[a](//evil.example) **x**",
    "[a](/tool_calls) **x**",
    "[a](../console/session/end) **x**",
    "![a](https://evil.example/x.png)",
    "![a][b] **x**\n\n[b]: https://evil.example/x.png",
    '<https://evil.example/"onmouseover=alert(1)> **x**',
    '[a](https://evil.example "x\\" onmouseover=\\"alert(1)") **x**',
    "```<img src=x>\n<script>\n```",
    "- <svg onload=alert(1)>",
    "> <iframe src=//evil.example>",
    "| <b>a</b> |\n|---|\n| <style>*{}</style> |",
    "[x]: javascript:alert(1)\n\n[x] **y**",
    "**\u202eevil\u2066**",
    "> " * 500 + "x",
    "* " * 500 + "x",
    "[" * 3000 + "](x) **y**",
)


@pytest.mark.parametrize("text", HOSTILE_MARKDOWN, ids=range(len(HOSTILE_MARKDOWN)))
async def test_markdown_can_do_nothing(text: str) -> None:
    """No element but those of Markdown, no image, and links to other hosts only, which are told nothing."""
    shown = await write_markdown(text)

    assert shown is not None
    tags = re.findall(r"<(/?)([a-z0-9]+)([^>]*)>", shown)
    known = {"p", "strong", "em", "ul", "ol", "li", "a", "code", "pre", "blockquote", "table", "thead", "tbody", "tr"}
    assert {name for _, name, _ in tags} <= known | {"th", "td", "br", "hr"}
    for _, name, attributes in tags:
        assert not re.search(r"\son\w+=|style=|src=", re.sub(r'"[^"]*"', '""', attributes))
        if name == "a" and attributes:
            assert re.search(r'href="(https?|mailto):', attributes)
            assert 'rel="noopener noreferrer nofollow"' in attributes
    assert "\u202e" not in shown


@pytest.mark.parametrize("text", ["a plain sentence", "1 * 2 * 3", "x" * 40_000 + " **b**", '{"a": [1]}'])
async def test_what_is_no_markdown_is_text_alone(text: str) -> None:
    """And so is what would take long to read."""
    assert await write_markdown(text) is None


async def test_who_may_read_what(make_client: MakeClient, tmp_path: Path) -> None:
    """One's own calls for everybody; others' and the pages of operators are not there."""
    keys = {"ann": ("tools:call",), "bob": ("tools:call",), "eve": ("calls:read", "server:operate")}
    headers = write_keys(tmp_path / "keys.jsonl", keys)
    client = await make_client(*TOOLS, auth="api_key", keys_file=tmp_path / "keys.jsonl")
    ids = {}
    for who in ("ann", "bob"):
        sent = {"name": "fail", "args": {"words": who}, "id": "1"}
        chat = {**headers[who], "Sidecall-Conversation": f"chat-{who}"}
        ids[who] = (await client.post("/tool_calls", json=sent, headers=chat)).json()["id"]

    async def find(who: str, path: str) -> int:
        return (await client.get(f"/console/{path}", headers=headers[who])).status_code

    assert list_rows(await read(client, "calls", headers=headers["ann"])) == [ids["ann"]]
    assert list_rows(await read(client, "calls", headers=headers["eve"])) == [ids["bob"], ids["ann"]]
    assert "chat-bob" not in await read(client, "conversations", headers=headers["ann"])
    for path in (f"calls/{ids['bob']}", "conversations/chat-bob"):
        assert [await find(who, path) for who in ("ann", "bob", "eve")] == [404, 200, 200]
    for path in ("audit", "mcp-servers"):
        assert [await find(who, path) for who in ("ann", "eve")] == [404, 200]
    page = await read(client, f"calls/{ids['bob']}", headers=headers["eve"])
    assert ('id="replay"' in page, find_links(page, "Edit and send again")) == (False, [])


async def test_a_large_answer_is_cut(make_client: MakeClient) -> None:
    """The page stays small; the whole is a file."""

    @tool(max_content_bytes=1_000_000)
    async def write(count: int) -> str:
        """Write much."""
        return "x" * count

    client = await make_client(write, max_history_value_bytes=1_000_000)
    page = await read(client, f"calls/{await call(client, 'write', count=900_000)}")

    assert len(page) < 700_000
    assert re.search(r"x… \d+,\d+ more characters", page)
