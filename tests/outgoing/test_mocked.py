"""respx mocks guarded clients as it mocks others: what is not connected to is not refused by port or address."""

import httpx
import pytest
import respx

from sidecall import OutgoingRefused, guarded_async_client, guarded_client, tool
from sidecall.testing import ToolTester

ADDRESSES = [
    "http://api.example.com/x",
    "https://api.example.com:8443/x",
    "http://api.example.com:1/x",
    "http://localhost:9000/x",
    "http://wiki.corp:8080/x",
    "http://127.0.0.1:11434/x",
    "http://[::1]:9000/x",
    "http://10.1.2.3/x",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("using", ["httpcore", "httpx"])
async def test_any_port_and_address_is_mocked(address: str, using: str) -> None:
    """Sync and async, no matter which way respx works."""
    with respx.mock(using=using) as mocks:
        mocks.get(address).respond(text="mocked")
        with guarded_client() as client:
            said = client.get(address).text
        async with guarded_async_client() as client:
            said += (await client.get(address)).text

    assert said == "mockedmocked"


@respx.mock
def test_the_hosts_that_a_tool_names_hold_for_mocks() -> None:
    """They are the author's own, and known without a connection."""
    respx.get("https://api.example.org/x").respond(text="mocked")

    with (
        guarded_client(allow=["api.example.com"]) as client,
        pytest.raises(OutgoingRefused, match=r"api\.example\.org"),
    ):
        client.get("https://api.example.org/x")


@respx.mock
def test_a_redirect_to_another_port_is_mocked() -> None:
    """Each request of it."""
    respx.get("https://api.example.com/x").respond(302, headers={"Location": "https://api.example.com:8443/y"})
    respx.get("https://api.example.com:8443/y").respond(text="there")

    with guarded_client(follow_redirects=True) as client:
        assert client.get("https://api.example.com/x").text == "there"


@tool
async def ask(address: str) -> str:
    """Ask an address."""
    async with guarded_async_client() as client:
        return (await client.get(address)).text


@respx.mock
def test_tools_are_mocked_in_tests() -> None:
    """In the loop of another thread, too."""
    respx.get("http://127.0.0.1:8443/x").respond(text="mocked")

    assert ToolTester(ask).call(address="http://127.0.0.1:8443/x").content == "mocked"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("http://127.0.0.1:8443/x", "port 8443 is not open to tools"),
        ("http://127.0.0.1/x", "127.0.0.1 is not on the public Internet"),
        ("http://[::1]/x", "::1 is not on the public Internet"),
        ("http://2130706433/x", "is not on the public Internet"),
        ("http://localhost:1/x", "port 1 is not open to tools"),
    ],
)
async def test_without_a_mock_all_is_refused_as_before(address: str, text: str) -> None:
    """Before anything is connected to, with a proxy, too."""
    refused = []
    with guarded_client() as client, pytest.raises(OutgoingRefused) as sync:
        client.get(address)
    refused.append(str(sync.value))
    async with guarded_async_client() as client:
        with pytest.raises(OutgoingRefused) as in_async:
            await client.get(address)
    refused.append(str(in_async.value))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIDECALL_OUTGOING_PROXY", "http://127.0.0.1:9")
        with guarded_client() as client, pytest.raises((OutgoingRefused, httpx.ProxyError)) as by_proxy:
            client.get(address)
    refused.append(str(by_proxy.value))

    assert [text in it for it in refused] == [True] * 3
