"""Go beyond bounds with requests for parts of contents, as `by_request` does with calls."""

from functools import partial
from typing import Any

from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post, say
from tests.limits.offered import look_up


async def _find(body: str, path: str, make_client: MakeClient) -> str:
    client = await make_client(max_body_bytes=32 * 1024 * 1024)
    kept = (await client.post("/contents", content=body)).json()
    return say(await client.get(kept["url"], params={"path": path}))


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


BY_CONTENT: dict[str, Provoke] = {
    "characters of a part of a content": _lines,
    "values of JSON that a path finds": partial(_find, "[" + "0," * 1000 + "0]", "$.*"),
    "bytes of JSON that a path is looked for in": partial(_find, f'["{"x" * 16 * 1024 * 1024}"]', "$"),
    "places that a path visits": partial(_find, "[" * 150 + "]" * 150, "$" + "..*" * 6 + ".x"),
    "bytes of answers that are given again": partial(_ask_again, max_cache_bytes=3500),
    "answers that are given again": partial(_ask_again, max_cache_entries=2),
}
