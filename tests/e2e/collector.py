"""A collector of spans, as operators run one."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector(ThreadingHTTPServer):
    """Take spans as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Take)
        self.taken: list[ExportTraceServiceRequest] = []
        self.more = threading.Condition()

    def wait_for(self, *names: str) -> None:
        """Wait until spans of these names have come."""
        with self.more:
            assert self.more.wait_for(lambda: set(names) <= self.spans.keys(), 20)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> dict[str, Any]:
        """What it has taken, by name."""
        resources = [resource for request in self.taken for resource in request.resource_spans]
        scopes = [scope for resource in resources for scope in resource.scope_spans]
        return {span.name: span for scope in scopes for span in scope.spans}


class _Take(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.more:
            self.server.taken.append(ExportTraceServiceRequest.FromString(body))
            self.server.more.notify_all()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""
