"""Who takes nothing, or gives next to nothing, is cut off."""

import json
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server
from tests.kit.sockets import POST, connection

TOOL = '''
from sidecall import tool


@tool
async def tell() -> str:
    """Tell a long story."""
    return "x" * 30_000_000
'''
BODY = json.dumps({"name": "tell", "args": {}}).encode()


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve a tool that tells more than the network takes at once."""
    file = tmp_path_factory.mktemp("tools") / "story.py"
    Path(file).write_text(TOOL)
    return start_server("--tools", str(file), SIDECALL_BODY_TIMEOUT="1", SIDECALL_MAX_CONTENT_BYTES="100000000")


def are_left(server: Server, count: int) -> bool:
    """Wait until so many connections are open, the one that asks among them."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if f"sidecall_connections {count}.0" in CLIENT.get(f"{server.url}/metrics").text.splitlines():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "how",
    [pytest.param(b"", id="kept alive"), pytest.param(b"Connection: close\r\n", id="closing")],
)
def test_a_client_that_does_not_read_its_answer_is_cut_off(server: Server, how: bytes) -> None:
    """It would hold the answer in memory for ever."""
    with connection(server) as sock:
        sock.sendall(POST + how + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        began = sock.recv(1)
        is_gone = are_left(server, 1)

    assert began == b"H"
    assert is_gone


def test_a_body_in_tiny_chunks_is_cut_off(server: Server) -> None:
    """Each costs as much as a large one."""
    with connection(server) as sock:
        sock.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 20_000)
        answer = sock.recv(65536)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"too many tiny chunks" in answer
