"""What callers see of their persons' tokens, and what is written down of them."""

import json

import httpx

from tests.features.credentials.oauth.mail import TOOLS
from tests.kit.callers.provider import Browser, LocalProvider
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer, write_token_call
from tests.kit.clients import MakeClient


async def test_it_is_written_down_who_let_whom(client: httpx.AsyncClient, provider: LocalProvider) -> None:
    """And who did not; without a token."""
    provider.allows = False
    waiting = await begin_to_wait(client)
    await Browser(client).sign_in(waiting["sign_in"]["url"])
    await wait_for_answer(client, waiting["id"])
    provider.allows = True
    waiting = await begin_to_wait(client, write_token_call(2))
    await Browser(client).sign_in(waiting["sign_in"]["url"])
    await wait_for_answer(client, waiting["id"])
    removed = await client.delete("/oauth/tokens/hub")
    entries = (await client.get("/audit")).json()

    assert removed.json() == {"provider": "hub", "revoked": True}
    assert provider.revoked == ["ann-access-2", "ann-refresh-2"]
    assert [(it["action"], it["by"], it["target"]) for it in entries if it["action"].startswith("token")] == [
        ("token_deleted", "agent", "hub"),
        ("token_granted", "agent", "hub"),
        ("token_denied", "agent", "hub"),
    ]
    assert "ann-" not in json.dumps(entries)


async def test_tokens_are_named_and_never_shown(client: httpx.AsyncClient) -> None:
    """Neither among the secrets, nor may a caller keep a secret of such a name."""
    waiting = await begin_to_wait(client)
    await Browser(client).sign_in(waiting["sign_in"]["url"])
    await wait_for_answer(client, waiting["id"])
    tokens = (await client.get("/oauth/tokens")).json()
    gone = [(await client.delete("/oauth/tokens/hub")).status_code for _ in range(2)]

    assert [sorted(it) for it in tokens] == [["created_at", "provider", "updated_at"]]
    assert (await client.get("/secrets")).json() == []
    assert (await client.put("/secrets/oauth:token:hub", json={"value": "x"})).status_code == 422
    assert (gone, (await client.get("/oauth/tokens")).json()) == ([200, 404], [])
    assert (await begin_to_wait(client, write_token_call(2)))["status"] == "pending"


async def test_a_server_without_providers_lets_nobody_sign_in(make_client: MakeClient) -> None:
    """A call that needs it fails, and its pages lead nowhere."""
    client = await make_client(*TOOLS)
    call = await client.post("/tool_calls", json=write_token_call())
    pages = [await client.get(f"/oauth/{it}") for it in ("start", "callback")]

    assert call.json()["response_metadata"]["error"]["kind"] == "not_configured"
    assert [page.status_code for page in (*pages, await client.post("/oauth/start"))] == [404] * 3
    assert (await client.get("/oauth/tokens")).json() == []
