"""Orchestrators see how the server is."""

from tests.kit.clients import MakeClient
from tests.kit.tools import ping


async def test_the_process_is_alive(make_client: MakeClient) -> None:
    """Liveness needs nothing but the process."""
    client = await make_client()

    response = await client.get("/healthz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


async def test_readiness_counts_the_tools(make_client: MakeClient) -> None:
    """An operator sees at a glance that the tools were found."""
    client = await make_client(ping)

    response = await client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"status": "ready", "tools": 1}


async def test_a_server_without_tools_is_ready(make_client: MakeClient) -> None:
    """Tools may come later, by reloading."""
    client = await make_client()

    response = await client.get("/readyz")

    assert response.json() == {"status": "ready", "tools": 0}
