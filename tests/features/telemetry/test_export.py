"""Spans go where the host or the environment says, and a collector that is gone holds nobody up."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from sidecall.features.telemetry.export import flush, provider_from_environment
from sidecall.features.telemetry.spans import Spans
from sidecall.features.telemetry.standard_variables import MissingExtra


@pytest.fixture
def make_provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that makes a provider in an environment, and close it afterwards."""
    made: list[TracerProvider] = []

    def make(**environment: str) -> TracerProvider:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        made.append(provider_from_environment())
        return made[-1]

    yield make
    for provider in made:
        provider.shutdown()


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "sidecall"),
        ({"OTEL_SERVICE_NAME": "tools-of-ada"}, "tools-of-ada"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=tools-of-bob"}, "tools-of-bob"),
    ],
)
def test_the_service_has_a_name(make_provider: Any, environment: dict[str, str], name: str) -> None:
    """Ours, unless the operator has chosen one."""
    provider = make_provider(OTEL_TRACES_EXPORTER="none", **environment)

    assert provider.resource.attributes["service.name"] == name


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "zipkin"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp_proto_grpc"),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"}, "otlp_proto_grpc"),
        ({"OTEL_TRACES_EXPORTER": "otlp, zipkin"}, "zipkin"),
        # What is empty is not set.
        ({"OTEL_TRACES_EXPORTER": "", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp_proto_grpc"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": ""}, "otlp_proto_grpc"),
    ],
)
def test_an_exporter_that_is_missing_is_named(make_provider: Any, environment: dict[str, str], exporter: str) -> None:
    """With what to install."""
    with pytest.raises(MissingExtra) as caught:
        make_provider(**environment)

    assert caught.value.message == (
        f"The exporter {exporter!r} is not installed; "
        f"try: pip install opentelemetry-exporter-{exporter.replace('_', '-')}"
    )


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "nonsense"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        # That of traces counts before the other.
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces",
            },
            None,
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:99999"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ],
)
def test_an_endpoint_that_is_no_url_is_told_of(
    make_provider: Any, caplog: pytest.LogCaptureFixture, environment: dict[str, str], named: str | None
) -> None:
    """As soon as the server starts, since the exporter would say it late, if ever."""
    make_provider(**environment)

    said = [record.getMessage() for record in caplog.records if record.name == "sidecall"]
    text = f"{named} is no URL, so no span is sent: write one such as http://127.0.0.1:4318"
    assert said == ([] if named is None else [text])


class Stuck(SpanExporter):
    """A collector that takes everything and never answers."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.is_over = threading.Event()

    def export(self, _: Sequence[ReadableSpan]) -> SpanExportResult:
        """Wait for the end of the test."""
        self.is_asked.set()
        self.is_over.wait()
        return SpanExportResult.FAILURE


async def test_a_collector_that_is_stuck_holds_the_end_up_for_a_moment_only(caplog: pytest.LogCaptureFixture) -> None:
    """What it has not taken by then is lost, which is said."""
    stuck = Stuck()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(stuck))
    provider.get_tracer("a library").start_span("SELECT").end()

    await flush(provider, patience=0.01)
    said = caplog.messages
    stuck.is_over.set()
    provider.shutdown()

    assert stuck.is_asked.is_set()
    assert said == ["the last spans were not sent within 0.01 seconds"]


async def test_spans_of_a_host_that_sends_them_itself_are_left_to_it() -> None:
    """Its provider may be of any kind."""
    provider = TracerProvider(shutdown_on_exit=False)

    await flush(object())
    await Spans(provider).close()

    assert provider.get_tracer("a library").start_span("SELECT").is_recording()


PROGRAM = """
import asyncio, httpx, json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.settings import Settings

kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)

@tool
async def ping() -> str:
    "Answer."
    with trace.get_tracer("a library").start_as_current_span("SELECT"):
        return "pong"

async def main():
    app = create_app(Settings(otel="on"), Registry([ping]))
    async with app.router.lifespan_context(app):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecall") as client:
            await client.post("/tool_calls", json={"name": "ping", "args": {}})
            await client.post("/tool_calls/batch", json=[{"name": "ping", "args": {}}])
    print(json.dumps([span.name for span in kept.get_finished_spans()]))

asyncio.run(main())
"""


def test_a_host_that_has_a_provider_gets_the_spans() -> None:
    """Two a call, the tool's own and ours; the same on every way to the tool."""
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert json.loads(result.stdout) == ["SELECT", "execute_tool ping"] * 2
