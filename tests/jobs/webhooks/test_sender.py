"""Messages go to addresses that were looked at, and nowhere else."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import respx

from sidecall.jobs.webhooks.receivers import AllowedHosts
from sidecall.jobs.webhooks.sender import NotSent, Sender

HOSTS = AllowedHosts(["hooks.example.com", "hooks.example.com:8443", "http://localhost:9000", "169.254.169.254"])
PUBLIC, PRIVATE = "93.184.215.14", "10.0.0.7"


@pytest.fixture
async def sender() -> AsyncIterator[Sender]:
    """Give one."""
    made = Sender([b"x" * 24])
    yield made
    await made.close()


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[Any]:
    """Let all names lead to these addresses, and note which are asked for."""
    asked: list[Any] = []

    async def find(host: str, port: int, **_: Any) -> list[Any]:
        asked.append((host, port))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", find)
    return asked


async def send(sender: Sender, url: str = "https://hooks.example.com/a?b=c") -> None:
    """Send a message."""
    await sender.send(HOSTS.find(url), "msg_1", b"{}")


@respx.mock
async def test_the_address_is_pinned(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is resolved once; it is the certificate's and the request's all the same."""
    asked = resolve_to(monkeypatch, PUBLIC)
    route = respx.post(f"https://{PUBLIC}:8443/a?b=c").respond(204)

    await send(sender, "https://hooks.example.com:8443/a?b=c")

    request = route.calls.last.request
    assert asked == [("hooks.example.com", 8443)]
    assert request.headers["Host"] == "hooks.example.com:8443"
    assert request.extensions["sni_hostname"] == "hooks.example.com"
    assert {name for name in request.headers if name.startswith("webhook-")} == {
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }


@pytest.mark.parametrize("addresses", [(PRIVATE,), (PUBLIC, PRIVATE), ("169.254.169.254",), ("::1",)])
@respx.mock
async def test_a_name_that_leads_inside_is_not_followed(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    """Not even in part."""
    resolve_to(monkeypatch, *addresses)

    with pytest.raises(NotSent, match="its address is not a public one"):
        await send(sender)

    assert not respx.calls


@respx.mock
async def test_an_address_that_the_operator_names_is_meant(sender: Sender) -> None:
    """It need not be a public one."""
    route = respx.post("https://169.254.169.254/").respond(200)

    await send(sender, "https://169.254.169.254/")

    assert route.called


@respx.mock
async def test_the_next_address_is_tried(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one cannot be connected to."""
    resolve_to(monkeypatch, PUBLIC, "8.8.8.8")
    respx.post(f"https://{PUBLIC}/a").mock(side_effect=httpx.ConnectError("gone"))
    route = respx.post("https://8.8.8.8/a").respond(200)

    await send(sender)

    assert route.called


@pytest.mark.parametrize(
    ("status", "is_final"), [(302, False), (400, False), (404, False), (410, True), (429, False), (500, False)]
)
@respx.mock
async def test_only_2xx_is_heard(sender: Sender, monkeypatch: pytest.MonkeyPatch, status: int, is_final: bool) -> None:
    """Redirects are not followed; 410 ends it."""
    resolve_to(monkeypatch, PUBLIC)
    respx.post(f"https://{PUBLIC}/a").respond(status, headers={"Location": "http://127.0.0.1/"})

    with pytest.raises(NotSent, match=f"it answered {status}") as caught:
        await send(sender)

    assert caught.value.is_final is is_final
    assert len(respx.calls) == 1


@pytest.mark.parametrize("error", [httpx.ReadTimeout("late"), httpx.ConnectError("refused"), httpx.ReadError("cut")])
@respx.mock
async def test_what_breaks_off_may_be_sent_again(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, error: httpx.HTTPError
) -> None:
    """Whatever it is."""
    resolve_to(monkeypatch, PUBLIC)
    respx.post(f"https://{PUBLIC}/a").mock(side_effect=error)

    with pytest.raises(NotSent, match=type(error).__name__) as caught:
        await send(sender)

    assert not caught.value.is_final


async def test_a_name_that_nobody_knows(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be known later."""

    async def find(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", find)

    with pytest.raises(NotSent, match="gaierror"):
        await send(sender)
