"""Go beyond bounds with what other hosts answer to tools, as `by_request` does with calls."""

from functools import partial

import pytest

from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post, say
from tests.outgoing.sites import serving
from tests.tools import shipped


async def _fetch(path: str, variable: str, value: str, make_client: MakeClient) -> str:
    client = await make_client(shipped.load("fetch").fetch)
    with serving() as site, pytest.MonkeyPatch.context() as patch:
        site.give("/large", "x" * 2000)
        patch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")
        patch.setenv(variable, value)
        return say(await post(client, call("fetch", url=site.url + path)))


BY_OUTGOING: dict[str, Provoke] = {
    "bytes of what another host answers to a tool": partial(_fetch, "/large", "SIDECALL_OUTGOING_MAX_BYTES", "1024"),
    "seconds of a tool's request to another host": partial(_fetch, "/drip-body", "SIDECALL_OUTGOING_TIMEOUT", "0.4"),
}
