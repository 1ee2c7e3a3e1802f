"""Go beyond bounds with requests for parts of contents, as `by_request` does with calls."""

from functools import partial

from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, say


async def _find(body: str, path: str, make_client: MakeClient) -> str:
    client = await make_client(max_body_bytes=32 * 1024 * 1024)
    kept = (await client.post("/contents", content=body)).json()
    return say(await client.get(kept["url"], params={"path": path}))


async def _lines(make_client: MakeClient) -> str:
    client = await make_client()
    kept = (await client.post("/contents", content="line\n" * 100_000)).json()
    part = await client.get(kept["url"], params={"lines": "1-"})
    return "cut, with what to read next" if len(part.text) < 66_000 and "next" in part.links else part.text


BY_CONTENT: dict[str, Provoke] = {
    "characters of a part of a content": _lines,
    "values of JSON that a path finds": partial(_find, "[" + "0," * 1000 + "0]", "$.*"),
    "bytes of JSON that a path is looked for in": partial(_find, f'["{"x" * 16 * 1024 * 1024}"]', "$"),
    "places that a path visits": partial(_find, "[" * 150 + "]" * 150, "$" + "..*" * 6 + ".x"),
}
