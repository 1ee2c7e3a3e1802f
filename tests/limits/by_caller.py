"""How the bounds of what proves who calls are provoked, by the words of the table."""

import httpx
import respx

from tests.kit.callers.tokens import AUDIENCE, ISSUER, KEYS_URL, Issuer
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post, say
from tests.limits.offered import echo


async def _scopes(make_client: MakeClient) -> str:
    named = {"caller_header": "X-Caller", "scopes_header": "X-Scopes"}
    client = await make_client(echo, auth=("gateway",), gateways=("127.0.0.0/8",), **named)
    sent = {"X-Caller": "ann", "X-Scopes": "tools:call " * 400}
    return say(await post(client, call(), **sent))


async def _keys(make_client: MakeClient) -> str:
    client = await make_client(echo, auth="jwt", jwt_issuer=ISSUER, jwt_keys_url=KEYS_URL, jwt_audience=AUDIENCE)
    with respx.mock(assert_all_called=False) as router:
        issuer = Issuer(router)
        token = {"Authorization": f"Bearer {issuer.sign()}"}
        keys = httpx.Response(200, json={**issuer.published(), "more": "x" * 1024 * 1024})
        router.get(KEYS_URL).mock(return_value=keys)
        return say(await post(client, call(), **token))


async def _request_id(make_client: MakeClient) -> str:
    sent = "x" * 129
    answer = await (await make_client()).get("/tools", headers={"X-Request-Id": sent})
    return "another id is given" if answer.headers["X-Request-Id"] != sent else "it is taken"


BY_CALLER: dict[str, Provoke] = {
    "characters of the scopes that a gateway names": _scopes,
    "bytes of an issuer's keys": _keys,
    "characters of `X-Request-Id`": _request_id,
}
