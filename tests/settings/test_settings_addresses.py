"""The settings that are addresses, of which each has to say at which host it is."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sidecall.features.credentials.oauth.providers import read_providers
from sidecall.features.mcp_client.mcp_json import read_entries
from sidecall.features.openapi_import.documents import NamedDocument
from sidecall.features.openapi_import.services import read_services
from sidecall.kernel.core.errors import SidecallError
from sidecall.outgoing.addresses import names_host
from sidecall.settings import Settings

HOSTLESS = [
    "https://",
    "https:///v1",
    "https://:443/",
    "https://u:p@/",
    "https://?a=b",
    "https://[",
    "https://[::1",
    "https://a:b/",
    "https://a:0/",
    "https://a:99999/",
    "https://a..b/",
    "https://xn--/",
    "https://a b/",
    f"https://{'a' * 64}.com/",
]


def _read_provider(address: str) -> Any:
    return read_providers(json.dumps({"acme": {"client_id": "me", "issuer": address}}))


READ: dict[str, Callable[[str], Any]] = {
    "embeddings_url": lambda address: Settings(embeddings_url=address),
    "images_url": lambda address: Settings(images_url=address),
    "jwt_issuer": lambda address: Settings(jwt_issuer=address),
    "jwt_keys_url": lambda address: Settings(jwt_keys_url=address),
    "public_url": lambda address: Settings(public_url=address),
    "outgoing_proxy": lambda address: Settings(outgoing_proxy=address),
    "mcp_servers": lambda address: read_entries(json.dumps({"mcpServers": {"a": {"url": address}}}), {}),
    "openapi": NamedDocument.parse,
    "openapi_services": lambda address: read_services(
        json.dumps({"services": {"a": {"document": "a.json", "base_url": address}}}), {}
    ),
    "oauth": _read_provider,
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_an_address_without_a_host_is_refused_at_the_start(read: Callable[[str], Any]) -> None:
    """In words, and never by what only the first request would say."""
    taken = []
    for address in HOSTLESS:
        try:
            read(address)
        except (ValueError, SidecallError) as refused:
            said = str(refused)
        else:
            said = "taken"
        if "write " not in said and "pattern" not in said:
            taken.append((address, said))

    assert taken == []


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com/v1",
        "HTTPS://API.example.com",
        "http://10.0.0.1:8080/v1",
        "http://[::1]:80/v1",
        "http://bücher.de/",
        "http://my_service:8000",
        "http://name:password@host./x?y#z",
    ],
)
def test_what_has_a_host_is_taken(address: str) -> None:
    """As compose files, clusters and browsers write it."""
    assert names_host(address)
