"""A server that asks nobody for credentials listens on loopback, unless its operator insists."""

import socket
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.servers import plain_environment
from sidecall.cli.listening import BACKLOG, OpenToAll, listen, refuse_open
from sidecall.settings import Settings
from tests.kit.forked import run_sidecall


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host": "127.0.0.2"},
        {"host": "::1"},
        {"host": "localhost"},
        {"host": "0.0.0.0", "auth": ("api_key",)},
        {"host": "0.0.0.0", "auth": ("gateway",), "caller_header": "X-User"},
        {"host": "0.0.0.0", "allow_unauthenticated": True},
    ],
)
def test_where_it_may_listen(settings: dict[str, Any]) -> None:
    """On loopback; with credentials, or where that was said, anywhere."""
    refuse_open(Settings(**settings))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"])
@pytest.mark.parametrize("settings", [{}, {"caller_header": "X-User"}])
def test_where_it_may_not(host: str, settings: dict[str, Any]) -> None:
    """A header that anybody may send proves nothing."""
    with pytest.raises(OpenToAll, match=r"`sidecall keys new NAME`.*SIDECALL_AUTH=api_key.*127\.0\.0\.1"):
        refuse_open(Settings(host=host, **settings))


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SIDECALL_HOST": "0.0.0.0"}, "set SIDECALL_ALLOW_UNAUTHENTICATED=true"),
        ({"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": "none"}, "SIDECALL_KEYS_FILE is none, and there is no"),
        ({"SIDECALL_AUTH": "gateway"}, "say in SIDECALL_CALLER_HEADER in which header"),
    ],
)
@pytest.mark.usefixtures("origin")
def test_the_start_ends_with_what_to_write(tmp_path: Path, environment: dict[str, str], said: str) -> None:
    """Before tools are loaded."""
    (tmp_path / "mine.py").write_text("1 / 0")
    given = {**plain_environment(), **environment}

    result = run_sidecall("serve", "--port", "0", "--tools", "mine.py", cwd=tmp_path, environment=given)

    assert result.returncode == 1
    assert said in result.stderr
    assert "ZeroDivisionError" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many may wait")
def test_as_many_connections_may_wait_as_the_system_allows() -> None:
    """Those of a burst that find no place come a second later."""
    allowed = int(Path("/proc/sys/net/core/somaxconn").read_text())

    with listen(Settings(port=0), BACKLOG) as sock:
        told = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)

    # Of a socket that listens, `tcpi_sacked` is the length of its queue.
    assert struct.unpack_from("I", told, 28) == (min(BACKLOG, allowed),)
