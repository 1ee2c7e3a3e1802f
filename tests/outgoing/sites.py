"""Hosts that answer as tests want, on sockets of their own, and resolvers that lead there."""

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

_REAL = socket.getaddrinfo


@dataclass
class Site:
    """What a host answers at each path, and what it was asked."""

    answers: dict[str, tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    heads: list[Mapping[str, str]] = field(default_factory=list)
    connections: set[Any] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        """Where it is, by its address."""
        return f"http://127.0.0.1:{self.port}"

    def give(self, path: str, body: bytes | str, kind: str = "text/plain", **headers: str) -> None:
        """Answer a path with 200."""
        told = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.answers[path] = (200, told, body.encode() if isinstance(body, str) else body)

    def redirect(self, path: str, target: str) -> None:
        """Lead from a path to elsewhere."""
        self.answers[path] = (302, {"Location": target}, b"")

    def give_bomb(self, path: str, size: int) -> None:
        """Answer a path with nothing but zeros, packed."""
        self.give(path, gzip.compress(bytes(size)), Content_Encoding="gzip")


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        """Answer; below `/drip-` byte by byte, until the test is over."""
        site = self.site
        site.connections.add(self.client_address)
        site.heads.append(dict(self.headers.items()))
        site.asked.append((self.headers.get("Host", ""), self.path))
        if self.path.startswith("/drip-"):
            return self._drip(b"HTTP/1.1 200 OK\r\n\r\n" if self.path == "/drip-body" else b"HTTP/1.1 200 OK\r\nX: ")
        status, headers, body = site.answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return None

    def _drip(self, head: bytes) -> None:
        self.close_connection = True
        try:
            self.wfile.write(head)
            while not self.site.over.wait(0.05):
                self.wfile.write(b"x")
        except OSError:
            return

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve a site on this machine."""
    site = Site()
    handler = type("Handler", (_Answering,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        site.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield site
        finally:
            site.over.set()
            server.shutdown()
            thread.join()


def resolve(monkeypatch: pytest.MonkeyPatch, find: Callable[[str], list[str]]) -> list[str]:
    """Let names lead where a function says, and note which are asked for; addresses are what they are."""
    asked: list[str] = []

    def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        try:
            socket.inet_pton(socket.AF_INET6 if ":" in name else socket.AF_INET, name)
        except OSError:
            asked.append(name)
            addresses = find(name)
        else:
            addresses = [name]
        found: list[Any] = []
        for address in addresses:
            found += _REAL(address, port, *args, **kwargs)
        return found

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked
