"""Go beyond bounds with what other hosts answer to tools, as `by_request` does with calls."""

from functools import partial

import pytest

from sidecall import Registry, from_openapi
from sidecall.features.openapi_import.documents import OpenAPIDocuments
from sidecall.outgoing.bodies import AnswerBounds
from tests.kit.clients import MakeClient
from tests.kit.waiting import until
from tests.limits.by_request import Provoke, call, post, say
from tests.outgoing.sites import serving
from tests.tools import shipped


async def _fetch(path: str, variable: str, value: str, make_client: MakeClient) -> str:
    client = await make_client(shipped.load("fetch").web_fetch)
    with serving() as site, pytest.MonkeyPatch.context() as patch:
        site.give("/large", "x" * 2000)
        patch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")
        patch.setenv(variable, value)
        return say(await post(client, call("web_fetch", url=site.url + path)))


async def _large_document(_: MakeClient) -> str:
    with serving() as site, pytest.MonkeyPatch.context() as patch:
        site.give("/openapi.json", "x" * 2000)
        patch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")
        documents = OpenAPIDocuments((f"shop={site.url}/openapi.json",), bounds=AnswerBounds(1000, 30))
        registry = Registry()
        async with documents.following(registry, lambda: None):
            await until(lambda: documents.missing == {"shop": "It cannot be fetched."})
        return "not offered; `missing` in `/readyz` names it" if not len(registry) else "offered"


async def _long_error(make_client: MakeClient) -> str:
    paths = {"/none": {"get": {"operationId": "none"}}}
    with serving() as site:
        site.answers["/none"] = (404, {"Content-Type": "text/plain"}, b"x" * 9000)
        kit = from_openapi({"openapi": "3.1.0", "paths": paths}, base_url=site.url, private=True)
        client = await make_client(*kit.get_tools())
        text = (await client.post("/tool_calls", json=call("none"))).json()["content"]
    return "cut" if text.endswith("x…") and 4000 < len(text) < 4100 else text


BY_OUTGOING: dict[str, Provoke] = {
    "bytes of an OpenAPI document that is fetched": _large_document,
    "characters of a service's error that a model reads": _long_error,
    "bytes of what another host answers to a tool": partial(_fetch, "/large", "SIDECALL_OUTGOING_MAX_BYTES", "1024"),
    "seconds of a tool's request to another host": partial(_fetch, "/drip-body", "SIDECALL_OUTGOING_TIMEOUT", "0.4"),
}
