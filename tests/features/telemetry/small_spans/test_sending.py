"""Spans go where the environment says, in the form that it says, by the SDK's own client."""

import subprocess
import sys
import threading
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sidecall.features.telemetry.export import provider_from_environment
from sidecall.features.telemetry.small_spans import otlp
from sidecall.features.telemetry.small_spans.call_provider import CallProvider
from sidecall.features.telemetry.small_spans.call_span import CallSpan
from sidecall.features.telemetry.small_spans.sending import make_call_provider
from tests.features.telemetry.small_spans.sent_spans import RESOURCE, Wire, provide
from tests.features.telemetry.small_spans.test_call_provider import TOOL


def _call(provider: CallProvider, context: Any = None) -> None:
    span = provider.start_call(TOOL, "call", "invocation", context, None)
    assert isinstance(span, CallSpan)
    span.finish(None)


def test_the_standard_variables_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Address, headers, time, compression and certificate."""
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example/base",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=4711",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "3",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca.pem",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    wire = Wire()
    provider = provide(wire)
    _call(provider)
    provider.shutdown()
    [sent] = wire.sent

    assert (sent["method"], sent["url"], wire.verify) == (
        "POST",
        "https://collector.example/base/v1/traces",
        "/ca.pem",
    )
    assert {"api-key": "4711", "content-type": "application/x-protobuf"}.items() <= sent["headers"].items()
    assert 0 < sent["timeout"] <= 3
    assert sent["data"].startswith(b"\x1f\x8b")
    assert [span.name for span in wire.spans] == ["execute_tool search"]


def test_a_batch_that_is_refused_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """As that of the SDK is."""
    wire = Wire(400)
    provider = provide(wire)
    _call(provider)
    provider.get_tracer("a library").start_span("SELECT").end()
    provider.shutdown()

    assert [sent["method"] for sent in wire.sent] == ["POST", "POST"]
    failed, again, lost = (message[:35] for message in caplog.messages)
    assert failed == again == "Failed to export spans batch code: "
    assert lost == "spans are lost, since their collect"


def test_what_tools_trace_goes_there_too() -> None:
    """In the SDK's own form, beside the calls."""
    wire = Wire()
    provider = provide(wire)
    _call(provider)
    provider.get_tracer("a library").start_span("SELECT").end()
    provider.shutdown()
    scopes = [scope for resource in wire.request_sent.resource_spans for scope in resource.scope_spans]

    assert [(scope.scope.name, scope.spans[0].name) for scope in scopes] == [
        ("sidecall", "execute_tool search"),
        ("a library", "SELECT"),
    ]


def test_another_resource_is_told_as_soon_as_it_is_there() -> None:
    """After a fork the SDK makes another one."""
    wire = Wire()
    provider = provide(wire)
    _call(provider)
    provider.force_flush()
    provider._update_resource(Resource({"process.pid": 7}))
    _call(provider)
    provider.shutdown()
    resources = [around.resource for around in wire.request_sent.resource_spans]

    assert ["process.pid" in {it.key for it in each.attributes} for each in resources] == [False, True]


def test_calls_on_many_threads_are_all_sent() -> None:
    """Each once."""
    wire = Wire()
    provider = provide(wire)
    threads = [threading.Thread(target=lambda: [_call(provider) for _ in range(100)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    provider.shutdown()

    assert len({span.span_id for span in wire.spans}) == 800


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "3"},
        {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "10"},
        {"OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "otlp,console"},
        {"OTEL_TRACES_EXPORTER": "console"},
        {"OTEL_SDK_DISABLED": "true"},
    ],
)
def test_the_sdk_makes_them_where_it_is_to_do_more(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """Cut attributes, count what it does, show spans elsewhere, or make none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    provider = provider_from_environment()
    provider.shutdown()

    assert not isinstance(provider, CallProvider)


def test_calls_have_small_spans_otherwise() -> None:
    """In an environment that says nothing else."""
    provider = provider_from_environment()
    provider.shutdown()

    assert isinstance(provider, CallProvider)


def test_another_exporter_is_left_to_the_sdk() -> None:
    """Only that for OTLP over HTTP has the client."""
    assert make_call_provider(RESOURCE, InMemorySpanExporter()) is None


def test_a_form_that_has_changed_is_left_to_the_sdk(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is tried once, at the start."""
    caplog.set_level("INFO", "sidecall")
    monkeypatch.setattr("sidecall.features.telemetry.small_spans.call_span.FLAGS_ELSEWHERE", otlp.FLAGS_HERE)

    with pytest.raises(AssertionError):
        provide(Wire())
    assert caplog.messages == [
        "the installed SDK writes spans in a form that is not known here, and so writes all of them"
    ]


def test_exporters_without_its_package_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the console's, which comes with the SDK."""
    program = (
        "import sys; sys.modules['opentelemetry.exporter'] = None; "
        "from sidecall.features.telemetry.export import provider_from_environment; print(provider_from_environment())"
    )
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert "TracerProvider" in result.stdout, result.stderr
