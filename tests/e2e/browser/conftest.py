"""A real browser, and a stranger on the web whose pages it shows."""

from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bench.environments import ROOT
from tests.kit.browser import NAMES, Browser, browsing, find_browser

PACKAGE = ROOT / "clients/js/src"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start a browser, for which every name ending in `.example` is this machine."""
    program = find_browser()
    if program is None:
        pytest.skip(f"no browser here ({', '.join(NAMES)}): as root, scripts/install-browser gets one")
    with browsing(program, tmp_path_factory.mktemp("browser"), "--host-resolver-rules=MAP *.example 127.0.0.1") as it:
        yield it


class Stranger(ThreadingHTTPServer):
    """A web server of somebody else on this machine: an empty page, and a name that leads elsewhere afterwards.

    What is asked of it besides the page it passes on as it came, to where the name is said to lead now.
    """

    leads_to = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)


class _Pages(BaseHTTPRequestHandler):
    server: Stranger

    def do_GET(self) -> None:
        """Show the page, give what it is made with, or pass the request on."""
        if self.path == "/page":
            self._answer(200, "text/html", b"<!doctype html><title>A page</title><link rel=icon href=data:,>")
        elif self.path.startswith("/js/"):
            self._answer(200, "text/javascript", (PACKAGE / Path(self.path).name).read_bytes())
        else:
            self.do_POST()

    def do_POST(self) -> None:
        """Pass the request on."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = HTTPConnection("127.0.0.1", self.server.leads_to, timeout=20)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            upstream.putheader(name, value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        self._answer(answer.status, answer.headers["Content-Type"], answer.read())
        upstream.close()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def stranger() -> Iterator[Stranger]:
    """Serve the stranger's page."""
    server = Stranger()
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tool leaves its marks."""
    return tmp_path_factory.mktemp("marks")
