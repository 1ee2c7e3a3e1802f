"""A collector of spans, as operators run one."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

_GZIP = b"\x1f\x8b"


class Collector(ThreadingHTTPServer):
    """Take spans over HTTP on a port of its own; `bodies` are what came, unpacked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Take)
        self.bodies: list[bytes] = []
        self.more = threading.Condition()

    @property
    def url(self) -> str:
        """The address of the collector."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def resources(self) -> list[ResourceSpans]:
        """The received spans, by resource."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [resource for request in requests for resource in request.resource_spans]

    @property
    def spans(self) -> list[Span]:
        """The received spans."""
        return [span for resource in self.resources for scope in resource.scope_spans for span in scope.spans]

    @property
    def by_name(self) -> dict[str, Span]:
        """The last span of each name."""
        return {span.name: span for span in self.spans}

    def wait_for(self, *names: str) -> None:
        """Wait until spans of these names have come."""
        with self.more:
            assert self.more.wait_for(lambda: set(names) <= self.by_name.keys(), 20)


class _Take(BaseHTTPRequestHandler):
    server: Collector
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Keep a request, and say that all is well."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.more:
            self.server.bodies.append(gzip.decompress(body) if body.startswith(_GZIP) else body)
            self.server.more.notify_all()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *_: object) -> None:
        """Stay silent."""


@contextmanager
def collecting() -> Iterator[Collector]:
    """Give a collector that listens."""
    with Collector() as collector:
        collector.daemon_threads = True
        thread = threading.Thread(target=collector.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def attributes(span: Span) -> dict[str, str]:
    """Return the attributes of a span that are texts."""
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}
