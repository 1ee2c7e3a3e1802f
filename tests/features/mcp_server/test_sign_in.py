"""A client of MCP leads its person to where they sign in, or its model reads the link."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

import httpx
import pytest

from sidecall import UserToken, tool
from tests.features.mcp_server.messages import CAN_ASK, PREFIX, answer, ask, ask_as_before
from tests.kit.callers.provider import PUBLIC_URL, Browser, LocalProvider, provide
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.callers.waiting import wait_for_answer
from tests.kit.clients import MakeClient

CAN_LEAD = {f"{PREFIX}clientCapabilities": {"elicitation": {"url": {}}}}


@tool
async def list_mail(folder: str, token: Annotated[str, UserToken("hub")]) -> str:
    """List mail.

    Args:
        folder: Which.
    """
    return f"{folder} of {token.partition('-')[0]}"


@pytest.fixture(name="provider")
def serve_provider() -> Iterator[LocalProvider]:
    """Serve a provider."""
    with provide() as serving:
        yield serving


@pytest.fixture
async def client(make_client: MakeClient, provider: LocalProvider) -> httpx.AsyncClient:
    """Make a client of a server with a tool that acts for a person."""
    return await make_client(list_mail, oauth=provider.write_settings(), public_url=PUBLIC_URL, secrets_key=SECRETS_KEY)


CALL: dict[str, Any] = {"name": "list_mail", "arguments": {"folder": "inbox"}}


@pytest.mark.parametrize("is_modern", [True, False])
async def test_the_model_reads_the_link(client: httpx.AsyncClient, is_modern: bool) -> None:
    """A form cannot lead anywhere; the same call has the answer later."""

    async def call() -> Any:
        response = await (
            ask(client, "tools/call", CAN_ASK, **CALL) if is_modern else ask_as_before(client, "tools/call", **CALL)
        )
        return response.json()["result"]

    first = await call()
    approval = (await client.get("/approvals")).json()[0]
    await Browser(client).sign_in(approval["sign_in"]["url"])
    await wait_for_answer(client, approval["id"])
    second = await call()

    assert (first["isError"], first["content"][0]["text"]) == (
        True,
        f"Error: list_mail waits until a person has signed in at hub: {approval['sign_in']['url']} It has not run. "
        "Once they have signed in, make the same call again for its answer.",
    )
    assert second["content"] == [{"type": "text", "text": "inbox of ann"}]


async def test_a_client_leads_its_person_there(client: httpx.AsyncClient) -> None:
    """The call that comes again waits for them, and has the answer."""
    asked = (await ask(client, "tools/call", CAN_LEAD, **CALL)).json()["result"]
    [question] = asked["inputRequests"].values()
    again = asyncio.create_task(ask(client, "tools/call", CAN_LEAD, **CALL, **answer(asked, "accept")))
    await Browser(client).sign_in(question["params"]["url"])

    assert question["params"] == {
        "mode": "url",
        "elicitationId": asked["requestState"],
        "url": question["params"]["url"],
        "message": "Sign in at hub, so that list_mail may act for you.",
    }
    assert (await again).json()["result"]["content"] == [{"type": "text", "text": "inbox of ann"}]


async def test_a_person_may_decline(client: httpx.AsyncClient) -> None:
    """The call is rejected."""
    asked = (await ask(client, "tools/call", CAN_LEAD, **CALL)).json()["result"]
    result = (await ask(client, "tools/call", CAN_LEAD, **CALL, **answer(asked, "decline"))).json()["result"]

    assert (result["isError"], result["_meta"]["sidecall/call"]["error"]["kind"]) == (True, "rejected")
