"""Behind nginx and Caddy, run with the files of deploy/, a server works as without them."""

import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from sidecall.client import Sidecall
from tests.e2e.conftest import Serve, start_server
from tests.kit.forked import origin
from tests.kit.proxies import NAME, Proxy, running_caddy, running_nginx
from tests.kit.servers import CLIENT, Server, total

__all__ = ["origin", "start_server"]

RUNNING: dict[str, Callable[[Path, Sequence[int]], AbstractContextManager[Proxy]]] = {
    "nginx": running_nginx,
    "caddy": running_caddy,
}
TOOLS = '''
import asyncio
from sidecall import ToolContext, tool

@tool(requires_approval=True)
def refund(order: int) -> str:
    """Refund an order."""
    return f"Refunded order {order}."

@tool(timeout=600)
async def wait_for_ever(context: ToolContext) -> str:
    """Say something and wait."""
    await context.progress(1, 2, "begun")
    await asyncio.sleep(600)
    return "never"
'''
SITES = ("a name of its own", "a prefix")


@dataclass(frozen=True)
class Behind:
    """A server and its proxy."""

    server: Server
    proxy: Proxy

    def client(self, site: str, **options: object) -> httpx.Client:
        """Make a client of one of the sites; on that with a name it calls it by that name."""
        if site == "a prefix":
            return httpx.Client(base_url=self.proxy.prefixed_url, trust_env=False, **options)
        certificate = self.proxy.certificate
        trusted = True if certificate is None else ssl.create_default_context(cafile=str(certificate))
        headers = {"Host": NAME}
        return httpx.Client(base_url=self.proxy.url, verify=trusted, headers=headers, trust_env=False, **options)


@pytest.fixture(scope="module", params=RUNNING)
def behind(
    request: pytest.FixtureRequest, start_server: Serve, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Behind]:
    """A server behind a proxy."""
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "tools.py").write_text(TOOLS)
    server = start_server("--tools", str(folder / "tools.py"), SIDECALL_HOSTS=NAME)
    with RUNNING[request.param](folder, [server.port]) as proxy:
        yield Behind(server, proxy)


@pytest.mark.parametrize("site", SITES)
def test_names_bodies_and_metrics_are_as_they_should_be(behind: Behind, site: str) -> None:
    """The client's `Host` reaches the server, too large a body gets the server's answer, and metrics are not shown."""
    call = {"name": "refund", "args": {"order": "x" * 4_300_000}, "id": "1"}
    with behind.client(site) as client:
        listed = client.get("/tools")
        foreign = client.get("/tools", headers={"Host": "evil.example.com"})
        metrics = client.get("/metrics")
        page = client.get("/docs")
        large = client.post("/tool_calls", json=call)

    assert [tool["function"]["name"] for tool in listed.json()] == ["refund", "wait_for_ever"]
    assert (foreign.status_code, metrics.status_code, page.status_code) == (421, 404, 200)
    assert large.status_code == 413
    assert large.json()["type"] == "urn:sidecall:problem:body-too-large"


@pytest.mark.parametrize("site", SITES)
def test_an_address_that_is_answered_can_be_followed(behind: Behind, site: str) -> None:
    """Below a prefix it begins with that; it stays a path, since a proxy does not know where TLS ends."""
    with behind.client(site) as client:
        answer = client.post("/tool_calls", json={"name": "refund", "args": {"order": 1}, "id": "1"})
        place = answer.headers["Location"]
        found = client.get(client.base_url.join(place))

    assert answer.status_code == 202
    assert place.startswith("/sidecall/approvals/" if site == "a prefix" else "/approvals/")
    assert found.json()["id"] == answer.json()["id"]


def test_our_client_finds_what_waits_for_a_person_below_a_prefix(behind: Behind) -> None:
    """It decides by the whole address, wherever the server's part of it begins."""
    with Sidecall(behind.proxy.prefixed_url) as client:
        answer = client.call({"name": "refund", "args": {"order": 2}, "id": "2"}, ask=lambda _: True)

    assert answer.content == "Refunded order 2."


@pytest.mark.parametrize("site", SITES)
def test_events_arrive_while_the_call_runs_and_hanging_up_cancels_it(behind: Behind, site: str) -> None:
    """The first event comes, though the call never ends; the server counts it as cancelled once the client is gone."""
    before = _cancelled(behind.server)
    call = {"name": "wait_for_ever", "args": {}, "id": "1"}
    with (
        behind.client(site, timeout=30) as client,
        client.stream("POST", "/tool_calls", json=call, headers={"Accept": "text/event-stream"}) as stream,
    ):
        first = next(line for line in stream.iter_lines() if line.startswith("data:"))

    assert '"message":"begun"' in first
    until = time.monotonic() + 30
    while _cancelled(behind.server) == before:
        assert time.monotonic() < until, "the call runs on"
        time.sleep(0.1)


def _cancelled(server: Server) -> float:
    return total(server.metrics(), "sidecall_calls_total", 'outcome="cancelled"')


@pytest.mark.parametrize("kind", RUNNING)
def test_a_call_that_is_silent_for_too_long_is_cancelled(kind: str, start_server: Serve, tmp_path: Path) -> None:
    """The client gets 504; a call that is remembered goes on."""
    (tmp_path / "tools.py").write_text(TOOLS)
    server = start_server("--tools", str(tmp_path / "tools.py"), SIDECALL_HOSTS=NAME)
    call = {"name": "wait_for_ever", "args": {}, "id": "1"}
    with ExitStack() as stack:
        proxy = stack.enter_context(
            {"nginx": running_nginx, "caddy": running_caddy}[kind](tmp_path, [server.port], "1s")
        )
        client = stack.enter_context(Behind(server, proxy).client("a name of its own", timeout=30))
        plain = client.post("/tool_calls", json=call)
        keyed = client.post("/tool_calls", json=call, headers={"Idempotency-Key": "one"})
        running = CLIENT.get(f"{server.url}/tool_calls?status=running").json()

    assert (plain.status_code, keyed.status_code) == (504, 504)
    server.wait_until(lambda _: _cancelled(server) == 1)
    assert _cancelled(server) == 1
    assert [entry["name"] for entry in running] == ["wait_for_ever"]
