"""Requests of tools reach public hosts, and others where an operator names them, however they are written."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from sidecall import OutgoingRefused, ToolException, guarded_async_client, guarded_client
from tests.outgoing.sites import Site, resolve, serving

PUBLIC = "93.184.215.14"
# Addresses of attacks as they were collected, with the port of a host that must not be reached.
HOSTILE = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://0x7f.1:{port}/", "http://2130706433:{port}/",
    "http://[::1]:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:a9fe:a9fe]/", "http://169.254.169.254/latest/meta-data", "http://0.0.0.0:{port}/",
    "http://10.0.0.1/", "http://100.64.0.1/", "http://[64:ff9b::7f00:1]:{port}/", "http://[fd00::1]/",
    "http://[fe80::1]/", "http://192.0.0.192/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/",
    # And some more.
    "http://127.1:{port}/", "http://[2002:7f00:1::]:{port}/", "http://[2001:0:7f00:1::]/", "http://224.0.0.1/",
    "http://LOCALHOST:{port}/", "unix:///var/run/docker.sock", "//127.0.0.1:{port}/",
    "http://public@127.0.0.1:{port}/", "http://255.255.255.255/", "data:text/plain,x", "http:///x",
]  # fmt: skip


@pytest.fixture(scope="module", name="site")
def serve_site() -> Iterator[Site]:
    """Serve one host for all tests here."""
    with serving() as site:
        site.give("/", "found")
        yield site


@pytest.fixture(autouse=True)
def _forget(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.asked.clear()
    monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", f"80,443,{site.port}")


async def get_both(url: str, **options: Any) -> list[Any]:
    """Ask with the sync client and with the async one, and return what each answers or raises."""
    found: list[Any] = []
    try:
        with guarded_client(**options) as client:
            found.append(client.get(url))
    except (OutgoingRefused, httpx.HTTPError) as error:
        found.append(error)
    try:
        async with guarded_async_client(**options) as asyncs:
            found.append(await asyncs.get(url))
    except (OutgoingRefused, httpx.HTTPError) as error:
        found.append(error)
    return found


async def refuse_both(url: str, **options: Any) -> str:
    """Return the reason why both clients refuse an address, which is one."""
    first, second = await get_both(url, **options)
    assert isinstance(first, OutgoingRefused), first
    assert isinstance(second, OutgoingRefused), second
    assert first.message == second.message
    return first.message


async def read_both(url: str, **options: Any) -> str:
    """Return the text that both clients answer with."""
    first, second = await get_both(url, **options)
    assert first.text == second.text
    return str(first.text)


@pytest.mark.parametrize("url", HOSTILE)
async def test_hostile_addresses_are_refused(site: Site, url: str) -> None:
    """And nothing is connected to."""
    reason = await refuse_both(url.format(port=site.port))

    assert reason.startswith("Refused")
    assert "127.0.0.1" not in reason or "127.0.0.1" in url
    assert site.asked == []


async def test_an_address_in_octal_is_no_url(site: Site) -> None:
    """So says HTTPX itself."""
    with guarded_client() as client, pytest.raises(httpx.InvalidURL):
        client.get(f"http://0177.0.0.1:{site.port}/")
    async with guarded_async_client() as asyncs:
        with pytest.raises(httpx.InvalidURL):
            await asyncs.get(f"http://0177.0.0.1:{site.port}/")

    assert site.asked == []


async def test_a_name_that_nobody_knows_is_not_refused_but_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with every client."""

    def find(_: str) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    resolve(monkeypatch, find)

    assert list(map(type, await get_both("http://example.invalid/"))) == [httpx.ConnectError, httpx.ConnectError]


async def test_what_is_refused_is_for_the_model_to_read(site: Site) -> None:
    """It says what may be done, and nothing of what a name leads to."""
    reason = await refuse_both(f"http://localhost:{site.port}/")

    assert reason == "Refused: localhost is not on the public Internet. Use an address that is."
    assert issubclass(OutgoingRefused, ToolException)


@pytest.mark.parametrize("addresses", [["10.0.0.7"], [PUBLIC, "10.0.0.7"], ["169.254.169.254"], ["::1"]])
async def test_a_name_that_leads_inside_is_refused(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> None:
    """Also in part."""
    resolve(monkeypatch, lambda _: addresses)

    assert "rebound.example is not on the public" in await refuse_both("http://rebound.example/")


async def test_a_redirect_inside_is_refused(site: Site) -> None:
    """Each one is a request of its own; a scheme of a file is none."""
    site.redirect("/metadata", "http://169.254.169.254/latest/meta-data")
    site.redirect("/twice", "/metadata")
    site.redirect("/file", "file:///etc/passwd")
    options = {"private": [f"127.0.0.1:{site.port}"], "follow_redirects": True}

    assert "169.254.169.254 is not on the public" in await refuse_both(f"{site.url}/metadata", **options)
    assert "169.254.169.254 is not on the public" in await refuse_both(f"{site.url}/twice", **options)
    assert "begins with https://" in await refuse_both(f"{site.url}/file", **options)


async def test_redirects_end(site: Site) -> None:
    """After a few."""
    site.redirect("/round", "/round")

    found = await get_both(f"{site.url}/round", private=["127.0.0.1"], follow_redirects=True)

    assert list(map(type, found)) == [httpx.TooManyRedirects, httpx.TooManyRedirects]


async def test_a_name_is_resolved_once_and_its_address_is_connected_to(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No matter what it leads to a moment later."""
    answers = iter(["127.0.0.1", "10.0.0.7", "127.0.0.1", "10.0.0.7"])
    asked = resolve(monkeypatch, lambda _: [next(answers)])
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", "127.0.0.0/8")
    url = f"http://flips.example:{site.port}/"

    with guarded_client() as client:
        first = client.get(url, headers={"Connection": "close"})
        with pytest.raises(OutgoingRefused, match="is not on the public"):
            client.get(url)
    async with guarded_async_client() as asyncs:
        second = await asyncs.get(url, headers={"Connection": "close"})
        with pytest.raises(OutgoingRefused, match="is not on the public"):
            await asyncs.get(url)

    assert (first.text, second.text) == ("found", "found")
    assert asked == ["flips.example"] * 4
    assert site.asked == [(f"flips.example:{site.port}", "/")] * 2


async def test_the_next_address_is_tried(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody listens at the first one."""
    resolve(monkeypatch, lambda _: ["127.0.0.9", "127.0.0.1"])

    assert await read_both(f"http://two.example:{site.port}/", private=["two.example"]) == "found"


@pytest.mark.parametrize(
    "variables",
    [
        {"SIDECALL_OUTGOING_PRIVATE_HOSTS": "wiki.corp"},
        {"SIDECALL_OUTGOING_PRIVATE_HOSTS": "other.corp, *.corp"},
        {"SIDECALL_OUTGOING_PRIVATE_HOSTS": "127.0.0.0/8"},
        {"SIDECALL_OUTGOING_PRIVATE_HOSTS": "wiki.corp:{port}", "SIDECALL_OUTGOING_PORTS": "80"},
        {"SIDECALL_OUTGOING_PRIVATE_HOSTS": "wiki.corp", "SIDECALL_OUTGOING_HOSTS": "api.example.com"},
    ],
)
async def test_an_operator_lets_tools_into_the_intranet(
    site: Site, monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]
) -> None:
    """By name, below a name, by network, and at a port of its own."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(port=site.port))

    assert await read_both(f"http://wiki.corp:{site.port}/") == "found"


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"SIDECALL_OUTGOING_PRIVATE_HOSTS": "other.corp"}, "wiki.corp is not on the public Internet"),
        ({"SIDECALL_OUTGOING_PRIVATE_HOSTS": "*.wiki.corp"}, "wiki.corp is not on the public Internet"),
        ({"SIDECALL_OUTGOING_PRIVATE_HOSTS": "10.0.0.0/8"}, "wiki.corp is not on the public Internet"),
        ({"SIDECALL_OUTGOING_PRIVATE_HOSTS": "wiki.corp:9"}, "wiki.corp is not on the public Internet"),
        ({"SIDECALL_OUTGOING_PORTS": "80,443"}, "is not open to tools"),
        ({"SIDECALL_OUTGOING_HOSTS": "api.example.com,*.a.example"}, "It reaches api.example.com, *.a.example only."),
    ],
)
async def test_what_an_operator_does_not_name_stays_closed(
    site: Site, monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], reason: str
) -> None:
    """The model reads a reason that is for it; who sees the traceback reads what would open it."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert reason in await refuse_both(f"http://wiki.corp:{site.port}/")
    assert site.asked == []


@pytest.mark.parametrize(
    ("private", "is_open"),
    [
        (["wiki.corp"], True),
        (["WIKI.corp."], True),
        (["other.corp", "wiki.corp:{port}"], True),
        (["*.corp"], False),
        (["127.0.0.0/8"], False),
    ],
)
async def test_a_host_that_an_author_writes_out_is_open_at_each_port(
    site: Site, monkeypatch: pytest.MonkeyPatch, private: list[str], is_open: bool
) -> None:
    """No matter what ports the operator opens at every host; a network or what is below a name is no one host."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])
    monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", "80,443")
    named = [it.format(port=site.port) for it in private]

    found = await get_both(f"http://wiki.corp:{site.port}/", private=named)

    assert [isinstance(it, httpx.Response) for it in found] == [is_open, is_open]
    if not is_open:
        assert found[0].message == f"Refused: port {site.port} is not open to tools. Use an address without a port."
        assert found[0].__notes__ == [
            f'Open it with SIDECALL_OUTGOING_PORTS, or name it with its host: private=["wiki.corp:{site.port}"].'
        ]


@pytest.mark.parametrize(
    ("allow", "is_reached"),
    [
        (["api.example.com"], True),
        (["API.example.com."], True),
        (["*.example.com"], True),
        (["other.example", "api.example.com:{port}"], True),
        (["example.com"], False),
        (["*.api.example.com"], False),
        (["api.example.com:443"], False),
        (["notapi.example.com"], False),
    ],
)
async def test_a_tool_reaches_what_it_is_for(
    site: Site, monkeypatch: pytest.MonkeyPatch, allow: list[str], is_reached: bool
) -> None:
    """And reads what that is."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])
    options = {"allow": [entry.format(port=site.port) for entry in allow], "private": ["*.example.com"]}
    url = f"http://api.example.com:{site.port}/"

    if is_reached:
        assert await read_both(url, **options) == "found"
    else:
        reason = f"this tool does not reach api.example.com:{site.port}. It reaches {', '.join(allow)} only."
        assert reason in await refuse_both(url, **options)


async def test_an_allowed_host_has_to_be_public_all_the_same(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name may lead anywhere."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])

    assert "is not on the public" in await refuse_both(f"http://a.example:{site.port}/", allow=["a.example"])


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"allow": "api.example.com"}, ValueError, "is one text"),
        ({"allow": ["https://api.example.com"]}, ValueError, "is no host"),
        ({"private": ["10.0.0.1/8"]}, ValueError, "is no host"),
        ({"allow": ["a.example:0"]}, ValueError, "is no host"),
        ({"transport": httpx.HTTPTransport()}, TypeError, "has no option 'transport'"),
        ({"proxy": "http://127.0.0.1"}, TypeError, "has no option 'proxy'"),
        ({"trust_env": True}, TypeError, "has no option 'trust_env'"),
    ],
)
def test_a_client_that_cannot_be_is_refused(options: dict[str, Any], error: type[Exception], reason: str) -> None:
    """When it is made, with what to write."""
    for make in (guarded_client, guarded_async_client):
        with pytest.raises(error, match=reason):
            make(**options)


async def test_the_environment_leads_no_client_elsewhere(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies of other programs are not the operator's of this one."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    assert await read_both(site.url, private=["127.0.0.1"]) == "found"


async def test_a_proxy_is_asked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It resolves the names; what leads inside for certain does not even get there."""
    site.give("http://api.example.com/a", "by proxy")
    monkeypatch.setenv("SIDECALL_OUTGOING_PROXY", site.url)

    assert await read_both("http://api.example.com/a") == "by proxy"
    site.asked.clear()
    for url in ("http://localhost/", "http://sidecall/", "http://10.0.0.1/", "http://2130706433/", "http://0x7f.1/"):
        assert "is not on the public" in await refuse_both(url)
    assert "is not on the public" in await refuse_both("http://metadata.google.internal/")
    assert site.asked == []


@pytest.mark.parametrize("turns", range(4))
async def test_a_client_closes_all_connections_though_it_is_cancelled(turns: int) -> None:
    """At each turn of the loop while it closes them."""
    ended = asyncio.Semaphore(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await reader.read()
        writer.close()
        ended.release()

    async def ask(url: str, answered: asyncio.Event) -> None:
        async with guarded_async_client(private=["127.0.0.1"]) as client:
            await asyncio.gather(*(client.get(url) for _ in range(3)))
            answered.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port, answered = server.sockets[0].getsockname()[1], asyncio.Event()
        asking = asyncio.create_task(ask(f"http://127.0.0.1:{port}/", answered))
        await answered.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        async with asyncio.timeout(30):
            for _ in range(3):
                await ended.acquire()
