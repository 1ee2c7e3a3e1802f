"""Settings that bound the bodies of requests have an effect."""

import pytest

from tests.kit.clients import MakeClient


@pytest.mark.parametrize(("limit", "status"), [(1024, 413), (4096, 400)])
async def test_a_body_may_be_so_large(make_client: MakeClient, limit: int, status: int) -> None:
    """The setting `max_body_bytes`."""
    client = await make_client(max_body_bytes=limit)

    response = await client.post("/tool_calls", content=b" " * 2048, headers={"Content-Type": "application/json"})

    assert response.status_code == status


@pytest.mark.parametrize(("limit", "status"), [(299, 413), (300, 200)])
async def test_a_body_may_hold_so_many_values(make_client: MakeClient, limit: int, status: int) -> None:
    """The setting `max_json_values`."""
    client = await make_client(max_json_values=limit)
    call = {"name": "none", "args": {"numbers": [0] * 293 + [{}, [" , " * 200]]}}

    response = await client.post("/tool_calls", json=call)

    assert response.status_code == status


@pytest.mark.parametrize(("limit", "slug"), [(1, "batch-too-large"), (2, "not-a-tool-call")])
async def test_a_batch_may_be_so_long(make_client: MakeClient, limit: int, slug: str) -> None:
    """The setting `max_batch`."""
    client = await make_client(max_batch=limit)

    response = await client.post("/tool_calls/batch", json=[{}, {}])

    assert response.json()["type"] == f"urn:sidecall:problem:{slug}"
