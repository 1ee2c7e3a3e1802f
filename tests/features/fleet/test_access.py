"""Servers and workers on a bus with TLS, accounts, and rights that differ."""

import asyncio
import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import nats
import pytest
from nats.aio.msg import Msg

from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.nats import Broker, running_broker
from tests.kit.servers import Server

# In an address it is written with percent signs.
_PASSWORD, _WRITTEN = "p@ss:w/rd", "p%40ss%3Aw%2Frd"
_CONFIG = """
tls {{ cert_file: "{folder}/bus.pem", key_file: "{folder}/bus.key" }}
accounts {{
  TOOLS {{
    jetstream: enabled
    users: [
      {{
        user: server, password: "{password}"
        permissions: {{
          publish: ["sidecall.>", "$JS.API.STREAM.CREATE.SIDECALL_TICKETS"]
          subscribe: ["sidecall.node.>", "_INBOX.>"]
        }}
      }}
      {{
        user: worker, password: "{password}"
        permissions: {{
          publish: [
            "sidecall.node.>", "$JS.API.STREAM.CREATE.SIDECALL_TICKETS", "$JS.API.CONSUMER.*.CREATE.SIDECALL_TICKETS.>",
            "$JS.API.CONSUMER.MSG.NEXT.SIDECALL_TICKETS.*", "$JS.ACK.SIDECALL_TICKETS.>"
          ]
          subscribe: ["sidecall.node.>", "_INBOX.>"]
        }}
      }}
    ]
  }}
  OTHER {{ users: [{{ user: other, password: other }}] }}
}}
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Start a bus with a certificate of its own."""
    folder = tmp_path_factory.mktemp("bus")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(folder / "bus.key"))
    names = ("-subj", "/CN=bus", "-addext", "subjectAltName=IP:127.0.0.1", "-out", str(folder / "bus.pem"))
    subprocess.run(["openssl", "req", "-x509", "-days", "1", *key, *names], check=True, capture_output=True)
    with running_broker(_CONFIG.format(folder=folder, password=_PASSWORD)) as made:
        made.authority = folder / "bus.pem"
        yield made


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Server:
    """Start a server and a worker, each with its own user."""
    made = fleet.serve(SIDECALL_QUEUE_TIMEOUT="5", **_enter(fleet, "server"))
    fleet.work("cpu", "--slots", "1", **_enter(fleet, "worker"))
    wait_for(lambda: is_available(made, "echo"))
    return made


def _enter(fleet: Fleet, user: str, password: str = _WRITTEN, *, is_trusted: bool = True) -> dict[str, str]:
    trust = {"SIDECALL_FLEET_CA": str(fleet.bus.authority)} if is_trusted else {}
    return {"SIDECALL_FLEET": f"tls://{user}:{password}@127.0.0.1:{fleet.bus.port}", **trust}


def test_calls_run_with_the_rights_of_servers_and_of_workers(fleet: Fleet, server: Server) -> None:
    """More than there are slots, so that tickets wait in the stream, too."""
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda it: call(server, "echo", text=str(it)), range(8)))
    assert [it.json()["content"] for it in answers] == [str(it) for it in range(8)]
    assert "cpu" in fleet.ask("fleet", **_enter(fleet, "worker"))


async def test_a_worker_may_put_no_tickets_and_another_account_hears_nothing(fleet: Fleet, server: Server) -> None:
    """By the rights of the bus, before any key."""
    errors: list[Exception] = []

    async def note(error: Exception) -> None:
        errors.append(error)

    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    address, trust = f"tls://127.0.0.1:{fleet.bus.port}", _trust(fleet)
    other = await nats.connect(address, user="other", password="other", tls=trust)
    await other.subscribe(">", cb=hear)
    worker = await nats.connect(address, user="worker", password=_PASSWORD, error_cb=note, tls=trust)
    await worker.publish("sidecall.ticket.cpu.x", b"ticket")
    await worker.flush()
    assert (await asyncio.to_thread(call, server, "echo", text="on")).json()["content"] == "on"
    await other.flush()
    assert "permissions violation" in str(errors[0]).lower()
    assert heard == []
    await worker.close()
    await other.close()


def _trust(fleet: Fleet) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(fleet.bus.authority))


@pytest.mark.parametrize(
    ("password", "is_trusted", "said"),
    [("wrong", True, "uthorization"), (_WRITTEN, False, "certificate verify failed")],
    ids=["a wrong password", "an authority that is not known"],
)
def test_who_is_not_let_in_says_why(fleet: Fleet, password: str, is_trusted: bool, said: str) -> None:
    """And takes no calls."""
    worker = fleet.work("cpu", **_enter(fleet, "worker", password, is_trusted=is_trusted))
    worker.wait_for(said)
    worker.stop()
