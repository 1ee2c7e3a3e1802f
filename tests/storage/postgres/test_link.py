"""Several connections to PostgreSQL are lost, each for a reason of its own."""

from contextlib import AsyncExitStack

from sidecall.storage.postgres.link import Link, name_loss
from tests.kit.postgres import Cluster
from tests.storage.postgres.test_database import wait_until
from tests.storage.sql.wires import wire_to


async def test_what_was_found_last_is_said_of_connections_that_are_all_lost(
    cluster: Cluster, postgres_url: str
) -> None:
    """And not what one of them has found before, while others were there."""
    said: list[str | None] = []
    async with AsyncExitStack() as stack, wire_to(cluster.port) as second:
        first = await stack.enter_async_context(wire_to(cluster.port))
        urls = [postgres_url.replace(f":{cluster.port}/", f":{wire.port}/") for wire in (first, second)]
        links = [Link(url, 2.0, is_kept=True, when_lost=lambda: said.append(name_loss(links))) for url in urls]
        for link in links:
            await link.open()

        await stack.aclose()  # Nobody listens there any more.
        await wait_until(lambda: "Connect call failed" in (links[0].trouble or ""))
        second.cut()
        await wait_until(lambda: len(said) == 2)
        for link in links:
            await link.close()

    assert said == [None, "the connection to it is lost"]
