"""However an address inside is written, nothing is connected to it."""

# ruff: noqa: RUF001  pages and attackers write such characters

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.kit.calls import run
from tests.outgoing.sites import resolve, serving
from tests.tools import shipped

module = shipped.load("fetch")


class Canary:
    """A socket of this machine that counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._socket.getsockname()[1]
        self.visits = 0
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            visitor.close()

    def knock(self) -> None:
        """Come once, to see that it counts."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as visitor:
            visitor.recv(1)

    def close(self) -> None:
        """Count no more."""
        if self._thread.is_alive():
            self._socket.shutdown(socket.SHUT_RDWR)
            self._thread.join(5)
        self._socket.close()


@pytest.fixture(name="canary")
def keep_canary() -> Iterator[Canary]:
    """Keep one for a test."""
    canary = Canary()
    yield canary
    canary.close()


SPELLINGS = (
    "127.0.0.1", "localhost", "LOCALHOST.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1",
    "017700000001", "0177.0.0.1", "0177.1", "127.000.000.001", "0.0.0.0", "0", "127.255.255.254", "１２７.０.０.１",
    "127。0。0。1", "①②⑦.⓪.⓪.①", "user@127.0.0.1", "example.com@127.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1", "[::1]",
    "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]",
    "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2002:7f00:0001::1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:470::5efe:7f00:1]",
    "[2001:470::200:5efe:7f00:1]", "[fe80::5efe:127.0.0.1]", "[::1%25lo]", "[fd00::1]", "169.254.169.254",
)  # fmt: skip


async def test_forty_spellings_of_what_is_inside_reach_nothing(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The port is open to tools, so that only the address is looked at."""
    monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", str(canary.port))
    monkeypatch.setenv("SIDECALL_OUTGOING_TIMEOUT", "3")

    answers = [await run(module.web_fetch, {"url": f"http://{host}:{canary.port}/"}) for host in SPELLINGS]

    kinds = {str(answer.content).partition(":")[0] for answer in answers}
    assert len(SPELLINGS) >= 40
    # Some are no URLs at all, and some names that no resolver knows; what can be resolved is refused.
    assert kinds <= {"url_not_allowed", "invalid_tool_input", "url_not_accessible"}
    assert canary.visits == 0


@pytest.mark.parametrize(
    "addresses",
    [
        [["127.0.0.1"]],
        [["93.184.215.14", "127.0.0.1"]],
        [["::ffff:127.0.0.1"]],
        [["64:ff9b::7f00:1"]],
        [["2000::1"], ["127.0.0.1"], ["127.0.0.1"]],  # Another answer each time.
    ],
)
async def test_names_that_lead_inside_reach_nothing(
    canary: Canary, monkeypatch: pytest.MonkeyPatch, addresses: list[list[str]]
) -> None:
    """Also those that lead elsewhere a moment later."""
    answers = list(addresses)
    asked = resolve(monkeypatch, lambda _: answers.pop(0))
    monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", str(canary.port))
    monkeypatch.setenv("SIDECALL_OUTGOING_TIMEOUT", "0.5")

    message = await run(module.web_fetch, {"url": f"http://rebinding.example:{canary.port}/"})

    assert message.status == "error"
    assert asked == ["rebinding.example"]
    assert canary.visits == 0


async def test_redirects_inside_reach_nothing(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a host that may be asked."""
    with serving() as site:
        monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")
        monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", str(canary.port))
        for number, host in enumerate(("localhost", "[::1]", "2130706433", "127.0.0.2")):
            site.redirect(f"/{number}", f"http://{host}:{canary.port}/")
            message = await run(module.web_fetch, {"url": f"{site.url}/{number}"})
            assert str(message.content).startswith("url_not_allowed: Refused")
    assert canary.visits == 0


def test_the_canary_counts(canary: Canary) -> None:
    """So that none is none."""
    canary.knock()
    canary.close()

    assert canary.visits == 1
