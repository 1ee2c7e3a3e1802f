"""HEAD is answered wherever GET is, without the body."""

import pytest

from tests.kit.clients import MakeClient
from tests.kit.tools import ping


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/tools", "/tools?format=json_schema", "/tools/ping", "/openapi.json"]
)
async def test_it_is_get_without_a_body(make_client: MakeClient, path: str) -> None:
    """Probes and load balancers ask like that; the headers are those of GET."""
    client = await make_client(ping)

    got = await client.get(path, headers={"X-Request-Id": "one"})
    head = await client.head(path, headers={"X-Request-Id": "one"})

    assert got.status_code == 200
    assert head.status_code == 200
    assert head.headers == got.headers
    assert head.content == b""


async def test_what_has_no_get_has_no_head(make_client: MakeClient) -> None:
    """The answer says what it has."""
    client = await make_client(ping)

    response = await client.head("/tool_calls/batch")

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    assert response.content == b""
