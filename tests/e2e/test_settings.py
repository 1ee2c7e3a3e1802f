"""What is set about the life of a server, and what it promises there, can be seen."""

import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.e2e.slow_calls import PLACE, send
from tests.kit.servers import CLIENT

ENTRY_POINT = "[sidecall.tools]\nacme = acme_tools\n"
TOOL = 'from sidecall import tool\n\n\n@tool\ndef {name}() -> str:\n    """Answer."""\n'


def test_the_end_takes_the_time_that_was_set(start_server: Serve) -> None:
    """An answer that was due when it began says that its connection is given up."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="0.25", SIDECALL_DRAIN_TIMEOUT="7")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 1))
        server.process.send_signal(signal.SIGTERM)
        answer = sent[0].result()

    assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
    assert server.process.wait(20) == 0
    server.wait_for("still listening for 0.25 s, then finishing for up to 7 s; requests in flight: 1")


def test_an_event_loop_that_is_stuck_does_not_keep_the_process(start_server: Serve) -> None:
    """It cannot answer, so the process ends by another hand, and says with its code that all is not well."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_TIMEOUT="0")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("freeze", 60))
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(20)
        error = sent[0].exception()

    assert code == 1
    assert isinstance(error, httpx.HTTPError)
    server.wait_for("the process does not end by itself and is ended")


def test_a_server_listens_where_it_is_told(start_server: Serve) -> None:
    """At the address, and at no other."""
    server = start_server("--tools", PLACE, SIDECALL_HOST="127.0.0.2")

    assert server.url.startswith("http://127.0.0.2:")
    assert CLIENT.get(f"{server.url}/healthz").status_code == 200


def test_headers_have_the_time_that_was_set(start_server: Serve) -> None:
    """A client who has not sent them after one second is cut off, long before others would be."""
    server = start_server("--tools", PLACE, SIDECALL_HEADER_TIMEOUT="1", SIDECALL_BODY_TIMEOUT="600")

    with socket.create_connection((server.host, server.port), timeout=6) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: side")
        answer = sock.recv(65536)

    assert answer.startswith(b"HTTP/1.1 408 ")


def test_bodies_have_the_room_that_was_set(start_server: Serve) -> None:
    """Where the first has taken it, the next is refused."""
    server = start_server(
        "--tools", PLACE, SIDECALL_MAX_BODY_BYTES="100000", SIDECALL_MAX_BODY_BYTES_IN_FLIGHT="150000"
    )
    body = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body += b"Content-Length: 100000\r\n\r\n" + b" " * 99_999

    with ExitStack() as stack:
        address = (server.host, server.port)
        socks = [stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(2)]
        for sock in socks:
            sock.sendall(body)
        answered, _, _ = select.select(socks, [], [], 20)
        answer = answered[0].recv(65536)

    assert len(answered) == 1
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"too-many-bytes" in answer


def test_a_request_that_has_not_arrived_when_the_server_ends_is_refused(start_server: Serve) -> None:
    """Its client is told to come back, not left with a connection that was closed without a word."""
    server = start_server("--tools", PLACE)

    with socket.create_connection((server.host, server.port), timeout=20) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /tool_calls HTTP/1.1\r\nHost: ")
        served = sock.recv(65536)
        server.process.send_signal(signal.SIGTERM)
        rest = b"".join(iter(lambda: sock.recv(65536), b""))

    assert served.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 503 " in rest
    assert b"urn:sidecall:problem:shutting-down" in rest
    assert b"retry-after: 1" in rest.lower()
    assert server.process.wait(20) == 0


def test_a_log_of_errors_has_errors_only(tmp_path: Path) -> None:
    """From the first line on."""
    (tmp_path / "mine.py").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "sidecall", "serve", "--port", port, "--tools", str(tmp_path / "mine.py")]
        environment = {"SIDECALL_LOG_LEVEL": "error", "PATH": "/usr/bin:/bin"}
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    assert '"level":"error"' in result.stderr
    assert '"level":"info"' not in result.stderr


def test_installed_packages_that_are_left_out_stay_out(start_server: Serve, tmp_path: Path) -> None:
    """Also when the tools are loaded again."""
    (tmp_path / "acme_tools.py").write_text(TOOL.format(name="of_acme"))
    (tmp_path / "acme-1.0.dist-info").mkdir()
    (tmp_path / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (tmp_path / "acme-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINT)
    (tmp_path / "box").mkdir()
    (tmp_path / "box/mine.py").write_text(TOOL.format(name="first"))
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "SIDECALL_ENTRY_POINTS": "false"}

    server = start_server("--reload", "--tools", "box", cwd=tmp_path, **environment)
    server.wait_for("watching")
    served = [definition["function"]["name"] for definition in CLIENT.get(f"{server.url}/tools").json()]
    (tmp_path / "box/mine.py").write_text(TOOL.format(name="second"))
    server.wait_for("reloaded: second")
    reloaded = [definition["function"]["name"] for definition in CLIENT.get(f"{server.url}/tools").json()]

    assert (served, reloaded) == (["first"], ["second"])


REDACTING = '''
import logging
from sidecall import ToolContext, tool


@tool
def pay(iban: str, amount: int, context: ToolContext) -> str:
    """Pay."""
    context.log.info("paying", extra={"iban": iban, "amount": amount})
    return "paid"
'''


def test_fields_that_are_named_are_taken_out_of_every_line(start_server: Serve, tmp_path: Path) -> None:
    """Of those about calls, and of what tools log."""
    (tmp_path / "bank.py").write_text(REDACTING)
    settings = {"SIDECALL_LOG_REDACT": "seat,iban", "SIDECALL_LOG_CALLS": "true", "SIDECALL_LOG_ARGS": "true"}
    server = start_server("--tools", str(tmp_path / "bank.py"), **settings)

    call = {"name": "pay", "args": {"iban": "DE021203", "amount": 47110815}, "id": "call_1"}
    CLIENT.post(f"{server.url}/tool_calls", json=call).raise_for_status()
    log = server.wait_for('"event":"tool call"')

    assert log.count("47110815") == 2
    assert log.count("[redacted]") == 2
    assert "DE021203" not in log
