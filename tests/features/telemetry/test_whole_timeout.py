"""A collector whose answer comes byte by byte holds nobody up for longer than the timeout."""

import socket
import threading
from contextlib import suppress

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExportResult

from sidecall.features.telemetry.export import provider_from_environment
from sidecall.features.telemetry.request_timeout import bound_requests
from sidecall.features.telemetry.spans import SpanLosses
from tests.kit.collector import collecting


def _trickle(listening: socket.socket) -> None:
    """Begin an answer and send the rest of it byte by byte, as long as anybody listens."""
    pause = threading.Event()
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not pause.wait(0.02):
                    connection.sendall(b"x")


def test_an_answer_that_trickles_ends_with_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its spans count as lost, and the next ones are sent."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_trickle, args=(listening,), daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
        losses = SpanLosses()
        provider = provider_from_environment(losses)
        for _ in range(2):
            provider.get_tracer("a library").start_span("SELECT").end()
            provider.force_flush()
        listening.shutdown(socket.SHUT_RDWR)
    provider.shutdown()

    assert losses.count == 2


def test_an_answer_in_time_is_taken() -> None:
    """On the same connection as the one before."""
    with collecting() as collector:
        exporter = OTLPSpanExporter(f"{collector.url}/v1/traces", timeout=20)
        bound_requests(exporter)
        results = [exporter.export([]) for _ in range(2)]
        exporter.shutdown()

    assert results == [SpanExportResult.SUCCESS] * 2


def test_another_exporter_is_left_alone() -> None:
    """No matter what it sends with."""
    bound_requests(object())
