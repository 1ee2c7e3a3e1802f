"""Go beyond bounds of what can be asked of tools, and say what comes of it."""

from collections.abc import Awaitable, Callable

from sidecall import Registry, tool
from sidecall.features.contract.lock import KnownContracts
from sidecall.kernel.schema.forms.definitions import hash_definition
from tests.kit.clients import MakeClient
from tests.limits.by_request import call, post, say
from tests.limits.offered import echo

Provoke = Callable[[MakeClient], Awaitable[str]]


async def _question(make_client: MakeClient) -> str:
    return say(await (await make_client()).get("/tools/search", params={"q": "x" * 201}))


async def _page(make_client: MakeClient) -> str:
    return say(await (await make_client()).get("/tools?limit=1001"))


async def _hash(make_client: MakeClient) -> str:
    return say(await post(await make_client(echo), {**call(), "hash": "x" * 129}))


async def _before(_make_client: MakeClient) -> str:
    registry = Registry()
    registry.contracts = KnownContracts()
    hashes = []
    for number in range(6):
        offered = tool("echo", description=f"Echo {number}.")(lambda: "").compiled
        registry.replace([offered])
        hashes.append(hash_definition(offered))
    known = [registry.contracts.explain(offered, [it]) is not None for it in hashes[:-1]]
    assert known == [False, True, True, True, True]
    return "what has changed is not said"


async def _names(make_client: MakeClient) -> str:
    client = await make_client(*(tool(f"echo_{number}", description="Echo.")(lambda: "") for number in range(60)))
    content = (await post(client, call("nothing"))).json()["content"]
    return "left out and counted" if content.endswith("echo_49, and 10 more].") else content


BY_CATALOG: dict[str, Provoke] = {
    "characters of a question about tools": _question,
    "tools on a page, where pages are asked for": _page,
    "characters of a contract's hash": _hash,
    "tools that are named to a model that asked for one that there is not": _names,
    "contracts of a tool that are known from before": _before,
}
