"""Go beyond bounds with requests for parts of contents, as `by_request` does with calls."""

import asyncio
from functools import partial
from typing import Any

from sidecall import ToolException, tool
from sidecall.features.processes.server_requests import encode_body
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post, say
from tests.limits.offered import look_up, repeat

# JSON, and a path for which all of it is visited again and again.
_NESTED, _FAR = "[" * 150 + "]" * 150, "$" + "..*" * 6 + ".x"


async def _find(body: str, path: str, make_client: MakeClient) -> str:
    client = await make_client(max_body_bytes=32 * 1024 * 1024)
    kept = (await client.post("/contents", content=body)).json()
    return say(await client.get(kept["url"], params={"path": path}))


@tool
def nest(levels: int) -> list[Any]:
    """Nest lists in lists, ten times the same in each.

    Args:
        levels: How deep.
    """
    nested: list[Any] = ["x"] * 10
    for _ in range(levels):
        nested = [nested] * 10
    return nested


async def _write(make_client: MakeClient) -> str:
    return say(await post(await make_client(nest), call("nest", levels=12)))


async def _lines(make_client: MakeClient) -> str:
    client = await make_client()
    kept = (await client.post("/contents", content="line\n" * 100_000)).json()
    part = await client.get(kept["url"], params={"lines": "1-"})
    return "cut, with what to read next" if len(part.text) < 66_000 and "next" in part.links else part.text


async def _ask_again(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(look_up, **settings)
    said = []
    for word in ("a", "b", "a", "c", "a", "b"):
        said.append((await post(client, call("look_up", word=word * 1000))).headers["X-Cache"])
    kept = said == ["miss", "miss", "hit", "miss", "hit", "miss"]
    return "those that were not asked for longest are forgotten" if kept else " ".join(said)


async def _upload(make_client: MakeClient, **settings: Any) -> str:
    client = await make_client(**settings)
    return say([await client.post("/contents", content=b"x" * 1500) for _ in range(2)][-1])


async def _own_cut(make_client: MakeClient) -> str:
    bounds = {"max_content_bytes": 300, "max_artifact_bytes_per_caller": 2500}
    client = await make_client(repeat, caller_header="X-Caller", **bounds)
    urls = []
    for who in ("ada", "bob", "bob", "bob"):
        answer = await post(client, call("repeat", times=1000), **{"X-Caller": who})
        urls.append((who, answer.json()["response_metadata"]["artifact_url"]))
    found = [(await client.get(url, headers={"X-Caller": who})).status_code for who, url in urls]
    return "its oldest are forgotten" if found == [200, 404, 200, 200] else str(found)


async def _cross(_: MakeClient) -> str:
    try:
        encode_body(b"x" * 12_579_841)
    except ToolException as error:
        return f"200, kind `{error.kind}`"
    return "it crosses"


async def _ask_at_once(make_client: MakeClient, count: int, why: str) -> str:
    """Ask for so many parts at once, of which the first takes a while."""
    client = await make_client(queue_timeout=0.1)
    kept = (await client.post("/contents", content=_NESTED)).json()
    answers = await asyncio.gather(*(client.get(kept["url"], params={"path": _FAR}) for _ in range(count)))
    refused = [answer for answer in answers if answer.status_code == 503 and why in answer.json()["detail"]]
    return say(refused[0]) if len(refused) == 1 else f"{len(refused)} were refused"


async def _look(make_client: MakeClient) -> str:
    client = await make_client()
    said = {say(await client.get("/contents/a", params=it)) for it in ({"grep": "x" * 201}, {"path": "$" * 1001})}
    return " ".join(said)


BY_CONTENT: dict[str, Provoke] = {
    "bytes of a content or artifact that is being written, as JSON": _write,
    "characters of a part of a content": _lines,
    "requests for parts of contents that wait": partial(_ask_at_once, count=102, why="wait already: 100."),
    "seconds that such a request waits": partial(_ask_at_once, count=2, why="waited 0.1 seconds in vain"),
    "values of JSON that a path finds": partial(_find, "[" + "0," * 1000 + "0]", "$.*"),
    "bytes of JSON that a path is looked for in": partial(_find, f'["{"x" * 16 * 1024 * 1024}"]', "$"),
    "places that a path visits": partial(_find, _NESTED, _FAR),
    "bytes of answers that are given again": partial(_ask_again, max_cache_bytes=3500),
    "bytes of an upload": partial(_upload, max_body_bytes=1024),
    "bytes of what one caller has uploaded, with what was cut": partial(_upload, max_artifact_bytes_per_caller=2000),
    "bytes of what was cut for one caller, with uploads": _own_cut,
    "bytes of a content that a tool process reads or keeps": _cross,
    "characters of `grep`, and of `path`": _look,
    "answers that are given again": partial(_ask_again, max_cache_entries=2),
}
