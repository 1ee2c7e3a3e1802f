"""Callers with tokens, and what they are told who have none."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from sidecall import Registry
from sidecall.composition.requirements import FeatureUnfit
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS
from tests.kit.callers.keys import write_keys
from tests.kit.callers.tokens import AUDIENCE, ISSUER, KEYS_URL, Issuer
from tests.kit.clients import MakeClient

DOCUMENT = "/.well-known/oauth-protected-resource"
JWT = {"jwt_issuer": ISSUER, "jwt_keys_url": KEYS_URL, "jwt_audience": AUDIENCE}


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """Give an issuer."""
    with respx.mock(assert_all_called=False) as router:
        router.get(f"{ISSUER}/.well-known/openid-configuration").mock(return_value=httpx.Response(404))
        yield Issuer(router)


@BOTH_WAYS
async def test_a_token_opens_what_its_scopes_say(make_client: MakeClient, issuer: Issuer) -> None:
    """At first and when it is known already; without the scope, the answer names it."""
    client = await make_client(auth="jwt", **JWT)
    headers = {"Authorization": f"Bearer {issuer.sign(scope='calls:read')}"}

    answers = [
        await client.get(path, headers=headers) for path in ("/tool_calls", "/tool_calls", "/metrics", "/whoami")
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 403, 200]
    assert answers[2].headers["WWW-Authenticate"] == (
        'Bearer realm="sidecall", error="insufficient_scope", scope="server:operate", '
        f'resource_metadata="{AUDIENCE}{DOCUMENT}"'
    )
    assert answers[3].json() == {"subject": "ann", "tenant": "default", "scopes": ["calls:read"], "toolset": None}


@BOTH_WAYS
@pytest.mark.parametrize(
    ("token", "said"), [(None, ""), ("sidecall_no", ', error="invalid_token"'), ("a.b.c", ', error="invalid_token"')]
)
async def test_without_a_good_one_it_is_said_where_to_get_one(
    make_client: MakeClient, issuer: Issuer, token: str | None, said: str
) -> None:
    """By the address of a document that everybody may read."""
    client = await make_client(auth="jwt", **JWT)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    refused = await client.post("/tool_calls", json={}, headers=headers)
    document = await client.get(DOCUMENT)

    assert refused.status_code == 401
    where = f'Bearer realm="sidecall"{said}, resource_metadata="{AUDIENCE}{DOCUMENT}"'
    assert refused.headers["WWW-Authenticate"] == where
    assert document.json() == {
        "resource": AUDIENCE,
        "authorization_servers": [ISSUER],
        "scopes_supported": [
            "tools:call", "calls:read", "approvals:decide", "approvals:decide_own", "server:operate",
        ],
        "bearer_methods_supported": ["header"],
        "resource_name": "Sidecall",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("audience", "resource", "document"),
    [
        ("sidecall", "http://sidecall", f"http://sidecall{DOCUMENT}"),
        ("https://a.example.com/tools/", "https://a.example.com/tools/", f"https://a.example.com{DOCUMENT}/tools"),
    ],
)
async def test_the_resource_has_the_address_of_its_audience(
    make_client: MakeClient, audience: str, resource: str, document: str
) -> None:
    """Where that is one, else that by which it is asked; the path of the document comes before its own."""
    client = await make_client(auth="jwt", **{**JWT, "jwt_audience": audience})

    refused = await client.get("/whoami")
    described = await client.get(httpx.URL(document).path)

    assert refused.headers["WWW-Authenticate"] == f'Bearer realm="sidecall", resource_metadata="{document}"'
    assert described.json()["resource"] == resource


async def test_a_server_without_tokens_has_no_such_document(make_client: MakeClient) -> None:
    """Nobody is sent to an issuer in vain."""
    assert (await (await make_client()).get(DOCUMENT)).status_code == 404


async def test_an_issuer_that_cannot_be_asked_is_no_reason_to_refuse_for_ever(
    make_client: MakeClient, issuer: Issuer
) -> None:
    """503 with when to come again, as a problem."""
    issuer.asked.mock(side_effect=httpx.ConnectError("no"))
    client = await make_client(auth="jwt", **JWT)

    answer = await client.get("/whoami", headers={"Authorization": f"Bearer {issuer.sign()}"})

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["type"] == "urn:sidecall:problem:issuer-unreachable"


async def test_several_ways_stand_beside_each_other(make_client: MakeClient, issuer: Issuer, tmp_path: Path) -> None:
    """A key, a token, a gateway's word: each by itself, and a wrong key is not tried as anything else."""
    keys = write_keys(tmp_path / "keys", {"agent": ("tools:call",)})
    client = await make_client(auth="gateway,api_key,jwt", keys_file=tmp_path / "keys", caller_header="X-User", **JWT)
    sent = [
        keys["agent"],
        {"Authorization": f"Bearer {issuer.sign()}"},
        {"X-User": "eve"},
        {"X-API-Key": "sidecall_no", "Authorization": f"Bearer {issuer.sign()}"},
        {"Authorization": "Basic YTpi"},
    ]

    answers = [await client.get("/whoami", headers=headers) for headers in sent]

    assert [answer.json().get("subject") for answer in answers] == ["agent", "ann", "eve", None, None]
    assert [answer.status_code for answer in answers[3:]] == [401, 401]


@pytest.mark.parametrize(
    ("settings", "claims", "answered"),
    [
        ({}, {"scp": ["a"], "org": "acme"}, ("default", ["tools:call"])),
        ({"jwt_scopes_claim": "scp"}, {"scp": ["a"]}, ("default", ["a"])),
        ({"jwt_tenant_claim": "org"}, {"org": "acme"}, ("acme", ["tools:call"])),
        ({"jwt_algorithms": "RS256"}, {}, None),
        ({"jwt_issuer": "https://other.example.com"}, {}, None),
        ({"jwt_audience": "other"}, {}, None),
        ({"jwt_keys_url": None}, {}, None),  # which the issuer does not say either
    ],
)
async def test_each_setting_has_its_effect(
    make_client: MakeClient, issuer: Issuer, settings: dict[str, str], claims: dict[str, Any], answered: Any
) -> None:
    """What tokens are taken, and where they say what."""
    client = await make_client(auth="jwt", **{**JWT, **settings})

    response = await client.get("/whoami", headers={"Authorization": f"Bearer {issuer.sign(**claims)}"})

    said = response.json().get("tenant"), response.json().get("scopes")
    assert (said if response.status_code == 200 else None) == answered


def test_a_server_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a traceback."""
    for name in [
        name
        for name in sys.modules
        if name.startswith(("joserfc", "sidecall.features.access.tokens", "sidecall.features.access.jwks"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "joserfc", None)

    with pytest.raises(FeatureUnfit, match=r"pip install 'sidecall\[jwt\]'"):
        create_app(Settings(auth="jwt", **JWT), Registry())  # type: ignore[arg-type]
