"""Services that an operator writes down bring their credentials, filters and rules along, without any code."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidecall import ForwardedHeader, Secret, UserToken, from_openapi, tool
from sidecall.features.openapi_import.services import InvalidServices, read_services
from sidecall.kernel.core.errors import DefinitionError
from tests.features.openapi_import.pets import app, serving
from tests.kit.clients import MakeClient

DOCUMENT = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example.com"}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/things": {"get": {"operationId": "list", "tags": ["a"]}, "post": {"operationId": "add", "tags": ["b"]}},
        "/old": {"get": {"operationId": "old", "deprecated": True, "summary": "Find things."}},
    },
}


@tool
async def mine() -> str:
    """Do something of its own."""
    return "done"


@pytest.fixture(scope="module")
def pets() -> Iterator[str]:
    """Serve the pets, and give their address."""
    with serving() as url:
        yield url


def write(folder: Path, **services: Any) -> str:
    """Write the file of services, and documents beside it."""
    (folder / "things.json").write_text(json.dumps(DOCUMENT))
    (folder / "pets.json").write_text(json.dumps(app.openapi()))
    path = folder / "services.json"
    path.write_text(json.dumps({"services": services}))
    return str(path)


@pytest.mark.parametrize(
    ("auth", "kind", "named"),
    [
        ("${secret:SHOP}", Secret, "SHOP"),
        ("${user_token:hub}", UserToken, "hub"),
        ("${header:X-Shop}", ForwardedHeader, "X-Shop"),
    ],
)
def test_a_credential_is_named(auth: str, kind: type, named: str) -> None:
    """And never written down itself."""
    (entry,) = read_services(json.dumps({"services": {"s": {"document": "x", "auth": {"key": auth}}}}), {}).values()

    assert isinstance(entry.auth, dict)
    assert isinstance(entry.auth["key"], kind)
    assert named in vars(entry.auth["key"]).values() if kind is not ForwardedHeader else entry.auth["key"].name == named


def test_variables_and_yaml_and_places_beside_the_file(tmp_path: Path) -> None:
    """A path starts at the file that names it; what is disabled is left out."""
    path = tmp_path / "services.yaml"
    path.write_text(
        "services:\n  shop: {document: shop.json, headers: {X-Team: '${TEAM:-core}'}, tags: a, timeout: 5}\n"
        "  away: {document: '${WHERE}', private: true}\n  off: {document: off.json, disabled: true}\n"
    )

    found = read_services(str(path), {"WHERE": "https://away.example/openapi.json"})

    assert {name: it.document for name, it in found.items()} == {
        "shop": str(tmp_path / "shop.json"),
        "away": "https://away.example/openapi.json",
    }
    assert (found["shop"].headers, found["shop"].tags, found["shop"].options) == (
        {"X-Team": "core"},
        ("a",),
        {"timeout": 5.0},
    )


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("/none.json", "is /none.json, which cannot be read: No such file"),
        ("{", "is neither JSON nor YAML"),
        ("{}", "has to be an object with `services` alone"),
        ('{"services": []}', "has to be an object with `services` alone"),
        ('{"services": {"a b": {}}}', "service 'a b': a name has letters"),
        ('{"services": {"s": {}}}', "service 's' is none: document: Field required"),
        ('{"services": {"s": 3}}', "service 's' is none"),
        ('{"services": {"s": {"document": "x", "operation": "a"}}}', "`operation` is none of its members; write `operations`"),  # noqa: E501
        ('{"services": {"s": {"document": "x", "zz": "a"}}}', "`zz` is none of its members; there are document"),
        ('{"services": {"s": {"document": "x", "auth": "s3cret"}}}', r"auth: write ${secret:NAME}, "),
        ('{"services": {"s": {"document": "${NOWHERE}"}}}', "names the variable NOWHERE, which is not set"),
        ('{"services": {"s": {"document": "x", "headers": {"A": "${secret:B}"}}}}', "is written as `auth`"),
        ('{"services": {"s": {"document": "x", "base_url": "x"}}}', "write an address with http:// or https://"),
        ('{"services": {"s": {"document": "x", "requires_approval": "reading"}}}', "requires_approval"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told(setting: str, complaint: str) -> None:
    """With its place, what to write instead, and without what may be a secret."""
    with pytest.raises(InvalidServices) as caught:
        read_services(setting, {})

    assert complaint in caught.value.message
    assert "s3cret" not in caught.value.message


async def test_all_of_it_has_an_effect(make_client: MakeClient, tmp_path: Path) -> None:
    """Filters, approval, scopes and names are those of the entry."""
    services = write(
        tmp_path,
        shop={"document": "things.json", "tags": ["a", "b"], "requires_approval": "writing", "timeout": 7},
        again={"document": "things.json", "operations": "ol*", "prefix": False, "requires_approval": True},
    )
    client = await make_client(mine, openapi_services=services)

    shown = {name: (await client.get(f"/tools/{name}")).json() for name in ("shop__list", "shop__add", "old")}

    assert [it["function"]["name"] for it in (await client.get("/tools")).json()] == ["mine", *shown]
    assert [it["requires_approval"] for it in shown.values()] == [False, True, True]
    assert [it["timeout"] for it in shown.values()] == [7.0, 7.0, None]
    assert shown["old"]["deprecated"] == "The service is going to give this operation up."
    assert "Deprecated" in (await client.get("/tools?name=old")).json()[0]["function"]["description"]


async def test_credentials_and_addresses_are_used(
    make_client: MakeClient, pets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret by name for one scheme, a header of the request for another; the service may be in one's own network."""
    monkeypatch.setenv("PETS_KEY", "k-1234567")
    auth = {"APIKeyHeader": "${secret:PETS_KEY}", "HTTPBearer": "${header:X-Pets}"}
    services = write(tmp_path, pets={"document": "pets.json", "base_url": pets, "private": True, "auth": auth})
    client = await make_client(mine, openapi_services=services)

    async def call(name: str) -> str:
        sent = await client.post("/tool_calls", json={"name": name, "args": {}}, headers={"X-Pets": "of-ann"})
        return str(sent.json()["content"])

    assert await call("pets__with_key") == '{"authorization":null,"key":"[redacted]","query":null}'
    assert await call("pets__with_bearer") == '{"authorization":"Bearer of-ann","key":null,"query":null}'


async def test_a_private_service_is_fetched_from(make_client: MakeClient, pets: str, tmp_path: Path) -> None:
    """Since the operator has said so of it, no list of hosts is needed."""
    services = write(tmp_path, pets={"document": f"{pets}/openapi.json", "private": True, "operations": ["get_text"]})
    client = await make_client(openapi_services=services)
    missing: Any = {"pets": "It is being fetched."}
    while missing == {"pets": "It is being fetched."}:
        await anyio.sleep(0.01)
        missing = (await client.get("/readyz")).json().get("missing")

    answer = (await client.post("/tool_calls", json={"name": "pets__get_text", "args": {}})).json()

    assert (missing, answer["content"]) == (None, "plain words")


async def test_a_credential_for_no_scheme_stops_the_start(make_client: MakeClient, tmp_path: Path) -> None:
    """So that no calls go out without it."""
    services = write(tmp_path, shop={"document": "things.json", "auth": {"kee": "${secret:SHOP}"}})

    with pytest.raises(DefinitionError, match=r"no security scheme 'kee' for `auth`; those of it are: key\."):
        await make_client(openapi_services=services)


def test_a_filter_that_fits_nothing_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """A misspelt name is seen, where others still fit."""
    with caplog.at_level(logging.WARNING, "sidecall"):
        kit = from_openapi(DOCUMENT, tags=["a", "c"], operations=["list", "ad"], methods=["GET", "PUT"], paths=["/th*"])

    assert [it.name for it in kit.get_tools()] == ["list"]
    assert [record.getMessage().partition(" has no ")[2] for record in caplog.records] == [
        "operation 'ad', which its filters name",
        "tag 'c', which its filters name",
        "method 'PUT', which its filters name",
    ]
