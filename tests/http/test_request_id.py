"""Each request has an id, which its answer says."""

from typing import Any
from uuid import UUID

import pytest

from sidecall.http.request_id import RequestId, RequestIdHeader
from tests.kit.clients import MakeClient


@pytest.mark.parametrize(
    "sent",
    [
        "a",
        "8f14e45f-ceea-467f-a83f-2f6d1c0d4a5b",
        "Root=1-67891233-abcdef012345678912345678",  # AWS
        "trace/span:1_2+3.4==",
        "x" * 128,
    ],
)
async def test_a_sane_id_is_echoed(make_client: MakeClient, sent: str) -> None:
    """The caller finds its own id in the answer."""
    client = await make_client()

    response = await client.get("/healthz", headers={"X-Request-Id": sent})

    assert response.headers.get_list("X-Request-Id") == [sent]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"x" * 129,  # would fill logs
        b"two words",
        b"<script>alert(1)</script>",
        b"${jndi:ldap://x}",
        b"a\x1b[31m",  # would color a terminal
        b"a\nINFO: forged line",
        b"a\n",  # a pattern's `$` would let this through
        "ä".encode(),
        b"\xff",
    ],
)
async def test_a_hostile_id_is_replaced(make_client: MakeClient, sent: bytes) -> None:
    """What could harm a log or a page is never repeated."""
    client = await make_client()

    response = await client.get("/nowhere", headers=[(b"X-Request-Id", sent)])

    assert response.json()["instance"] == response.headers["X-Request-Id"]
    assert UUID(response.headers["X-Request-Id"]).version == 7


async def test_ids_are_minted_anew(make_client: MakeClient) -> None:
    """Two requests without an id get two ids."""
    client = await make_client()

    first = (await client.get("/healthz")).headers["X-Request-Id"]
    second = (await client.get("/healthz")).headers["X-Request-Id"]

    assert UUID(first) < UUID(second)


async def test_what_is_not_http_passes_untouched() -> None:
    """The lifespan and websockets are none of its business."""
    scope = {"type": "lifespan"}
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "lifespan.startup.complete"})

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await RequestId(RequestIdHeader(app))(scope, receive, send)

    assert scope == {"type": "lifespan"}
    assert sent == [{"type": "lifespan.startup.complete"}]
