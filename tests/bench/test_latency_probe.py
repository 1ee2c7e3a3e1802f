"""A process of its own asks a server for its health."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench import payloads
from bench.environments import Unavailable
from bench.latency_probe import LatencyProbe


@contextmanager
def _answering(status: int) -> Iterator[tuple[int, list[str]]]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def test_the_longest_answer_is_told_of_each_stretch() -> None:
    """Each time that one is asked for, of those since the last."""
    with _answering(200) as (port, asked), (probe := LatencyProbe(port, 0.002)):
        assert probe.look().worst > 0
        assert probe.look().worst > 0

    assert set(asked) == {"/healthz"}


def test_a_server_that_answers_otherwise_is_not_measured() -> None:
    """A quick refusal is no health."""
    with (
        _answering(503) as (port, _),
        (probe := LatencyProbe(port, 0.002)),
        pytest.raises(Unavailable, match="does not say how it is"),
    ):
        payloads._look(probe)
