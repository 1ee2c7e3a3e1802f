"""Operations of another service act for a person, once they have signed in at its provider."""

import json
from typing import Any

import pytest

from tests.features.credentials.oauth.mail import list_mail
from tests.kit.callers.provider import Browser, LocalProvider
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer
from tests.kit.clients import MakeClient


def describe(provider: LocalProvider) -> dict[str, Any]:
    """Describe the operation that says whose a token is."""
    return {
        "openapi": "3.1.0",
        "servers": [{"url": provider.url}],
        "security": [{"who": []}],
        "components": {"securitySchemes": {"who": {"type": "oauth2", "flows": {}}}},
        "paths": {"/me": {"get": {"operationId": "me"}}},
    }


@pytest.fixture
def services(provider: LocalProvider, tmp_path: Any) -> str:
    """Write down the service as an operator does."""
    (tmp_path / "hub.json").write_text(json.dumps(describe(provider)))
    path = tmp_path / "services.json"
    hub = {"document": "hub.json", "auth": "${user_token:hub}", "private": True}
    path.write_text(json.dumps({"services": {"hub": hub}}))
    return str(path)


async def test_an_operation_acts_for_a_person(
    make_client: MakeClient, settings: dict[str, Any], provider: LocalProvider, services: str
) -> None:
    """Its call waits for them, goes on with their token, and waits again once the service refuses that."""
    headers = {"X-Caller": "agent", "X-Tenant": "openapi"}
    client = await make_client(list_mail, openapi_services=services, **settings)
    client.headers.update(headers)
    call = {"name": "hub__me", "args": {}, "id": "call_1"}

    first = await begin_to_wait(client, call)
    await Browser(client, **headers).sign_in(first["sign_in"]["url"])
    answer = (await wait_for_answer(client, first["id"]))["message"]
    again = (await client.post("/tool_calls", json={**call, "id": "call_2"})).json()
    provider.forget("ann")
    refused = await begin_to_wait(client, {**call, "id": "call_3"})
    await Browser(client, "bea", **headers).sign_in(refused["sign_in"]["url"])
    mended = (await wait_for_answer(client, refused["id"]))["message"]

    assert first["sign_in"]["provider"] == "hub"
    assert [it["content"] for it in (answer, again, mended)] == [
        '{"account":"ann"}',
        '{"account":"ann"}',
        '{"account":"bea"}',
    ]
