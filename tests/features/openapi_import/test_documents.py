"""Documents that an operator names are offered: files at the start, others as soon as they can be had."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from sidecall import Registry, StructuredTool, tool
from sidecall.features.openapi_import.documents import NamedDocument, OpenAPIDocuments
from sidecall.features.openapi_import.services import InvalidServices
from sidecall.kernel.core.errors import DefinitionError, ToolAlreadyRegistered
from tests.features.openapi_import.pets import serving
from tests.kit.clients import MakeClient
from tests.kit.waiting import until

DOCUMENT = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example.com"}],
    "paths": {"/things": {"get": {"operationId": "list"}, "post": {"operationId": "add"}}},
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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a document."""
    path = tmp_path / "things.json"
    path.write_text(json.dumps(DOCUMENT))
    return path


async def names(client: httpx.AsyncClient) -> list[str]:
    """List the tools."""
    return [it["function"]["name"] for it in (await client.get("/tools")).json()]


async def wait_for(client: httpx.AsyncClient, is_enough: Any) -> dict[str, Any]:
    """Ask whether the server is ready until that is enough."""
    while True:
        ready: dict[str, Any] = (await client.get("/readyz")).json()
        if is_enough(ready):
            return ready
        await anyio.sleep(0.01)


@pytest.mark.parametrize(
    ("entry", "name", "place", "label"),
    [
        ("api.json", None, "api.json", "api"),
        ("pets=./a=b.yaml", "pets", "./a=b.yaml", "pets"),
        (
            "https://api.example.com/openapi.json?a=b",
            None,
            "https://api.example.com/openapi.json?a=b",
            "api.example.com",
        ),
        ("shop=https://x.example/", "shop", "https://x.example/", "shop"),
    ],
)
def test_a_name_may_stand_before_a_place(entry: str, name: str | None, place: str, label: str) -> None:
    """An equals sign within an address is none of it."""
    found = NamedDocument.parse(entry)

    assert (found.name, found.place, found.label) == (name, place, label)


async def test_a_file_is_offered_at_the_start(make_client: MakeClient, file: Path) -> None:
    """After the tools of one's own; writing asks a person where the operator says so."""
    client = await make_client(mine, openapi=(f"shop={file}",), openapi_approval="writing")

    assert await names(client) == ["mine", "shop__list", "shop__add"]
    asked = [(await client.get(f"/tools/{name}")).json()["requires_approval"] for name in ("shop__list", "shop__add")]
    assert asked == [False, True]
    assert (await client.get("/readyz")).json() == {"status": "ready", "tools": 3}


async def test_a_broken_file_stops_the_start(make_client: MakeClient, tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(DefinitionError, match=r"none\.json cannot be read"):
        await make_client(mine, openapi=(str(tmp_path / "none.json"),))


async def test_an_address_is_fetched_in_the_background(
    make_client: MakeClient, pets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is where the document says, seen from where it came; what cannot be had stops nothing."""
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", pets.removeprefix("http://"))
    client = await make_client(mine, openapi=(f"pets={pets}/openapi.json", "dead=http://127.0.0.1:9/openapi.json"))

    ready = await wait_for(
        client, lambda it: it["tools"] > 1 and it.get("missing") == {"dead": "It cannot be fetched."}
    )
    answer = (await client.post("/tool_calls", json={"name": "pets__get_text", "args": {}})).json()

    assert ready["status"] == "ready"
    assert (await names(client))[0] == "mine"
    assert answer["content"] == "plain words"


async def test_what_is_not_public_is_not_fetched(make_client: MakeClient, pets: str) -> None:
    """Unless the operator lets tools reach it."""
    client = await make_client(mine, openapi=(f"pets={pets}/openapi.json",))

    ready = await wait_for(client, lambda it: it.get("missing") == {"pets": "It cannot be fetched."})

    assert ready["tools"] == 1


async def test_a_password_in_an_address_is_not_logged(
    pets: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither where it is named nor in what is wrong with it."""
    host = pets.removeprefix("http://")
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", host)
    documents = OpenAPIDocuments((f"http://ann:pass-7@{host}/none.json",))

    async with documents.following(Registry([mine]), list):
        await until(lambda: documents.missing == {"127.0.0.1": "It cannot be fetched."})

    assert f"the OpenAPI document {pets}/none.json cannot be fetched: " in caplog.text
    assert "pass-7" not in caplog.text


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://u:pass-7@[::1/x", "https://…[::1/x"),
        ("https://u:pass-7@h:port/x", "https://…h:port/x"),
        ("https://u:pa@ss-7@/x", "https://…/x"),
        ("https://u:pass/-7@:80/x", "https://…:80/x"),
        ("https://u:pass-7", "https://…"),
        ("shop=https:/u:pass-7@h/x", "shop=https:/…h/x"),
        ("https:u:pass-7@h/x", "https:…h/x"),
        ("https//u:pass-7@h/x", "https//…h/x"),
        ("HTTPS:://u:pass-7@h/x", "HTTPS:://…h/x"),
        ("https:///h/x", "https:///h/x"),
    ],
)
def test_a_malformed_address_is_said_without_its_password(address: str, shown: str) -> None:
    """However it is malformed."""
    with pytest.raises(InvalidServices) as caught:
        NamedDocument.parse(address)

    assert str(caught.value) == (
        f"SIDECALL_OPENAPI has {shown!r}: write the path of a file, or an address with http:// or https:// and a host."
    )


async def test_it_is_tried_again_until_it_can_be_had(pets: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And those who follow the list are told."""
    registry, told = Registry([mine]), []
    documents = OpenAPIDocuments((f"{pets}/openapi.json",))

    async with documents.following(registry, lambda: told.append(len(registry)), pause=0.01):
        await until(lambda: documents.missing == {"127.0.0.1": "It cannot be fetched."})
        monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", pets.removeprefix("http://"))
        await until(lambda: not documents.missing)

    assert told == [len(registry)]
    assert len(registry) > 10


def test_tools_of_a_source_outlive_others() -> None:
    """They stand behind them, are replaced by themselves, and never take another's name."""

    async def do() -> str:
        """Do it."""
        return "done"

    other, double = [StructuredTool.from_function(coroutine=do, name=name).compiled for name in ("other", "mine")]
    registry = Registry([mine])

    registry.put_source("a", [other])
    registry.replace([mine])
    assert registry.names == ["mine", "other"]
    with pytest.raises(ToolAlreadyRegistered):
        registry.put_source("b", [double])
    assert registry.names == ["mine", "other"]
    registry.put_source("a", [])
    assert registry.names == ["mine"]
