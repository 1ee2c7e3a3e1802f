"""A reload gives other MCP servers: those that are as before keep their connection, and the others come and go."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.mcp_client.upstream import Upstream, read_servers
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.kit.waiting import until

Open = Callable[..., Any]
NAMES = ("echo", "add")


def enter(**servers: Any) -> dict[str, Any]:
    """Read the entries of servers."""
    return read_servers(write_servers(**servers))


@pytest.fixture
async def open_servers() -> AsyncIterator[Open]:
    """Give a function that connects to servers, and returns them with the registry that offers their tools."""
    opened: list[Upstream] = []

    async def open_all(**servers: Any) -> tuple[Upstream, Registry]:
        registry = Registry()
        upstream = Upstream(enter(**servers), registry)
        opened.append(upstream)
        await upstream.open(lambda: None)
        await upstream.wait_until_tried(60)
        return upstream, registry

    yield open_all
    for upstream in opened:
        await upstream.close()


def names(registry: Registry) -> set[str]:
    """Return which of the tools of servers are offered: by the names of the servers."""
    return {name.partition("__")[0] for name in registry.names if name.endswith(NAMES)}


async def test_what_is_as_before_stays_connected(open_servers: Open) -> None:
    """And its tools are the same objects."""
    upstream, registry = await open_servers(one=describe_kit(), two=describe_kit())
    kept, tool = upstream.servers[0], registry.get("one__add")

    upstream.change(enter(one=describe_kit(), three=describe_kit()))
    await until(lambda: names(registry) == {"one", "three"})

    assert upstream.servers[0] is kept
    assert kept.is_reached
    assert registry.get("one__add") is tool
    assert upstream.offered.keys() == {"one", "three"}


async def test_another_entry_is_another_connection(open_servers: Open) -> None:
    """Though it has the same name."""
    upstream, registry = await open_servers(one=describe_kit())
    (before,) = upstream.servers

    upstream.change(enter(one=describe_kit("more")))
    await until(lambda: any("extra" in name for name in registry.names))

    assert upstream.servers[0] is not before
    await until(lambda: not before.is_reached)


@pytest.mark.parametrize("first", [{}, {"one": describe_kit()}], ids=["none", "one"])
async def test_servers_come_to_none_and_all_may_go(open_servers: Open, first: dict[str, Any]) -> None:
    """And come again."""
    upstream, registry = await open_servers(**first)
    seen = []
    for entries in ({"two": describe_kit()}, {}, {"three": describe_kit()}):
        upstream.change(enter(**entries))
        await until(lambda wanted=set(entries): names(registry) == wanted)  # type: ignore[misc]
        seen.append((len(upstream.servers), dict.fromkeys(upstream.offered)))

    assert seen == [(1, {"two": None}), (0, {}), (1, {"three": None})]


async def test_nothing_is_connected_before_the_server_runs() -> None:
    """What it begins with is what was given last."""
    registry = Registry()
    upstream = Upstream(enter(one=describe_kit()), registry)
    upstream.change(enter(two=describe_kit()))
    before = [server.is_reached for server in upstream.servers]

    await upstream.open(lambda: None)
    await upstream.wait_until_tried(60)
    offered = names(registry)
    await upstream.close()

    assert (before, offered) == ([False], {"two"})
