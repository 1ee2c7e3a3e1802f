"""People log in with a key once; their browser keeps a session, which may what the key may."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.features.access.api_keys import KeyFile, mint_key
from sidecall.features.console import routes, sessions
from tests.features.console.console_tools import TOOLS
from tests.kit.clients import MakeClient

ALL = ("tools:call", "calls:read", "approvals:decide", "server:operate")
CALL = {"name": "count_slowly", "args": {"steps": 1}, "id": "call_1", "type": "tool_call"}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test wait because a key is wrong."""
    monkeypatch.setattr(routes, "_PATIENCE", 0.0)


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    """A file of keys."""
    return KeyFile(tmp_path / "keys.jsonl")


def add_key(keys: KeyFile, *scopes: str, subject: str = "ann") -> str:
    """Make a key, and return it."""
    text, kept = mint_key(subject, scopes=scopes)
    keys.change(lambda known: [*known, kept])
    return text


async def enter(make_client: MakeClient, keys: KeyFile, *scopes: str) -> httpx.AsyncClient:
    """Give a client that has logged in with a key of these scopes."""
    key = add_key(keys, *scopes)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path)
    answer = await client.post("/console/session", data={"key": key, "then": "tools"})
    assert answer.status_code == 303, answer.text
    return client


async def test_without_a_session_a_page_asks_for_a_key(make_client: MakeClient, keys: KeyFile) -> None:
    """And goes on where its reader wanted to be."""
    key = add_key(keys, *ALL)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path)

    page = await client.get("/console/tools/refund?form=mcp")
    then = re.search(r'name="then" value="([^"]*)"', page.text)
    assert (page.status_code, then and then[1]) == (401, "tools/refund?form=mcp")
    assert "refund" not in page.text.replace("tools/refund", "")

    answer = await client.post("/console/session", data={"key": key, "then": "tools/refund?form=mcp"})
    assert (answer.status_code, answer.headers["location"]) == (303, "../console/tools/refund?form=mcp")
    assert "Give money back" in (await client.get("/console/tools/refund")).text


@pytest.mark.parametrize("then", ["https://evil.example", "//evil.example", "../../x", "static/0/console.css", ""])
async def test_a_login_leads_to_no_other_place(make_client: MakeClient, keys: KeyFile, then: str) -> None:
    """For each form."""
    key = add_key(keys, *ALL)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path)

    answer = await client.post("/console/session", data={"key": key, "then": then})

    assert answer.headers["location"] == "../console/tools"


@pytest.mark.parametrize(
    ("origin", "cookie"),
    [
        ({}, r"sidecall=(\S{43}); HttpOnly; Max-Age=86400; Path=/; SameSite=strict"),
        (
            {"Origin": "https://sidecall"},
            r"__Host-sidecall=(\S{43}); HttpOnly; Max-Age=86400; Path=/; SameSite=strict; Secure",
        ),
    ],
)
async def test_the_cookie_has_nothing_of_the_key(
    make_client: MakeClient, keys: KeyFile, origin: Mapping[str, str], cookie: str
) -> None:
    """No script reads it, no other site sends it; the database has neither the key nor the cookie."""
    key = add_key(keys, *ALL)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path)

    answer = await client.post("/console/session", data={"key": key}, headers=origin)

    found = re.fullmatch(cookie, answer.headers["set-cookie"])
    assert found, answer.headers["set-cookie"]
    assert key not in answer.text + str(answer.headers)
    database = client._transport.app.state.ledger.database  # type: ignore[attr-defined]
    row = (await database.read("console_find_session", sessions._digest(found[1])))[0]
    assert (key.encode().hex() in row[0], found[1] in str(row)) == (False, False)


async def test_a_session_calls_the_api(make_client: MakeClient, keys: KeyFile) -> None:
    """As its key does, and no tool sees the cookie."""
    client = await enter(make_client, keys, "tools:call")

    who = (await client.get("/whoami")).json()
    answer = (await client.post("/tool_calls", json=CALL)).json()

    assert (who["subject"], who["scopes"], answer["content"]) == ("ann", ["tools:call"], "counted to 1")


@pytest.mark.parametrize(
    "method",
    [
        ("POST", "/tool_calls"),
        ("GET", "/console/tools"),
        ("POST", "/console/session"),
        ("POST", "/console/session/end"),
    ],
)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
async def test_pages_of_others_use_no_session(
    make_client: MakeClient, keys: KeyFile, method: tuple[str, str], headers: Mapping[str, str]
) -> None:
    """Neither of another site nor of another port."""
    client = await enter(make_client, keys, *ALL)

    answer = await client.request(*method, headers=headers, json=CALL)

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:sidecall:problem:foreign-page")


async def test_a_header_wins_over_the_session(make_client: MakeClient, keys: KeyFile) -> None:
    """A program that has both is who its key says."""
    client = await enter(make_client, keys, *ALL)
    other = add_key(keys, "tools:call", subject="bob")
    client._transport.app.state.access.authenticator._methods[0]._ring._next = 0  # type: ignore[attr-defined]

    assert (await client.get("/whoami", headers={"X-API-Key": other})).json()["subject"] == "bob"
    assert (await client.get("/whoami")).json()["subject"] == "ann"


async def test_a_revoked_key_ends_its_sessions(make_client: MakeClient, keys: KeyFile) -> None:
    """The API says so, and the page asks for a key."""
    client = await enter(make_client, keys, *ALL)
    keys.change(lambda known: [key.revoke() for key in known])
    await asyncio.sleep(0.55)  # Until the file is looked at again.

    assert (await client.get("/whoami")).status_code == 401
    page = await client.get("/console/tools")
    assert (page.status_code, 'name="key"' in page.text) == (401, True)


async def test_who_logs_out_is_out(make_client: MakeClient, keys: KeyFile, store: str) -> None:
    """Also with the cookie of before; in every store."""
    key = add_key(keys, *ALL)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path, store=store)
    await client.post("/console/session", data={"key": key})
    assert (await client.get("/whoami")).json()["subject"] == "ann"
    cookie = client.cookies["sidecall"]

    await client.post("/console/session/end")

    assert "sidecall" not in client.cookies
    again = await client.get("/whoami", headers={"Cookie": f"sidecall={cookie}"})
    assert (again.status_code, again.json()["detail"]) == (401, "This session has ended. Log in again.")


@pytest.mark.parametrize(
    ("age", "idle", "status"), [(0, 60, 200), (0, sessions.IDLE + 1, 401), (sessions.LONGEST + 1, 0, 401)]
)
async def test_sessions_end_by_themselves(
    make_client: MakeClient, keys: KeyFile, age: int, idle: int, status: int
) -> None:
    """After hours without a request, and after a day."""
    client = await enter(make_client, keys, *ALL)
    database: Any = client._transport.app.state.ledger.database  # type: ignore[attr-defined]
    token = client.cookies["sidecall"]
    ((sealed, _, seen),) = await database.read("console_find_session", sessions._digest(token))
    await database.write("console_end_session", sessions._digest(token))
    moment = seen - max(age, idle)
    await database.write("console_begin_session", sessions._digest(token), sealed, moment)
    if age:
        await database.write("console_see_session", sessions._digest(token), seen)

    assert (await client.get("/whoami")).status_code == status


@pytest.mark.parametrize("key", ["", "sidecall_wrong", "x" * 20_000, "sidecall_ü", "a b", "\x00"])
async def test_a_wrong_key_begins_no_session(make_client: MakeClient, keys: KeyFile, key: str) -> None:
    """And is not shown again."""
    add_key(keys, *ALL)
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=keys.path)

    answer = await client.post("/console/session", data={"key": key, "then": "tools"})

    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert "does not know that key" in answer.text
    assert len(key) < 10 or key not in answer.text


async def test_a_link_of_another_site_is_opened_again_from_here(make_client: MakeClient, keys: KeyFile) -> None:
    """So that the session counts, whose cookie does not come along with such a link."""
    client = await enter(make_client, keys, *ALL)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    page = await client.get("/console/tools", headers={**link, "Cookie": ""})

    assert (page.status_code, '<meta http-equiv="refresh" content="0">' in page.text) == (200, True)
    assert (await client.get("/console/tools", headers=link)).text.count("<h1>Tools</h1>") == 1


EVERYBODY = {
    **dict.fromkeys(("tools", "session", "calls", "conversations"), 200),
    **dict.fromkeys(("approvals", "approvals/rules", "audit", "health", "mcp-servers", "accounts"), 404),
}


@pytest.mark.parametrize(
    ("scopes", "pages"),
    [
        ((), EVERYBODY),
        (("tools:call",), {**EVERYBODY, "accounts": 200}),
        (("approvals:decide",), {**EVERYBODY, "approvals": 200, "approvals/rules": 200}),
        (("server:operate",), {**EVERYBODY, "audit": 200, "health": 200, "mcp-servers": 200}),
        (ALL, dict.fromkeys(EVERYBODY, 200)),
    ],
)
async def test_what_may_not_be_seen_is_not_there(
    make_client: MakeClient, keys: KeyFile, scopes: tuple[str, ...], pages: Mapping[str, int]
) -> None:
    """Neither as a page nor in the navigation."""
    client = await enter(make_client, keys, *scopes)

    found = {path: (await client.get(f"/console/{path}")).status_code for path in pages}
    navigation = re.findall(r'<a href="([\w-]+)" data-key', (await client.get("/console/session")).text)

    assert found == pages
    assert sorted(navigation) == sorted(path for path, status in pages.items() if status == 200 and "/" not in path)


async def test_approvals_of_others_are_not_there(make_client: MakeClient, keys: KeyFile) -> None:
    """One's own is, but who may not decide has no buttons."""
    client = await enter(make_client, keys, "tools:call")
    other = {"Authorization": f"Bearer {add_key(keys, 'tools:call', subject='bob')}"}
    await asyncio.sleep(0.55)  # Until the file is looked at again.
    call = {"name": "refund", "args": {"customer": "ann", "cents": 1}}
    own = (await client.post("/tool_calls", json=call)).json()["id"]
    theirs = (await client.post("/tool_calls", json=call, headers=other)).json()["id"]

    page = await client.get(f"/console/approvals/{own}")
    assert (page.status_code, "<h1>Approve" in page.text, 'id="approve"' in page.text) == (200, True, False)
    assert (await client.get(f"/console/approvals/{theirs}")).status_code == 404


async def test_a_tool_that_may_not_be_called_has_no_form(make_client: MakeClient, keys: KeyFile) -> None:
    """It says what is missing."""
    client = await enter(make_client, keys)

    page = (await client.get("/console/tools/refund")).text

    assert ("To call it takes the scope" in page, 'id="tool-data"' in page) == (True, False)
