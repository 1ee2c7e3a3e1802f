"""Spans that no collector has taken: they are counted, and the log says when that begins and when it is over."""

import logging
import threading
from collections import deque
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from sidecall.features.telemetry.standard_variables import read_batching

logger = logging.getLogger("sidecall")


class SpanLosses:
    """Count spans that are lost; `count` is how many have been."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self._lock = threading.Lock()
        # How many there were before they began, None while nothing is lost; and when a batch was taken last.
        self._before: int | None = None
        self._seen = 0

    def lose(self, number: int) -> None:
        """Count spans that are lost."""
        with self._lock:
            is_new = self._before is None
            if self._before is None:
                self._before = self.count
            self.count += number
        if is_new:
            logger.warning(
                "spans are lost, since their collector refuses them, does not answer or is too slow: "
                "sidecall_spans_dropped_total counts them"
            )

    def take(self) -> None:
        """Note that a batch was taken; if nothing was lost since the one before, all is well again."""
        with self._lock:
            is_over = self._before is not None and self.count == self._seen
            lost = self.count - (self._before or 0)
            self._seen = self.count
            if is_over:
                self._before = None
        if is_over:
            logger.warning("spans are taken again, %d were lost", lost)


class CountedBatches(BatchSpanProcessor):
    """Send spans in batches as the SDK does, and count those that are lost on the way."""

    def __init__(self, exporter: SpanExporter, losses: SpanLosses) -> None:
        """Send with an exporter, in batches as the environment says.

        Raises:
            InvalidVariable: It says nothing that could be done.
        """
        super().__init__(_CountedExporter(exporter, losses), **read_batching())
        self._losses = losses
        # Its own in the releases that are tried; with another one only what the collector does not take is counted.
        self._queue: deque[ReadableSpan] = getattr(getattr(self, "_batch_processor", None), "_queue", deque())

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span; one that waits is lost for it where there is no room for both."""
        if len(self._queue) == self._queue.maxlen:
            self._losses.lose(1)
        super().on_end(span)


class _CountedExporter(SpanExporter):
    def __init__(self, exporter: SpanExporter, losses: SpanLosses) -> None:
        self._exporter = exporter
        self._losses = losses

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            if result is SpanExportResult.SUCCESS:
                self._losses.take()
            else:
                self._losses.lose(len(spans))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()
