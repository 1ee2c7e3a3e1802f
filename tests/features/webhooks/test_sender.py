"""Messages go to addresses that were looked at, and nowhere else."""

import socket
from collections.abc import AsyncIterator

import httpx
import pytest
import respx

from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.features.webhooks.sender import NotSent, Sender
from tests.features.webhooks.listening import listen
from tests.outgoing.sites import resolve

HOSTS = AllowedHosts(["hooks.example.com", "hooks.example.com:8443", "http://localhost:9000", "169.254.169.254"])
PUBLIC, PRIVATE = "93.184.215.14", "10.0.0.7"


@pytest.fixture
async def sender() -> AsyncIterator[Sender]:
    """Give one."""
    made = Sender([b"x" * 24])
    yield made
    await made.close()


async def send(sender: Sender, url: str = "https://hooks.example.com/a?b=c") -> None:
    """Send a message."""
    await sender.send(HOSTS.find(url), "msg_1", b"{}")


async def test_the_address_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is resolved once; it is the request's all the same."""
    asked = resolve(monkeypatch, lambda _: ["127.0.0.1"])
    async with listen(204) as listening:
        hosts = AllowedHosts([f"http://localhost:{listening.port}"])
        sender = Sender([b"x" * 24])
        await sender.send(hosts.find(f"http://localhost:{listening.port}/a?b=c"), "msg_1", b"{}")
        await sender.close()

    [heard] = listening.heard
    assert asked == ["localhost"]
    assert (heard.path, heard.headers["host"]) == ("/a?b=c", f"localhost:{listening.port}")
    assert {name for name in heard.headers if name.startswith("webhook-")} == {
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }


@pytest.mark.parametrize("addresses", [[PRIVATE], [PUBLIC, PRIVATE], ["169.254.169.254"], ["::1"]])
async def test_a_name_that_leads_inside_is_not_followed(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    """Not even in part."""
    resolve(monkeypatch, lambda _: addresses)

    with pytest.raises(NotSent, match="its address is not a public one"):
        await send(sender)


@respx.mock
async def test_an_address_that_the_operator_names_is_meant(sender: Sender) -> None:
    """It need not be a public one."""
    route = respx.post("https://169.254.169.254/").respond(200)

    await send(sender, "https://169.254.169.254/")

    assert route.called


@pytest.mark.parametrize(
    ("status", "is_final"), [(302, False), (400, False), (404, False), (410, True), (429, False), (500, False)]
)
@respx.mock
async def test_only_2xx_is_heard(sender: Sender, status: int, is_final: bool) -> None:
    """Redirects are not followed; 410 ends it."""
    respx.post("https://hooks.example.com/a?b=c").respond(status, headers={"Location": "http://127.0.0.1/"})

    with pytest.raises(NotSent, match=f"it answered {status}") as caught:
        await send(sender)

    assert caught.value.is_final is is_final
    assert len(respx.calls) == 1


@pytest.mark.parametrize("error", [httpx.ReadTimeout("late"), httpx.ConnectError("refused"), httpx.ReadError("cut")])
@respx.mock
async def test_what_breaks_off_may_be_sent_again(sender: Sender, error: httpx.HTTPError) -> None:
    """No matter what it is."""
    respx.post("https://hooks.example.com/a?b=c").mock(side_effect=error)

    with pytest.raises(NotSent, match=type(error).__name__) as caught:
        await send(sender)

    assert not caught.value.is_final


@respx.mock
async def test_a_receiver_has_all_the_time_for_its_answer(sender: Sender) -> None:
    """No step of it takes less than the whole; of several addresses each is tried."""
    respx.post("https://hooks.example.com/a?b=c").respond(204)

    await send(sender)

    sent = respx.calls.last.request.extensions["timeout"]
    assert sent == {"connect": 5.0, "read": 20.0, "write": 20.0, "pool": 20.0}


async def test_a_name_that_nobody_knows(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be known later."""

    def find(_: str) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    resolve(monkeypatch, find)

    with pytest.raises(NotSent, match="Name or service not known"):
        await send(sender)
