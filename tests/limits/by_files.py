"""Go beyond bounds with files that are searched, as `by_request` does with calls."""

from functools import partial
from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.features.vector_stores.records import VectorStoreBounds
from tests.features.vector_stores.reading.pdfs import write_bomb
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, say


@tool
async def count() -> int:
    """Count."""
    return 1


async def _send(client: httpx.AsyncClient, body: bytes) -> httpx.Response:
    return await client.post("/files", data={"purpose": "user_data"}, files={"file": ("a.txt", body)})


async def _send_two(make_client: MakeClient, size: int = 900, **settings: Any) -> str:
    client = await make_client(count, toolkits=("file_search",), **settings)
    return say([await _send(client, b"x" * size) for _ in range(2)][-1])


async def _make_stores(make_client: MakeClient) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VectorStoreBounds.__init__, "__defaults__", (1, 1024, 1))
        client = await make_client(count, toolkits=("file_search",))
    return say([await client.post("/vector_stores", json={}) for _ in range(2)][-1])


async def _send_bomb(make_client: MakeClient) -> str:
    client = await make_client(count, toolkits=("file_search",))
    sent = await _send(client, write_bomb(40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sidecall.features.vector_stores.texts.read_pdf.__defaults__", (20.0, 200))
        store = await client.post("/vector_stores", json={"file_ids": [sent.json()["id"]]})
    return "the file has failed" if store.json()["file_counts"]["failed"] else "it was read"


async def _search_by_many(make_client: MakeClient) -> str:
    client = await make_client(count, toolkits=("file_search",))
    store = await client.post("/vector_stores", json={})
    many = {"type": "in", "key": "year", "value": list(range(100))}
    sent = {"query": "tea", "filters": {"type": "or", "filters": [many] * 11}}
    return say(await client.post(f"/vector_stores/{store.json()['id']}/search", json=sent))


BY_FILES: dict[str, Provoke] = {
    "bytes of the files that one tenant has sent to be searched, with those of their pieces": partial(
        _send_two, file_search_max_bytes=1024
    ),
    "files that one tenant has sent to be searched": partial(_send_two, file_search_max_files=1),
    "vector stores of one tenant": _make_stores,
    "values in the lists of one search filter together, in one of them, and its comparisons": _search_by_many,
    "bytes of one file that is sent to be searched": partial(_send_two, size=1200, max_body_bytes=1024),
    "seconds and memory that reading a PDF takes": _send_bomb,
}
