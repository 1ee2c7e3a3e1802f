"""Spans that leave by the SDK's exporter, and are kept instead of being sent."""

import gzip
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource

from sidecall.features.telemetry.small_spans.call_provider import CallProvider
from sidecall.features.telemetry.small_spans.sending import make_call_provider

RESOURCE = Resource({"service.name": "tools-of-ada", "ratio": 0.5, "zones": ["a", "b"]}, "https://example.com/schema")


class Wire(requests.Session):
    """Take what is sent, as a collector would."""

    def __init__(self, status: int = 200) -> None:
        super().__init__()
        self.status = status
        self.sent: list[dict[str, Any]] = []

    def request(self, method: Any, url: Any, *_: Any, **sent: Any) -> requests.Response:
        """Keep a request, and answer it."""
        self.sent.append({"method": method, "url": url, **sent})
        response = requests.Response()
        response.status_code = self.status
        return response

    @property
    def request_sent(self) -> ExportTraceServiceRequest:
        """All that was sent, as one request: those that are written one behind the other are one."""
        bodies = [
            gzip.decompress(sent["data"]) if sent["data"][:2] == b"\x1f\x8b" else sent["data"] for sent in self.sent
        ]
        return ExportTraceServiceRequest.FromString(b"".join(bodies))

    @property
    def spans(self) -> list[Span]:
        """The spans of it."""
        around = self.request_sent.resource_spans
        return [span for resource in around for scope in resource.scope_spans for span in scope.spans]


def provide(wire: Wire) -> CallProvider:
    """Make a provider that sends there."""
    provider = make_call_provider(RESOURCE, OTLPSpanExporter(session=wire))
    assert provider is not None
    return provider
