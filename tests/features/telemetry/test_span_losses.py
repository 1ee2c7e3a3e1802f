"""Spans that no collector takes are counted, and told of once at each end."""

from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from sidecall.features.telemetry.spans import CountedBatches, SpanLosses, Spans

BEGUN = (
    "spans are lost, since their collector refuses them, does not answer or is too slow: "
    "sidecall_spans_dropped_total counts them"
)


class Fickle(SpanExporter):
    """A collector that takes spans or does not."""

    def __init__(self) -> None:
        self.result: SpanExportResult | Exception = SpanExportResult.SUCCESS

    def export(self, _: Sequence[ReadableSpan]) -> SpanExportResult:
        """Do as it is to do."""
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_what_a_collector_does_not_take_is_counted_and_told_of_twice(caplog: pytest.LogCaptureFixture) -> None:
    """When it begins, and when it is over."""
    losses, collector, counts = SpanLosses(), Fickle(), []
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(CountedBatches(collector, losses))
    ends: list[SpanExportResult | Exception] = [SpanExportResult.FAILURE, OSError("gone"), SpanExportResult.FAILURE]
    for end in (SpanExportResult.SUCCESS, *ends, SpanExportResult.SUCCESS, SpanExportResult.SUCCESS):
        collector.result = end
        for _ in range(2):
            provider.get_tracer("a library").start_span("SELECT").end()
        provider.force_flush()
        counts.append(Spans(provider, losses=losses).dropped)
    provider.shutdown()

    assert counts == [0, 2, 4, 6, 6, 6]
    said = [record.message for record in caplog.records if record.name == "sidecall"]
    assert said == [BEGUN, "spans are taken again, 6 were lost"]


def test_what_finds_no_room_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest has to go."""
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    losses, collector = SpanLosses(), Fickle()
    batches = CountedBatches(collector, losses)
    with batches._batch_processor._export_lock:  # Nothing is sent meanwhile.
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(batches)
        for _ in range(7):
            provider.get_tracer("a library").start_span("SELECT").end()
    provider.shutdown()

    assert losses.count == 3


def test_losses_that_go_on_between_batches_are_not_over(caplog: pytest.LogCaptureFixture) -> None:
    """Else a collector that is too slow would have two lines for each batch."""
    losses = SpanLosses()
    for _ in range(3):
        losses.lose(1)
        losses.take()

    assert caplog.messages == [BEGUN]
    losses.take()
    assert caplog.messages == [BEGUN, "spans are taken again, 3 were lost"]
