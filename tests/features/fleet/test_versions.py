"""Servers and workers of two versions of the tools are there at once, and each call runs where its tool is."""

from concurrent.futures import ThreadPoolExecutor

from tests.kit.fleets import Fleet, call, is_available, wait_for

_OLD = '''
from sidecall import tool


@tool(queue="cpu")
async def greet(whom: str) -> str:
    """Greet."""
    return f"old {whom}"
'''
_NEW = '''
from sidecall import tool


@tool(queue="cpu")
async def greet(whom: str, title: str = "Dr") -> str:
    """Greet."""
    return f"new {title} {whom}"
'''


def test_each_server_gives_its_calls_to_workers_of_its_own_version(fleet: Fleet) -> None:
    """A version without workers has none, however many the other has; old calls drain on old workers."""
    old, new = fleet.folder / "old.py", fleet.folder / "new.py"
    old.write_text(_OLD)
    new.write_text(_NEW)
    servers = [fleet.serve(tools=tools, SIDECALL_QUEUE_TIMEOUT="3") for tools in (old, new)]
    first = fleet.work("cpu", tools=old)
    wait_for(lambda: is_available(servers[0], "greet"))
    assert not is_available(servers[1], "greet")
    refused = call(servers[1], "greet", whom="Ada")
    assert refused.status_code == 503
    assert "none has this tool as it is here" in refused.json()["detail"]
    fleet.work("cpu", tools=new)
    wait_for(lambda: is_available(servers[1], "greet"))
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(call, servers[number % 2], "greet", whom=str(number)) for number in range(40)]
    said = [it.result().json()["content"] for it in asked]
    assert said == [f"new Dr {number}" if number % 2 else f"old {number}" for number in range(40)]
    assert first.stop() == 0
    wait_for(lambda: not is_available(servers[0], "greet"))
    assert call(servers[1], "greet", whom="Ada").json()["content"] == "new Dr Ada"
