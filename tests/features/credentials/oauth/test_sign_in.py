"""A call that acts for a person waits until they have signed in, and goes on by itself."""

import asyncio
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.features.credentials.oauth.mail import SEEN, TOOLS
from tests.kit.callers.provider import CLIENT_ID, CLIENT_SECRET, PUBLIC_URL, Browser, LocalProvider
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer, wait_for_person, write_token_call
from tests.kit.clients import MakeClient

SIGNED_IN = "<h1>Signed in</h1>"
NO_LINK = "<h1>This link does not work</h1>"


async def sign_in(client: httpx.AsyncClient, account: str = "ann") -> Any:
    """Let a call wait, sign in, and return its answer."""
    waiting = await begin_to_wait(client)
    page = await Browser(client, account).sign_in(waiting["sign_in"]["url"])
    assert SIGNED_IN in page.text
    return (await wait_for_answer(client, waiting["id"]))["message"]


async def test_a_whole_round(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """The call waits with a link, goes on when the person comes back, and the next one waits no more."""
    waiting = await begin_to_wait(client)
    listed = (await client.get("/approvals?status=pending")).json()
    page = await Browser(client).sign_in(waiting["sign_in"]["url"])
    ended = await wait_for_answer(client, waiting["id"])
    again = await client.post("/tool_calls", json=write_token_call(2, folder="sent"))

    assert (waiting["status"], waiting["sign_in"]["provider"], SEEN) == ("pending", "hub", ["ann-access-2"] * 2)
    assert [it["sign_in"] for it in listed] == [waiting["sign_in"]]
    assert (page.status_code, SIGNED_IN in page.text) == (200, True)
    assert (ended["status"], ended["decided_by"]) == ("approved", "agent")
    assert ended["message"]["content"] == "inbox of ann, with [redacted]"
    assert again.json()["content"] == "sent of ann, with [redacted]"
    assert provider.proofs == [f"basic {CLIENT_ID} {CLIENT_SECRET}"]


async def test_what_a_provider_is_asked(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """With PKCE, a sealed state, the operator's own parameters, and nothing that says who calls."""
    waiting = await begin_to_wait(client)
    begun = await Browser(client).go_on(waiting["sign_in"]["url"])
    asked = parse_qs(urlsplit(begun.headers["Location"]).query)

    state, challenge = asked.pop("state")[0], asked.pop("code_challenge")[0]
    assert asked == {
        "kind": ["code"],
        "prompt": ["consent"],
        "response_type": ["code"],
        "client_id": [CLIENT_ID],
        "redirect_uri": [f"{PUBLIC_URL}/oauth/callback"],
        "scope": ["repo mail"],
        "code_challenge_method": ["S256"],
    }
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", challenge)
    assert "agent" not in state
    assert begun.headers["Set-Cookie"].endswith("; HttpOnly; Max-Age=900; Path=/oauth; SameSite=lax")


async def test_the_pages_run_nothing_and_show_nothing_of_the_request(client: httpx.AsyncClient) -> None:
    """But who wants what, from the sealed link."""
    waiting = await begin_to_wait(client, **{"X-Caller": "<i>agent"})
    browser = Browser(client)
    pages = [
        await browser.open(waiting["sign_in"]["url"]),
        await browser.open("/oauth/callback?state=%3Cb%3Ehere&error=%3Cb%3Ehere&code=%3Cb%3Ehere"),
        await browser.open("/oauth/start?link=%3Cb%3Ehere"),
    ]

    assert [page.status_code for page in pages] == [200, 400, 400]
    assert (
        f"<b>&lt;i&gt;agent</b> of <b>{client.headers['X-Tenant']}</b> wants to act for you at <b>hub</b>"
        in pages[0].text
    )
    for page in pages:
        assert "<b>here" not in page.text
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none';")
        assert page.headers["Cache-Control"] == "no-store"


async def test_a_person_may_deny_it(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """All calls that wait for it are answered with an error that the model reads; a later one asks again."""
    provider.allows = False
    first, second = await begin_to_wait(client), await begin_to_wait(client, write_token_call(2))
    page = await Browser(client).sign_in(first["sign_in"]["url"])
    answers = [(await wait_for_answer(client, it["id"]))["message"] for it in (first, second)]

    assert "<h1>Not allowed</h1>" in page.text
    assert [(it["status"], it["content"]) for it in answers] == [
        ("error", "The person did not let this tool act for them at hub.")
    ] * 2
    assert answers[0]["response_metadata"]["error"]["kind"] == "rejected"
    assert (await begin_to_wait(client, write_token_call(3)))["status"] == "pending"
    assert SEEN == []


async def test_a_state_is_good_once(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """Nor is one that is forged, changed, or that of another purpose."""
    link = (await begin_to_wait(client))["sign_in"]["url"]
    browser = Browser(client)
    back = await browser.consent(link)
    state = parse_qs(urlsplit(back).query)["state"][0]
    changed = state[:-6] + ("A" if state[-6] != "A" else "B") + state[-5:]
    sealed = parse_qs(urlsplit(link).query)["link"][0]
    forged = [await browser.open(f"/oauth/callback?code=code-1&state={it}") for it in ("", "x", "x.y", changed, sealed)]
    pages = [await browser.open(f"{back}&state={state}"), await browser.open(back), await browser.open(back)]

    assert [page.status_code for page in forged] == [400] * 5
    assert [page.status_code for page in pages] == [400, 200, 400]
    assert NO_LINK in pages[2].text
    assert provider.count("authorization_code") == 1


async def test_a_link_ends_with_its_approval(make_client: MakeClient, settings: dict[str, Any]) -> None:
    """Nobody keeps one for later."""
    client = await make_client(*TOOLS, **{**settings, "store": "memory://", "approval_ttl": 0.001})
    link = (await begin_to_wait(client, **{"X-Caller": "agent"}))["sign_in"]["url"]

    assert (await Browser(client).open(link)).status_code == 400


async def test_another_browser_does_not_end_a_round(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """A user led to the provider by somebody else gives them nothing, also while they have a round of their own."""
    victim, attacker = Browser(client, "victim"), Browser(client, "attacker")
    theirs = (await begin_to_wait(client, **{"X-Caller": "evil"}))["sign_in"]["url"]
    own = (await begin_to_wait(client))["sign_in"]["url"]
    begun = await attacker.go_on(theirs)
    led = await victim.open(await victim.decide(begun.headers["Location"]))
    own_back = await victim.consent(own)
    led_again = await victim.open(await victim.decide((await attacker.go_on(theirs)).headers["Location"]))
    injected = await attacker.open(own_back)

    assert [page.status_code for page in (led, led_again, injected)] == [400] * 3
    assert (await victim.open(own_back)).status_code == 200
    assert provider.count("authorization_code") == 1
    for caller, providers in (("evil", []), ("agent", ["hub"])):
        tokens = (await client.get("/oauth/tokens", headers={"X-Caller": caller})).json()
        assert [it["provider"] for it in tokens] == providers


async def test_a_browser_that_a_gateway_names_otherwise_gets_nowhere(client: httpx.AsyncClient) -> None:
    """The link is of one caller; where a browser says who it is, it has to be them."""
    link = (await begin_to_wait(client))["sign_in"]["url"]
    tenant = {"X-Tenant": client.headers["X-Tenant"]}
    own, other = Browser(client, **tenant, **{"X-Caller": "agent"}), Browser(client, **tenant, **{"X-Caller": "bob"})
    back = await own.consent(link)

    pages = [await other.open(link), await other.go_on(link), await other.open(back), await own.open(back)]

    assert [page.status_code for page in pages] == [403, 403, 403, 200]


async def test_a_page_of_others_begins_no_round(client: httpx.AsyncClient) -> None:
    """Only the button of this server's own page does."""
    link = (await begin_to_wait(client))["sign_in"]["url"]

    response = await client.post(link, headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})

    assert response.status_code == 403
    assert "Set-Cookie" not in response.headers


async def test_one_callers_person_is_not_anothers(client: httpx.AsyncClient) -> None:
    """Each has a token of their own, by name and tenant."""
    await sign_in(client)

    assert (await begin_to_wait(client, **{"X-Caller": "other"}))["sign_in"]["provider"] == "hub"
    assert SEEN == ["ann-access-2"]


async def test_an_optional_token_is_not_asked_for(client: httpx.AsyncClient) -> None:
    """It is given where there is one."""
    before = await client.post("/tool_calls", json=write_token_call(1, "greet"))
    await sign_in(client)
    after = await client.post("/tool_calls", json=write_token_call(2, "greet"))

    assert (before.json()["content"], after.json()["content"]) == ("Hello n+o+n+e", "Hello a+n+n+-+a+c+c+e+s+s+-+2")


async def test_nobody_signs_in_for_a_call_that_cannot_run(client: httpx.AsyncClient) -> None:
    """Its arguments are judged first, and what the model writes for the token is dropped."""
    wrong = await client.post("/tool_calls", json={"name": "list_mail", "args": {}, "id": "call_1"})
    await sign_in(client)
    forged = await client.post("/tool_calls", json=write_token_call(2, folder="inbox", token="mine"))
    definition = (await client.get("/tools?name=list_mail")).json()[0]["function"]["parameters"]

    assert wrong.json()["response_metadata"]["error"]["kind"] == "invalid_arguments"
    assert forged.json()["response_metadata"]["ignored_args"] == ["token"]
    assert list(definition["properties"]) == ["folder"]


async def test_signing_in_is_no_approval(client: httpx.AsyncClient) -> None:
    """A call that needs both waits under one id for the one, and then for the other."""
    waiting = await begin_to_wait(client, write_token_call(1, "send_mail", to="bob"))
    place = f"/approvals/{waiting['id']}"
    too_early = await client.post(place, json={"decision": "approve"})
    await Browser(client).sign_in(waiting["sign_in"]["url"])
    asked = await wait_for_person(client, waiting["id"])
    approved = await client.post(place, json={"decision": "approve"})

    assert (too_early.status_code, too_early.json()["type"]) == (409, "urn:sidecall:problem:approval-conflict")
    assert (asked["status"], asked["decided_by"]) == ("pending", None)
    assert approved.json()["message"]["content"] == "sent to bob by ann"


async def test_a_call_that_waits_can_be_rejected_and_sent_again(client: httpx.AsyncClient) -> None:
    """As any other that waits."""
    waiting = await begin_to_wait(client)
    again = await begin_to_wait(client)
    rejected = await client.post(f"/approvals/{waiting['id']}", json={"decision": "reject", "reason": "Not now."})

    assert again["id"] == waiting["id"]
    assert rejected.json()["message"]["content"] == "Not now."


async def test_a_batch_names_the_link(client: httpx.AsyncClient) -> None:
    """In the place of the call, for the model, and the approval for the program."""
    response = await client.post("/tool_calls/batch", json=[write_token_call(), write_token_call(2, "greet")])
    waiting, other = response.json()
    approval_id = waiting["response_metadata"]["approval_id"]
    link = (await client.get(f"/approvals/{approval_id}")).json()["sign_in"]["url"]

    assert waiting["content"] == f"list_mail waits until a person has signed in at hub: {link} ({approval_id})."
    assert response.headers["X-Sidecall-Approvals"] == f"call_1={approval_id}"
    assert other["status"] == "success"


async def test_a_stream_has_an_event(client: httpx.AsyncClient) -> None:
    """With the approval, in which the link is."""
    response = await client.post("/tool_calls", json=write_token_call(), headers={"Accept": "text/event-stream"})
    events = [event.splitlines() for event in response.text.split("\n\n") if "event: approval" in event]

    data = json.loads(next(line for line in events[0] if line.startswith("data:"))[5:])
    assert data["sign_in"]["url"].startswith(f"{PUBLIC_URL}/oauth/start?link=")


async def test_a_remembered_call_goes_on_too(client: httpx.AsyncClient) -> None:
    """It awaits approval, and ends with the call's own answer."""
    job = await client.post("/tool_calls", json=write_token_call(), headers={"Prefer": "respond-async"})
    place = job.headers["Location"]
    held = await client.get(place)
    while held.json()["status"] != "awaiting_approval":
        await asyncio.sleep(0.01)
        held = await client.get(place)
    link = (await client.get(f"/approvals/{held.json()['approval_id']}")).json()["sign_in"]["url"]
    await Browser(client).sign_in(link)
    ended = await client.get(place, headers={"Prefer": "wait=30"})

    assert (ended.json()["status"], ended.json()["message"]["content"]) == (
        "succeeded",
        "inbox of ann, with [redacted]",
    )


async def test_a_call_that_nobody_told_goes_on_when_it_comes_again(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an end of the server between the person's return and the call."""
    waiting = await begin_to_wait(client)
    waits = client._transport.app.state.parts.jobs.waits  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(waits, "_list", lambda *_: _no_one())
        await Browser(client).sign_in(waiting["sign_in"]["url"])
    await client.post("/tool_calls", json=write_token_call())

    assert (await wait_for_answer(client, waiting["id"]))["message"]["status"] == "success"


async def _no_one() -> Any:
    for _ in ():
        yield ""
