"""A server whose tools change all the time is listed now and then, and no more is kept than it lists."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.mcp_client import connection_supervisor
from sidecall.features.mcp_client.connection_supervisor import UpstreamServer
from sidecall.features.mcp_client.link import LinkChanges, ListedTool
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.upstream import Upstream
from tests.kit.waiting import until


class ChangingLink:
    """A connection to a server that has other tools each time, and says so."""

    revision = "2025-06-18"

    def __init__(self, changes: LinkChanges) -> None:
        """Report its changes there."""
        self.lists = 0
        self._changes = changes

    async def list_tools(self) -> list[ListedTool]:
        """List one tool, of a new name."""
        self.lists += 1
        self._changes.notify_changed()
        return [ListedTool(name=f"tool_{self.lists}", description="", input_schema={"type": "object"})]


async def test_a_server_that_changes_all_the_time_is_not_listed_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """To list tools costs others time."""
    links: list[ChangingLink] = []

    @asynccontextmanager
    async def open_link(changes: LinkChanges, _: bool) -> AsyncIterator[Any]:
        links.append(ChangingLink(changes))
        yield links[-1]

    monkeypatch.setattr(connection_supervisor, "_PAUSE_OF_LISTS", 3600.0)
    server = UpstreamServer("kit", UpstreamEntry(command="kit"), open_link, lambda _: None)
    running = asyncio.create_task(server.run())
    await until(lambda: bool(links) and links[0].lists == 2)
    for _ in range(100):
        await asyncio.sleep(0)
    running.cancel()

    assert [link.lists for link in links] == [2]


async def test_tools_that_are_listed_no_more_are_forgotten() -> None:
    """Else a server could fill the memory with names."""
    upstream = Upstream({"kit": UpstreamEntry(command="kit")}, Registry())
    (server,) = upstream.servers
    for number in range(5):
        listed = ListedTool(name=f"tool_{number}", description="Do it.", input_schema={"type": "object"})
        await upstream._make(server, (listed,), {("kit", listed.name): f"kit__{listed.name}"})

    assert [name for _, name in upstream._made] == ["tool_4"]
