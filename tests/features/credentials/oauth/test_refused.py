"""A token that its provider takes no more, as its tool is told."""

import logging

import httpx
import pytest

from tests.kit.callers.provider import Browser, LocalProvider
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer, write_token_call


@pytest.mark.parametrize("name", ["ask", "apart"])
async def test_a_revoked_token_is_asked_for_again(
    client: httpx.AsyncClient, provider: LocalProvider, name: str
) -> None:
    """The call waits, and goes on with the new one; in a process too."""
    call = write_token_call(1, name, url=f"{provider.url}/me")
    waiting = await begin_to_wait(client, call)
    await Browser(client).sign_in(waiting["sign_in"]["url"])
    first = await wait_for_answer(client, waiting["id"])
    provider.forget("ann")
    revoked = await begin_to_wait(client, {**call, "id": "call_2"})
    tokens = (await client.get("/oauth/tokens")).json()
    await Browser(client, "bea").sign_in(revoked["sign_in"]["url"])
    second = await wait_for_answer(client, revoked["id"])
    entries = (await client.get("/audit?action=token_lost")).json()

    assert (first["message"]["content"], second["message"]["content"]) == ("ann", "bea")
    assert (tokens, revoked["sign_in"]["provider"]) == ([], "hub")
    assert [it["details"] for it in entries] == [{"reason": "the tool was told so"}]


async def test_a_tool_that_is_never_content_has_failed(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """With a token that is new: nobody signs in for ever."""
    waiting = await begin_to_wait(client, write_token_call(1, "never"))
    with caplog.at_level(logging.ERROR):
        await Browser(client).sign_in(waiting["sign_in"]["url"])
        ended = await wait_for_answer(client, waiting["id"])

    assert ended["message"]["response_metadata"]["error"]["kind"] == "execution_error"
    assert "UserTokenRefused" in caplog.text
